"""Ctrl-C, kill -9 and the like: real processes and signals, and what they leave on disk."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from library import REPLIES, answers, working_folder
from program import WAIT, Forks, environment, python, read_until, start, wait_for

from simulator.testing import Delay, ScriptedServer

PRESSED_WHILE_LOADING = """\
import os, signal, sys

wanted = sys.argv.pop(1)

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Press())
from simulator.cli import main
main()
"""


def recorded_calls(folder: Path) -> int:
    """Return how many whole calls stand in the runs of *folder*."""
    lines = (line for path in folder.rglob("recordings/*/*/*.jsonl") for line in path.read_bytes().splitlines())
    return sum(json.loads(line)["kind"] == "call" for line in lines)


def sealed(folder: Path, run: str) -> dict[str, int]:
    """Return the lines of each file by the seal of an incomplete *run*, which are those that there are."""
    seal = json.loads((folder / "recordings" / run / "sealed.json").read_text())
    lines = {name: each["lines"] for name, each in seal["files"].items()}
    there = {name: (folder / "recordings" / run / name).read_bytes().count(b"\n") for name in lines}
    assert (seal["complete"], lines) == (False, there)
    return lines


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_lets_the_call_in_flight_end_and_records_it(forks: Forks, tmp_path: Path) -> None:
    """Status 130; the reply that was waited for is recorded, the next turn is not asked, and the run is sealed."""
    with ScriptedServer(answers(t2=Delay(seconds=0.5, step=REPLIES["And a film"]))) as server:
        play = ("replay", "library", "-n", "2", "--concurrency", "1", "--run", "stopped", "--endpoint", server.url)
        with start(working_folder(tmp_path), *play) as process:
            wait_for(server, "And a film")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=WAIT)
        assert not any(b"card number" in request.content for request in server.requests)
    assert process.returncode == 130
    assert "stopping: what is being asked is still answered and recorded" in err
    assert "incomplete: library#1, turn 2: stopped on request" in err
    assert "incomplete: library#2: not started" in err
    assert "play again, under another name" in err.splitlines()[-1]
    assert "2 of 3" in out
    shown = forks(tmp_path, "show", "stopped:library#1", "--json").json[0]
    assert [turn["reply"] for turn in shown["turns"]] == [*list(REPLIES.values())[:2], None]
    assert json.loads((tmp_path / "recordings/stopped/sealed.json").read_text())["complete"] is False


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_twice_ends_at_once(forks: Forks, tmp_path: Path) -> None:
    """Status 130 with a call still in flight; what was completed is on disk."""
    with ScriptedServer(answers(t2=Delay(seconds=10 * WAIT, step=""))) as server:
        play = ("replay", "library", "--run", "stopped", "--endpoint", server.url)
        with start(working_folder(tmp_path), *play) as process:
            wait_for(server, "And a film")
            process.send_signal(signal.SIGINT)
            read_until(process.stderr, "stopping: ")
            time.sleep(0.6)  # sooner, both count as one press
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=WAIT)
    assert process.returncode == 130
    assert err == "error: interrupted\n"
    shown = forks(tmp_path, "show", "stopped:library#1", "--json").json[0]
    assert [turn["reply"] for turn in shown["turns"]] == [REPLIES["How long may I keep a book"], None, None]
    assert shown["problem"].startswith("interrupted at turn 2: stopped at once")
    assert list(sealed(tmp_path, "stopped")) == ["library/1.jsonl"]


@pytest.mark.usefixtures("interruptible")
def test_two_quick_presses_are_one(tmp_path: Path) -> None:
    """A signal that comes twice, from the terminal and from what started the program, loses no call that was made."""
    with ScriptedServer(answers(t2=Delay(seconds=0.5, step=REPLIES["And a film"]))) as server:
        play = ("replay", "library", "-n", "4", "--run", "stopped", "--endpoint", server.url)
        with start(working_folder(tmp_path), *play) as process:
            wait_for(server, "And a film")
            for _ in range(2):
                process.send_signal(signal.SIGINT)
                time.sleep(0.02)
            _, err = process.communicate(timeout=WAIT)
        asked = sum(b"messages" in request.content for request in server.requests)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert recorded_calls(tmp_path) == asked
    assert len(sealed(tmp_path, "stopped")) == 4


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    "module",
    ["simulator.cli.interrupts", "typer", "simulator.cli.program", "rich.console", "httpx", "pydantic", "jinja2"],
)
def test_ctrl_c_while_loading_is_quiet(played: Path, module: str) -> None:
    """Status 130 and not a word, whichever library is being loaded when it comes."""
    done = python(played, "-c", PRESSED_WHILE_LOADING, module, "replay", "museum", "--run", "last")
    assert (done.status, done.out, done.err) == (130, "", "")


@pytest.mark.usefixtures("interruptible")
def test_a_process_that_ignores_ctrl_c_goes_on_doing_so(played: Path) -> None:
    """A run that was started in the background of a script is not ended by a key meant for another program."""
    ignoring = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'simulator', *sys.argv[1:]])\n"
    )
    with ScriptedServer(answers(t1=Delay(seconds=0.3, step=REPLIES["How long may I keep a book"]))) as server:
        command = [sys.executable, "-c", ignoring, "replay", "library", "--run", "ignoring", "--endpoint", server.url]
        with subprocess.Popen(command, cwd=played, env=environment(), stderr=subprocess.DEVNULL) as process:
            wait_for(server, "How long may I keep a book")
            process.send_signal(signal.SIGINT)
            assert process.wait(WAIT) == 0


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see the child")
@pytest.mark.usefixtures("interruptible", "embedded")
def test_ctrl_c_stops_a_run_on_the_embedded_server(tmp_path: Path) -> None:
    """The call in flight is answered and recorded, the run is sealed, and the server's process is gone."""
    play = ("replay", "library", "--run", "stopped", "--threads", "1", "--max-tokens", "24")
    with start(working_folder(tmp_path), *play) as process:
        read_until(process.stderr, "library attempt 1: started")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WAIT)
    assert process.returncode == 130, err
    assert len(children) == 1
    assert not Path("/proc", children[0]).exists()
    assert list(sealed(tmp_path, "stopped")) == ["library/1.jsonl"]
    assert recorded_calls(tmp_path) in (0, 1)


def test_what_was_recorded_outlives_the_process(forks: Forks, played: Path) -> None:
    """After kill -9 `show` reads as far as it came, the run counts as not ended, and LAST names the one before."""
    last = forks(played, "show", "LAST", "--json").json["manifest"]["run"]
    with (
        ScriptedServer(answers(t2=Delay(seconds=10 * WAIT, step=""))) as server,
        start(played, "replay", "library", "--run", "killed", "--endpoint", server.url) as process,
    ):
        wait_for(server, "And a film")
        process.kill()
        process.communicate(timeout=WAIT)
    assert process.returncode == -signal.SIGKILL
    shown = forks(played, "show", "killed:library#1")
    assert shown.status == 0
    assert "You may keep a book for 21 days." in shown.out
    assert "not complete: the recording breaks off" in shown.out
    states = {run["run"]: run["state"] for run in forks(played, "list", "--json").json}
    assert states["killed"] == "not ended"
    assert forks(played, "show", "LAST", "--json").json["manifest"]["run"] == last
