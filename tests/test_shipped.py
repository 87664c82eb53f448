"""The runs that ship: whole, unchanged, readable, and what they were made from gives their requests again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulator.canonical import digest_bytes
from simulator.diff import diff_attempts, diff_runs
from simulator.rebuild import rebuild
from simulator.recording import RunRecord, open_run
from simulator.scenario import find_scenarios
from simulator.transcript import read_transcript, read_transcripts

TOP = Path(__file__).parent.parent
RUNS = sorted(path.parent for path in (TOP / "recordings").glob("*/run.json") if (path.parent / "sealed.json").exists())
SHIPPED = [folder for folder in RUNS if folder.name in ("parks-suppress", "parks-rewrite")]
PARKS = {"acadia", "arches", "grand-canyon", "olympic", "yosemite", "zion"}


@pytest.fixture(params=SHIPPED, ids=lambda folder: folder.name)
def run(request: pytest.FixtureRequest) -> RunRecord:
    """Return each shipped run."""
    return open_run(request.param)


def test_two_runs_of_the_park_suite_ship() -> None:
    """One suppresses and one rewrites; each has at least three attempts of every park, complete."""
    runs = [open_run(folder) for folder in SHIPPED]
    assert {run.manifest.settings["on_unsupported"] for run in runs} == {"suppress", "rewrite"}
    for run in runs:
        assert set(run.attempts) == PARKS
        assert all(len(numbers) >= 3 for numbers in run.attempts.values())
        assert run.seal is not None
        assert run.seal.complete


def test_every_request_is_built_again(run: RunRecord) -> None:
    """For every call the recorded digest is that of the request built from scenario, templates and earlier replies."""
    calls = 0
    for scenario, numbers in run.attempts.items():
        for number in numbers:
            for call, request in rebuild(run, scenario, number):
                assert request.digest == call.request.digest, f"{scenario}#{number} {call.id}"
                calls += 1
    assert calls > 10 * sum(map(len, run.attempts.values())) - 1


def test_every_file_is_as_it_was_sealed(run: RunRecord) -> None:
    """The seal names each attempt's lines and last digest, and the manifest each snapshot's digest."""
    assert run.seal is not None
    assert run.seal.manifest == run.manifest_digest
    for name, sealed in run.seal.files.items():
        lines = (run.folder / name).read_bytes().splitlines()
        assert (len(lines), digest_bytes(lines[-1])) == (sealed.lines, sealed.head)
    for kind, suffix, digests in [
        ("scenarios", "yaml", run.manifest.scenarios),
        ("templates", "jinja", run.manifest.templates),
    ]:
        for name, digest in digests.items():
            assert digest_bytes((run.folder / kind / f"{name}.{suffix}").read_bytes()) == digest


def test_a_shipped_run_was_played_from_what_ships(run: RunRecord) -> None:
    """Its scenarios are those of the scenarios folder, byte for byte."""
    found = find_scenarios(TOP / "scenarios")
    for name in run.manifest.scenarios:
        assert (run.folder / "scenarios" / f"{name}.yaml").read_bytes() == found[name].read_bytes()


def test_nothing_of_a_machine_is_in_it(run: RunRecord) -> None:
    """No absolute path, no address of a server, no host."""
    for path in run.folder.rglob("*"):
        if path.is_file():
            text = path.read_text()
            for trace in ("/root", "/home/", "/tmp/", "127.0.0.1", "localhost", '.gguf\\"', "site-packages"):  # noqa: S108
                assert trace not in text, f"{trace} in {path}"


def test_shipped_runs_can_be_read_and_compared() -> None:
    """Transcripts and both kinds of diff come out of the recordings alone."""
    one, two = (open_run(folder) for folder in SHIPPED)
    attempts = diff_attempts(read_transcript(one, "arches", 1), read_transcript(one, "arches", 2))
    assert attempts.problems == ()
    assert len(attempts.turns) + len(attempts.unchanged) == 10
    runs = diff_runs(
        [each for name in one.attempts for each in read_transcripts(one, name)],
        [each for name in two.attempts for each in read_transcripts(two, name)],
    )
    assert runs.problems == ()
    assert len(runs.turns) == 60
    json.dumps(runs.to_json())


def test_no_recording_is_an_orphan() -> None:
    """Every folder under recordings that git would ship is one of the runs named here."""
    ignored = (TOP / ".gitignore").read_text()
    kept = {line.removeprefix("!recordings/").rstrip("/") for line in ignored.splitlines() if line.startswith("!rec")}
    assert kept == {"README.md", *(folder.name for folder in SHIPPED)}
