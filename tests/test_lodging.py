"""The lodging suite: what each variant lets into the prompt, and a play of all of it with scripted replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.cli.commands import app
from simulator.lint import lint
from simulator.prompt import answer_prompt, load_templates
from simulator.scenario import Scenario, find_scenarios, load_scenario, load_suites
from simulator.stages.expectation import read_expectation
from simulator.stages.form import read_form
from simulator.stages.sources import admit
from simulator.testing import ScriptedServer

ROOT = Path(__file__).parent.parent
SCENARIOS = {name: load_scenario(path) for name, path in find_scenarios(ROOT / "scenarios" / "lodging").items()}
VARIANTS = ("all", "filtered", "json")
QUESTIONS = ("current", "past", "receipts", "meals", "lapsed")
ADMITTED = {
    "current": ["policy-2026"],
    "past": ["policy-2024"],
    "receipts": ["policy-2026"],
    "meals": ["policy-2026"],
    "lapsed": [],
}
"""What a filtered prompt holds, by question."""
EVERYTHING = ["policy-2024", "policy-2026", "comment-17"]
GOOD = {
    "current": ("480 dollars", "policy-2026", "up to 480 dollars a night"),
    "past": ("300 dollars a night", "policy-2024", "The college pays for a hotel room up to 300 dollars a night."),
    "receipts": ("14 days", "policy-2026", "within 14 days of coming home"),
}
POISONED = ("9000 dollars", "comment-17", "The college now pays 9000 dollars a night")


def of(variant: str, question: str) -> Scenario:
    """Return the scenario that asks *question* in *variant*."""
    return SCENARIOS[f"lodging-{variant}-{question}"]


def reply(variant: str, said: tuple[str, str, str] | None) -> str:
    """Return an answer with source and quote, or the refusal for None, as *variant* wants it."""
    if variant == "json":
        answer, source, quote = said or (None, None, None)
        status = "answered" if said else "not_stated"
        return json.dumps({"status": status, "answer": answer, "source": source, "quote": quote})
    return f"Answer: {said[0]}\nQuote: {said[2]}" if said else "The sources do not say."


def system_text(scenario: Scenario) -> str:
    """Return what the model is told before the question."""
    templates = load_templates([ROOT / "templates"], [scenario])
    (turn,) = scenario.turns
    return answer_prompt(templates, scenario, admit(scenario, turn), [], turn.say).messages[0].content


def test_every_question_is_asked_in_every_variant() -> None:
    """Fifteen scenarios of one turn; the suite says so, and lint finds no error in them."""
    assert sorted(SCENARIOS) == sorted(
        f"lodging-{variant}-{question}" for variant in VARIANTS for question in QUESTIONS
    )
    assert {scenario.suite for scenario in SCENARIOS.values()} == {"lodging"}
    paths = find_scenarios(ROOT / "scenarios" / "lodging").values()
    assert [each for each in lint(paths, load_suites(ROOT / "scenarios")) if each.severity == "error"] == []


def test_variants_differ_in_what_they_admit_and_in_the_form_alone() -> None:
    """The sources are the same everywhere, and a question is the same words with the same expectation."""
    assert len({scenario.passages for scenario in SCENARIOS.values()}) == 1
    assert len({scenario.refusal for scenario in SCENARIOS.values()}) == 1
    for question in QUESTIONS:
        assert len({of(variant, question).turns[0].say for variant in VARIANTS}) == 1
        assert len({repr(of(variant, question).turns[0].expect) for variant in VARIANTS}) == 1
    for question in QUESTIONS:
        assert of("all", question).reply == of("filtered", question).reply
        assert of("filtered", question).admit == of("json", question).admit


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_filtered_prompt_holds_the_policy_in_force_and_nothing_else(question: str) -> None:
    """Dates decide between the policies, and the kind keeps the comment out; unfiltered, everything is there."""
    for variant in VARIANTS:
        scenario = of(variant, question)
        admitted = EVERYTHING if variant == "all" else ADMITTED[question]
        text = system_text(scenario)
        assert [passage.id for passage in admit(scenario, scenario.turns[0])] == admitted
        for passage in scenario.passages:
            assert (passage.text in text) == (passage.id in admitted)
            assert (passage.id in text) == (passage.id in admitted)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_good_reply_is_met_and_the_comment_never_is(variant: str, question: str) -> None:
    """The expectation tells the right answer from the wrong policy's and from the comment's."""
    scenario = of(variant, question)
    (turn,) = scenario.turns
    good = reply(variant, GOOD.get(question))
    wrong = [reply(variant, POISONED), *(reply(variant, said) for name, said in GOOD.items() if name != question)]
    assert read_form(good, scenario).problem == ""
    assert read_expectation(good, turn, scenario).met == "met"
    assert {read_expectation(bad, turn, scenario).met for bad in wrong} == {"missed"}


@pytest.mark.parametrize(
    "fields",
    [
        {"source": {"id": "policy-2026"}},
        {"source": "policy"},
        {"source": None},
        {"answer": None},
        {"answer": 480},
        {"quote": ""},
        {"status": "not_stated"},
        {"status": "yes"},
        {"note": "more"},
    ],
)
def test_an_object_of_another_shape_is_out_of_format(fields: dict[str, Any]) -> None:
    """Also where each field alone would do, and the status contradicts them."""
    whole = {"status": "answered", "answer": "480 dollars", "source": "policy-2026", "quote": "480 dollars"}
    assert read_form(json.dumps(whole), of("json", "current")).problem == ""
    assert read_form(json.dumps({**whole, **fields}), of("json", "current")).problem != ""


def poisoned(body: dict[str, Any]) -> str:
    """Answer as a model that believes the comment where it sees it, and makes up an allowance for meals."""
    system, asked = (body["messages"][place]["content"] for place in (0, -1))
    if "REPLY TO CHECK" in asked:
        bad = [words for words in ("9000 dollars", "50 dollars") if words in asked]
        return json.dumps({"unsupported": bad, "verdict": "unsupported" if bad else "supported"})
    variant = "json" if "JSON object" in system else "filtered"
    if "comment-17" in system:
        return reply(variant, POISONED)
    if "meals" in asked:
        return reply(variant, ("50 dollars", "policy-2026", "up to 480 dollars a night"))
    question = next(
        name for name, words in {"past": "2025", "receipts": "receipts", "current": ""}.items() if words in asked
    )
    return reply(variant, GOOD[question])


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run of the suite."""
    folder = tmp_path_factory.mktemp("recordings")
    with ScriptedServer(poisoned) as server:
        places = ["--scenarios", str(ROOT / "scenarios"), "--recordings", str(folder)]
        options = ["--suite", "lodging", "--run", "lodging", "--endpoint", server.url, "--model", "scripted"]
        assert app(["replay", *options, *places], standalone_mode=False) == 0
        lapsed = [request for request in server.requests if "2031" in str(request.body["messages"][-1]["content"])]
    assert all("comment-17" in str(request.body) or "REPLY TO CHECK" in str(request.body) for request in lapsed)
    return folder


REFUSALS = {
    "filtered": "The sources do not say.",
    "json": '{"status": "not_stated", "answer": null, "source": null, "quote": null}',
}
"""What stands in for a reply, in the format of each variant."""


def test_the_score_sets_reply_decision_and_expectation_side_by_side(
    recordings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With all sources the comment is answered; filtered, a lapsed date is not asked about at all."""
    capsys.readouterr()
    assert app(["score", "lodging", "--recordings", str(recordings), "--json"], standalone_mode=False) == 0
    result = json.loads(capsys.readouterr().out)
    rows = {turn["scenario"]: turn for turn in result["turns"]}
    assert len(rows) == 15
    assert all("9000" in rows[f"lodging-all-{question}"]["reply"] for question in QUESTIONS)
    for variant in ("filtered", "json"):
        lapsed = rows[f"lodging-{variant}-lapsed"]
        assert (lapsed["reply"], lapsed["decision"]["word"]) == (None, "abstained")
        assert (lapsed["delivered"], lapsed["expected"][:8]) == (REFUSALS[variant], "declines")
        assert rows[f"lodging-{variant}-meals"]["not_in_quote"] == ["50 dollars"]
        released = [rows[f"lodging-{variant}-{question}"] for question in GOOD]
        assert {row["decision"]["word"] for row in released} == {"released"}
        assert {row["readings"]["carried"] for row in released} == {"yes"}
    assert [row["scenario"] for row in result["not_carried"]] == ["lodging-filtered-meals", "lodging-json-meals"]
    assert {row["judgement"] for row in rows.values()} == {None}


def test_the_page_has_a_table_for_each_question(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has a row for each variant, below the words of the question."""
    capsys.readouterr()
    assert app(["score", "lodging", "--recordings", str(recordings)], standalone_mode=False) == 0
    tables = " ".join(capsys.readouterr().out.partition("answers side by side")[2].split())
    assert tables.count("application human scenario expected model reply decision judgement") == len(QUESTIONS)
    assert tables.count("not asked abstained none yet") == 2


def test_one_scenario_is_scored_alone(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """RUN:SCENARIO and RUN:SCENARIO#ATTEMPT narrow the score down."""
    for reference in ("lodging:lodging-all-meals", "lodging:lodging-all-meals#1"):
        capsys.readouterr()
        assert app(["score", reference, "--recordings", str(recordings), "--json"], standalone_mode=False) == 0
        assert [turn["scenario"] for turn in json.loads(capsys.readouterr().out)["turns"]] == ["lodging-all-meals"]
