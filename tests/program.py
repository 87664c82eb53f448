"""The program as a person runs it: processes of their own, and what they leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from simulator.testing import ScriptedServer

WAIT = 60.0
"""Seconds after which a test gives up waiting for what must come."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """What a process left."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output, parsed."""
        return json.loads(self.out)


def environment(**variables: str) -> dict[str, str]:
    """Return the variables that a test process is given: ours without what changes output, and *variables*."""
    left_out = {"SIMULATOR_API_KEY", "NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "PYTHONIOENCODING"}
    return {name: value for name, value in os.environ.items() if name not in left_out} | {"COLUMNS": "120"} | variables


def program(folder: Path, *arguments: str, **variables: str) -> Ended:
    """Run ``python -m simulator`` in *folder*."""
    return python(folder, "-m", "simulator", *arguments, **variables)


def python(folder: Path, *arguments: str, **variables: str) -> Ended:
    """Run the interpreter of the tests in *folder*."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=WAIT,
        check=False,
    )
    return Ended(status=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


FORKS = """\
import gc, importlib, json, os, sys

from simulator.cli import main

def place(name, number):
    if name == "gone":
        theirs, ours = os.pipe()
        os.close(theirs)
        return ours
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC if number else os.O_RDONLY)

for name in ("playing", "showing", "diffing", "linting", "listing", "starting", "schema"):
    importlib.import_module(f"simulator.cli.{name}")
gc.freeze()  # what is loaded need not be looked at whenever a process ends
for line in sys.stdin:
    job = json.loads(line)
    if (child := os.fork()) == 0:
        os.chdir(job["folder"])
        os.environ.update(job["variables"])
        for number, name in enumerate(("in", "out", "err")):
            os.dup2(place(job[name], number), number)
        sys.argv = ["simulator", *job["arguments"]]
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""A process that has loaded the program, and for each line of its input runs it in a process of its own.

Its streams are files, devices, or ``gone``: a pipe whose reader has gone.
"""


class Forks:
    """Runs the program many times for the price of one start."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder

    def __call__(self, folder: Path, *arguments: str, out: str = "", err: str = "", **variables: str) -> Ended:
        """Run the program in *folder*; what goes to a named *out* or *err* is not in the result."""
        kept = (self._folder / "out", self._folder / "err")
        for path in kept:
            path.write_bytes(b"")
        files = {"in": os.devnull, "out": out or str(kept[0]), "err": err or str(kept[1])}
        job = {"folder": str(folder), "arguments": arguments, "variables": variables, **files}
        print(json.dumps(job), file=self._process.stdin, flush=True)
        assert self._process.stdout is not None
        status = int(self._process.stdout.readline())
        return Ended(status=status, out=kept[0].read_text(), err=kept[1].read_text())


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the program in *folder*."""
    command = [sys.executable, "-m", "simulator", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=environment(), stdout=pipe, stderr=pipe, text=True)


def wait_for(server: ScriptedServer, text: str) -> None:
    """Wait until a request with *text* has come."""
    until = time.monotonic() + WAIT
    while not any(text.encode() in request.content for request in server.requests):
        assert time.monotonic() < until, f"no request with {text!r} came"
        time.sleep(0.01)


def read_until(stream: IO[str] | None, text: str) -> str:
    """Read lines until one has *text*; return them."""
    assert stream is not None
    read = ""
    while text not in read:
        line = stream.readline()
        assert line, f"{text!r} is not in {read!r}"
        read += line
    return read
