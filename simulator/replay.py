"""The only conductor: prompt, model, stages, recording.

Attempts run side by side in one pool of threads. Within an attempt the answers follow one another; with ``overlap``
the check of a turn runs beside the answer of the next, which original history allows since no later prompt depends
on what was decided.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from .canonical import digest_json
from .model import Exchange, Model
from .prompt import Prompt, Templates
from .recording import AttemptWriter, RunWriter
from .scenario import Scenario, Turn
from .stages.graded import JudgeCalibration
from .stages.pipeline import ANSWER, REVIEW, CheckBy, Checked, Draft, OnUnsupported, Policy, Route, Stage

__all__ = ["CHECKER_STAGES", "Event", "History", "Result", "Settings", "call_seed", "play"]

CHECKER_STAGES = frozenset({"check", "recheck", "control"})
"""The stages that ask the checker; the others ask the model that answers."""

History = Literal["original", "delivered"]
EndState = Literal["finished", "failed", "interrupted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """How a run is played."""

    attempts: int
    """Of each scenario."""
    seed: int
    concurrency: int
    overlap: bool
    """Whether the check of a turn may run beside the answer of the next. Original history only."""
    check: CheckBy = "evidence"
    judge_calibration: JudgeCalibration | None = None
    on_unsupported: OnUnsupported = "suppress"
    route: Route = "tagged"
    control: bool = False
    history: History = "original"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that a progress display shows."""

    kind: Literal["attempt started", "call started", "call ended", "turn ended", "attempt ended", "stopping"]
    """stopping: the first interrupt came. It is the run's, and names no attempt."""
    scenario: str = ""
    attempt: int = 0
    turn: int = 0
    turns: int = 0
    """Turns of the scenario."""
    stage: str = ""
    tokens: int = 0
    """Completion tokens of a call that ended; 0 where the server reports none."""
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """How the attempts of a run ended."""

    finished: int
    failed: int
    interrupted: int
    problems: tuple[str, ...] = ()
    """One line for each attempt that did not finish."""

    @property
    def complete(self) -> bool:
        """Whether every attempt was played to its last turn."""
        return not (self.failed or self.interrupted)


def call_seed(seed: int, scenario: str, attempt: int, turn: int, stage: str, repeat: int) -> int:
    """Return the seed of a call, 0 to 2^31 - 1: the head of the SHA-256 of the run's seed and the call's place."""
    return int(digest_json([seed, scenario, attempt, turn, stage, repeat])[:8], 16) & 0x7FFFFFFF


@dataclass(frozen=True, kw_only=True, slots=True)
class _Play:
    """What the attempts of a run share."""

    run: RunWriter
    templates: Templates
    answer: Model
    checker: Model
    settings: Settings
    on_event: Callable[[Event], None]
    stop: threading.Event
    reviewers: ThreadPoolExecutor | None
    """Where overlapped reviews run; None where a review runs in its turn."""


def play(
    run: RunWriter,
    scenarios: Sequence[Scenario],
    templates: Templates,
    *,
    answer: Model,
    checker: Model,
    settings: Settings,
    on_event: Callable[[Event], None] = lambda _event: None,
) -> Result:
    """Play every attempt, seal the run and say how the attempts ended.

    A first ``KeyboardInterrupt`` lets the calls in flight finish and be recorded; a second one is raised at once.
    """
    stop = threading.Event()
    overlap = settings.overlap and settings.history == "original"
    attempts = ThreadPoolExecutor(settings.concurrency, thread_name_prefix="attempt")
    reviewers = ThreadPoolExecutor(settings.concurrency, thread_name_prefix="review")
    shared = _Play(
        run=run,
        templates=templates,
        answer=answer,
        checker=checker,
        settings=settings,
        on_event=on_event,
        stop=stop,
        reviewers=reviewers if overlap else None,
    )
    futures = [
        attempts.submit(_Attempt(shared, scenario, number).play)
        for scenario in scenarios
        for number in range(1, settings.attempts + 1)
    ]
    try:
        result = _gather(futures, stop, on_event)
    finally:
        # A second interrupt leaves calls in flight, and does not wait for them.
        for pool in (attempts, reviewers):
            pool.shutdown(wait=False, cancel_futures=True)
    run.seal(complete=result.complete)
    return result


def _gather(futures: Sequence[Future[_Ending]], stop: threading.Event, on_event: Callable[[Event], None]) -> Result:
    """Wait for every attempt. The first interrupt and the first error ask the others to stop, and are waited for."""
    pending = set(futures)
    while pending:
        try:
            done, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
        except KeyboardInterrupt:
            if stop.is_set():
                raise
            stop.set()
            on_event(Event(kind="stopping"))
            continue
        if any(future.exception() for future in done):
            stop.set()
    endings = [future.result() for future in futures]
    states = [ending.state for ending in endings]
    return Result(
        finished=states.count("finished"),
        failed=states.count("failed"),
        interrupted=states.count("interrupted"),
        problems=tuple(ending.problem for ending in endings if ending.problem),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ending:
    state: EndState
    problem: str = ""


@dataclass(kw_only=True, slots=True)
class _Progress:
    """How far an attempt has come."""

    turn: int = 0
    history: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    reviews: list[Future[Draft]] = field(default_factory=list["Future[Draft]"])


class _Attempt:
    """One play of one scenario, turn 1 to the last."""

    def __init__(self, shared: _Play, scenario: Scenario, number: int) -> None:
        self._shared = shared
        self._scenario = scenario
        self._number = number
        self._progress = _Progress()

    def play(self) -> _Ending:
        if self._shared.stop.is_set():
            return _Ending(state="interrupted", problem=f"{self._name}: not started")
        writer = self._shared.run.attempt(self._scenario.scenario, self._number)
        self._tell("attempt started")
        try:
            state, reason = self._turns(writer)
            for review in self._progress.reviews:
                review.result()
            writer.end(state=state, turn=self._progress.turn, reason=reason)
        finally:
            writer.close()
        problem = "" if state == "finished" else f"{self._name}, turn {self._progress.turn}: {reason}"
        self._tell("attempt ended", problem=problem)
        return _Ending(state=state, problem=problem)

    @property
    def _name(self) -> str:
        return f"{self._scenario.scenario}#{self._number}"

    def _turns(self, writer: AttemptWriter) -> tuple[EndState, str]:
        for number, turn in enumerate(self._scenario.turns, start=1):
            if self._shared.stop.is_set():
                return "interrupted", "stopped on request"
            self._progress.turn = number
            draft = self._answer(writer, number, turn)
            if not draft.answered:
                return "failed", _why(draft)
            self._progress.history.append((turn.say, self._review(writer, draft)))
        return "finished", ""

    def _answer(self, writer: AttemptWriter, number: int, turn: Turn) -> Draft:
        draft = Draft(
            scenario=self._scenario,
            templates=self._shared.templates,
            policy=_policy(self._shared.settings),
            number=number,
            turn=turn,
            history=tuple(self._progress.history),
        )
        draft = self._pass(draft, ANSWER, writer)
        writer.outcome(turn=number, stage="answer", result=_answer_result(draft))
        return draft

    def _review(self, writer: AttemptWriter, draft: Draft) -> str:
        """Review the reply, or have it reviewed, and return what later turns see of it."""
        original = draft.text or draft.delivered or ""
        if self._shared.reviewers is not None:
            self._progress.reviews.append(self._shared.reviewers.submit(self._reviewed, writer, draft))
            return original
        reviewed = self._reviewed(writer, draft)
        return (reviewed.delivered or "") if self._shared.settings.history == "delivered" else original

    def _reviewed(self, writer: AttemptWriter, draft: Draft) -> Draft:
        reviewed = self._pass(draft, REVIEW, writer)
        writer.outcome(turn=draft.number, stage="review", result=_review_result(reviewed))
        self._tell("turn ended", turn=draft.number)
        return reviewed

    def _pass(self, draft: Draft, stages: Sequence[Stage], writer: AttemptWriter) -> Draft:
        def ask(
            stage: str, repeat: int, prompt: Prompt, *, response_format: Mapping[str, Any] | None = None
        ) -> Exchange:
            return self._ask(writer, draft.number, stage, repeat, prompt, response_format)

        for stage in stages:
            draft = stage(draft, ask)
        return draft

    def _ask(
        self,
        writer: AttemptWriter,
        turn: int,
        stage: str,
        repeat: int,
        prompt: Prompt,
        response_format: Mapping[str, Any] | None,
    ) -> Exchange:
        model = self._shared.checker if stage in CHECKER_STAGES else self._shared.answer
        seed = call_seed(self._shared.settings.seed, self._scenario.scenario, self._number, turn, stage, repeat)
        self._tell("call started", turn=turn, stage=stage)
        exchange = model.send(model.request(prompt.messages, seed=seed, response_format=response_format))
        writer.call(turn=turn, stage=stage, repeat=repeat, exchange=exchange, prompt=prompt)
        tokens = exchange.reply.usage.completion_tokens or 0
        self._tell("call ended", turn=turn, stage=stage, tokens=tokens)
        return exchange

    def _tell(
        self,
        kind: Literal["attempt started", "call started", "call ended", "turn ended", "attempt ended"],
        *,
        turn: int = 0,
        stage: str = "",
        tokens: int = 0,
        problem: str = "",
    ) -> None:
        self._shared.on_event(
            Event(
                kind=kind,
                scenario=self._scenario.scenario,
                attempt=self._number,
                turn=turn,
                turns=len(self._scenario.turns),
                stage=stage,
                tokens=tokens,
                problem=problem,
            )
        )


def _policy(settings: Settings) -> Policy:
    return Policy(
        check=settings.check,
        judge_calibration=settings.judge_calibration,
        on_unsupported=settings.on_unsupported,
        route=settings.route,
        control=settings.control,
    )


def _why(draft: Draft) -> str:
    if draft.reply is None:
        return "nothing was asked"
    return f"{draft.reply.outcome}: {draft.reply.detail or 'no text came'}"


def _answer_result(draft: Draft) -> dict[str, Any]:
    return {
        "sources": [passage.id for passage in draft.passages],
        "rules": [asdict(result) for result in draft.rules],
        "expectation": asdict(draft.expectation),
    }


def _review_result(draft: Draft) -> dict[str, Any]:
    return {
        **_checked(draft.checked),
        "control": None if draft.control is None else _checked(draft.control),
        "decision": asdict(draft.decision) if draft.decision else None,
        "rewrite": draft.rewrite,
        "rewrite_failures": list(draft.rewrite_failures),
        "removed": list(draft.removed),
        "delivered": draft.delivered,
        "rules": [asdict(result) for result in draft.delivered_rules],
        "expectation": asdict(draft.delivered_expectation),
    }


def _checked(checked: Checked) -> dict[str, Any]:
    return {
        "verdict": asdict(checked.verdict),
        "claims": [asdict(claim) for claim in checked.claims],
        "evidence": asdict(checked.evidence) if checked.evidence else None,
        "judge": asdict(checked.judge) if checked.judge else None,
    }
