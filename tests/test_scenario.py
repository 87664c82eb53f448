from __future__ import annotations

import os
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from simulator.errors import InputError, ScenarioError
from simulator.scenario import (
    Effective,
    Expect,
    Passage,
    Scenario,
    Suite,
    Turn,
    find_scenarios,
    json_schema,
    load_scenario,
    load_suites,
    read_scenario,
    select,
)

FULL = """\
scenario: arches
suite: parks
title: Arches National Park, entrance passes
case_id: PK-3314
facts: {booking_ref: TD-5208}
templates: {system: support}
reply: {format: answer_quote, max_answer_words: 30}
rules:
  max_words: 40
  forbid_money: true
  closing_line: "Ref: {case_id}"
  billing: Our billing team handles anything to do with {booking_ref}.
refusal: 'The park information on {case_id} does not say {"a": 1}.'
holding: Let me check {booking_ref} with a colleague.
admit: {kinds: [policy], as_of: "2026-12-01"}
passages:
  - id: fees
    kind: policy
    effective: {from: "2026-01-01", to: "2026-12-31"}
    source: nps.gov/arch/planyourvisit/fees.htm
    text: |
      A vehicle pass admits {{ everyone }} and {case_id}.

      A motorcycle pass is good for 7 days.
  - id: comment
    text: It is free.
silent_on: [how long a standard vehicle pass is valid]
turns:
  - say: Hello, my booking reference is TD-5208. {booking_ref} {% raw %}
    answer_from: document
    probe: open
  - say: How long is it valid?
    answer_from: document
    expect: {abstain: true}
    as_of: "2026-03-01"
  - say: What was my booking reference?
    answer_from: conversation
    probe: recall
    expect: {contains: [TD-5208], any_of: [a, b], absent: [c], reference: [d]}
"""

SMALL = """\
scenario: small
title: A small one
turns:
  - {say: Hello, answer_from: document}
"""


def problems_of(text: str | bytes) -> list[str]:
    """Return the problems of a file, one after the other, each with its line."""
    with pytest.raises(ScenarioError) as caught:
        read_scenario(text.encode() if isinstance(text, str) else text, "f.yaml")
    return [line.removeprefix("f.yaml:") for line in str(caught.value).split("\n")]


def write(folder: Path, *names: str, suite: str = "parks") -> None:
    """Write a small scenario to each of the named files."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SMALL.replace("small", path.stem) + f"suite: {suite}\n", encoding="utf-8")


def test_every_field_arrives() -> None:
    """A file that uses every field gives each of them, with texts byte for byte."""
    scenario = read_scenario(FULL.encode(), "arches.yaml")
    assert (scenario.scenario, scenario.suite, scenario.case_id) == ("arches", "parks", "PK-3314")
    assert scenario.title == "Arches National Park, entrance passes"
    assert scenario.facts == {"booking_ref": "TD-5208"}
    assert scenario.templates == {"system": "support"}
    assert (scenario.reply.format, scenario.reply.schema_, scenario.reply.max_answer_words) == (
        "answer_quote",
        None,
        30,
    )
    assert (scenario.rules.max_words, scenario.rules.forbid_money) == (40, True)
    assert (scenario.admit.kinds, scenario.admit.as_of) == (("policy",), date(2026, 12, 1))
    assert scenario.passages == (
        Passage(
            id="fees",
            kind="policy",
            effective=Effective.model_validate({"from": date(2026, 1, 1), "to": date(2026, 12, 31)}),
            source="nps.gov/arch/planyourvisit/fees.htm",
            text="A vehicle pass admits {{ everyone }} and {case_id}.\n\nA motorcycle pass is good for 7 days.\n",
        ),
        Passage(id="comment", text="It is free."),
    )
    assert scenario.silent_on == ("how long a standard vehicle pass is valid",)
    assert scenario.turns[0] == Turn(
        say="Hello, my booking reference is TD-5208. {booking_ref} {% raw %}", answer_from="document", probe="open"
    )
    assert scenario.turns[2].expect == Expect(contains=("TD-5208",), any_of=("a", "b"), absent=("c",), reference=("d",))


def test_placeholders_are_filled_in_the_scenarios_own_sentences() -> None:
    """The closing line and the sentences have their names filled in; braces that hold no name stay."""
    scenario = read_scenario(FULL.encode(), "arches.yaml")
    assert scenario.closing_line == "Ref: PK-3314"
    assert scenario.billing_sentence == "Our billing team handles anything to do with TD-5208."
    assert scenario.refusal_sentence == 'The park information on PK-3314 does not say {"a": 1}.'
    assert scenario.holding_sentence == "Let me check TD-5208 with a colleague."


def test_value_that_looks_like_a_placeholder_is_not_filled_again() -> None:
    """A fact is put in as it is, whatever braces it holds."""
    text = SMALL + 'facts: {a: "{b}", b: x}\nrules: {closing_line: "{a} {b}"}\n'
    assert read_scenario(text.encode(), "f.yaml").closing_line == "{b} x"


def test_what_is_not_given() -> None:
    """A scenario of the least fields has no rules, no closing line, and sentences for refusing and holding."""
    scenario = read_scenario(SMALL.encode(), "small.yaml")
    assert scenario.closing_line is None
    assert scenario.billing_sentence is None
    assert scenario.refusal_sentence == scenario.refusal
    assert scenario.holding_sentence == scenario.holding
    assert scenario.as_of(scenario.turn(1)) is None


def test_turns_are_numbered_from_one() -> None:
    """A turn is had by its number, and a number without a turn is refused with those there are."""
    scenario = read_scenario(FULL.encode(), "arches.yaml")
    assert scenario.turn(3) is scenario.turns[2]
    for number in (0, 4, -1):
        with pytest.raises(InputError, match=f"arches has no turn {number}; write one from 1 to 3"):
            scenario.turn(number)


def test_date_of_a_turn_goes_before_that_of_the_scenario() -> None:
    """The date asked about is the turn's own if it has one."""
    scenario = read_scenario(FULL.encode(), "arches.yaml")
    assert [scenario.as_of(turn) for turn in scenario.turns] == [date(2026, 12, 1), date(2026, 3, 1), date(2026, 12, 1)]


def test_all_problems_are_reported_at_once() -> None:
    """Problems of YAML, of fields and of what fields say to each other come together, in the order of the file."""
    text = """\
scenario: 12:30
titel: x
case_id: 0712345
facts: {flag: no}
title: "a\\u0007"
title: !important b
admit: {as_of: 2026-01-01}
rules:
  max_words: 0
  forbid_money: no
  closing_line: {case_id}
passages:
  - {id: a, text: x}
  - {id: a, text: z, effective: {from: "2026-02-01", to: "2026-01-01"}}
turns:
  - say: 12:30
    answer_from: doc
    expect: {contains: [Ref: X, no], abstain: "true"}
  - hello
"""
    assert problems_of(text) == [
        '1: 12:30 is not text to YAML; write "12:30"',
        '2: there is no field "titel" here; write title',
        '3: 0712345 is not text to YAML; write "0712345"',
        '4: no is not text to YAML; write "no"',
        '6: the key "title" stands here and on line 5; keep one of the two',
        "6: the tag !important is not allowed; take it out, and put text that begins with ! in double quotes",
        '7: the date 2026-01-01 is without quotes; write "2026-01-01"',
        "9: 0 is too small; write at least 1",
        "10: no is neither true nor false; write true or false, without quotes",
        '11: a mapping stands where a text is meant; write "{case_id}"',
        "14: it ends on 2026-01-01, before it begins on 2026-02-01; write the earlier date as `from`",
        '16: 12:30 is not text to YAML; write "12:30"',
        "17: \"doc\" is not one of the words; write 'document' or 'conversation'",
        '18: a mapping stands where a text is meant; write "Ref: X"',
        '18: no is not text to YAML; write "no"',
        '18: "true" is neither true nor false; write true or false, without quotes',
        '19: "hello" stands where a mapping is meant; write `key: value` lines, indented',
    ]


@pytest.mark.parametrize(
    ("addition", "problem"),
    [
        ("passages: [{id: a, text: x}, {id: b, text: x}, {id: a, text: x}]", 'passage 1 has the id "a" too'),
        ('passages: [{id: a, text: " \\n"}]', "the text is blank"),
        ("passages: [{id: a, text: ''}]", "the text is blank"),
        ('passages: [{id: a, text: "a\\u0000"}]', "the text holds the character U+0000"),
        ('passages: [{id: a, text: "a\\r\\n"}]', "the text holds the character U+000D"),
        ('passages: [{id: a, text: "a\\ud83d\\ude00"}]', "the text holds the character U+D83D"),
        (f"passages: [{{id: a, text: {'a' * 200_001}}}]", "the text is too long; write at most 200,000 characters"),
        (f"passages: [{'{id: a, text: x},' * 201}]", "the list is too long; write at most 200 entries"),
        (f"refusal: {'a' * 20_001}", "the text is too long; write at most 20,000 characters"),
        ("passages: {id: a}", "a mapping stands where a list is meant"),
        ("passages: [{id: a, txt: x, text: x}]", 'there is no field "txt" here; write text'),
        ("passages: [{id: a}]", "the field `text` is missing; write `text: ...`"),
        ("passages: [{id: a, text: x, effective: {since: x}}]", 'there is no field "since" here; write from or to'),
        ("silent_on: x", '"x" stands where a list is meant'),
        ("rules:", "nothing stands where a mapping is meant"),
        ("suite:", "nothing is written here"),
        ("suite: Parks", '"Parks" cannot be a name here'),
        ("templates: {sytem: support}", '"sytem" cannot be a name here; write system, check or rewrite'),
        ("templates: {system: ../support}", '"../support" cannot be a name here'),
        ("facts: {b-c: x}", '"b-c" cannot be a name here'),
        ("facts: {case_id: x}", "case_id is a field of its own"),
        ("facts: x", '"x" stands where a mapping is meant'),
        (f"facts: {{{', '.join(f'f{n}: x' for n in range(101))}}}", "there are too many facts; write at most 100"),
        (f"facts: {{a: {'x' * 100_000}}}", "the text is too long; write at most 1,000 characters"),
        (f"silent_on: [{'x,' * 201}]", "the list is too long; write at most 200 entries"),
        ("templates: {system: CON}", '"CON" means something else to the file system'),
        (f"templates: {{system: {'a' * 65}}}", '"' + "a" * 60 + '…" cannot be a name here'),
        ('case_id: "a\\nb"', "the text has a line break"),
        ("admit: {kinds: []}", "the list is empty"),
        ("rules: {max_words: 10001}", "10001 is too large; write at most 10,000"),
        ("rules: {closing_line: '{case_id}'}", "{case_id} names nothing; give the scenario a `case_id` or `facts`"),
        ("case_id: a\nfacts: {b: x}\nrules: {billing: '{c}'}", "{c} names nothing; write one of {case_id}, {b}"),
        ("case_id: a\nrefusal: '{{ case_id }}'", "{{ case_id }} names nothing; write one of {case_id}"),
        ("case_id: a\nholding: '{case-id}'", "{case-id} names nothing; write one of {case_id}"),
        ("reply: {format: json}", "format json needs a JSON Schema"),
        ("reply: {schema: {}}", "only replies of format json have a schema"),
        ("reply: {max_answer_words: 3}", "only format answer_quote has it"),
    ],
)
def test_what_is_refused(addition: str, problem: str) -> None:
    """Each of these additions makes one problem, which stands on its line."""
    [found] = problems_of(SMALL + addition + "\n")
    assert found.startswith(f"{SMALL.count(chr(10)) + addition.count(chr(10)) + 1}: {problem}")
    assert "; " in found


@pytest.mark.parametrize(
    ("turns", "problem"),
    [
        ("[]", "3: the list is empty"),
        ("", "3: nothing stands where a list is meant"),
        ("[{say: '', answer_from: document}]", "3: the text is blank"),
        (f"[{{say: {'a' * 20_001}, answer_from: document}}]", "3: the text is too long; write at most 20,000"),
        (f"[{'{say: a, answer_from: document},' * 501}]", "3: the list is too long; write at most 500 entries"),
        ("[{say: a, answer_from: document, expect: {}}]", "3: nothing is expected here"),
        ("\n- say: a", "4: the field `answer_from` is missing"),
        ("\n- say: a\n  answer_from: document\n  as_of: 2026-01-01", "6: the date 2026-01-01 is without quotes"),
    ],
)
def test_what_is_refused_in_turns(turns: str, problem: str) -> None:
    """A scenario has at least one turn and at most 500, and each says something and what it is answered from."""
    [found] = problems_of(f"scenario: small\ntitle: T\nturns: {turns}\n")
    assert found.startswith(problem)


@pytest.mark.parametrize(
    "name", ["Arches", "1st", "a_b", "a/b", "..", "a" * 65, "con", "com1", "templates", "scenarios"]
)
def test_names_that_are_no_file_names(name: str) -> None:
    """A scenario is not called what some file system or a run's folder has no place for."""
    [found] = problems_of(SMALL.replace("small", name, 1))
    assert found.startswith("1: ")


JSON_REPLY = SMALL + "reply:\n  format: json\n  schema:\n    type: object\n    properties:\n      a: "


def test_json_schema_of_a_reply_is_json() -> None:
    """Numbers, truth values and null of the schema are JSON's; quoted ones are texts."""
    text = JSON_REPLY + '{enum: [1, 1.5, true, null, "1", x], default: {$ref: "#/properties/b"}}\n      b: {}\n'
    schema = read_scenario(text.encode(), "f.yaml").reply.schema_
    assert schema is not None
    assert schema["properties"]["a"]["enum"] == [1, 1.5, True, None, "1", "x"]


@pytest.mark.parametrize(
    ("part", "line", "problem"),
    [
        ("{type: strin}", 10, "not a JSON Schema: 'strin' is not valid"),
        ("{pattern: '('}", 10, "the keyword pattern is not taken here: a regular expression may run without end"),
        ("{patternProperties: {'^(a+)+$': {}}}", 10, "the keyword patternProperties is not taken here"),
        ("{propertyNames: {pattern: '^(a+)+$'}}", 10, "the keyword pattern is not taken here"),
        ("{format: date}", 10, "the keyword format is not taken here: nothing would be checked by it"),
        ("{tpye: string}", 10, 'there is no keyword "tpye" here; write type'),
        ("{$id: 'file:///etc/passwd'}", 10, 'there is no keyword "$id" here'),
        ("{$dynamicRef: '#x'}", 10, 'there is no keyword "$dynamicRef" here'),
        ("{$defs: {x: {}}}", 10, "definitions stand at the top of the schema"),
        ("{$ref: 'https://example.com/x'}", 10, '"https://example.com/x" is no definition of this schema; write the'),
        ("{allOf: [{$ref: other.json}]}", 10, '"other.json" is no definition of this schema; write the schema under'),
        ("{$ref: '#/$defs/none'}", 10, '"#/$defs/none" is no definition of this schema'),
        ("{$ref: '#/properties/a'}", 10, '"#/properties/a" is no definition of this schema'),
        ("{$ref: 5}", 10, "not a JSON Schema: 5 is not of type 'string'"),
        ("{default: no}", 10, 'no is neither a text nor a value of JSON; write "no" or null'),
        ('{const: "\\ud800"}', 10, "the text holds the character U+D800"),
    ],
)
def test_json_schemas_that_are_refused(part: str, line: int, problem: str) -> None:
    """A schema that would fail in the middle of a run, or look something up elsewhere, is refused at its line."""
    [found] = problems_of(JSON_REPLY + part + "\n")
    assert found.startswith(f"{line}: {problem}")


def test_a_definition_in_a_circle_is_refused_at_its_line() -> None:
    """A schema without recursion is done with any reply in so many steps."""
    circle = "{}\n    $defs:\n      one: {items: {$ref: '#/$defs/two'}}\n      two: {not: {$ref: '#/$defs/one'}}\n"
    [found] = problems_of(JSON_REPLY + circle)
    assert re.match(
        "1[23]: definitions refer to each other in a circle, (one to two to one|two to one to two); ", found
    )


def test_a_schema_may_have_properties_with_the_names_of_keywords() -> None:
    """What stands under `properties` are names, and what stands under `const` is data."""
    text = JSON_REPLY + "{const: {pattern: '^(a+)+$'}}\n      pattern: {type: string}\n      $ref: {}\n"
    schema = read_scenario(text.encode(), "f.yaml").reply.schema_
    assert schema is not None
    assert set(schema["properties"]) == {"a", "pattern", "$ref"}


def test_a_json_refusal_is_an_object_of_the_schema() -> None:
    """In the other formats it is the sentence; where the schema lets nothing decline it is the sentence too."""
    plain = read_scenario(SMALL.encode(), "f.yaml")
    assert plain.refusal_body == plain.refusal_sentence
    text = JSON_REPLY.replace("a: ", "answer: ") + "{type: [string, 'null']}\n"
    answered = read_scenario(text.encode(), "f.yaml")
    assert answered.refusal_body == '{"answer": "The provided information does not say."}'
    counted = read_scenario((JSON_REPLY.replace("a: ", "answer: ") + "{type: integer}\n").encode(), "f.yaml")
    assert counted.refusal_body == counted.refusal_sentence


def test_problems_of_a_json_schema_come_together() -> None:
    """Each value of the schema that is not JSON is reported at its line."""
    assert [found.split(":")[0] for found in problems_of(JSON_REPLY + "{default: no}\n      b: {default: 0x1}\n")] == [
        "10",
        "11",
    ]


def test_scenarios_made_in_python_are_checked_too() -> None:
    """A scenario that is not read from a file obeys the same rules."""
    turns = (Turn(say="Hello", answer_from="document"),)
    assert Scenario(scenario="small", title="T", turns=turns).turn(1) is turns[0]
    with pytest.raises(ValidationError, match="names nothing"):
        Scenario(scenario="small", title="T", turns=turns, refusal="{nobody}")


def test_load_scenario_wants_the_name_of_the_file(tmp_path: Path) -> None:
    """The file has the name of its scenario, and a difference is reported with all else that is wrong."""
    path = tmp_path / "other.yaml"
    path.write_text(SMALL, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert str(caught.value) == (
        f'{path}:1: the scenario "small" stands in a file called "other"; give both the same name'
    )
    path.rename(tmp_path / "small.yaml")
    assert load_scenario(tmp_path / "small.yaml").scenario == "small"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A file that is missing, a folder, a pipe, or impossible is refused in one line that names it."""
    os.mkfifo(tmp_path / "pipe.yaml")
    for name, words in [
        ("none.yaml", "there is no such file"),
        (".", "this is a folder"),
        ("pipe.yaml", "this is not a regular file"),
        ("a" * 300, "it cannot be read"),
        ("a\x00", "it cannot be read"),
    ]:
        with pytest.raises(ScenarioError, match=words) as caught:
            load_scenario(tmp_path / name)
        assert str(caught.value).isprintable()


def test_find_scenarios(tmp_path: Path) -> None:
    """Every YAML file in the folder and below is found by its name, but not the suites and nothing hidden."""
    write(tmp_path, "b.yaml", "deep/er/a.yml", "suites.yaml", ".hidden/c.yaml", ".d.yaml")
    (tmp_path / "notes.txt").touch()
    (tmp_path / "folder.yaml").mkdir()
    assert find_scenarios(tmp_path) == {"a": tmp_path / "deep/er/a.yml", "b": tmp_path / "b.yaml"}
    assert list(find_scenarios(tmp_path)) == ["a", "b"]


@pytest.mark.parametrize("other", ["x/a.yaml", "a.yml", "x/A.yaml"])
def test_two_files_of_one_name(tmp_path: Path, other: str) -> None:
    """Two files whose names differ in folder, ending or case alone are refused, and both are named."""
    write(tmp_path, "a.yaml", other)
    with pytest.raises(InputError) as caught:
        find_scenarios(tmp_path)
    assert str(tmp_path / "a.yaml") in str(caught.value)
    assert str(tmp_path / other) in str(caught.value)


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    """A missing folder, or a file in its place, is refused by name."""
    (tmp_path / "file").touch()
    for look in (find_scenarios, load_suites):
        for name in ("none", "file"):
            with pytest.raises(InputError, match=f"{name}: there is no such folder"):
                look(tmp_path / name)


def test_load_suites(tmp_path: Path) -> None:
    """Suites come with title and number of turns, or none where any number will do; no file, no suites."""
    assert load_suites(tmp_path) == {}
    (tmp_path / "suites.yaml").write_text(
        "parks:\n  title: Parks\n  turns: 10\nfree: {title: Free}\n", encoding="utf-8"
    )
    assert load_suites(tmp_path) == {
        "parks": Suite(name="parks", title="Parks", turns=10),
        "free": Suite(name="free", title="Free", turns=None),
    }


def test_problems_of_suites(tmp_path: Path) -> None:
    """The file of suites is as strict as a scenario."""
    path = tmp_path / "suites.yaml"
    path.write_text("parks:\n  titel: Parks\n  turns: 0\nBad: {title: no}\n", encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_suites(tmp_path)
    assert str(caught.value).split("\n") == [
        f"{path}:2: the field `title` is missing; write `title: ...`",
        f'{path}:2: there is no field "titel" here; write title',
        f"{path}:3: 0 is too small; write at least 1",
        f'{path}:4: "Bad" cannot be a name here; write a lower-case letter, then lower-case letters, digits and'
        " hyphens, at most 64 in all",
        f'{path}:4: no is not text to YAML; write "no"',
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two scenarios of one suite and one of another."""
    write(tmp_path, "zion.yaml", "arches.yaml")
    write(tmp_path, "short.yaml", suite="tiny")
    (tmp_path / "suites.yaml").write_text("parks: {title: P}\ntiny: {title: T}\nbare: {title: B}\n", encoding="utf-8")
    return tmp_path


def test_select(folder: Path) -> None:
    """Names come in the order given and once, a suite in the order of names, and neither means all."""
    assert select(folder, [], "parks") == [folder / "arches.yaml", folder / "zion.yaml"]
    assert select(folder, [], None) == [folder / "arches.yaml", folder / "short.yaml", folder / "zion.yaml"]
    assert select(folder, ["zion", "short", "zion", str(folder / "zion.yaml")], "parks") == [
        folder / "zion.yaml",
        folder / "short.yaml",
    ]


def test_select_by_path_needs_no_folder(folder: Path) -> None:
    """A path of a YAML file is taken wherever it is."""
    assert select(folder / "none", [str(folder / "zion.yaml")], None) == [folder / "zion.yaml"]


@pytest.mark.parametrize(
    ("names", "suite", "words"),
    [
        (["Arhces", "none"], None, 'there is no scenario "Arhces" here; write arches\n'),
        (["qqqq"], None, 'there is no scenario "qqqq" here; write arches or short or zion'),
        ([], "park", 'suites.yaml: there is no suite "park" here; write parks'),
        ([], "bare", "there is no scenario of the suite bare here"),
        (["none.yaml"], None, "none.yaml: there is no such file"),
        (["."], None, ".: this is a folder"),
        (["arches", "x/arches.yaml"], None, "there is no such file"),
    ],
)
def test_select_what_is_not_there(folder: Path, names: list[str], suite: str | None, words: str) -> None:
    """What is not there is refused with what is nearest to it, or all there is."""
    with pytest.raises(InputError) as caught:
        select(folder, names, suite)
    assert words in str(caught.value)


def test_select_in_a_folder_without_scenarios(tmp_path: Path) -> None:
    """An empty folder is refused, and so is a suite where no suites are named."""
    with pytest.raises(InputError, match="there is no scenario here; write one as NAME"):
        select(tmp_path, [], None)
    with pytest.raises(InputError, match='there is no suite "parks" here; there is none at all'):
        select(tmp_path, [], "parks")


def test_select_refuses_two_files_of_one_name(folder: Path) -> None:
    """Two files that would be recorded as one scenario are not selected together."""
    write(folder / "elsewhere", "zion.yaml")
    (folder / "elsewhere").rename(folder.parent / "elsewhere")
    with pytest.raises(InputError, match="have the same name; rename one of them"):
        select(folder, ["zion", str(folder.parent / "elsewhere" / "zion.yaml")], None)


def test_select_reports_every_broken_file_of_a_folder(folder: Path) -> None:
    """A suite is not played without a scenario whose suite cannot be read."""
    (folder / "bad.yaml").write_text("sute: parks\n", encoding="utf-8")
    (folder / "worse.yaml").write_text("\t", encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        select(folder, [], "parks")
    assert 'bad.yaml:1: there is no field "sute" here; write suite' in str(caught.value)
    assert "worse.yaml:1: a tab stands here" in str(caught.value)


def test_json_schema_for_editors() -> None:
    """The schema is one, takes a full scenario, and refuses an unknown field, a null and an empty list of turns."""
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    validator: Any = Draft202012Validator(schema)
    whole: dict[str, Any] = yaml.safe_load(FULL)
    assert list(validator.iter_errors(whole)) == []
    changes: list[dict[str, Any]] = [{"titel": "x"}, {"suite": None}, {"turns": []}, {"scenario": "A b"}]
    for change in changes:
        assert not validator.is_valid({**whole, **change})
    assert "None" not in str(schema["properties"])


def test_shipped_scenarios_load() -> None:
    """The scenarios of this repository are valid, and their suites exist."""
    folder = Path(__file__).parent.parent / "scenarios"
    suites = load_suites(folder)
    for path in find_scenarios(folder).values():
        assert load_scenario(path).suite in suites


WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs"], include_characters="\n\t"), min_size=1).filter(str.strip)


@settings(max_examples=100)
@given(WORDS, WORDS)
def test_texts_arrive_as_they_were_written(text: str, say: str) -> None:
    """A passage and a message are what was quoted, whatever characters, quotes and braces they hold."""
    content = {
        "scenario": "small",
        "title": "T",
        "passages": [{"id": "a", "text": text}, {"id": "b", "text": "{{ x }}" + text}],
        "turns": [{"say": say, "answer_from": "document"}],
    }
    data = yaml.safe_dump(content, default_style='"', allow_unicode=True).encode()
    scenario = read_scenario(data, "f.yaml")
    assert [passage.text for passage in scenario.passages] == [text, "{{ x }}" + text]
    assert scenario.turn(1).say == say


@settings(max_examples=100)
@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1), min_size=1))
def test_texts_on_lines_of_their_own_arrive_as_they_were_written(lines: list[str]) -> None:
    """A text after `|` is its lines, without the indent, whatever they hold."""
    block = "".join(f"      {line}\n" for line in lines)
    data = f"{SMALL}passages:\n  - id: a\n    text: |\n{block}".encode()
    assert read_scenario(data, "f.yaml").passages[0].text == "".join(f"{line}\n" for line in lines)


PIECES = rb"&a ;*a;!x ;: ;- ;[;};';|;#x; #;? ;no;12:30;<<: ;{x};$ref;\ud800;2026-01-01;---".split(b";")
BREAKS = [b"\t", b"\n", b"\n  ", b'"', b"\r", b"\0", "\u2028".encode()]
CHANGES = st.lists(
    st.tuples(st.integers(0, len(FULL)), st.integers(0, 8), st.sampled_from(PIECES + BREAKS) | st.binary(max_size=2)),
    min_size=1,
    max_size=4,
)


def changed(changes: list[tuple[int, int, bytes]]) -> bytes:
    """Return the full scenario after *changes*: where, how many bytes out, and which bytes in."""
    data = FULL.encode()
    for start, cut, piece in changes:
        data = data[:start] + piece + data[start + cut :]
    return data


@settings(max_examples=300)
@given(st.binary(max_size=60) | CHANGES.map(changed))
def test_any_file_is_a_scenario_or_refused_in_words(data: bytes) -> None:
    """A file of any bytes, and a valid one after a few changes, is read or refused in our words."""
    try:
        read_scenario(data, "f.yaml")
    except ScenarioError as error:
        for line in str(error).split("\n"):
            assert re.fullmatch(r"f\.yaml:[1-9][0-9]*: [^;].*; .+", line)
