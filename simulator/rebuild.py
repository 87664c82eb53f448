"""The requests of a recorded attempt, built again from what a run says it played.

Messages come from the scenario, the templates and the earlier replies; sampling, model and seed from the manifest.
What code chose at play time is taken from the recording: the text that a judge was shown, the words flagged, the
response format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from .errors import RecordingError
from .model import Endpoint, Model, Request, Sampling
from .prompt import Prompt, Templates, answer_prompt, check_prompt, rewrite_prompt
from .recording import AttemptRecord, RecordedCall, RunRecord, problem
from .replay import CHECKER_STAGES, History, call_seed
from .scenario import Passage, Scenario
from .stages.sources import admit

__all__ = ["rebuild"]


class _Endpoint(BaseModel):
    model: str


class _Endpoints(BaseModel):
    answer: _Endpoint
    checker: _Endpoint


class _Settings(BaseModel):
    """What a run says of how its requests were made."""

    history: History
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"]
    fold_system: bool
    send_seed: bool
    answer: Sampling
    checker: Sampling
    endpoints: _Endpoints


@dataclass(frozen=True, kw_only=True, slots=True)
class _Played:
    """One attempt and what it was played from."""

    scenario: Scenario
    templates: Templates
    record: AttemptRecord
    replies: Mapping[int, str]
    """What the model said, by turn."""
    delivered_history: bool

    def passages(self, turn: int) -> tuple[Passage, ...]:
        return admit(self.scenario, self.scenario.turn(turn))

    def seen(self, turn: int) -> str:
        """Return what the turns after *turn* see of it: the reply, or what was delivered."""
        reply = None if self.delivered_history else self.replies.get(turn)
        return self.delivered(turn) if reply is None else reply

    def delivered(self, turn: int) -> str:
        review = self.record.reviews.get(turn)
        if review is None:
            where = f"{self.record.scenario}#{self.record.attempt}"
            raise RecordingError(f"{where}: what turn {turn} delivered is not recorded, and later requests hold it")
        return review.delivered or ""

    def history(self, turn: int) -> Sequence[tuple[str, str]]:
        return [(self.scenario.turn(earlier).say, self.seen(earlier)) for earlier in range(1, turn)]


def rebuild(run: RunRecord, scenario: str, attempt: int) -> Iterator[tuple[RecordedCall, Request]]:
    """Yield every call of an attempt with its request as built again; the two are equal unless somebody changed one.

    Raises ``RecordingError`` where the run does not say what is needed.
    """
    settings = _settings(run)
    record = run.attempt(scenario, attempt)
    played = _Played(
        scenario=run.scenario(scenario),
        templates=run.templates(),
        record=record,
        replies={call.turn: call.reply.text for call in record.calls if call.stage == "answer" and call.reply.text},
        delivered_history=settings.history == "delivered",
    )
    with (
        _model(settings, settings.endpoints.answer, settings.answer) as answer,
        _model(settings, settings.endpoints.checker, settings.checker) as checker,
    ):
        for call in record.calls:
            model = checker if call.stage in CHECKER_STAGES else answer
            seed = call_seed(run.manifest.seed, scenario, attempt, call.turn, call.stage, call.repeat)
            messages = _PROMPTS[call.stage](played, call).messages
            asked_for = call.request.body.get("response_format")
            yield call, model.request(messages, seed=seed, response_format=asked_for)


def _settings(run: RunRecord) -> _Settings:
    try:
        return _Settings.model_validate({**run.manifest.settings, "endpoints": run.manifest.endpoints})
    except ValidationError as error:
        raise RecordingError(f"{run.folder / 'run.json'}: {problem(error)}") from error


def _model(settings: _Settings, asked: _Endpoint, sampling: Sampling) -> Model:
    """Return a model that makes the same requests. It is never asked, so where it would be does not matter."""
    endpoint = Endpoint(
        base_url="http://recorded.invalid/v1",
        model=asked.model,
        max_tokens_field=settings.max_tokens_field,
        fold_system=settings.fold_system,
        send_seed=settings.send_seed,
    )
    return Model(endpoint, sampling)


def _answer(played: _Played, call: RecordedCall) -> Prompt:
    say = played.scenario.turn(call.turn).say
    passages, history = played.passages(call.turn), played.history(call.turn)
    return answer_prompt(played.templates, played.scenario, passages, history, say)


def _check(played: _Played, call: RecordedCall) -> Prompt:
    say, shown = played.scenario.turn(call.turn).say, _given(call, "reply")
    return check_prompt(played.templates, played.scenario, played.passages(call.turn), say, shown)


def _rewrite(played: _Played, call: RecordedCall) -> Prompt:
    say, reply = played.scenario.turn(call.turn).say, played.replies.get(call.turn, "")
    spans = _given(call, "unsupported")
    return rewrite_prompt(played.templates, played.scenario, played.passages(call.turn), say, reply, spans)


def _given(call: RecordedCall, name: str) -> Any:
    """Return what the template of *call* was given as *name*."""
    if name not in call.values:
        raise RecordingError(f"call {call.id}: it is not recorded what its template was given as {name}")
    return call.values[name]


_PROMPTS: Mapping[str, Callable[[_Played, RecordedCall], Prompt]] = {
    "answer": _answer,
    "check": _check,
    "rewrite": _rewrite,
    "recheck": _check,
    "control": _check,
}
