"""How far a run has come: a live display where stderr is a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
from collections import Counter
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column

from ..replay import Event
from .streams import tell

__all__ = ["ProgressDisplay"]


class ProgressDisplay:
    """Shows events of a run of *turns* turns in *attempts* attempts. Called from many threads."""

    def __init__(self, *, attempts: int, turns: int) -> None:
        console = Console(stderr=True, highlight=False, markup=False)
        self._live = console.is_terminal
        self._lock = threading.Lock()
        self._attempts = attempts
        self._counts: Counter[str] = Counter()
        self._calls: dict[tuple[str, int, int, str], str] = {}
        """What is being asked, in words, the latest last."""
        self._progress = Progress(
            MofNCompleteColumn(),
            TextColumn("turns", markup=False),
            BarColumn(bar_width=8),
            TimeRemainingColumn(),
            TextColumn("left", markup=False),
            # Last, so that a narrow screen cuts the end of it and nothing else.
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
            console=console,
            disable=not self._live,
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=turns)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def show(self, event: Event) -> None:
        """Take one event in."""
        with self._lock:
            self._counts[event.kind] += 1
            self._counts["tokens"] += event.tokens
            self._note_call(event)
            if event.kind == "stopping":
                self._print(_STOPPING)
            elif self._live:
                self._progress.update(self._task, completed=self._counts["turn ended"], description=self._headline())
            elif event.kind in ("attempt started", "attempt ended"):
                self._print(self._line(event))

    def _print(self, text: str) -> None:
        """Print *text* on stderr; above the display where there is one."""
        if self._live:
            self._progress.console.print(text, soft_wrap=True)
        else:
            tell(text)

    def _note_call(self, event: Event) -> None:
        call = (event.scenario, event.attempt, event.turn, event.stage)
        if event.kind == "call started":
            self._calls[call] = f"{event.scenario}#{event.attempt} turn {event.turn} {event.stage}"
        elif event.kind == "call ended":
            self._calls.pop(call, None)

    def _headline(self) -> str:
        done = f"{self._counts['attempt ended']}/{self._attempts} attempts {self._counts['tokens']} tokens"
        return " ".join([done, *list(self._calls.values())[-1:]])

    def _line(self, event: Event) -> str:
        name = f"{event.scenario} attempt {event.attempt}"
        if event.kind == "attempt started":
            return f"{name}: started"
        state = f"not finished: {event.problem}" if event.problem else "finished"
        return f"{name}: {state} ({self._counts['attempt ended']} of {self._attempts}, {self._counts['tokens']} tokens)"


_STOPPING = "stopping: what is being asked is still answered and recorded; Ctrl-C again stops at once"
