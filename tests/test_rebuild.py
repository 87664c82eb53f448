"""Requests built again: what a run must say for it, and what is said where it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recorded import ANSWERED, exchange, make_run, prompt

from simulator.errors import RecordingError
from simulator.model import Message
from simulator.rebuild import rebuild
from simulator.recording import RunRecord, open_run

SAMPLING: dict[str, Any] = {"temperature": None, "top_p": None, "max_tokens": 20, "params": {}}
SETTINGS: dict[str, Any] = {
    "history": "delivered",
    "max_tokens_field": "max_tokens",
    "fold_system": False,
    "send_seed": True,
    "answer": SAMPLING,
    "checker": SAMPLING,
}


def recorded(root: Path, turn: int, stage: str, **fields: Any) -> RunRecord:
    """Record one call, of a turn that was answered and not yet reviewed."""
    manifest: dict[str, Any] = {"settings": SETTINGS, **fields}
    run = make_run(root, **manifest)
    writer = run.attempt("library", 1)
    writer.call(turn=turn, stage=stage, repeat=0, exchange=exchange(Message(role="user", content="x")), prompt=prompt())
    writer.outcome(turn=turn, stage="answer", result=ANSWERED)
    writer.close()
    return open_run(run.folder)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"settings": {}}, r"run\.json: history: Field required"),
        ({"settings": {**SETTINGS, "history": "none"}}, r"run\.json: history: "),
        ({"settings": {**SETTINGS, "answer": {"temperature": []}}}, r"run\.json: answer\.temperature"),
        ({"endpoints": {"answer": {"model": ["m"]}}}, r"run\.json: endpoints\.answer\.model: "),
        ({"endpoints": {"answer": {"model": "m"}}}, r"run\.json: endpoints\.checker: Field required"),
    ],
)
def test_settings_that_do_not_say_how_requests_were_made_are_named(
    tmp_path: Path, fields: dict[str, Any], told: str
) -> None:
    """The manifest and its field, in one line."""
    run = recorded(tmp_path, 1, "answer", **fields)
    with pytest.raises(RecordingError, match=told):
        list(rebuild(run, "library", 1))


def test_a_call_whose_template_was_not_given_what_it_shows_is_named(tmp_path: Path) -> None:
    """The text that a judge saw, and the words that a rewrite was to mend, come from the recording."""
    for stage, name in [("check", "reply"), ("rewrite", "unsupported")]:
        run = recorded(tmp_path / stage, 1, stage)
        with pytest.raises(RecordingError, match=rf"call 1\.{stage}\.0: .* given as {name}"):
            list(rebuild(run, "library", 1))


def test_a_history_that_is_not_recorded_is_named(tmp_path: Path) -> None:
    """Where later turns see what was delivered, that of an earlier turn must be there."""
    run = recorded(tmp_path, 2, "answer")
    with pytest.raises(RecordingError, match="library#1: what turn 1 delivered is not recorded"):
        list(rebuild(run, "library", 1))
