"""A template: what it may be made of, and the bounds that it renders within."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.errors import TemplateError
from simulator.template import MAX_CHARACTERS, MAX_ROUNDS, MAX_SOURCE, parse_template

ROLES = ("system", "user")
VALUES: dict[str, Any] = {"title": "Pool", "passages": [{"id": "a", "text": "One."}, {"id": "b", "text": "Two."}]}


def rendered(body: str, **values: Any) -> str:
    """Return the one message of a template whose system block has *body*."""
    source = f"{{% block system %}}{body}{{% endblock %}}"
    [(role, text)] = parse_template("mine", source, ROLES).render({**VALUES, **values})
    assert role == "system"
    return text


def refused(source: str, **values: Any) -> str:
    """Return the one line in which a template is refused."""
    with pytest.raises(TemplateError) as caught:
        parse_template("mine", source, ROLES).render({**VALUES, **values})
    assert str(caught.value).isprintable()
    return str(caught.value)


def refused_body(body: str, **values: Any) -> str:
    """Return the line in which a template is refused whose system block has *body*."""
    return refused(f"{{% block system %}}{body}{{% endblock %}}", **values)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("{{ title }} {# no #}", "Pool "),
        ("{{ title|upper }} {{ title|length + 1 }} {{ passages|length - 3 }} {{ -1 }}", "POOL 5 -1 -1"),
        (
            "{% for p in passages %}{{ loop.index }}. {{ p.text }}{{ '' if loop.last else ' ' }}{% endfor %}",
            "1. One. 2. Two.",
        ),
        ("{% for p in passages if p.id == 'b' %}{{ p['text'] }}{% else %}none{% endfor %}", "Two."),
        ("{% if title is defined and not nobody is defined %}{{ title ~ '!' }}{% endif %}", "Pool!"),
        ("{% if title in ['Pool', 'Lake'] or title == 'Sea' %}water{% elif title %}no{% endif %}", "water"),
        ("{% for p in passages %}{% for q in passages %}{{ p.id }}{{ q.id }} {% endfor %}{% endfor %}", "aa ab ba bb "),
        ("{% raw %}{{ title }}{% endraw %}", "{{ title }}"),
    ],
)
def test_what_a_template_may_be_made_of(body: str, text: str) -> None:
    """Text, names and their fields, conditions, loops within each other, comparisons and the filters that are taken."""
    assert rendered(body) == text


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("{% macro m() %}{{ m() }}{% endmacro %}", "{% macro %}"),
        ("{% set a = 'x' %}", "{% set %}"),
        ("{% set a %}x{% endset %}", "{% set %}"),
        ("{% with a = 'x' %}{% endwith %}", "{% with %}"),
        ("{% filter upper %}x{% endfilter %}", "{% filter %}"),
        ("{% call title() %}{% endcall %}", "{% call %}"),
        ("{% include 'a' %}", "{% include %}"),
        ("{% import 'a' as b %}", "{% import %}"),
        ("{% from 'a' import b %}", "{% from %}"),
        ("{% block user %}x{% endblock %}", "a block inside another"),
        ("{{ title.upper() }}", "a call such as range(9)"),
        ("{{ self.system() }}", "a call such as range(9)"),
        ("{{ 'a' * 10 ** 11 }}", "the operator *"),
        ("{{ 10 ** 10 ** 9 }}", "the operator **"),
        ("{{ '%999999999d' % 1 }}", "the operator %"),
        ("{{ title[:3] }}", "a slice"),
        ("{{ {'a': 1} }}", "a mapping"),
    ],
)
def test_what_has_no_place_in_a_template(body: str, what: str) -> None:
    """What could run or grow without end is refused before it runs, at its line."""
    assert refused_body(f"\n{body}").startswith(f"mine.jinja:2: {what} has no place in a prompt template; write ")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("", "mine.jinja:1: blocks are named after roles (system, user); found none"),
        (
            "{# #}\n{% block sytem %}{% endblock %}",
            "mine.jinja:2: blocks are named after roles (system, user); found sy",
        ),
        ("\nHello\n{% block user %}{% endblock %}", "mine.jinja:1: what stands outside the blocks reaches nobody; "),
        ("{% if 1 %}{% block user %}{% endblock %}{% endif %}", "mine.jinja:1: blocks are named after roles"),
        ("{% extends 'a' %}{% block user %}{% endblock %}", "mine.jinja:1: what stands outside the blocks"),
        ("{% block user %}\n{{ title", "mine.jinja:2: unexpected end of template"),
        ("{% block user %}\n{{ title|center }}{% endblock %}", "mine.jinja:2: the filter center is not taken; write "),
        ("{% block user %}\n{{ title is odder }}{% endblock %}", "mine.jinja:2: No test named 'odder'"),
        (
            "{% block user %}{% for p in passages recursive %}{% endfor %}{% endblock %}",
            "mine.jinja:1: a loop that calls",
        ),
        ("x" * (MAX_SOURCE + 1), f"mine.jinja:1: the template is longer than {MAX_SOURCE:,} characters; "),
    ],
)
def test_a_template_that_is_none(source: str, line: str) -> None:
    """What is wrong with a template is said in one line with the file and the place."""
    assert refused(source).startswith(line)


@pytest.mark.parametrize(
    "body",
    [
        "{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}",
        "{{ " + "not " * 20_000 + "1 }}",
        "{{ " + "1 + " * 20_000 + "1 }}",
        "{{ " + "9" * 5_000 + " }}",
        "{{" * 10_000,
        "{% if 1 %}" * 120 + "x" + "{% endif %}" * 120,
        "{% for p in passages %}" * 30 + "x" + "{% endfor %}" * 30,
    ],
    ids=["parentheses", "not", "plus", "digits", "braces", "if", "for"],
)
def test_a_template_that_jinja_or_python_cannot_take(body: str) -> None:
    """Recursion, nesting and numbers past the bounds of Jinja and Python are one line too."""
    assert refused_body(body).startswith("mine.jinja:1: cannot be parsed: ")


def test_an_error_while_rendering_has_its_line() -> None:
    """The line is that of the expression, also inside a loop."""
    body = "\n\n{% for p in passages %}\n{{ p.id }}\n{{ p.nothing }}\n{% endfor %}"
    assert refused_body(body) == "mine.jinja:5: cannot be rendered: 'dict object' has no attribute 'nothing'"
    assert refused_body("\n{% for p in title_ %}{% endfor %}").startswith(
        "mine.jinja:2: cannot be rendered: 'title_' is"
    )
    assert refused_body("\n{{ title + 1 }}").startswith("mine.jinja:2: cannot be rendered: can only concatenate str")


def test_the_loops_of_a_template_go_round_so_often_and_no_more() -> None:
    """The rounds of all loops are counted together, those within each other too, and anew each time it renders."""
    template = parse_template("mine", "{% block system %}{% for a in title %}{% endfor %}{% endblock %}", ROLES)
    for _ in range(2):
        assert template.render({"title": "x" * MAX_ROUNDS}) == (("system", ""),)
    nested = "{% for a in title %}\n{% for b in title %}{% endfor %}{% endfor %}"
    assert refused_body(nested, title="x" * 200) == (
        f"mine.jinja:2: cannot be rendered: its loops go round more than {MAX_ROUNDS:,} times"
    )


def test_the_messages_of_a_template_have_so_many_characters_and_no_more() -> None:
    """The bound holds for all messages of a template together."""
    half = "x" * (MAX_CHARACTERS // 2)
    source = "{% block system %}{{ title }}{% endblock %}{% block user %}{{ title }}{{ rest }}{% endblock %}"
    assert len(parse_template("mine", source, ROLES).render({"title": half, "rest": ""})) == 2
    assert refused(source, title=half, rest="x") == (
        f"mine.jinja:1: cannot be rendered: its messages have more than {MAX_CHARACTERS:,} characters"
    )


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
PIECES = st.sampled_from(
    ["{{ ", " }}", "{% if ", "{% for p in ", "{% endif %}", "{% endfor %}", " %}", "title", "passages", "|", "(", "*"]
)


@settings(max_examples=200)
@given(st.lists(PIECES | TEXTS, max_size=12).map("".join))
def test_any_text_is_a_template_or_refused_in_one_line(body: str) -> None:
    """Whatever stands in a block renders, or is refused with the file and a line."""
    try:
        outcome = rendered(body) and "mine.jinja:1"
    except TemplateError as error:
        outcome = str(error)
    assert outcome == "" or (outcome.startswith("mine.jinja:") and outcome.isprintable())
