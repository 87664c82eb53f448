"""--fail-on: what may pass, and what may not because it was not played."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from library import LIBRARY, answers, working_folder
from program import Forks

from simulator.testing import Answer, ScriptedServer

GATE = ("--fail-on", "regression")


@pytest.fixture(scope="module")
def runs(forks: Forks, tmp_path_factory: pytest.TempPathFactory, server: ScriptedServer) -> Path:
    """Return a folder with the runs ``whole`` of two attempts, and ``half``, whose second turns failed."""
    folder = working_folder(tmp_path_factory.mktemp("gate"))
    play = ("replay", "library", "-n", "2", "--run")
    assert forks(folder, *play, "whole", "--endpoint", server.url).status == 0
    with ScriptedServer(answers(t2=Answer(status=400, body="no"))) as failing:
        assert forks(folder, *play, "half", "--endpoint", failing.url).status == 3
    return folder


@pytest.mark.parametrize("attempt", ["", ":library", ":library#1"])
def test_a_candidate_that_is_not_complete_does_not_pass(forks: Forks, runs: Path, attempt: str) -> None:
    """Status 3 and a line that says why, for runs, scenarios and attempts; as what was before it is no obstacle."""
    done = forks(runs, "diff", f"whole{attempt}", f"half{attempt}", *GATE)
    assert done.status == 3
    assert "--fail-on: B is not complete: library#1: failed at turn 2: failed: HTTP 400" in done.err
    assert forks(runs, "diff", f"half{attempt}", f"whole{attempt}", *GATE).status == 0


def test_attempts_that_never_began_are_missing(forks: Forks, tmp_path: Path, runs: Path) -> None:
    """A run that was to have two attempts and has one is not complete, however well that one went."""
    shutil.copytree(runs / "recordings/whole", tmp_path / "recordings/whole")
    (tmp_path / "recordings/whole/library/2.jsonl").unlink()
    (tmp_path / "recordings/whole/sealed.json").unlink()
    done = forks(tmp_path, "diff", "whole", "whole", *GATE)
    assert done.status == 3
    assert "--fail-on: B is not complete: library: 1 of 2 attempts never began" in done.err
    assert forks(tmp_path, "diff", "whole:library#1", "whole:library#1", *GATE).status == 0


def test_a_run_that_was_told_what_to_compare_with_and_cannot_does_not_pass(
    forks: Forks, tmp_path: Path, runs: Path, server: ScriptedServer
) -> None:
    """With another text in every turn nothing is compared: status 2 with --against, and else a line that says so."""
    shutil.copytree(runs / "recordings/whole", tmp_path / "recordings/whole")
    other = LIBRARY.replace("How long may I keep a book?", "Sir! How long may I keep a book?")
    other = other.replace("And a film?", "Sir! And a film?").replace("What is my", "Sir! What is my")
    (working_folder(tmp_path) / "scenarios/library.yaml").write_text(other)
    play = ("replay", "library", "--endpoint", server.url, *GATE)
    named, default = (
        forks(tmp_path, *play, "--against", "whole", "--run", "a"),
        forks(tmp_path, *play[:-2], "--run", "b"),
    )
    assert (named.status, default.status) == (2, 0)
    assert "--fail-on: no turn of A and B could be compared: library turn 1 is not compared" in named.err
