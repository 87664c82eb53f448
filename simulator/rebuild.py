"""The requests of a recorded attempt, built again from what a run says it played.

Messages come from the scenario, the templates and the earlier replies; sampling, model and seed from the manifest.
What code chose at play time is taken from the recording: the text that a judge was shown, the words flagged, the
response format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .model import Endpoint, Model, Request, Sampling
from .prompt import Prompt, Templates, answer_prompt, check_prompt, rewrite_prompt
from .recording import AttemptRecord, RecordedCall, RunRecord
from .replay import CHECKER_STAGES, call_seed
from .scenario import Passage, Scenario
from .stages.sources import admit

__all__ = ["rebuild"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Played:
    """One attempt and what it was played from."""

    scenario: Scenario
    templates: Templates
    record: AttemptRecord
    delivered_history: bool

    def passages(self, turn: int) -> tuple[Passage, ...]:
        return admit(self.scenario, self.scenario.turn(turn))

    def reply(self, turn: int) -> str:
        """Return the reply of *turn*; what was delivered where nothing was asked."""
        answers = (call for call in self.record.calls if call.turn == turn and call.stage == "answer")
        answer = next(answers, None)
        return (answer.reply.text if answer else None) or self.delivered(turn)

    def delivered(self, turn: int) -> str:
        return self.record.outcomes[turn, "review"]["delivered"]

    def history(self, turn: int) -> Sequence[tuple[str, str]]:
        seen = self.delivered if self.delivered_history else self.reply
        return [(self.scenario.turn(earlier).say, seen(earlier)) for earlier in range(1, turn)]


def rebuild(run: RunRecord, scenario: str, attempt: int) -> Iterator[tuple[RecordedCall, Request]]:
    """Yield every call of an attempt with its request as built again; the two are equal unless somebody changed one."""
    settings = run.manifest.settings
    played = _Played(
        scenario=run.scenario(scenario),
        templates=run.templates(),
        record=run.attempt(scenario, attempt),
        delivered_history=settings["history"] == "delivered",
    )
    with _model(run, "answer") as answer, _model(run, "checker") as checker:
        for call in played.record.calls:
            model = checker if call.stage in CHECKER_STAGES else answer
            seed = call_seed(run.manifest.seed, scenario, attempt, call.turn, call.stage, call.repeat)
            messages = _PROMPTS[call.stage](played, call).messages
            asked_for = call.request.body.get("response_format")
            yield call, model.request(messages, seed=seed, response_format=asked_for)


def _model(run: RunRecord, role: str) -> Model:
    """Return a model that makes the same requests. It is never asked, so where it would be does not matter."""
    settings: Mapping[str, Any] = run.manifest.settings
    endpoint = Endpoint(
        base_url="http://recorded.invalid/v1",
        model=run.manifest.endpoints[role]["model"],
        max_tokens_field=settings["max_tokens_field"],
        fold_system=settings["fold_system"],
        send_seed=settings["send_seed"],
    )
    return Model(endpoint, Sampling(**settings[role]))


def _answer(played: _Played, call: RecordedCall) -> Prompt:
    say = played.scenario.turn(call.turn).say
    passages, history = played.passages(call.turn), played.history(call.turn)
    return answer_prompt(played.templates, played.scenario, passages, history, say)


def _check(played: _Played, call: RecordedCall) -> Prompt:
    say = played.scenario.turn(call.turn).say
    passages, shown = played.passages(call.turn), call.values["reply"]
    return check_prompt(played.templates, played.scenario, passages, say, shown)


def _rewrite(played: _Played, call: RecordedCall) -> Prompt:
    say = played.scenario.turn(call.turn).say
    passages, reply = played.passages(call.turn), played.reply(call.turn)
    spans = played.record.outcomes[call.turn, "review"]["verdict"]["spans"]
    return rewrite_prompt(played.templates, played.scenario, passages, say, reply, spans)


_PROMPTS: Mapping[str, Callable[[_Played, RecordedCall], Prompt]] = {
    "answer": _answer,
    "check": _check,
    "rewrite": _rewrite,
    "recheck": _check,
    "control": _check,
}
