"""Ctrl-C: it ends the process at once while a command is loaded, interrupts one at work, and has a run stopped."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import TypeAlias

__all__ = ["INTERRUPTED", "Interrupts", "end_at_once", "heard", "raising"]

INTERRUPTED = 130
"""The exit status."""

_ONE_PRESS = 0.5
"""Seconds within which two signals count as one: a terminal and the program that started this one may both send it."""

Handler: TypeAlias = Callable[[int, FrameType | None], object]


class Interrupts:
    """What was heard so far while a run is played. Asked from other threads too."""

    def __init__(self) -> None:
        self._first: float | None = None
        self._again = False

    def hear(self) -> None:
        """Take a signal in."""
        at = time.monotonic()
        if self._first is None:
            self._first = at
        elif at - self._first > _ONE_PRESS:
            self._again = True

    @property
    def asked(self) -> bool:
        """Whether the run is to stop when the calls in flight are answered."""
        return self._first is not None

    @property
    def at_once(self) -> bool:
        """Whether it is not to wait for them either."""
        return self._again


def end_at_once() -> None:
    """From the start to the end of the process, but for what follows.

    While libraries are loaded nothing has begun, and a ``KeyboardInterrupt`` within an import may be swallowed.
    """
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(INTERRUPTED))


@contextmanager
def raising() -> Generator[None, None, None]:
    """While a command is at work: what it has open is closed on the way out."""
    with _handling(signal.default_int_handler):
        yield


@contextmanager
def heard() -> Generator[Interrupts, None, None]:
    """While a run is played: nothing is raised, for it would come in the middle of anything."""
    interrupts = Interrupts()
    with _handling(lambda _signal, _frame: interrupts.hear()):
        yield interrupts


@contextmanager
def _handling(handler: Handler) -> Generator[None, None, None]:
    """Handle Ctrl-C by *handler*; a process that was started to ignore it goes on doing so."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
