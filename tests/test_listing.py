"""What ``list`` and ``show`` print of the runs in a folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from recorded import make_run, play_turns, record_run

from simulator.cli import listing, names, showing
from simulator.errors import InputError

SHOW: dict[str, Any] = {"json": False, "turn": None, "request": None, "repeat": 0}


def listed(capsys: pytest.CaptureFixture[str], root: Path, *, as_json: bool = False) -> str:
    """Return what ``list`` prints."""
    assert listing.run(recordings=root, json=as_json) == 0
    return capsys.readouterr().out


def shown(capsys: pytest.CaptureFixture[str], root: Path, reference: str, **options: Any) -> str:
    """Return what ``show`` prints."""
    assert showing.run(recordings=root, reference=reference, **{**SHOW, **options}) == 0
    return capsys.readouterr().out


def test_each_run_stands_under_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Start, state, attempts and model, then the scenarios; oldest first."""
    record_run(tmp_path, run="later", started="2026-12-02T10:00:00Z", attempts=2, names=["library", "museum"])
    run = make_run(tmp_path, run="begun", attempts=3)
    play_turns(run.attempt("library", 1))
    assert [line.rstrip() for line in listed(capsys, tmp_path).splitlines()] == [
        "begun",
        "  2026-12-01T10:00:00.000Z · not ended · attempts: 1 of 3 · m",
        "  library",
        "later",
        "  2026-12-02T10:00:00Z · complete · attempts: 4 of 4 · m",
        "  library, museum",
    ]


@pytest.mark.parametrize("columns", ["20", "80"])
def test_names_are_never_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    """However narrow the screen, the name of a run can be copied; scenarios are broken between names where they fit."""
    monkeypatch.setenv("COLUMNS", columns)
    run, scenarios = "r" * 100, ["grounded-cable-car", "grounded-orchard", "grounded-salt", "lodging"]
    record_run(tmp_path, run=run, names=scenarios)
    lines = [line.strip() for line in listed(capsys, tmp_path).splitlines()]
    assert run in lines
    assert [name for line in lines for name in line.rstrip(",").split(", ") if name in scenarios] == scenarios
    assert all(name in shown(capsys, tmp_path, run) for name in scenarios)


def test_many_scenarios_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first twenty are named; the JSON has all."""
    record_run(tmp_path, names=[f"s{number}" for number in range(30)])
    assert "s18, s19 and 10 more" in " ".join(listed(capsys, tmp_path).split())
    assert len(json.loads(listed(capsys, tmp_path, as_json=True))[0]["scenarios"]) == 30


def test_an_unreadable_run_is_listed_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After the others, on the page as in JSON, where what is not known of it is null."""
    record_run(tmp_path, run="good")
    bad = record_run(tmp_path, run="bad")
    os.mkfifo(bad / "library/2.jsonl")
    page = " ".join(listed(capsys, tmp_path).split())
    assert page.startswith("good 2026")
    assert "bad unreadable: " in page
    assert "is no regular file of the run's own" in page
    good, other = json.loads(listed(capsys, tmp_path, as_json=True))
    assert (good["run"], good["state"], good["recorded"], good["planned"], good["problem"]) == (
        *("good", "complete", 1, 1, ""),
    )
    assert (other["run"], other["state"], other["started"], other["recorded"]) == ("bad", "unreadable", None, None)
    assert "2.jsonl: is no regular file" in other["problem"]


@pytest.mark.parametrize("name", ["\x1b[31mred", "a\nb", "\u202eevil", "[bold]x"])
def test_nothing_of_a_name_is_obeyed(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Escapes, line feeds and markup in names of folders are printed as text, each name on one line."""
    root = tmp_path / name
    assert listed(capsys, root).startswith("no runs in ")
    record_run(root, run="run").rename(root / name)
    page = listed(capsys, root) + shown(capsys, root, "LAST")
    assert not [character for character in page if not (character.isprintable() or character == "\n")]
    assert page.splitlines()[0] == json.dumps(name)[1:-1]


def test_show_counts_what_is_missing_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that was not sealed says so, and how many of its attempts there are; a complete one says nothing."""
    run = make_run(tmp_path, attempts=3)
    for number in (1, 2):
        play_turns(run.attempt("library", number))
    page = " ".join(shown(capsys, tmp_path, "first").split())
    assert page.endswith(
        "run first is not ended; attempts recorded: 2 of 3 planned; it is being played, or its process ended early"
    )
    run.seal(complete=False)
    page = " ".join(shown(capsys, tmp_path, "first").split())
    assert page.endswith("run first is incomplete; attempts recorded: 2 of 3 planned")
    facts = json.loads(shown(capsys, tmp_path, "first", json=True))
    assert (facts["run"], facts["state"], facts["recorded"], facts["planned"]) == ("first", "incomplete", 2, 3)
    record_run(tmp_path, run="whole")
    assert "planned" not in shown(capsys, tmp_path, "whole")


def test_a_request_is_of_one_attempt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a scenario has several, none is taken for granted; where it has one, that is meant."""
    record_run(tmp_path, run="one")
    record_run(tmp_path, run="three", attempts=3)
    asked: dict[str, Any] = {"turn": [1], "request": "answer"}
    with pytest.raises(InputError, match="library has the attempts 1, 2, 3; name one, as in three:library#1"):
        shown(capsys, tmp_path, "three:library", **asked)
    alone = shown(capsys, tmp_path, "one:library", **asked)
    assert (
        alone
        == shown(capsys, tmp_path, "three:library#2", **asked)
        == shown(capsys, tmp_path, "one:library#1", **asked)
    )


class Context:
    """What completion asks of the command line that was typed so far."""

    def __init__(self, **params: Any) -> None:
        self.params = params


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("fi", ["first"]),
        ("first:", ["first:library"]),
        ("first:library#", ["first:library#1", "first:library#2"]),
        ("LAST:", ["LAST:library"]),
        ("*:", []),
        ("**x:", []),
        ("../recordings/first:", []),
        ("/:", []),
        (".:", []),
    ],
)
def test_completion_offers_what_is_there_and_nothing_else(tmp_path: Path, typed: str, offered: list[str]) -> None:
    """What was typed is compared with the names of runs, and never taken for a pattern or a path."""
    record_run(tmp_path / "recordings", attempts=2)
    context: Any = Context(recordings=tmp_path / "recordings")
    assert names.complete_reference(context, typed) == offered
