"""The models that options ask for: which one of a server's, and how many conversations this process can hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from simulator.cli.models import Load, Options, open_models, read_behaviour
from simulator.errors import EndpointError, InputError
from simulator.model import Sampling
from simulator.testing import Answer, ScriptedServer, Step

BEHAVIOUR = read_behaviour(
    {
        "max_tokens_field": "max_tokens",
        "fold_system": False,
        "send_seed": True,
        "response_format": "json_schema",
        "timeout": 5.0,
        "deadline": 10.0,
        "tries": 1,
    }
)
FLOOD = "\nerror: all is lost\x1b[2J"


def options(endpoint: str | None, *, model: str | None = None, prefix: str = "") -> Options:
    """Return what was asked for in one role."""
    return Options(prefix=prefix, model=model, endpoint=endpoint, api_key_env="MY_KEY", sampling=Sampling())


def names_asked(answer: Options, checker: Options | None = None) -> list[str]:
    """Return the names of the models, answer and checker, that these options open."""
    with ExitStack() as stack:
        load = Load(concurrency=1, threads=None)
        models = open_models(stack, answer, checker or answer, BEHAVIOUR, load)
        return [models.answer.endpoint.model, models.checker.endpoint.model]


def listing(*names: object) -> dict[str, Step]:
    """Return the page of a server that lists models of these names."""
    return {"/v1/models": {"data": [{"id": name} for name in names]}}


def test_the_one_model_of_a_server_is_asked() -> None:
    """Where a server lists one model its name need not be given; what is no name is no model."""
    with ScriptedServer([], pages=listing("org/model:7b", "", None, 7)) as server:
        assert names_asked(options(server.url)) == ["org/model:7b"] * 2
        assert names_asked(options(server.url, model="another")) == ["another"] * 2


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ((), "offers 0 models (none)"),
        (("large", "small"), "offers 2 models (large, small)"),
        (("a\u202eb",), "offers 1 model (a\\u202eb)"),
        ((" ",), "offers 1 model (' ')"),
        ((FLOOD, "b"), "offers 2 models (\\nerror: all is lost\\u001b[2J, b)"),
        (("m" * 200_000,), f"offers 1 model ({'m' * 99}…)"),
        (tuple(f"m{number}" for number in range(500)), "m18, m19, and 480 more)"),
        ((FLOOD * 200,) * 500, "and 480 more)"),
    ],
)
def test_models_are_listed_in_one_short_line(names: tuple[str, ...], told: str) -> None:
    """Whatever a server calls its models, the error is one printable line, and says which option to write."""
    with ScriptedServer([], pages=listing(*names)) as server, pytest.raises(InputError) as error:
        names_asked(options(server.url, model="m"), options(server.url, prefix="checker-"))
    line = str(error.value)
    assert line.startswith(f"{server.url} offers ")
    assert told in line
    assert line.endswith("; choose one with --checker-model NAME")
    assert line.isprintable()
    assert len(line) < 20 * 102 + 200


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\u202e" * 5000, "\u200b"])
def test_a_name_that_no_model_has_is_told_in_a_line(name: str) -> None:
    """The option is named, what was written shown, and what to write said; no server is asked."""
    with ScriptedServer([]) as server, pytest.raises(InputError) as error:
        names_asked(options(server.url, model="m"), options(server.url, model=name, prefix="checker-"))
    line = str(error.value)
    assert line.startswith(f"--checker-model {name[:100]!r}: ")
    assert "write it as the server lists it" in line
    assert line.isprintable()
    assert server.connections == 0


def test_a_file_that_is_not_there_is_told_in_a_line() -> None:
    """Without an endpoint a model is a file; an empty name is none."""
    for name, shown in (("", "''"), ("a\nb", "a\\nb"), ("a\0b", "a\\u0000b"), ("m" * 300, "m" * 99 + "…")):
        with pytest.raises(InputError) as error:
            names_asked(options(None, model=name))
        assert str(error.value).startswith(f"--model {shown}: no such file; name a GGUF file")


def test_a_list_that_needs_a_key_names_its_variable() -> None:
    """The variable is the one that was named for this role."""
    pages: dict[str, Step] = {"/v1/models": Answer(status=401, body={"error": {"message": FLOOD}})}
    with ScriptedServer([], pages=pages) as server, pytest.raises(EndpointError) as error:
        names_asked(options(server.url))
    assert str(error.value).endswith("HTTP 401: error: all is lost [2J; no key was sent; set MY_KEY")


# How many files may be open


SCENARIO = {
    "scenario": "desk",
    "title": "Desk",
    "passages": [{"id": "p", "text": "A book may be kept for 21 days."}],
    "turns": [{"say": "How long may I keep a book?", "answer_from": "document"}] * 2,
}


def replay(folder: Path, limit: str, *, conversations: int) -> subprocess.CompletedProcess[str]:
    """Return what a run in *folder* comes to, with this limit of open files and every conversation at the same time."""
    (folder / "scenarios").mkdir()
    (folder / "scenarios/desk.yaml").write_text(json.dumps(SCENARIO))
    program = f"ulimit {limit} && exec {sys.executable} -m simulator replay desk --run r --check both --endpoint"
    with ScriptedServer(lambda _: "A book may be kept for 21 days.") as server:
        wanted = f"{server.url} -n {conversations} --concurrency {conversations}"
        return subprocess.run(
            ["bash", "-c", f"{program} {wanted}"],
            cwd=folder,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_more_conversations_than_files_are_refused_before_anything_is_played(tmp_path: Path) -> None:
    """One line says how many files are needed, how many there are and how many conversations they suffice for."""
    done = replay(tmp_path, "-n 64", conversations=200)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: 200 conversations side by side need 832 open files, and this process may have 64; "
        "allow more with `ulimit -n 832`, or write --concurrency 8\n"
    )
    assert not (tmp_path / "recordings").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.parametrize(("limit", "conversations"), [("-n 64", 8), ("-S -n 64", 20)])
def test_as_many_conversations_as_there_are_files_for_are_played(
    tmp_path: Path, limit: str, conversations: int
) -> None:
    """What the line advises works, and a soft limit is no limit."""
    done = replay(tmp_path, limit, conversations=conversations)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "recordings/r/desk").glob("*.jsonl"))) == conversations
