"""Recordings that were changed, cut, mixed or made up: each is noticed, named, and harms no other run."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import Lines, edit, forge, record_run, reseal, write_chained

from simulator.canonical import digest_bytes
from simulator.errors import RecordingError
from simulator.recording import find_run, list_runs, open_run, parse_reference
from simulator.transcript import Transcript, read_transcripts

FIRST = "library/1.jsonl"
WAIT = 60.0
"""Seconds after which a process that does not come back is one that hangs."""


def read(folder: Path) -> list[Transcript]:
    """Read a run as `show` does: every attempt of every scenario."""
    run = open_run(folder)
    return [transcript for name in run.attempts for transcript in read_transcripts(run, name)]


def told(folder: Path) -> str:
    """Return the one line that reading the run ends with."""
    with pytest.raises(RecordingError) as raised:
        read(folder)
    (line,) = str(raised.value).splitlines()
    assert len(line) < 600
    return line.replace(f"{folder}/", "")


def refusal(folder: Path) -> str:
    """Return the error that reading the run ends with; empty where it does not."""
    try:
        read(folder)
    except RecordingError as error:
        return str(error)
    return ""


def lines_of(path: Path) -> list[bytes]:
    """Return the lines of an attempt, with their ends."""
    return path.read_bytes().splitlines(keepends=True)


def unsealed(folder: Path) -> Path:
    """Return the run as it is where the process ended early."""
    (folder / "sealed.json").unlink()
    return folder


def of(lines: Lines, kind: str, **fields: Any) -> dict[str, Any]:
    """Return the first line of a kind that has *fields*."""
    return next(each for each in lines if each["kind"] == kind and fields.items() <= each.items())


# What was sealed


def test_a_run_as_it_was_sealed_reads_whole(tmp_path: Path) -> None:
    """Every attempt of every scenario, complete."""
    folder = record_run(tmp_path, attempts=2, names=["library", "museum"])
    assert [(each.scenario, each.attempt, each.complete) for each in read(folder)] == [
        *(("library", 1, True), ("library", 2, True), ("museum", 1, True), ("museum", 2, True)),
    ]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_byte_of_a_sealed_run_can_change_unnoticed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A byte that is another or gone, in the manifest, the scenario or an attempt, is an error."""
    folder = record_run(tmp_path_factory.mktemp("run"))
    path = folder / data.draw(st.sampled_from(["run.json", "scenarios/library.yaml", FIRST]))
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.binary(max_size=1).filter(lambda byte: byte != whole[place : place + 1]))
    path.write_bytes(whole[:place] + byte + whole[place + 1 :])
    assert told(folder)


def test_a_file_that_was_cut_is_noticed(tmp_path: Path) -> None:
    """Between two lines, where nothing is torn, and within the last one."""
    folder = record_run(tmp_path)
    lines = lines_of(folder / FIRST)
    for kept in range(len(lines)):
        (folder / FIRST).write_bytes(b"".join(lines[:kept]) + b"{")
        assert told(folder).startswith(f"{FIRST}: {len(lines)} lines were sealed, and it has {kept} and a part of one")
        (folder / FIRST).write_bytes(b"".join(lines[:kept]))
        assert f"{len(lines)} lines were sealed, and it has {kept};" in told(folder) or not kept
    assert told(folder)


CHANGES: list[tuple[Callable[[Path], object], str]] = [
    (lambda folder: (folder / FIRST).unlink(), f"{FIRST}: is missing; it was there when the run ended"),
    (lambda folder: (folder / FIRST).write_bytes(b""), f"{FIRST}: is missing; it was there when the run ended"),
    (
        lambda folder: shutil.copy(folder / FIRST, folder / "museum/3.jsonl"),
        "museum/3.jsonl: run.json plans 2 of museum; take it out of the run",
    ),
    (
        lambda folder: reseal(folder, lambda seal: seal["files"].pop(FIRST)),
        f"{FIRST}: was added after the run ended",
    ),
    (
        lambda folder: ((folder / FIRST).unlink(), reseal(folder, lambda seal: seal["files"].pop(FIRST))),
        "sealed.json: says that all 4 planned attempts ended, and names 3",
    ),
    (
        lambda folder: edit(folder / "run.json", lambda manifest: manifest.update(seed=8)),
        "run.json: is not the one that was sealed when the run ended",
    ),
    (
        lambda folder: reseal(folder, lambda seal: seal.update(manifest="0" * 64)),
        "run.json: is not the one that was sealed when the run ended",
    ),
    (
        lambda folder: reseal(folder, lambda seal: seal["files"][FIRST].update(head="0" * 64)),
        f"{FIRST}: its last line is another than the one that was sealed; it was changed after the run ended",
    ),
    (
        lambda folder: (folder / FIRST).write_bytes((folder / FIRST).read_bytes() + b"\n"),
        f"{FIRST}:15: ",
    ),
    (
        lambda folder: (folder / FIRST).write_bytes((folder / "library/2.jsonl").read_bytes()),
        f"{FIRST}:1: this is attempt 2 of library, in a file of another name",
    ),
    (
        lambda folder: (folder / FIRST).write_bytes((folder / "museum/1.jsonl").read_bytes()),
        f"{FIRST}:1: this is attempt 1 of museum, in a file of another name",
    ),
    (
        lambda folder: (folder / "scenarios/library.yaml").write_bytes(b"x"),
        "scenarios/library.yaml: is not what was played; run.json has another SHA-256 of it",
    ),
    (
        lambda folder: shutil.copy(folder / "scenarios/museum.yaml", folder / "scenarios/library.yaml"),
        "scenarios/library.yaml: is not what was played; run.json has another SHA-256 of it",
    ),
    (
        lambda folder: (folder / "scenarios/library.yaml").unlink(),
        "scenarios/library.yaml: no such file; the run has lost it",
    ),
]


@pytest.mark.parametrize(("change", "line"), CHANGES, ids=[line.partition(";")[0] for _, line in CHANGES])
def test_a_change_is_named_with_its_file(tmp_path: Path, change: Callable[[Path], object], line: str) -> None:
    """What was taken out, put in, exchanged or written over."""
    folder = record_run(tmp_path, attempts=2, names=["library", "museum"])
    change(folder)
    assert told(folder).startswith(line)


def test_an_attempt_of_another_run_is_noticed(tmp_path: Path) -> None:
    """Its first line is chained to another manifest, whether the run is sealed or not."""
    folder, other = record_run(tmp_path, run="a"), record_run(tmp_path, run="b", seed=8)
    shutil.copy(other / FIRST, folder / FIRST)
    assert told(folder) == told(unsealed(folder)) == f"{FIRST}:1: the line is not chained to run.json"


def test_a_template_that_was_changed_is_noticed(tmp_path: Path) -> None:
    """The templates of a run are compared with its manifest as the scenarios are."""
    folder = record_run(tmp_path, templates={"support": digest_bytes(b"x")})
    (folder / "templates/support.jinja").write_bytes(b"x")
    assert open_run(folder).templates().sources == {"support": "x"}
    (folder / "templates/support.jinja").write_bytes(b"y")
    with pytest.raises(RecordingError, match=r"templates.support\.jinja: is not what was played"):
        open_run(folder).templates()


# What was never sealed


def test_a_run_whose_process_ended_early_reads_as_far_as_it_came(tmp_path: Path) -> None:
    """Attempts that are there are read, a torn line and a file without a whole line too; what is missing is counted."""
    folder = unsealed(record_run(tmp_path, attempts=3))
    second, third = folder / "library/2.jsonl", folder / "library/3.jsonl"
    second.write_bytes(second.read_bytes()[:-5])
    third.write_bytes(third.read_bytes()[:20])
    run = open_run(folder)
    assert (run.state, run.recorded, run.planned) == ("not ended", 3, 3)
    assert [(each.complete, each.problem) for each in read(folder)] == [
        (True, ""),
        *[(False, "the recording breaks off in the middle of a line")] * 2,
    ]
    assert [[turn.state for turn in each.turns] for each in read(folder)][2] == ["not_run", "not_run"]
    third.unlink()
    assert (open_run(folder).recorded, open_run(folder).planned) == (2, 3)


# What is no recording, however well it is chained and sealed

NESTED = json.loads("[" * 600 + "]" * 600)


def review(**fields: Any) -> Callable[[Lines], None]:
    """Return the change of what a review says."""
    return lambda lines: of(lines, "outcome", stage="review")["result"].update(fields)


def answer(**fields: Any) -> Callable[[Lines], None]:
    """Return the change of what was read of a reply."""
    return lambda lines: of(lines, "outcome", stage="answer")["result"].update(fields)


def call(**fields: Any) -> Callable[[Lines], None]:
    """Return the change of a call."""
    return lambda lines: of(lines, "call").update(fields)


FORGED: dict[str, tuple[Callable[[Lines], object], str]] = {
    "after the end": (lambda lines: lines.append(of(lines, "outcome")), ":15: a line stands after the end"),
    "two ends": (lambda lines: lines.append(lines[-1]), ":15: a line stands after the end"),
    "second review": (
        lambda lines: lines.insert(-1, of(lines, "outcome", stage="review")),
        ":14: review of turn 1 is recorded already",
    ),
    "second answer": (
        lambda lines: lines.insert(-1, of(lines, "outcome", stage="answer")),
        ":14: answer of turn 1 is recorded already",
    ),
    "second call": (lambda lines: lines.insert(-1, of(lines, "call")), ":14: call 1.answer.0 is recorded already"),
    "second start": (lambda lines: lines.insert(3, lines[0]), ":4: the first line, and no other, says which attempt"),
    "no start": (lambda lines: lines.pop(0), ":1: the first line, and no other, says which attempt"),
    "other scenario": (lambda lines: lines[0].update(scenario="../../etc"), ":1: this is attempt 1 of ../../etc"),
    "other attempt": (lambda lines: lines[0].update(attempt=2), ":1: this is attempt 2 of library"),
    "no attempt": (lambda lines: lines[0].update(attempt=-5), ":1: attempt.attempt: "),
    "other call id": (call(id="2.answer.0"), ": the call is not called by its turn, stage and repeat"),
    "turn that is not there": (call(id="3.answer.0", turn=3), ": turn 3 is recorded, and the scenario has 2"),
    "outcome of no turn": (
        lambda lines: of(lines, "outcome").update(turn=10**30),
        f": turn {10**30} is recorded, and the scenario has 2",
    ),
    "unknown stage": (call(stage="song"), ": call.stage: "),
    "unknown outcome": (lambda lines: of(lines, "outcome").update(stage="song"), ": outcome.stage: "),
    "values of another name": (
        lambda lines: of(lines, "values").update(values={}),
        ": the values do not have the digest that names them",
    ),
    "reply that is not there": (
        lambda lines: lines.insert(1, {"kind": "text", "id": "x", "reply_of": "9.answer.0"}),
        ":2: refers to '9.answer.0', which no earlier line holds",
    ),
    "no base64": (call(response={"status": 200, "headers": {}, "body": None, "body_base64": "!!!"}), ": "),
    "no verdict word": (review(verdict={"word": "great", "reason": "", "spans": []}), ": verdict.word: "),
    "verdict text": (review(verdict="supported"), ": verdict: "),
    "verdict null": (review(verdict=None), ": verdict: "),
    "decision list": (review(decision=[1]), ": decision: "),
    "decision more": (review(decision={"word": "held", "reason": "", "more": 1}), ": decision.more: "),
    "claims": (review(claims=[{"x": 1}]), ": claims.0."),
    "control": (review(control={"x": 1}), ": control."),
    "delivered number": (review(delivered=5), ": delivered: "),
    "delivered list": (review(delivered=["x"]), ": delivered: "),
    "rules": (answer(rules=[{"x": 1}]), ": rules.0."),
    "rules null": (answer(rules=None), ": rules: "),
    "expectation null": (answer(expectation=None), ": expectation: "),
    "more": (answer(more=1), ": more: "),
    "nested outcome": (review(more=NESTED), ": nested too deeply"),
    "nested body": (lambda lines: of(lines, "call")["request"]["body"].update(more=NESTED), ": nested too deeply"),
}


@pytest.mark.parametrize("name", FORGED)
def test_lines_that_no_play_writes_are_refused(tmp_path: Path, name: str) -> None:
    """Each is one line of error with file and line, although chain and seal are in order."""
    folder = record_run(tmp_path)
    change, line = FORGED[name]
    forge(folder, change)
    assert told(folder).startswith(FIRST + ":")
    assert line in told(folder)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"null",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"turn":' + b"9" * 5000 + b"}",
        b'{"a":"\xff"}',
        b"\x00",
    ],
)
def test_a_line_that_is_no_object_of_json_is_refused(tmp_path: Path, line: bytes) -> None:
    """Whatever stands in a line, reading ends with its number."""
    folder = unsealed(record_run(tmp_path))
    lines = lines_of(folder / FIRST)
    (folder / FIRST).write_bytes(b"".join([*lines[:3], line + b"\n", *lines[3:]]))
    assert told(folder).startswith(f"{FIRST}:4: ")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_json_does_not_have_is_refused(tmp_path: Path, number: str) -> None:
    """No figure is computed from what is not a number."""
    folder = unsealed(record_run(tmp_path))
    data = (folder / FIRST).read_bytes()
    (folder / FIRST).write_bytes(data.replace(b'"seconds":0.5', b'"seconds":' + number.encode(), 1))
    assert told(folder).startswith(f"{FIRST}:5: ")


@settings(max_examples=40, deadline=None)
@given(value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5))
def test_an_outcome_of_any_shape_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    """Whatever stands where a field of an outcome does, reading gives turns or one line of error."""
    folder = record_run(tmp_path_factory.mktemp("run"))
    lines = [json.loads(line) for line in lines_of(folder / FIRST)]
    for stage in ("answer", "review"):
        for name in of(lines, "outcome", stage=stage)["result"]:
            changed = json.loads(json.dumps(lines))
            of(changed, "outcome", stage=stage)["result"][name] = value
            write_chained(folder, [json.dumps(line).encode() for line in changed])
            assert FIRST in (refusal(folder) or FIRST)


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("scenarios", {"../../../etc": "x", "library": "y"}, "run.json: scenarios.../../../etc: "),
        ("scenarios", {"/etc": "x"}, "run.json: scenarios./etc: "),
        ("scenarios", {"a\0b": "x"}, "run.json: scenarios."),
        ("scenarios", {"a" * 5000: "x"}, "run.json: scenarios.aaa"),
        ("scenarios", {"\ud800": "x"}, "run.json: scenarios."),
        ("scenarios", {"library\n": "x"}, "run.json: scenarios."),
        ("templates", {"../../x": "y"}, "run.json: templates.../../x: "),
        ("started", "zzzz", "run.json: started: "),
        ("started", "", "run.json: started: "),
        ("attempts", -5, "run.json: attempts: "),
        ("attempts", True, "run.json: attempts: "),
        ("endpoints", None, "run.json: endpoints: "),
        ("seed", NESTED, "run.json: nested too deeply"),
        ("format", 10**9, "run.json: format 1000000000 is newer than 1"),
    ],
)
def test_a_manifest_of_another_shape_is_refused(tmp_path: Path, field: str, value: Any, line: str) -> None:
    """Above all names that lead out of the run: nothing there is opened."""
    folder = record_run(tmp_path)
    edit(folder / "run.json", lambda manifest: manifest.update({field: value}))
    assert told(folder).startswith(line)
    assert told(unsealed(folder)).startswith(line)


@pytest.mark.parametrize(
    "name", ["01.jsonl", "0.jsonl", "1 (copy).jsonl", "\u0661.jsonl", "-1.jsonl", "x.jsonl", "9" * 200 + ".jsonl"]
)
def test_a_file_that_is_not_called_as_attempts_are_is_named(tmp_path: Path, name: str) -> None:
    """A copy beside an attempt is not read for one, nor passed over."""
    folder = unsealed(record_run(tmp_path))
    shutil.copy(folder / FIRST, folder / "library" / name)
    assert told(folder).startswith(f"library/{name}: attempts are called 1.jsonl, 2.jsonl, ...;")


def test_an_attempt_that_was_not_planned_is_named(tmp_path: Path) -> None:
    """A run holds as many attempts as its manifest says, and scenarios that it names."""
    folder = unsealed(record_run(tmp_path))
    forged = folder / "library/7.jsonl"
    shutil.copy(folder / FIRST, forged)
    assert told(folder) == "library/7.jsonl: run.json plans 1 of library; take it out of the run"
    forged.unlink()
    shutil.copytree(folder / "library", folder / "museum")
    assert told(folder) == "museum: run.json names no such scenario; take the folder out of the run"


def test_what_a_person_keeps_beside_the_files_of_a_run_is_left_alone(tmp_path: Path) -> None:
    """Notes, hidden files and an attempt that never began are no part of the recording."""
    folder = record_run(tmp_path, attempts=2)
    (folder / "notes.txt").write_text("x")
    (folder / "library/._1.jsonl").write_text("x")
    (folder / "library/1.txt").write_text("x")
    (folder / "plots").mkdir()
    (folder / "plots/1.png").write_text("x")
    assert len(read(folder)) == 2


# Things that are no files


def fifo(path: Path) -> None:
    """Put a pipe in the place of *path*."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def bound(path: Path) -> None:
    """Put a socket in the place of *path*."""
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))


def linked(target: str) -> Callable[[Path], None]:
    """Return what puts a link in the place of a path."""

    def link(path: Path) -> None:
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    return link


def filed(path: Path) -> None:
    """Put a folder in the place of *path*."""
    path.unlink(missing_ok=True)
    path.mkdir()


ODD = {
    "pipe": fifo,
    "socket": bound,
    "folder": filed,
    "dangling link": linked("nowhere"),
    "link to a device": linked("/dev/zero"),
    "link to itself": linked("1.jsonl"),
}
PLACES = ["run.json", "sealed.json", FIRST, "library/2.jsonl", "scenarios/library.yaml"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_file_is_not_opened(tmp_path: Path, odd: str, place: str) -> None:
    """A pipe, a device or a link in the place of a file is named, and the other runs are read."""
    folder, other = record_run(tmp_path, run="odd"), record_run(tmp_path, run="other")
    ODD[odd](folder / place)
    assert told(folder).startswith(f"{place}: is no regular file of the run's own, and is not opened")
    assert "other" in [run.name for run in list_runs(tmp_path).readable]
    assert read(other)


@pytest.mark.parametrize("place", ["library", "scenarios"])
def test_a_folder_that_leads_elsewhere_is_not_entered(tmp_path: Path, place: str) -> None:
    """A link in the place of a folder of a run is named, wherever it leads, and a file there too."""
    folder = record_run(tmp_path)
    (folder / place).rename(tmp_path / "elsewhere")
    (folder / place).symlink_to(tmp_path / "elsewhere")
    assert told(folder).startswith(f"{place}: is no folder of the run's own")
    (folder / place).unlink()
    (folder / place).write_text("x")
    assert told(folder).startswith(f"{place}: is no folder of the run's own")


# Beside other runs


def test_an_unreadable_run_is_listed_with_its_reason_and_passed_over(tmp_path: Path) -> None:
    """The others are listed and opened, and LAST is the newest of those; asked for by name, the reason is the error."""
    record_run(tmp_path, run="good")
    bad = record_run(tmp_path, run="bad", started="2026-12-02T10:00:00.000Z")
    linked("nowhere")(bad / "library/9.jsonl")
    gone = record_run(tmp_path, run="gone", started="2026-12-03T10:00:00.000Z")
    (gone / "run.json").unlink()
    runs = list_runs(tmp_path)
    assert [run.name for run in runs.readable] == ["good"]
    assert [(run.name, run.reason.partition(": ")[2][:12]) for run in runs.unreadable] == [
        ("bad", "is no regular"[:12]),
        ("gone", "no such file"),
    ]
    assert find_run(tmp_path, parse_reference("LAST")).name == "good"
    with pytest.raises(RecordingError, match=r"bad.library.9\.jsonl: is no regular file"):
        find_run(tmp_path, parse_reference("bad"))
    with pytest.raises(RecordingError, match=r"has 1 run that ended; 2 more cannot be read"):
        find_run(tmp_path, parse_reference("PREVIOUS"))


# How much is read

COUNTED = """\
import collections, json, sys
opened = collections.Counter()
sys.addaudithook(lambda event, args: opened.update([str(args[0])]) if event == "open" else None)
from simulator.cli import main
try:
    main()
finally:
    read = {name: times for name, times in opened.items() if name.startswith("recordings")}
    print(json.dumps(read), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "attempts"),
    [(("show", "first"), 3), (("show", "first:library"), 3), (("show", "first:library#2"), 1), (("score", "first"), 3)],
)
def test_a_command_reads_each_file_once(tmp_path: Path, arguments: tuple[str, ...], attempts: int) -> None:
    """The manifest, the seal, the scenario and the attempts that are asked for, and nothing of another run."""
    record_run(tmp_path / "recordings", attempts=3)
    record_run(tmp_path / "recordings", run="other")
    read = opened_by(tmp_path, *arguments)
    assert set(read.values()) == {1}
    assert {Path(name).name for name in read} >= {"run.json", "sealed.json", "library.yaml"}
    assert sum(name.endswith(".jsonl") for name in read) == attempts
    assert not [name for name in read if "other" in name]


def test_a_list_reads_no_attempt(tmp_path: Path) -> None:
    """Manifests and seals say what there is."""
    record_run(tmp_path / "recordings", attempts=3)
    record_run(tmp_path / "recordings", run="other")
    assert sorted(opened_by(tmp_path, "list").items()) == [
        (f"recordings/{run}/{file}", 1) for run in ("first", "other") for file in ("run.json", "sealed.json")
    ]


def opened_by(folder: Path, *arguments: str) -> dict[str, int]:
    """Return how often a command opens each file of the recordings in *folder*."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=True,
    )
    return json.loads(done.stderr.splitlines()[-1])
