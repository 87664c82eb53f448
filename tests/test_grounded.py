"""The grounded suite: passages with one question that they answer and one that they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.evidence.folding import contains, words
from simulator.lint import lint
from simulator.prompt import answer_prompt, load_templates
from simulator.scenario import Scenario, find_scenarios, load_scenario, load_suites
from simulator.squad import MAX_ANSWER_WORDS
from simulator.stages.expectation import read_expectation
from simulator.stages.form import read_form

ROOT = Path(__file__).parent.parent
PATHS = find_scenarios(ROOT / "scenarios" / "grounded")
SCENARIOS = {name: load_scenario(path) for name, path in PATHS.items()}
QUOTING = [
    scenario
    for path in find_scenarios(ROOT / "scenarios").values()
    if (scenario := load_scenario(path)).templates.get("system") == "answer_quote"
]


def answerable(scenario: Scenario) -> bool:
    """Return whether the question has reference answers."""
    expect = scenario.turns[0].expect
    return expect is not None and bool(expect.reference)


@pytest.fixture(params=SCENARIOS)
def grounded(request: pytest.FixtureRequest) -> Scenario:
    """Return each scenario of the suite in turn."""
    return SCENARIOS[request.param]


def test_every_passage_is_asked_about_twice() -> None:
    """Eight subjects, each with a question that is answered and one that is not; lint finds nothing."""
    kinds = {(scenario.passages, answerable(scenario)) for scenario in SCENARIOS.values()}
    assert len(SCENARIOS) == len(kinds) == 16
    assert len({passages for passages, _ in kinds}) == 8
    assert all(name.endswith("-said") == answerable(each) for name, each in SCENARIOS.items())
    assert lint(PATHS.values(), load_suites(ROOT / "scenarios")) == []


def test_a_passage_has_the_length_that_such_passages_have(grounded: Scenario) -> None:
    """One passage of 100 to 140 words, one question."""
    (passage,) = grounded.passages
    assert 100 <= len(words(passage.text)) <= 140
    assert len(grounded.turns) == 1


def test_a_reference_answer_is_a_piece_of_the_passage(grounded: Scenario) -> None:
    """So that it can be quoted; and an answer from it, in its format, is met."""
    (turn,), (passage,) = grounded.turns, grounded.passages
    if not answerable(grounded):
        assert turn.expect is not None
        assert turn.expect.abstain
        assert read_expectation(grounded.refusal_sentence, turn, grounded).met == "met"
        return
    assert turn.expect is not None
    first = turn.expect.reference[0]
    reply = f"Answer: {first}\nQuote: {first}"
    assert contains(passage.text, first)
    assert read_form(reply, grounded).problem == ""
    assert read_expectation(reply, turn, grounded).met == "met"
    assert read_expectation(grounded.refusal_sentence, turn, grounded).met == "missed"


def test_the_prompt_asks_for_the_limit_that_is_read() -> None:
    """The template says how many words an answer may have, in all scenarios that use it."""
    assert {scenario.reply.max_answer_words for scenario in QUOTING} == {MAX_ANSWER_WORDS}
    scenario = QUOTING[0]
    templates = load_templates([ROOT / "templates"], [scenario])
    (message, _) = answer_prompt(templates, scenario, scenario.passages, [], "?").messages
    assert f"in at most {MAX_ANSWER_WORDS} words" in message.content
    assert message.content.endswith(f"\n{scenario.refusal_sentence}")
