"""Whole plays with the real client against scripted answers: what is sent, what is decided, what is recorded."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from library import LIBRARY, SUPPORTED
from library import REPLIES as SAID

from simulator.canonical import digest_bytes, digest_text
from simulator.embedded import EmbeddedServer
from simulator.model import Endpoint, Model, Sampling
from simulator.prompt import Templates, answer_prompt, load_templates
from simulator.recording import FORMAT, Manifest, RunRecord, create_run, open_run
from simulator.replay import Event, Result, Settings, Stop, call_seed, play
from simulator.scenario import Scenario, read_scenario
from simulator.testing import Answer, ScriptedModel, Step, chat_body
from simulator.transcript import Transcript, TurnReading, read_transcript

TEMPLATES = Path(__file__).parent.parent / "templates"
REPLIES = {**SAID, "And a film": "A film may be kept for 7 days. Late films cost extra.\nRef: RL-1"}
UNSUPPORTED = '{"unsupported": ["Late films cost extra"], "verdict": "unsupported"}'


def stage_of(body: dict[str, Any]) -> str:
    """Return the stage that a request belongs to, by how its last message is built."""
    last = body["messages"][-1]["content"]
    return "rewrite" if "REPLY TO CORRECT" in last else "check" if "REPLY TO CHECK" in last else "answer"


def answers(
    check: Callable[[str], Step] | None = None, rewrite: str = "", replies: dict[str, Step] | None = None
) -> Callable[[dict[str, Any]], Step]:
    """Return a script that answers each stage: *check* is given the text that is to be judged."""
    judge = check or (lambda shown: UNSUPPORTED if "Late films" in shown else SUPPORTED)

    def script(body: dict[str, Any]) -> Step:
        last = body["messages"][-1]["content"]
        match stage_of(body):
            case "check":
                return judge(last.partition("REPLY TO CHECK\n")[2])
            case "rewrite":
                return rewrite
            case _:
                said = {**REPLIES, **(replies or {})}
                return next(reply for question, reply in said.items() if question in last)

    return script


def play_scripted(
    root: Path, script: Callable[[dict[str, Any]], Step], **options: Any
) -> tuple[Result, RunRecord, ScriptedModel]:
    """Play with answers from *script*; return the result, the run and the model with the requests it saw."""
    with ScriptedModel(script) as model:
        result, run = played(root, model, **options)
    return result, run, model


def played(
    root: Path,
    model: Model,
    *,
    source: str = LIBRARY,
    templates: Templates | None = None,
    attempts: int = 1,
    on_event: Callable[[Event], None] = lambda _event: None,
    stop: Stop | None = None,
    **settings: Any,
) -> tuple[Result, RunRecord]:
    """Play *source* against *model*; *settings* replace the usual ones."""
    scenario = read_scenario(source.encode(), "library.yaml")
    texts = templates or load_templates([TEMPLATES], [scenario])
    defaults = {"attempts": attempts, "seed": 7, "concurrency": 2, "overlap": False, "check": "judge"}
    chosen = Settings(**{**defaults, **settings})
    run = create_run(root, manifest_of(scenario, source, texts, attempts), {"library": source.encode()}, texts)
    telling: dict[str, Any] = {"on_event": on_event} if stop is None else {"on_event": on_event, "stop": stop}
    result = play(run, [scenario], texts, answer=model, checker=model, settings=chosen, **telling)
    return result, open_run(run.folder)


def manifest_of(scenario: Scenario, source: str, templates: Templates, attempts: int) -> Manifest:
    """Return a manifest for a play of *scenario*."""
    return Manifest(
        format=FORMAT,
        run="r",
        started="2026-12-01T10:00:00.000Z",
        simulator="0",
        checks=1,
        seed=7,
        attempts=attempts,
        settings={},
        endpoints={"answer": {}, "checker": {}},
        scenarios={scenario.scenario: digest_bytes(source.encode())},
        templates={name: digest_text(text) for name, text in templates.sources.items()},
    )


def turns_of(run: RunRecord, attempt: int = 1) -> tuple[TurnReading, ...]:
    """Return the turns of an attempt as they read back."""
    return read_transcript(run, "library", attempt).turns


def test_a_play_reads_back_turn_by_turn(tmp_path: Path) -> None:
    """Reply, rules, expectation, verdict, decision and delivered text of every turn stand in the transcript."""
    result, run, _ = play_scripted(tmp_path, answers())
    transcript = read_transcript(run, "library", 1)
    book, film, card = transcript.turns
    assert result.complete
    assert transcript.complete
    assert book.reply == "You may keep a book for 21 days.\nRef: RL-1"
    assert (book.verdict.word, book.decision and book.decision.word) == ("supported", "released")
    assert {rule.rule: rule.standing for rule in book.rules} == {"max_words": "kept", "closing_line": "kept"}
    assert film.verdict.spans == ("Late films cost extra",)
    assert film.decision is not None
    assert film.decision.word == "suppressed"
    assert film.delivered == "A film may be kept for 7 days.\nRef: RL-1"
    assert film.expectation.met == film.delivered_expectation.met == "met"
    assert (card.verdict.word, card.decision and card.decision.word) == ("supported", "released")
    assert card.verdict.reason == "the customer stated LC-4471"


def test_a_conversation_turn_never_reaches_the_check(tmp_path: Path) -> None:
    """The recall makes one call, the answer; with --route all it makes a check too."""
    _, run, _ = play_scripted(tmp_path / "tagged", answers())
    assert [call.stage for call in turns_of(run)[2].calls] == ["answer"]
    _, run, _ = play_scripted(tmp_path / "all", answers(), route="all")
    assert [call.stage for call in turns_of(run)[2].calls] == ["answer", "check"]


def test_a_reference_that_the_customer_did_not_state_is_not_delivered(tmp_path: Path) -> None:
    """A conversation turn is held against what the customer said earlier, by rule and without a call."""
    wrong = answers(replies={"card number": "Your card is LC-9999.\nRef: RL-1"})
    _, run, _ = play_scripted(tmp_path, wrong, check="evidence")
    card = turns_of(run)[2]
    assert (card.verdict.word, card.verdict.spans) == ("unsupported", ("LC-9999",))
    assert card.delivered == "It does not say.\nRef: RL-1"
    assert [call.stage for call in card.calls] == ["answer"]


def test_the_evidence_needs_no_checker(tmp_path: Path) -> None:
    """By evidence alone every call is an answer, and each claim stands in the transcript with the rule that decided."""
    invents = answers(replies={"And a film": "A film may be kept for 30 days. Films are due at 9.\nRef: RL-1"})
    _, run, model = play_scripted(tmp_path, invents, check="evidence")
    book, film, _ = turns_of(run)
    assert len(model.requests) == 3
    assert (book.verdict.word, book.judge) == ("supported", None)
    assert book.claims[0].evidence[0].text == "A book may be kept for 21 days."
    assert film.claims[0].rule == "quantity"
    assert film.decision is not None
    assert film.decision.word == "suppressed"
    assert "30 days" not in (film.delivered or "")


def test_with_both_a_quantity_that_no_passage_holds_stands_whatever_the_judge_says(tmp_path: Path) -> None:
    """The judge is asked, and its own verdict is kept beside the evidence."""
    invents = answers(lambda _shown: SUPPORTED, replies={"And a film": "A film may be kept for 30 days.\nRef: RL-1"})
    _, run, _ = play_scripted(tmp_path, invents, check="both")
    film = turns_of(run)[1]
    assert (film.verdict.word, film.evidence and film.evidence.word) == ("unsupported", "unsupported")
    assert (film.judge and film.judge.word) == "supported"


def test_junk_from_every_judge_releases_nothing_that_makes_a_claim(tmp_path: Path) -> None:
    """With a judge alone that never says anything, every document turn is held and the run ends."""
    result, run, _ = play_scripted(tmp_path, answers(lambda _shown: "%&/"), attempts=3)
    assert result.complete
    for number in (1, 2, 3):
        decisions = [turn.decision and turn.decision.word for turn in turns_of(run, number)]
        assert decisions == ["held", "held", "released"]


def test_the_control_is_read_and_decides_nothing(tmp_path: Path) -> None:
    """With --control the document check reads conversation turns too; what it says stands apart."""
    _, run, _ = play_scripted(tmp_path, answers(), check="evidence", control=True)
    card = turns_of(run)[2]
    assert card.control is not None
    assert (card.verdict.word, card.decision and card.decision.word) == ("supported", "released")
    _, run, _ = play_scripted(tmp_path / "judged", answers(), check="judge", control=True)
    assert [call.stage for call in turns_of(run)[2].calls] == ["answer", "control"]


def test_later_turns_see_what_the_model_said(tmp_path: Path) -> None:
    """Original history holds the reply, not what was delivered in its place."""
    _, run, _ = play_scripted(tmp_path, answers())
    request = run.attempt("library", 1).calls[-1].request
    assert "Late films cost extra" in request.messages[4].content
    assert [message.role for message in request.messages] == ["system", *["user", "assistant"] * 2, "user"]


def test_later_turns_see_what_was_delivered_on_request(tmp_path: Path) -> None:
    """Delivered history holds the suppressed text, and a held reply as the holding sentence."""
    junk = answers(lambda shown: "no verdict" if "21 days" in shown else UNSUPPORTED)
    _, run, _ = play_scripted(tmp_path, junk, history="delivered")
    request = run.attempt("library", 1).calls[-1].request
    assert request.messages[2].content == "One moment."
    assert request.messages[4].content == "A film may be kept for 7 days.\nRef: RL-1"


def test_the_judge_sees_no_closing_line(tmp_path: Path) -> None:
    """What is not to be judged is cut out of the text shown, and not mentioned anywhere in the prompt."""
    _, run, _ = play_scripted(tmp_path, answers())
    check = next(call for call in run.attempt("library", 1).calls if call.stage == "check")
    assert all("RL-1" not in message.content for message in check.request.messages)
    assert check.values["reply"] == "You may keep a book for 21 days."


@pytest.mark.parametrize(
    "junk", ["", "maybe", '{"verdict": "fine"}', '{"unsupported": ["xyz"], "verdict": "unsupported"}']
)
def test_an_unusable_judge_holds_the_reply_after_one_fresh_try(tmp_path: Path, junk: str) -> None:
    """Unknown is neither released nor dropped; the judge is asked afresh once, with a seed of its own."""
    _, run, _ = play_scripted(tmp_path, answers(lambda _shown: junk))
    book = turns_of(run)[0]
    first, second = (call for call in book.calls if call.stage == "check")
    assert (first.id, second.id) == ("1.check.0", "1.check.1")
    assert first.seed != second.seed
    assert book.verdict.word == "unknown"
    assert book.decision is not None
    assert book.decision.word == "held"
    assert book.delivered == "One moment."


def test_a_failing_judge_holds_the_reply_and_the_attempt_goes_on(tmp_path: Path) -> None:
    """A checker that answers with an error is a verdict that is missing, not an attempt that failed."""
    result, run, _ = play_scripted(tmp_path, answers(lambda _shown: Answer(status=400, body="no")))
    assert result.complete
    assert [turn.verdict.word for turn in turns_of(run)] == ["unknown", "unknown", "supported"]
    assert turns_of(run)[0].verdict.reason.startswith("failed: HTTP 400")


@pytest.mark.parametrize(
    ("word", "delivered"),
    [
        ("flag", REPLIES["And a film"]),
        ("suppress", "A film may be kept for 7 days.\nRef: RL-1"),
        ("rewrite", "A film may be kept for 7 days.\nRef: RL-1"),
    ],
)
def test_what_is_done_about_an_unsupported_reply(tmp_path: Path, word: str, delivered: str) -> None:
    """Flag delivers it unchanged, suppress takes the sentence out, an acceptable rewrite is delivered."""
    script = answers(rewrite="A film may be kept for 7 days.\nRef: RL-1")
    _, run, _ = play_scripted(tmp_path, script, on_unsupported=word)
    film = turns_of(run)[1]
    assert film.delivered == delivered
    assert film.decision is not None
    assert film.decision.word == {"flag": "flagged", "suppress": "suppressed", "rewrite": "rewritten"}[word]


@pytest.mark.parametrize(
    ("rewrite", "why"),
    [
        ("A film may be kept for 7 days.", "closing_line"),
        ("A film may be kept for 9 days.\nRef: RL-1", '"9'),
        ("Late films cost extra.\nRef: RL-1", "recheck"),
    ],
)
def test_a_rewrite_that_makes_things_worse_is_not_delivered(tmp_path: Path, rewrite: str, why: str) -> None:
    """It falls back to suppression, says which condition failed, and keeps both texts."""
    _, run, _ = play_scripted(tmp_path, answers(rewrite=rewrite), on_unsupported="rewrite")
    film = turns_of(run)[1]
    assert film.decision is not None
    assert film.decision.word == "suppressed"
    assert "rewrite not accepted" in film.decision.reason
    assert why in film.decision.reason
    assert film.rewrite == rewrite
    assert film.delivered == "A film may be kept for 7 days.\nRef: RL-1"


def test_a_truncated_reply_is_not_judged_and_held(tmp_path: Path) -> None:
    """A reply that was cut off makes no check call; its verdict is unknown, and it stays in the history."""
    cut = answers(replies={"And a film": chat_body("A film may be", finish="length")})
    _, run, _ = play_scripted(tmp_path, cut)
    film = turns_of(run)[1]
    assert [call.stage for call in film.calls] == ["answer"]
    assert (film.verdict.word, film.decision and film.decision.word) == ("unknown", "held")
    assert run.attempt("library", 1).calls[-1].request.messages[4].content == "A film may be"


@pytest.mark.parametrize(
    ("step", "state"),
    [
        (chat_body(""), "failed"),
        (Answer(status=400, body={"error": {"message": "no"}}), "failed"),
        (chat_body("x", finish="content_filter"), "refused"),
    ],
)
def test_a_turn_without_a_reply_ends_its_attempt_alone(tmp_path: Path, step: Step, state: str) -> None:
    """Later turns of the attempt are not run, other attempts go on, and the run is incomplete."""
    seen = 0

    def script(body: dict[str, Any]) -> Step:
        nonlocal seen
        if "And a film" in body["messages"][-1]["content"] and stage_of(body) == "answer":
            seen += 1
            if seen == 1:
                return step
        return answers()(body)

    result, run, _ = play_scripted(tmp_path, script, attempts=2, concurrency=1)
    first, second = turns_of(run, 1), turns_of(run, 2)
    assert (result.finished, result.failed, result.complete) == (1, 1, False)
    assert [turn.state for turn in first] == ["played", state, "not_run"]
    assert [turn.state for turn in second] == ["played", "played", "played"]
    assert run.seal is not None
    assert not run.seal.complete


@pytest.mark.parametrize("overlap", [False, True])
def test_a_template_that_breaks_ends_its_attempt_alone(tmp_path: Path, *, overlap: bool) -> None:
    """The attempt is recorded as failed at the turn whose check broke, with why; the others and the seal are whole."""
    sources = {
        "support": "{% block system %}Answer.{% endblock %}",
        "check": "{% block user %}REPLY TO CHECK\n{% if '30 days' in reply %}{{ nothing }}{% endif %}{% endblock %}",
        "rewrite": "{% block user %}x{% endblock %}",
    }
    said: list[Step] = ["You may keep a book for 21 days.", "A film may be kept for 30 days.", "LC-4471", *["x"] * 9]
    script = iter(said)

    def answering(body: dict[str, Any]) -> Step:
        return SUPPORTED if stage_of(body) == "check" else next(script)

    result, run, _ = play_scripted(
        tmp_path, answering, attempts=3, concurrency=1, overlap=overlap, templates=Templates(sources)
    )
    broken = read_transcript(run, "library", 1)
    assert (result.finished, result.failed) == (2, 1), result.problems
    assert result.problems[0].startswith("library#1, turn 2: ")
    assert broken.problem.startswith("failed at turn 2: ")
    assert "nothing" in broken.problem
    assert [read_transcript(run, "library", number).complete for number in (2, 3)] == [True, True]
    assert run.seal is not None
    assert (run.seal.complete, len(run.seal.files)) == (False, 3)


def test_whatever_breaks_ends_its_attempt_alone(tmp_path: Path) -> None:
    """Of an error that nobody foresaw its kind, its words and its place in the program are recorded."""

    def script(body: dict[str, Any]) -> Step:
        if "And a film" in body["messages"][-1]["content"]:
            raise LookupError("no such\nfilm")
        return answers()(body)

    result, run, _ = play_scripted(tmp_path, script, attempts=2, check="evidence")
    assert result.failed == 2
    for number in (1, 2):
        attempt = read_transcript(run, "library", number)
        assert re.fullmatch(r"failed at turn 2: LookupError: no such film \(\w+\.py, line \d+\)", attempt.problem)
        assert attempt.turns[0].state == "played"


@dataclass(kw_only=True, slots=True)
class Stopping:
    """What a run is told while it is played."""

    asked: bool = False
    at_once: bool = False


def test_a_run_that_is_asked_to_stop_records_the_call_in_flight(tmp_path: Path) -> None:
    """The reply that comes after the request to stop is recorded and reviewed, and nothing further is asked."""
    stop, events = Stopping(), list[Event]()

    def script(body: dict[str, Any]) -> Step:
        stop.asked = True
        return answers()(body)

    result, run, model = play_scripted(
        tmp_path, script, attempts=2, concurrency=1, check="evidence", stop=stop, on_event=events.append
    )
    assert (result.interrupted, len(model.requests)) == (2, 1)
    assert result.problems == ("library#1, turn 1: stopped on request", "library#2: not started")
    assert [turn.state for turn in turns_of(run)] == ["played", "not_run", "not_run"]
    assert [event.kind for event in events].count("stopping") == 1


def test_a_run_that_is_stopped_at_once_is_sealed_and_written_no_more(tmp_path: Path) -> None:
    """Calls in flight are not waited for; when their replies come, they are not written behind the end."""
    stop, released, came = Stopping(), threading.Event(), threading.Event()

    def script(body: dict[str, Any]) -> Step:
        if "And a film" not in body["messages"][-1]["content"]:
            return answers()(body)
        stop.asked = stop.at_once = True
        released.wait(60)
        came.set()
        return answers()(body)

    with ScriptedModel(script) as model:
        result, run = played(tmp_path, model, check="evidence", stop=stop)
        path = run.folder / "library/1.jsonl"
        recorded = path.read_bytes()
        released.set()
        assert came.wait(60)
    assert (result.interrupted, result.finished) == (1, 0)
    assert run.seal is not None
    assert run.seal.files["library/1.jsonl"].lines == recorded.count(b"\n")
    assert json.loads(recorded.splitlines()[-1])["kind"] == "end"
    assert path.read_bytes() == recorded
    assert [turn.state for turn in turns_of(run)] == ["played", "not_run", "not_run"]


def test_a_document_turn_without_a_passage_abstains_without_a_call(tmp_path: Path) -> None:
    """The refusal is delivered in the form of a reply, and later turns see it."""
    source = LIBRARY.replace("passages: [{id: lending,", 'passages: [{id: lending, effective: {to: "2025-12-31"},')
    source = source.replace("turns:", 'admit: {as_of: "2026-12-01"}\nturns:')
    _, run, model = play_scripted(tmp_path, answers(), source=source)
    book, _, card = turns_of(run)
    assert book.decision is not None
    assert book.decision.word == "abstained"
    assert (book.reply, book.delivered, book.calls) == (None, "It does not say.\nRef: RL-1", ())
    assert card.reply == "Your card is LC-4471.\nRef: RL-1"
    assert len(model.requests) == 1
    assert model.requests[0].body["messages"][2]["content"] == "It does not say.\nRef: RL-1"


def test_every_recorded_request_is_the_one_that_was_sent(tmp_path: Path) -> None:
    """The bytes that the server saw are those that the recording gives back."""
    _, run, model = play_scripted(tmp_path, answers(rewrite="x"), attempts=2, on_unsupported="rewrite")
    sent = sorted(json.dumps(request.body, sort_keys=True) for request in model.requests)
    read = [call.request.full() for number in (1, 2) for call in run.attempt("library", number).calls]
    assert sorted(json.dumps(body, sort_keys=True) for body in read) == sent


def test_a_request_can_be_built_again_from_the_snapshot(tmp_path: Path) -> None:
    """Scenario and templates of the recording, with the earlier replies, give the answer request again."""
    _, run, _ = play_scripted(tmp_path, answers())
    script, templates = run.scenario("library"), run.templates()
    history: list[tuple[str, str]] = []
    for call in (call for call in run.attempt("library", 1).calls if call.stage == "answer"):
        say = script.turn(call.turn).say
        prompt = answer_prompt(templates, script, script.passages, history, say)
        assert prompt.messages == call.request.messages
        history.append((say, call.reply.text or ""))


def test_seeds_are_those_of_the_call_and_no_two_are_equal(tmp_path: Path) -> None:
    """A seed is a function of run seed, scenario, attempt, turn, stage and repeat."""
    _, run, _ = play_scripted(tmp_path, answers(lambda _shown: "junk"), attempts=3)
    calls = [(number, call) for number in (1, 2, 3) for call in run.attempt("library", number).calls]
    seeds = [call.request.body["seed"] for _, call in calls]
    assert seeds == [call_seed(7, "library", number, call.turn, call.stage, call.repeat) for number, call in calls]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds)


def reading(transcript: Transcript) -> list[tuple[Any, ...]]:
    """Return what matters of a transcript, without times."""
    return [
        (turn.reply, turn.verdict, turn.decision, turn.delivered, tuple(call.request_digest for call in turn.calls))
        for turn in transcript.turns
    ]


def test_overlapping_changes_nothing_that_is_read(tmp_path: Path) -> None:
    """A check that runs beside the next answer gives the same calls and decisions as one that runs before it."""
    _, apart, _ = play_scripted(tmp_path / "apart", answers(), attempts=4)
    _, overlapped, _ = play_scripted(tmp_path / "overlapped", answers(), attempts=4, overlap=True, concurrency=4)
    for number in range(1, 5):
        one, two = (read_transcript(run, "library", number) for run in (apart, overlapped))
        assert reading(one) == reading(two)


def test_progress_tells_of_every_turn_and_attempt(tmp_path: Path) -> None:
    """Events count up to the turns and attempts of the run, and name the tokens of each call."""
    events: list[Event] = []
    play_scripted(tmp_path, answers(), attempts=2, on_event=events.append)
    kinds = [event.kind for event in events]
    assert kinds.count("turn ended") == 6
    assert kinds.count("attempt ended") == 2
    assert kinds.count("call started") == kinds.count("call ended") == 10
    assert sum(event.tokens for event in events) == 50


def test_an_interrupted_attempt_reads_back_as_far_as_it_came(tmp_path: Path) -> None:
    """What was recorded before the file breaks off is there; the rest is not run."""
    _, run, _ = play_scripted(tmp_path, answers())
    (run.folder / "sealed.json").unlink()
    run = open_run(run.folder)
    path = run.folder / "library" / "1.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2])
        transcript = read_transcript(run, "library", 1)
        assert not transcript.complete
        assert transcript.problem == "the recording breaks off in the middle of a line"
        states = [turn.state for turn in transcript.turns]
        assert states == sorted(states, key=["played", "not_run"].index)


def test_a_real_model_is_played_like_any_other(tmp_path: Path, embedded: EmbeddedServer) -> None:
    """Two attempts on the embedded server end with every call answered."""
    endpoint = Endpoint(base_url=embedded.base_url, model=embedded.model_name)
    with Model(endpoint, Sampling(max_tokens=16, temperature=0.5)) as model:
        result, run = played(tmp_path, model, attempts=2, check="both")
    calls = [call for number in (1, 2) for call in run.attempt("library", number).calls]
    assert result.complete
    assert {call.outcome for call in calls} <= {"reply", "truncated"}
    assert {call.reply.model for call in calls} == {embedded.model_name}
    assert all(call.reply.usage.prompt_tokens for call in calls)
    assert len(calls) >= 6
