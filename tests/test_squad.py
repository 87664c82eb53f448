from __future__ import annotations

import json
import os
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.cli.commands import app
from simulator.errors import InputError
from simulator.lint import lint
from simulator.prompt import load_templates
from simulator.scenario import load_scenario, load_suites, read_scenario, select
from simulator.squad import (
    MAX_ANSWER_WORDS,
    Question,
    choose,
    normalised,
    read_squad,
    scenario_text,
    write_scenarios,
)
from simulator.stages.pipeline import rehearse

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("SIMULATOR_SQUAD", ROOT.parent / "shared" / "data" / "squad" / "dev-v2.0-half.json"))
FERRY = 'The ferry "Elke" crosses in 20 minutes: {{ never }} on Sundays. # It is blue.'


def asked(name: str, *answers: str, **fields: Any) -> dict[str, Any]:
    """Return a question as a SQuAD file has it; without answers it is impossible."""
    given = [{"text": answer, "answer_start": 0} for answer in answers]
    whole = {"id": name, "question": f"Question {name}?", "is_impossible": not answers, "answers": given}
    return {**whole, **fields}


def squad_file(folder: Path, *questions: dict[str, Any], version: str = "v2.0", passage: str = FERRY) -> Path:
    """Write a SQuAD file of one article with one passage, and return its path."""
    article = {"title": "Ferries_of_Elm", "paragraphs": [{"context": passage, "qas": list(questions)}]}
    path = folder / "squad.json"
    path.write_text(json.dumps({"version": version, "data": [article]}), encoding="utf-8")
    return path


def question(name: str = "56dd", *answers: str, **fields: Any) -> Question:
    """Return a question about the ferry; *fields* replace what they name."""
    whole = {"id": name, "title": "Ferries_of_Elm", "passage": FERRY, "text": "How long?", "answers": answers}
    return Question(**{**whole, **fields})


def many(count: int) -> list[Question]:
    """Return *count* questions with an answer, and as many without."""
    return [
        *(question(f"a{number}", "20 minutes") for number in range(count)),
        *(question(f"u{number}") for number in range(count)),
    ]


# Reading


def test_questions_are_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Reference answers come once each, plausible ones of an impossible question not at all."""
    plausible = {"plausible_answers": [{"text": "20", "answer_start": 30}]}
    path = squad_file(tmp_path, asked("b", "20 minutes", "20", "20 minutes"), asked("a", **plausible))
    assert read_squad(path) == (
        question("b", "20 minutes", "20", text="Question b?"),
        question("a", text="Question a?"),
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("# A heading", "not SQuAD v2.0 (Invalid JSON"),
        ("{}", "not SQuAD v2.0 (version: Field required)"),
        ('{"version": "v2.0", "data": [{"title": "T"}]}', "data.0.paragraphs: Field required"),
        ('{"version": "1.1", "data": []}', "SQuAD 1.1, which has other fields"),
        ("[" * 100_000, "not SQuAD v2.0"),
        ("\ud800".encode("utf-8", "surrogatepass"), "not SQuAD v2.0"),
    ],
)
def test_another_file_is_refused_in_one_line(tmp_path: Path, content: str | bytes, said: str) -> None:
    """The line names the file and what is wrong with it."""
    path = tmp_path / "other.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read_squad(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ([asked("a", "20", is_impossible=True)], "the question a is marked impossible and has answers"),
        ([asked("a", is_impossible=False)], "the question a has no answer and is not impossible"),
        ([asked("a"), asked("a", "20")], "the id a stands at several questions"),
        ([asked("a", is_impossible=None)], "data.0.paragraphs.0.qas.0.is_impossible"),
    ],
)
def test_questions_that_contradict_themselves_are_refused(
    tmp_path: Path, questions: list[dict[str, Any]], said: str
) -> None:
    """Whether a question has an answer decides what is expected, so the file must be clear about it."""
    with pytest.raises(InputError, match=said):
        read_squad(squad_file(tmp_path, *questions))


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    """The reason is the file system's."""
    with pytest.raises(InputError, match=r"none\.json: cannot be read \(No such file"):
        read_squad(tmp_path / "none.json")


# Choosing


def test_half_of_the_chosen_have_an_answer() -> None:
    """Equal parts, whatever the file has more of, in the order of the names."""
    chosen = choose([*many(10), *(question(f"more{number}") for number in range(50))], 12, seed=3)
    assert sum(bool(each.answers) for each in chosen) == 6
    assert [each.name for each in chosen] == sorted(each.name for each in chosen)


def test_a_choice_follows_from_the_seed_alone() -> None:
    """The order of the file does not matter, another seed chooses others, and a larger choice holds the smaller."""
    questions = many(20)
    chosen = choose(questions, 8, seed=1)
    assert choose(questions[::-1], 8, seed=1) == chosen
    assert choose(questions, 8, seed=2) != chosen
    assert set(chosen) < set(choose(questions, 12, seed=1))


def test_an_answer_longer_than_a_reply_may_be_is_not_asked_for() -> None:
    """A question counts as answerable when one of its reference answers is short enough."""
    long = "one two three four " * MAX_ANSWER_WORDS
    mixed = question("mixed", long, "20 minutes")
    assert mixed in choose([mixed, question("u")], 2, seed=0)
    with pytest.raises(InputError, match="0 questions with an answer, 1 wanted; ask for fewer"):
        choose([question("long", long), question("u")], 2, seed=0)


@pytest.mark.parametrize("count", [-2, 0, 1, 7])
def test_parts_that_cannot_be_equal_are_refused(count: int) -> None:
    """An odd number has no half."""
    with pytest.raises(InputError, match="write an even number from 2"):
        choose(many(10), count, seed=0)


# Writing


def test_a_question_becomes_a_scenario_of_one_turn() -> None:
    """An answer and a quote are asked for, the reference answers expected, and the source is named."""
    scenario = read_scenario(scenario_text(question("56dd", "20 minutes", "20")).encode(), "x")
    (turn,) = scenario.turns
    assert (scenario.scenario, scenario.suite, scenario.title) == ("squad-56dd", "squad", "SQuAD, Ferries of Elm")
    assert (scenario.reply.format, scenario.reply.max_answer_words) == ("answer_quote", MAX_ANSWER_WORDS)
    assert scenario.passages[0].source == "SQuAD v2.0, Ferries_of_Elm, question 56dd"
    assert scenario.passages[0].text == FERRY
    assert turn.expect is not None
    assert (turn.say, turn.expect.reference, turn.expect.abstain) == ("How long?", ("20 minutes", "20"), None)


def test_a_question_without_an_answer_expects_an_abstention() -> None:
    """Nothing else is expected of it."""
    (turn,) = read_scenario(scenario_text(question()).encode(), "x").turns
    assert turn.expect is not None
    assert (turn.expect.abstain, turn.expect.reference) == (True, ())


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), min_size=1).filter(str.strip)


@given(passage=TEXTS, text=TEXTS, answers=st.lists(TEXTS, max_size=3, unique=True))
@settings(max_examples=150, deadline=None)
def test_every_text_survives(passage: str, text: str, answers: list[str]) -> None:
    """Whatever has no control character and is not blank is read back character for character."""
    data = scenario_text(question("56dd", *answers, passage=passage, text=text)).encode()
    scenario = read_scenario(data, "x")
    (turn,) = scenario.turns
    assert (scenario.passages[0].text, turn.say) == (passage, text)
    assert turn.expect is not None
    assert turn.expect.reference == tuple(answers)


@pytest.mark.parametrize("text", ["", "  ", "a bell \x07 rings", "two\r\nlines", "next\x85line", "\ud800"])
def test_a_text_that_no_scenario_holds_is_refused(text: str) -> None:
    """It is not changed to fit; the line names the question."""
    for each in (question(text=text), question("56dd", text), question(passage=text)):
        with pytest.raises(InputError, match=r"^the question 56dd cannot be a scenario: ") as caught:
            scenario_text(each)
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "12:30",
        " leading and trailing ",
        "- a\n- b",
        "it's \"both\" \\ and 'one'",
        "{{ x }} {% y %} {case_id}",
        "a: b # c",
        "line\u2028separator\u00a0\ufeff",
        "\U0001d11e and \u00e9 and e\u0301",
        "word " * 500,
    ],
)
def test_text_that_yaml_would_change_survives(text: str) -> None:
    """Every text is quoted, so that none is a number, a mapping or a comment."""
    scenario = read_scenario(scenario_text(question("56dd", text, passage=text, text=text)).encode(), "x")
    (turn,) = scenario.turns
    assert turn.expect is not None
    assert (scenario.passages[0].text, turn.say, turn.expect.reference) == (text, text, (text,))


@given(st.lists(st.text(), max_size=30, unique=True))
@settings(max_examples=60, deadline=None)
def test_names_are_safe_and_differ_as_ids_do(ids: list[str]) -> None:
    """An id that could not be part of a file name has a digest in its place."""
    names = [question(each).name for each in ids]
    assert len(set(names)) == len(ids)
    assert all(name.isascii() and name == name.lower() and len(name) <= 64 and "/" not in name for name in names)


def test_scenarios_are_written_with_their_suite(tmp_path: Path) -> None:
    """The folder can be linted and played as it is."""
    folder = tmp_path / "deep" / "squad"
    paths = write_scenarios(folder, [question("a1", "20 minutes"), question("B/2")])
    assert [path.name for path in paths] == ["squad-a1.yaml", f"{question('B/2').name}.yaml"]
    assert sorted(select(folder, [], "squad")) == sorted(paths)
    assert [finding for finding in lint(paths, load_suites(folder)) if finding.severity == "error"] == []


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    """Scenarios of two imports are never mixed."""
    (tmp_path / "mine.yaml").write_text("scenario: mine\n", encoding="utf-8")
    with pytest.raises(InputError, match="there are files in it already; name a new folder or an empty one"):
        write_scenarios(tmp_path, [question()])
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    """A file stands where the folder should."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        write_scenarios(tmp_path / "file" / "squad", [question()])


def test_nothing_is_written_if_one_question_cannot_be(tmp_path: Path) -> None:
    """What cannot be a scenario is found before the first file."""
    with pytest.raises(InputError, match="the question bad cannot be a scenario: squad-bad:11: the text holds"):
        write_scenarios(tmp_path / "squad", [question("a1"), question("bad", passage="a bell \x07 rings")])
    assert not (tmp_path / "squad").exists()


# Comparing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Ferry, an 'Elke'.", "ferry elke"),
        ("$1,200.50", "120050"),
        ("a the AN", ""),
        ("theatre and another", "theatre and another"),
        ("twenty-one", "twentyone"),
        ("10\u201320", "10\u201320"),
    ],
)
def test_answers_are_normalised_as_squad_does(text: str, expected: str) -> None:
    """Lower case, then ASCII punctuation, articles and white space; other characters stay."""
    assert normalised(text) == expected


@given(st.text())
@settings(max_examples=100, deadline=None)
def test_no_article_and_no_gap_is_left(text: str) -> None:
    """Words are single-spaced, and none of them is an article or holds ASCII punctuation."""
    left = normalised(text)
    assert set(left.split()).isdisjoint({"a", "an", "the"})
    assert left == " ".join(left.split())
    assert set(left).isdisjoint(string.punctuation)


# The command


def imported(*options: str) -> int:
    """Run ``import squad`` with *options*, and return its status."""
    return app(["import", "squad", *options], standalone_mode=False)


def test_the_command_writes_what_the_library_chooses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says how many, of which seed, and how to play them."""
    path = squad_file(tmp_path, *(asked(f"a{n}", "20 minutes") for n in range(5)), *(asked(f"u{n}") for n in range(5)))
    out = tmp_path / "out"
    assert imported(str(path), "--out", str(out), "--questions", "4", "--seed", "9") == 0
    expected = [each.name for each in choose(read_squad(path), 4, seed=9)]
    assert sorted(file.stem for file in out.glob("squad-*.yaml")) == expected
    printed = " ".join(capsys.readouterr().out.split())
    assert "4 scenarios, half of them with an answer, seed 9" in printed
    assert f"simulator replay --scenarios {out} --suite squad" in printed


# The half development set


@pytest.fixture(scope="module")
def development() -> tuple[Question, ...]:
    """Return the questions of the half development set; skip where it is not there."""
    if not DATA.is_file():
        pytest.skip(f"no SQuAD v2.0 file at {DATA}; set SIMULATOR_SQUAD to one")
    return read_squad(DATA)


def test_real_questions_lint_and_render(development: tuple[Question, ...], tmp_path: Path) -> None:
    """Forty scenarios of real text have no error, and their prompts can be made."""
    paths = write_scenarios(tmp_path / "squad", choose(development, 40, seed=0))
    assert [f for f in lint(paths, load_suites(tmp_path / "squad")) if f.severity == "error"] == []
    for path in paths:
        scenario = load_scenario(path)
        rehearse(scenario, load_templates([ROOT / "templates"], [scenario]))


def test_every_tenth_real_question_survives(development: tuple[Question, ...]) -> None:
    """Passage, question and answers of a real file are read back byte for byte."""
    for each in development[::40]:
        scenario = read_scenario(scenario_text(each).encode(), each.name)
        (turn,) = scenario.turns
        assert turn.expect is not None
        assert (scenario.passages[0].text, turn.say, turn.expect.reference) == (each.passage, each.text, each.answers)
