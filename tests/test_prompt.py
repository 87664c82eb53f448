"""Prompts: templates, and what reaches the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.errors import TemplateError
from simulator.model import Message
from simulator.prompt import Templates, answer_prompt, check_prompt, load_templates, rewrite_prompt
from simulator.scenario import Scenario
from simulator.template import MAX_SOURCE

TEMPLATES = Path(__file__).parent.parent / "templates"
AWKWARD = "{{ title }} {% raw %} {# no #}\r\n  trailing  \n\n"


def scenario(**fields: Any) -> Scenario:
    """Return a scenario of one turn."""
    return Scenario.model_validate(
        {
            "scenario": "library",
            "title": "Riverside Library",
            "case_id": "RL-1",
            "refusal": "It does not say.",
            "rules": {"max_words": 40, "closing_line": "Ref: {case_id}"},
            "passages": [{"id": "lending", "text": "A book may be kept for 21 days."}],
            "turns": [{"say": "How long?", "answer_from": "document"}],
            **fields,
        }
    )


def shipped(script: Scenario) -> Templates:
    """Return the templates that ship."""
    return load_templates([TEMPLATES], [script])


def test_the_answer_prompt_is_the_system_message_then_the_conversation() -> None:
    """History comes as pairs of customer and assistant, and the customer's new message is last."""
    script = scenario()
    prompt = answer_prompt(shipped(script), script, script.passages, [("Hello", "Hi.\nRef: RL-1")], "How long?")
    assert [message.role for message in prompt.messages] == ["system", "user", "assistant", "user"]
    assert [message.content for message in prompt.messages[1:]] == ["Hello", "Hi.\nRef: RL-1", "How long?"]


def test_the_shipped_system_message_byte_for_byte() -> None:
    """The system message is exactly this text; a change of it changes every recorded request."""
    script = scenario()
    (system, _) = answer_prompt(shipped(script), script, script.passages, [], "How long?").messages
    assert system.content == (
        "You are the support assistant for Riverside Library. A customer writes to you. Read the INFORMATION and "
        "answer the customer's last message from it in one or two plain sentences.\n"
        "\n"
        "What you state as a fact must stand in the INFORMATION. Where it is silent about what the customer "
        "asks, tell the customer so: It does not say.\n"
        "What the customer told you in this conversation may be repeated back.\n"
        "Use at most 40 words and no lists.\n"
        "\n"
        "INFORMATION\n"
        "\n"
        "[lending]\n"
        "A book may be kept for 21 days.\n"
        "\n"
        "END OF INFORMATION\n"
        "\n"
        "Answer the question first. Then start a new line and write this closing line on it, in every reply: Ref: RL-1"
    )


def test_the_check_prompt_ends_with_the_reply() -> None:
    """What never changes comes first, so that two checks share everything up to the question."""
    script = scenario()
    one = check_prompt(shipped(script), script, script.passages, "How long?", "21 days.")
    two = check_prompt(shipped(script), script, script.passages, "How long?", "A month.")
    assert one.messages[0] == two.messages[0]
    assert "A book may be kept for 21 days." in one.messages[0].content
    assert one.messages[1] == Message(role="user", content="Question: How long?\n\nREPLY TO CHECK\n21 days.")


def test_the_rewrite_prompt_names_the_unsupported_words() -> None:
    """Each unsupported span stands on a line of its own, before the reply."""
    script = scenario()
    prompt = rewrite_prompt(shipped(script), script, script.passages, "How long?", "A month.", ["A month"])
    assert prompt.messages[1].content == (
        "The customer asked: How long?\n\nUNSUPPORTED WORDS\n- A month\n\nREPLY TO CORRECT\nA month."
    )


@given(text=st.text(st.characters(exclude_categories=("Cs",)), min_size=1))
def test_data_reaches_the_model_byte_for_byte(text: str) -> None:
    """Whatever a passage, a question or a reply holds, it stands in the message as it is, template marks included."""
    script = scenario(passages=[{"id": "lending", "text": "x"}])
    passage = script.passages[0].model_copy(update={"text": text})
    templates = shipped(script)
    system, question = answer_prompt(templates, script, [passage], [], text).messages
    assert f"\n[lending]\n{text}\n\nEND OF" in system.content
    assert question.content == text
    assert check_prompt(templates, script, [passage], "Why?", text).messages[1].content.endswith(f"CHECK\n{text}")
    rewritten = rewrite_prompt(templates, script, [passage], "Why?", text, [text]).messages[1].content
    assert rewritten.endswith(f"CORRECT\n{text}")


def test_the_values_render_to_the_messages_again() -> None:
    """A prompt's template and values give its templated messages again."""
    script = scenario(passages=[{"id": "lending", "text": "A book."}])
    templates = shipped(script)
    prompt = check_prompt(templates, script, script.passages, AWKWARD, AWKWARD)
    assert templates.render(prompt.template, prompt.values) == prompt.messages


def test_a_scenario_may_name_its_own_template(tmp_path: Path) -> None:
    """A template of the first folder comes before the shipped one."""
    (tmp_path / "mine.jinja").write_text("{% block system %}\nHi {{ title }}\n{% endblock %}\n")
    script = scenario(templates={"system": "mine"})
    prompt = answer_prompt(load_templates([tmp_path, TEMPLATES], [script]), script, (), [], "Why?")
    assert prompt.messages[0].content == "Hi Riverside Library"


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("{% block system %}{{ nobody }}{% endblock %}", "mine.jinja:1: cannot be rendered: 'nobody' is undefined"),
        ("{% block system %}\n{{ title", "mine.jinja:2: "),
        ("no blocks", "mine.jinja:1: blocks are named after roles (system, user, assistant); found none"),
        ("{% block sytem %}x{% endblock %}", "found sytem"),
        ("{% block system %}{{ title.__class__.__mro__ }}{% endblock %}", "mine.jinja:1: cannot be rendered"),
        ("{% block system %}{{ 1 / 0 }}{% endblock %}", "mine.jinja:1: the operator / has no place"),
        (
            "{% block system %}{% for i in range(10 ** 9) %}{% endfor %}{% endblock %}",
            "a call such as range(9) has no place",
        ),
        ("{% block system %}{% include 'other' %}{% endblock %}", "mine.jinja:1: {% include %} has no place"),
    ],
)
def test_a_wrong_template_is_one_clear_line(tmp_path: Path, source: str, complaint: str) -> None:
    """What a template cannot do is said in a line that names it."""
    (tmp_path / "mine.jinja").write_text(source)
    script = scenario(templates={"system": "mine"})
    with pytest.raises(TemplateError) as caught:
        answer_prompt(load_templates([tmp_path, TEMPLATES], [script]), script, (), [], "Why?")
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_too_large_is_not_read_whole(tmp_path: Path) -> None:
    """The complaint comes before the file is decoded, whatever is in it."""
    (tmp_path / "mine.jinja").write_bytes(b"\xff" * (4 * MAX_SOURCE + 1))
    with pytest.raises(TemplateError, match=f"mine.jinja:1: the template is longer than {MAX_SOURCE:,} characters"):
        load_templates([tmp_path, TEMPLATES], [scenario(templates={"system": "mine"})])


@pytest.mark.parametrize("words", [8, 21])
def test_the_shipped_prompts_name_the_limit_of_the_answer(words: int) -> None:
    """How many words an answer may have is the scenario's, in the answer's prompt and in that of a rewrite."""
    form = {"format": "answer_quote", "max_answer_words": words}
    script = scenario(reply=form, rules={}, templates={"system": "answer_quote"})
    (system, _) = answer_prompt(shipped(script), script, script.passages, [], "How long?").messages
    assert f"\nAnswer: the answer alone, in at most {words} words\nQuote: the words" in system.content
    (rewriting, _) = rewrite_prompt(shipped(script), script, script.passages, "How long?", "x", ["x"]).messages
    assert f'"Answer:" with the answer alone, in at most {words} words, and' in rewriting.content


def test_the_shipped_prompts_say_nothing_of_a_limit_that_is_not_there() -> None:
    """Without a limit of words the line on the answer goes on at once to the quote."""
    script = scenario(reply={"format": "answer_quote"}, rules={}, templates={"system": "answer_quote"})
    (system, _) = answer_prompt(shipped(script), script, script.passages, [], "How long?").messages
    assert "\nAnswer: the answer alone\nQuote: the words of one source" in system.content


def in_json() -> Scenario:
    """Return a scenario whose replies are JSON with an answer."""
    schema = {"type": "object", "properties": {"answer": {"type": ["string", "null"]}}, "required": ["answer"]}
    return scenario(reply={"format": "json", "schema": schema}, rules={}, templates={"system": "answer_json"})


def test_the_shipped_prompts_show_the_refusal_in_its_form() -> None:
    """Where replies are JSON, a prompt has an object that declines under the scenario's schema."""
    script = in_json()
    (system, _) = answer_prompt(shipped(script), script, script.passages, [], "How long?").messages
    assert system.content.endswith('reply with this object and nothing else:\n{"answer": "It does not say."}')
    (rewriting, _) = rewrite_prompt(shipped(script), script, script.passages, "How long?", "x", ["x"]).messages
    assert "\n- one JSON object with the same fields and nothing else\n- if nothing" in rewriting.content
    assert 'the object: {"answer": "It does not say."}\n' in rewriting.content


def test_a_template_has_the_schema_as_json() -> None:
    """A template may show the scenario's schema; it is nothing where the replies have another format."""
    templates = Templates({"answer_json": "{% block system %}{{ schema }}{% endblock %}"})
    (system, _) = answer_prompt(templates, in_json(), (), [], "How long?").messages
    assert json.loads(system.content) == in_json().reply.schema_
    script = scenario(templates={"system": "answer_json"})
    (system, _) = answer_prompt(templates, script, (), [], "How long?").messages
    assert system.content == "None"


def test_the_rewrite_prompt_of_a_plain_reply_byte_for_byte() -> None:
    """The lines on other formats leave nothing behind where a reply is plain text."""
    script = scenario()
    (system, _) = rewrite_prompt(shipped(script), script, script.passages, "How long?", "x", ["x"]).messages
    assert (
        "Keep the form of the reply:\n"
        "- at most 40 words\n"
        "- the last line, alone on its line, is exactly: Ref: RL-1\n"
        "- if nothing is left to say, the sentence: It does not say.\n"
        "\n"
        "Answer with the corrected reply and nothing else.\n"
    ) in system.content


@pytest.mark.parametrize("name", ["../secrets", "/etc/passwd", "a.jinja", "", "a b"])
def test_a_template_name_is_no_path(name: str) -> None:
    """A name cannot leave the folders of templates."""
    script = scenario().model_copy(update={"templates": {"system": name}})
    with pytest.raises(TemplateError, match="a name has letters"):
        load_templates([TEMPLATES], [script])


def test_a_missing_template_names_where_it_was_looked_for(tmp_path: Path) -> None:
    """The complaint names file and folders."""
    with pytest.raises(TemplateError, match=f"no file absent.jinja in {tmp_path}"):
        load_templates([tmp_path], [scenario(templates={"system": "absent"})])


def test_a_template_that_is_not_utf8_names_the_byte(tmp_path: Path) -> None:
    """The complaint names the offset of the first wrong byte."""
    (tmp_path / "mine.jinja").write_bytes(b"ab\xff")
    with pytest.raises(TemplateError, match="not UTF-8 at byte 2"):
        load_templates([tmp_path, TEMPLATES], [scenario(templates={"system": "mine"})])
