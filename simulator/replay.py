"""The only conductor: prompt, model, stages, recording.

Attempts run side by side in one pool of threads. Within an attempt the answers follow one another; with ``overlap``
the check of a turn runs beside the answer of the next, which original history allows since no later prompt depends
on what was decided.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from .canonical import digest_json
from .errors import RecordingError, SimulatorError
from .model import Exchange, Model
from .prompt import Prompt, Templates
from .recording import AttemptWriter, RunWriter
from .scenario import Scenario, Turn
from .stages.graded import JudgeCalibration
from .stages.pipeline import ANSWER, REVIEW, CheckBy, Checked, Draft, OnUnsupported, Policy, Route, Stage
from .visible import one_line

__all__ = ["CHECKER_STAGES", "Event", "History", "Result", "Settings", "Stop", "call_seed", "play"]

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
    """stopping: the run was asked to stop. It is the run's, and names no attempt."""
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


class Stop(Protocol):
    """What ends a run before its last turn. Asked again and again, from many threads."""

    @property
    def asked(self) -> bool:
        """Whether nothing more is to be asked; calls in flight are still answered and recorded."""
        ...

    @property
    def at_once(self) -> bool:
        """Whether calls in flight are not waited for either."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class _Never:
    asked: bool = False
    at_once: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Play:
    """What the attempts of a run share."""

    run: RunWriter
    templates: Templates
    answer: Model
    checker: Model
    settings: Settings
    on_event: Callable[[Event], None]
    stop: Stop
    halted: threading.Event
    """Set where the recording cannot be written: there is no use in asking for more."""
    reviewers: ThreadPoolExecutor | None
    """Where overlapped reviews run; None where a review runs in its turn."""

    @property
    def stopping(self) -> bool:
        return self.halted.is_set() or self.stop.asked


def play(
    run: RunWriter,
    scenarios: Sequence[Scenario],
    templates: Templates,
    *,
    answer: Model,
    checker: Model,
    settings: Settings,
    on_event: Callable[[Event], None] = lambda _event: None,
    stop: Stop = _Never(),  # noqa: B008 - frozen
) -> Result:
    """Play every attempt, seal the run and say how the attempts ended.

    After ``stop.at_once`` threads may still wait for a reply; the run is sealed, and what comes is not recorded.
    Raises ``RecordingError`` where the run cannot be written; it is not sealed then.
    """
    overlap = settings.overlap and settings.history == "original"
    pool = ThreadPoolExecutor(settings.concurrency, thread_name_prefix="attempt")
    reviewers = ThreadPoolExecutor(settings.concurrency, thread_name_prefix="review")
    shared = _Play(
        run=run,
        templates=templates,
        answer=answer,
        checker=checker,
        settings=settings,
        on_event=on_event,
        stop=stop,
        halted=threading.Event(),
        reviewers=reviewers if overlap else None,
    )
    attempts = [
        _Attempt(shared, scenario, number) for scenario in scenarios for number in range(1, settings.attempts + 1)
    ]
    try:
        futures = {pool.submit(attempt.play): attempt for attempt in attempts}
        _wait(futures, shared)
        endings = [future.result() if future.done() else attempt.abandon() for future, attempt in futures.items()]
    finally:
        for each in (pool, reviewers):
            each.shutdown(wait=False, cancel_futures=True)
    result = _result(endings)
    run.seal(complete=result.complete)
    return result


_POLL = 0.1
"""Seconds between two looks at what would end the run."""


def _wait(futures: Iterable[Future[_Ending]], shared: _Play) -> None:
    """Wait until every attempt has ended, or is not to be waited for."""
    pending, told = set(futures), False
    while pending and not shared.stop.at_once:
        done, pending = wait(pending, timeout=_POLL, return_when=FIRST_COMPLETED)
        if any(future.exception() for future in done):
            shared.halted.set()
        if shared.stop.asked and not told:
            told = True
            shared.on_event(Event(kind="stopping"))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ending:
    state: EndState
    problem: str = ""


def _result(endings: Sequence[_Ending]) -> Result:
    states = [ending.state for ending in endings]
    return Result(
        finished=states.count("finished"),
        failed=states.count("failed"),
        interrupted=states.count("interrupted"),
        problems=tuple(ending.problem for ending in endings if ending.problem),
    )


class _Attempt:
    """One play of one scenario, turn 1 to the last. What goes wrong in it ends it, and no other."""

    def __init__(self, shared: _Play, scenario: Scenario, number: int) -> None:
        self._shared = shared
        self._scenario = scenario
        self._number = number
        self._turn = 0
        """How far it has come."""
        self._history: list[tuple[str, str]] = []
        self._reviews: list[tuple[int, Future[Draft]]] = []
        """Overlapped ones, each with its turn."""
        self._lock = threading.Lock()
        self._writer: AttemptWriter | None = None
        self._ending: _Ending | None = None

    def play(self) -> _Ending:
        """Play and record, and say how it ended. Raises ``RecordingError`` where that cannot be written."""
        if not self._begin():
            return self.abandon()
        self._tell("attempt started")
        ending = self._end(*self._outcome())
        self._tell("attempt ended", problem=ending.problem)
        return ending

    def abandon(self) -> _Ending:
        """End the attempt here and now; what its calls may still bring is not recorded."""
        return self._end("interrupted", self._turn, "stopped at once, without waiting for the call in flight")

    def _begin(self) -> bool:
        with self._lock:
            if self._ending is None and not self._shared.stopping:
                self._writer = self._shared.run.attempt(self._scenario.scenario, self._number)
            return self._writer is not None

    def _end(self, state: EndState, turn: int, reason: str) -> _Ending:
        """Record the end and close the file, where that has not been done; nothing is written behind it."""
        with self._lock:
            if self._ending is None:
                name = f"{self._scenario.scenario}#{self._number}"
                if self._writer is None:
                    self._ending = _Ending(state="interrupted", problem=f"{name}: not started")
                else:
                    problem = "" if state == "finished" else f"{name}, turn {turn}: {reason}"
                    self._ending = _Ending(state=state, problem=problem)
                    with closing(self._writer):
                        self._writer.end(state=state, turn=turn, reason=reason)
            return self._ending

    def _record(self, write: Callable[[AttemptWriter], object]) -> None:
        with self._lock:
            if self._writer is None or self._ending is not None:
                raise RuntimeError("the attempt has ended")
            write(self._writer)

    def _outcome(self) -> tuple[EndState, int, str]:
        """Play the turns, and return how that ended, at which turn and why."""
        state: EndState
        try:
            state, reason = self._turns()
        except RecordingError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the other attempts go on
            state, reason = "failed", _told(error)
        for turn, review in self._reviews:
            error = review.exception()
            if isinstance(error, RecordingError):
                raise error
            if error is not None:
                return "failed", turn, _told(error)
        return state, self._turn, reason

    def _turns(self) -> tuple[EndState, str]:
        for number, turn in enumerate(self._scenario.turns, start=1):
            if self._shared.stopping:
                return "interrupted", "stopped on request"
            if any(review.done() and review.exception() for _, review in self._reviews):
                return "failed", "the review of an earlier turn broke off"
            self._turn = number
            draft = self._answer(number, turn)
            if not draft.answered:
                return "failed", _why(draft)
            self._history.append((turn.say, self._review(draft)))
        return "finished", ""

    def _answer(self, number: int, turn: Turn) -> Draft:
        draft = Draft(
            scenario=self._scenario,
            templates=self._shared.templates,
            policy=_policy(self._shared.settings),
            number=number,
            turn=turn,
            history=tuple(self._history),
        )
        draft = self._pass(draft, ANSWER)
        self._record(lambda writer: writer.outcome(turn=number, stage="answer", result=_answer_result(draft)))
        return draft

    def _review(self, draft: Draft) -> str:
        """Review the reply, or have it reviewed, and return what later turns see of it."""
        original = draft.text or draft.delivered or ""
        if self._shared.reviewers is not None:
            self._reviews.append((draft.number, self._shared.reviewers.submit(self._reviewed, draft)))
            return original
        reviewed = self._reviewed(draft)
        return (reviewed.delivered or "") if self._shared.settings.history == "delivered" else original

    def _reviewed(self, draft: Draft) -> Draft:
        reviewed = self._pass(draft, REVIEW)
        result = _review_result(reviewed)
        self._record(lambda writer: writer.outcome(turn=draft.number, stage="review", result=result))
        self._tell("turn ended", turn=draft.number)
        return reviewed

    def _pass(self, draft: Draft, stages: Sequence[Stage]) -> Draft:
        def ask(
            stage: str, repeat: int, prompt: Prompt, *, response_format: Mapping[str, Any] | None = None
        ) -> Exchange:
            return self._ask(draft.number, stage, repeat, prompt, response_format)

        for stage in stages:
            draft = stage(draft, ask)
        return draft

    def _ask(
        self,
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
        self._record(
            lambda writer: writer.call(turn=turn, stage=stage, repeat=repeat, exchange=exchange, prompt=prompt)
        )
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


def _told(error: BaseException) -> str:
    """Return in one line what ended an attempt; where it is a fault of this program, with the place of it."""
    if isinstance(error, SimulatorError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    places = [
        f"{path.name}, line {frame.lineno}"
        for frame in frames
        if (path := Path(frame.filename)).is_relative_to(_PACKAGE)
    ]
    return f"{type(error).__name__}: {one_line(str(error)) or 'no message'} ({places[-1] if places else 'elsewhere'})"


_PACKAGE = Path(__file__).parent


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
