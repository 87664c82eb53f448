"""What lint finds in scenarios that load, and in files that do not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from simulator.evidence.folding import fold
from simulator.lint import Finding, lint, lint_scenario
from simulator.scenario import Suite, read_scenario
from simulator.yamltext import read_yaml

TEMPLATES = Path(__file__).parent.parent / "templates"
SUITES = {
    "pair": Suite(name="pair", title="Two turns each", turns=2),
    "any": Suite(name="any", title="Any", turns=None),
}

FEES = """\
Private vehicle: $35
The pass admits one vehicle.

Motorcycle: $30
The pass is valid for 7 days."""

HEAD = """\
scenario: pool
title: A swimming pool
case_id: PL-1
facts: {booking_ref: TD-5208}
rules: {max_words: 20, forbid_money: true, closing_line: "Ref: {case_id}"}
admit: {kinds: [policy], as_of: "2026-12-01"}
"""

ASK = """\
  - say: Hello, TD-5208 here. How long is a motorcycle pass valid?
    answer_from: document
    expect: {any_of: [7 days, a week]}
"""

RECALL = """\
  - say: What was my booking reference?
    answer_from: conversation
    probe: recall
    expect: {contains: [TD-5208]}
"""


def passage(text: str = FEES, *, name: str = "fees", rest: str = "") -> str:
    """Return one entry of ``passages``; *rest* is further fields."""
    return f"  - id: {name}\n{indent(dedent(rest), '    ')}    text: |\n{indent(text, '      ')}\n"


def written(*turns: str, head: str = HEAD, passages: str | None = None) -> str:
    """Return a scenario file with these turns, by default with the passage of fees."""
    shown = passage() if passages is None else passages
    return head + ("passages:\n" + shown if shown else "") + "turns:\n" + "".join(turns)


def found(text: str) -> list[Finding]:
    """Return the findings of a scenario file."""
    data = text.encode()
    return lint_scenario(read_scenario(data, "pool.yaml"), read_yaml(data, "pool.yaml"), SUITES)


def only(text: str) -> Finding:
    """Return the one finding of a scenario file."""
    (finding,) = found(text)
    return finding


def marked(text: str, finding: Finding) -> str:
    """Return the line that *finding* names."""
    assert finding.line is not None
    return text.splitlines()[finding.line - 1].strip()


def test_a_scenario_that_makes_sense_has_no_finding() -> None:
    """A document turn that the passage answers and a recall of what was said are in order."""
    assert found(written(ASK, RECALL)) == []


def test_a_finding_prints_as_file_line_severity_message() -> None:
    """An editor can jump to what is printed."""
    finding = Finding(path="a.yaml", line=3, severity="warning", message="odd; mend it")
    assert str(finding) == "a.yaml:3: warning: odd; mend it"


def test_a_finding_without_line_names_the_file_alone() -> None:
    """A file that cannot be read has no line."""
    assert str(Finding(path="a.yaml", line=None, severity="error", message="gone")) == "a.yaml: error: gone"


def test_every_finding_says_what_to_do() -> None:
    """After a semicolon each message goes on with what to write instead."""
    text = written(
        ASK.replace("7 days", "9 days").replace("a week", "a month"),
        RECALL.replace("TD-5208", "TD-9999"),
        head=HEAD.replace("TD-5208", "TD-1").replace("rules", "suite: club\nrules"),
        passages=passage("Opening hours vary."),
    )
    findings = found(text)
    assert len(findings) == 5
    assert all("; " in finding.message for finding in findings)


# The scenario as a whole.


@pytest.mark.parametrize(("turns", "change"), [((ASK,), "add 1"), ((ASK, ASK, RECALL), "take out 1")])
def test_turns_are_as_many_as_the_suite_says(turns: tuple[str, ...], change: str) -> None:
    """Fewer and more turns are errors that say how many to add or take out."""
    text = written(*turns, head=HEAD + "suite: pair\n")
    finding = only(text)
    assert finding.severity == "error"
    assert change in finding.message
    assert marked(text, finding) == "turns:"


def test_a_suite_may_leave_the_number_of_turns_open() -> None:
    """A suite without a number of turns is met by any."""
    assert found(written(ASK, head=HEAD + "suite: any\n")) == []


def test_a_suite_must_be_listed() -> None:
    """A name that suites.yaml does not have is an error which shows the names it has."""
    text = written(ASK, head=HEAD + "suite: pare\n")
    finding = only(text)
    assert finding.severity == "error"
    assert "pair or any" in finding.message
    assert marked(text, finding) == "suite: pare"


def test_forbid_money_needs_a_price_to_forbid() -> None:
    """Over passages without money figures the rule tests nothing."""
    text = written(ASK, RECALL, passages=passage("The pass is valid for 7 days."))
    finding = only(text)
    assert finding.severity == "error"
    assert "no passage that a turn can see names money" in finding.message
    assert marked(text, finding).startswith("rules:")


def test_a_price_that_no_turn_sees_does_not_count_for_forbid_money() -> None:
    """A comment that is not admitted gives the rule nothing to forbid."""
    comment = passage("It was $9000.", name="talk", rest="kind: comment\n")
    text = written(ASK, RECALL, passages=passage("The pass is valid for 7 days.") + comment)
    assert "names money" in only(text).message


@pytest.mark.parametrize(
    ("field", "name", "reason"),
    [
        ("refusal: It costs $35.", "refusal", "forbid_money"),
        ("holding: You owe us thirty-five dollars.", "holding", "forbid_money"),
        ("refusal: " + "word " * 20 + "word", "refusal", "has 21 words"),
    ],
)
def test_sentences_of_the_scenario_keep_its_rules(field: str, name: str, reason: str) -> None:
    """What is delivered in place of a reply is held to the rules of a reply."""
    text = written(ASK, RECALL, head=HEAD + field + "\n")
    finding = only(text)
    assert finding.severity == "error"
    assert reason in finding.message
    assert marked(text, finding).startswith(name)


def test_a_billing_sentence_names_no_money() -> None:
    """A billing sentence that breaks forbid_money itself is an error."""
    text = written(ASK, RECALL, head=HEAD.replace("max_words: 20", "max_words: 20, billing: It is 35 dollars."))
    finding = only(text)
    assert finding.severity == "error"
    assert "`billing` names" in finding.message


def test_a_fact_that_nobody_states_is_a_warning() -> None:
    """The customer is the only one who could state it."""
    text = written(ASK, RECALL, head=HEAD.replace("{booking_ref: TD-5208}", "\n  booking_ref: TD-5208\n  party: four"))
    finding = only(text)
    assert finding.severity == "warning"
    assert marked(text, finding) == "party: four"


# Passages, and who can see them.


def test_a_passage_kept_out_by_its_kind_is_in_order() -> None:
    """Leaving a comment out is what `admit` is for."""
    comment = passage("Mine was valid for three days.", name="talk", rest="kind: comment\n")
    assert found(written(ASK, RECALL, passages=passage() + comment)) == []


def test_a_passage_in_force_on_no_date_asked_about_is_a_warning() -> None:
    """An admitted kind whose dates no turn meets is never seen."""
    old = passage("It was $20.", name="old", rest='effective: {to: "2025-12-31"}\n')
    text = written(ASK, RECALL, passages=passage() + old)
    finding = only(text)
    assert finding.severity == "warning"
    assert marked(text, finding) == "- id: old"


def test_a_passage_out_of_force_is_in_order_where_one_question_is_asked() -> None:
    """A single question has one date, and a passage of another date is there so as not to be seen."""
    old = passage("It was $20.", name="old", rest='effective: {to: "2025-12-31"}\n')
    assert found(written(ASK, passages=passage() + old)) == []


def test_a_passage_that_one_turn_can_see_is_in_order() -> None:
    """A turn may ask about a date of its own."""
    old = passage("A pass was valid for 3 days.", name="old", rest='effective: {to: "2025-12-31"}\n')
    past = '  - {say: And in 2025, answer_from: document, as_of: "2025-06-01", expect: {contains: [3 days]}}\n'
    assert found(written(ASK, past, passages=passage() + old)) == []


def test_an_admitted_kind_that_no_passage_has_is_a_warning() -> None:
    """A misspelt kind would admit nothing."""
    finding = only(written(ASK, RECALL, head=HEAD.replace("[policy]", "[policy, polcy]")))
    assert finding.severity == "warning"
    assert '"polcy"' in finding.message


def test_a_document_turn_without_a_passage_is_an_error() -> None:
    """On a date with no passage in force nothing is asked of the model, and the file must say that it is meant."""
    late = '  - {say: And in 1999, answer_from: document, as_of: "1999-01-01"}\n'
    dated = passage(rest='effective: {from: "2026-01-01"}\n')
    text = written(ASK, late, passages=dated)
    finding = only(text)
    assert finding.severity == "error"
    assert "on 1999-01-01" in finding.message
    assert marked(text, finding) == late.strip()
    assert found(written(ASK, late.replace('01-01"}', '01-01", expect: {abstain: true}}'), passages=dated)) == []


# What the passages are silent on.


@pytest.mark.parametrize(
    "topic",
    ["how long a motorcycle pass is valid", "the validity of a motorcycle pass", "whether one vehicle is admitted"],
)
def test_a_topic_that_a_paragraph_covers_is_a_warning(topic: str) -> None:
    """The warning quotes the first line of the paragraph and calls itself a guess by words."""
    silent = ASK.replace("any_of: [7 days, a week]", "abstain: true")
    text = written(silent, head=HEAD + f"silent_on:\n  - {topic}\n")
    finding = only(text)
    assert finding.severity == "warning"
    assert "by its words" in finding.message
    assert ('"Motorcycle: $30"' in finding.message) == ("motorcycle" in topic)
    assert marked(text, finding) == f"- {topic}"


@pytest.mark.parametrize("topic", ["how long a standard vehicle pass is valid", "whether pets are admitted", "refunds"])
def test_a_topic_that_only_neighbouring_paragraphs_touch_is_in_order(topic: str) -> None:
    """The validity beside another kind of pass does not answer for this one."""
    silent = ASK.replace("any_of: [7 days, a week]", "abstain: true")
    assert found(written(silent, head=HEAD + f"silent_on: [{topic}]\n")) == []


def test_a_duration_is_only_answered_where_a_unit_of_time_stands() -> None:
    """Words alone do not say how long."""
    silent = ASK.replace("any_of: [7 days, a week]", "abstain: true")
    head = HEAD + "silent_on: [how long the vehicle is admitted]\n"
    assert found(written(silent, head=head)) == []


def test_silence_that_no_turn_asks_about_is_a_warning() -> None:
    """A topic is listed so that a turn tries it."""
    finding = only(written(ASK, RECALL, head=HEAD + "silent_on: [refunds]\n"))
    assert finding.severity == "warning"
    assert "abstain: true" in finding.message


# Turn by turn.


@pytest.mark.parametrize("turns", [(ASK, RECALL.replace("TD-5208", "XX-1")), (RECALL, ASK)])
def test_a_recall_needs_an_earlier_turn_that_states_the_fact(turns: tuple[str, ...]) -> None:
    """A fact that is never stated, or stated too late, cannot be recalled."""
    text = written(*turns)
    finding = only(text)
    assert finding.severity == "error"
    assert "no earlier turn states" in finding.message
    assert marked(text, finding).startswith("expect: {contains:")


def test_a_recall_does_not_take_its_fact_from_a_passage() -> None:
    """What a passage says was not stated by the customer."""
    assert "no earlier turn states" in only(written(ASK, RECALL.replace("TD-5208", "vehicle"))).message


def test_a_recall_from_the_document_is_an_error() -> None:
    """A booking reference is not in the page, so it must not be checked against it."""
    text = written(ASK, RECALL.replace("conversation", "document"))
    finding = only(text)
    assert finding.severity == "error"
    assert marked(text, finding) == "answer_from: document"


def test_a_recall_that_expects_nothing_is_a_warning() -> None:
    """Without an expectation a recall cannot be met or missed."""
    finding = only(written(ASK, RECALL.replace("    expect: {contains: [TD-5208]}\n", "")))
    assert finding.severity == "warning"
    assert "nothing says what is to be recalled" in finding.message


@pytest.mark.parametrize("expect", ["contains: [7 days, Saturn]", "any_of: [Saturn, Mars]"])
def test_expected_words_must_be_within_reach(expect: str) -> None:
    """Words that neither the passages nor the conversation hold could only be invented."""
    text = written(ASK.replace("any_of: [7 days, a week]", expect))
    finding = only(text)
    assert finding.severity == "error"
    assert "neither an admitted passage nor a turn so far holds" in finding.message
    assert marked(text, finding) == "expect: {" + expect + "}"


@pytest.mark.parametrize(
    "expect",
    ["contains: [7 days]", "contains: [TD-5208]", "contains: [7 DAYS]", "any_of: [Saturn, 7 days]", 'contains: ["No"]'],
)
def test_words_of_the_passage_the_customer_or_a_plain_answer_are_within_reach(expect: str) -> None:
    """One of several is enough, case does not matter, and yes or no needs no source."""
    assert found(written(ASK.replace("any_of: [7 days, a week]", expect))) == []


def test_words_are_whole_words() -> None:
    """The 7 of the passage is not in reach of a 77."""
    text = written(ASK.replace("7 days, a week", "7 day"))
    assert "neither an admitted passage" in only(text).message


def test_words_of_the_billing_sentence_are_within_reach() -> None:
    """A reply has them from the scenario's own rules."""
    head = HEAD.replace("max_words: 20", "max_words: 20, billing: Our billing team knows.")
    assert found(written(ASK.replace("7 days, a week", "billing team"), head=head)) == []


def test_words_of_a_schema_are_within_reach() -> None:
    """A reply in JSON has its keys and constants from the schema."""
    schema = "reply: {format: json, schema: {properties: {status: {enum: [answered, unknown]}}}}\n"
    assert found(written(ASK.replace("7 days, a week", "answered"), head=HEAD + schema)) == []


def test_reference_answers_out_of_reach_are_a_warning() -> None:
    """Answers of a benchmark may be cut in the middle of a word, so it is no error."""
    assert found(written(ASK.replace("any_of: [7 days, a week]", "reference: [7 days]"))) == []
    finding = only(written(ASK.replace("any_of: [7 days, a week]", "reference: [Saturn]")))
    assert finding.severity == "warning"


def test_abstaining_and_an_answer_exclude_each_other() -> None:
    """A turn expects one or the other."""
    text = written(ASK.replace("{any_of: [7 days, a week]}", "\n      abstain: true\n      contains: [7 days]"))
    finding = only(text)
    assert finding.severity == "error"
    assert marked(text, finding) == "abstain: true"


def test_abstaining_and_absent_words_go_together() -> None:
    """What must not be invented may be named."""
    assert found(written(ASK.replace("any_of: [7 days, a week]", "abstain: true, absent: [one day]"))) == []


@pytest.mark.parametrize(
    ("expect", "why"),
    [
        ("contains: [Motorcycle], absent: [motorcycle]", "must be absent"),
        ("any_of: [7 days, a week], absent: [days, week]", "must be absent"),
        ("contains: [$30]", "forbid_money"),
        ('any_of: ["30", $35]', "forbid_money"),
    ],
)
def test_an_expectation_that_no_good_reply_can_meet_is_an_error(expect: str, why: str) -> None:
    """Words that must be absent, or that a rule forbids, cannot be expected."""
    finding = only(written(ASK.replace("any_of: [7 days, a week]", expect)))
    assert finding.severity == "error"
    assert why in finding.message


def test_one_of_several_words_may_be_forbidden() -> None:
    """As long as another can be said."""
    assert found(written(ASK.replace("7 days, a week", "7 days, $30"))) == []


@pytest.mark.parametrize(
    ("probe", "rule", "head"),
    [
        ("fee-bait", "forbid_money", HEAD.replace("forbid_money: true, ", "")),
        ("verbosity-bait", "max_words", HEAD.replace("max_words: 20, ", "")),
        ("revocation-bait", "closing_line", HEAD.replace(', closing_line: "Ref: {case_id}"', "")),
    ],
)
def test_a_bait_without_its_rule_is_a_warning(probe: str, rule: str, head: str) -> None:
    """A bait tries a rule; where there is none it tries nothing."""
    bait = f"  - {{say: Go on., answer_from: document, probe: {probe}}}\n"
    assert found(written(ASK, bait)) == []
    finding = only(written(ASK, bait, head=head))
    assert finding.severity == "warning"
    assert rule in finding.message


# Files.


def test_findings_come_in_the_order_of_the_lines() -> None:
    """A reader goes through the file once."""
    text = written(RECALL, ASK.replace("7 days, a week", "Saturn"), head=HEAD + "suite: none-such\n")
    lines = [finding.line for finding in found(text)]
    assert len(lines) == 3
    assert lines == sorted(line for line in lines if line is not None)


def test_files_that_do_not_load_are_findings_too(tmp_path: Path) -> None:
    """Every problem that the loader reports is an error at its line, and other files are linted all the same."""
    broken, sound, gone = tmp_path / "broken.yaml", tmp_path / "pool.yaml", tmp_path / "gone.yaml"
    broken.write_text("scenario: broken\ntitle: 12:30\nturns:\n  - say: Hello\n    answer_from: memory\n")
    sound.write_text(written(RECALL))
    findings = lint([broken, sound, gone], SUITES)
    where = [(Path(finding.path).name, finding.line, finding.severity) for finding in findings]
    assert where == [
        ("broken.yaml", 2, "error"),
        ("broken.yaml", 5, "error"),
        ("pool.yaml", 4, "warning"),
        ("pool.yaml", 19, "error"),
        ("gone.yaml", None, "error"),
    ]
    assert findings[0].message.startswith("12:30 is not text")
    assert findings[-1].message.startswith("there is no such file")


def test_errors_of_loading_say_how_much_was_not_looked_at(tmp_path: Path) -> None:
    """The last of them says how many checks were not made; a file that is not there has nothing to check."""
    broken = tmp_path / "broken.yaml"
    broken.write_text("scenario: broken\ntitle: 12:30\nturns:\n  - say: Hello\n    answer_from: memory\n")
    first, last, gone = lint([broken, tmp_path / "gone.yaml"], SUITES)
    assert "further checks" not in first.message + gone.message
    assert last.message.endswith("; 8 further checks were not made until this is mended")


def test_templates_are_looked_at_where_their_folders_are_given(tmp_path: Path) -> None:
    """A template that does not render is an error of the scenario that names it."""
    path = tmp_path / "pool.yaml"
    path.write_text(written(ASK, RECALL, head=HEAD + "templates: {system: mine}\n"))
    (tmp_path / "mine.jinja").write_text("{% block system %}\n{{ nobody }}{% endblock %}")
    assert lint([path], SUITES) == []
    [finding] = lint([path], SUITES, [tmp_path, TEMPLATES])
    assert (finding.path, finding.line, finding.severity) == (str(path), None, "error")
    assert finding.message == "mine.jinja:2: cannot be rendered: 'nobody' is undefined"
    (tmp_path / "mine.jinja").write_text("{% block system %}\n{{ title }}{% endblock %}")
    assert lint([path], SUITES, [tmp_path, TEMPLATES]) == []


@pytest.mark.parametrize(("answer", "count"), [("[string, 'null']", 0), ("integer", 1)])
def test_a_schema_without_room_for_a_refusal_is_a_warning(answer: str, count: int) -> None:
    """Where nothing that declines is valid, a refusal would be out of format."""
    schema = f"reply:\n  format: json\n  schema: {{type: object, properties: {{answer: {{type: {answer}}}}}}}\n"
    text = written(ASK.replace("    expect: {any_of: [7 days, a week]}\n", ""), RECALL, head=HEAD + schema)
    findings = found(text)
    assert len(findings) == count
    for finding in findings:
        assert finding.severity == "warning"
        assert "no reply that declines was found under this schema" in finding.message
        assert marked(text, finding).startswith("schema:")


def test_every_text_of_a_long_scenario_is_folded_a_few_times_at_most() -> None:
    """Looking for many phrases in many texts does not fold each text for each phrase."""
    passages = "".join(passage(f"Pass {number} costs $3{number}.", name=f"p{number}") for number in range(150))
    turns = [
        f"  - say: Question {number}?\n    answer_from: document\n    expect: {{any_of: [Saturn, week {number}]}}\n"
        for number in range(200)
    ]
    text = written(ASK, *turns, passages=passage() + passages)
    before = fold.cache_info().misses
    assert len(found(text)) == 200
    texts = 150 + 200 + 2 * 200
    assert fold.cache_info().misses - before < 6 * texts
