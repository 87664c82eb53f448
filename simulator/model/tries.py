"""One call: its tries, the waits between them, and its deadline."""

from __future__ import annotations

import contextlib
import email.utils
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import cast

import tenacity

from ..clock import now
from .connection import Watch
from .endpoint import Limits
from .values import Exchange, Reply, Request, Response, Try

__all__ = ["Call", "Tried"]

_BACKOFF = tenacity.wait_exponential(multiplier=0.5, max=30)
"""The ceiling of a wait. The wait itself is drawn between 0 and this ("full jitter")."""


_WEEK = 7 * 24 * 3600
"""Seconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tried:
    """What one try came to."""

    response: Response | None
    reply: Reply
    stale: bool = False
    """Whether an idle connection turned out to be closed: nothing was received, and asking again at once is safe."""
    unreachable: bool = False
    """Whether no connection was to be had."""


class Call:
    """One call under way: its deadline, and its tries so far."""

    def __init__(
        self, ask: Callable[[Watch], Tried], *, limits: Limits, sleep: Callable[[float], None], rng: random.Random
    ) -> None:
        self._ask = ask
        self._limits = limits
        self._sleep = sleep
        self._rng = rng
        self._begun = time.monotonic()
        self._started = now()
        self._tries: list[Try] = []
        self._hurried = False
        self._given_up = ""

    def exchange(self, request: Request) -> Exchange:
        """Try until there is a reply, nothing to hope for, or no time left."""
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_result(_may_be_helped),
            wait=self._wait,
            stop=self._stop,
            before_sleep=self._note,
            sleep=self._sleep,
            retry_error_callback=_last,
        )
        tried = retrying(self._try)
        return Exchange(
            request=request,
            response=tried.response,
            reply=replace(tried.reply, detail=self._explained(tried.reply.detail)),
            tries=tuple(self._tries),
            started=self._started,
            seconds=round(time.monotonic() - self._begun, 3),
        )

    def _try(self) -> Tried:
        begun, started, watch = time.monotonic(), now(), self._watch()
        tried = self._ask(watch)
        fault = tried.reply.detail if tried.response is None else ""
        seconds = round(time.monotonic() - begun, 3)
        self._tries.append(Try(started=started, seconds=seconds, status=watch.status, fault=fault, waited=0.0))
        return tried

    def _watch(self) -> Watch:
        limits, now = self._limits, time.monotonic()
        if self._left() < limits.try_seconds:
            return Watch(until=now + self._left(), span=f"the call's deadline of {limits.deadline_seconds:g} s")
        return Watch(until=now + limits.try_seconds, span=f"{limits.try_seconds:g} s")

    def _left(self) -> float:
        return self._begun + self._limits.deadline_seconds - time.monotonic()

    def _wait(self, state: tenacity.RetryCallState) -> float:
        tried = _last(state)
        if tried.stale and not self._hurried:
            self._hurried = True
            return 0.0
        return max(self._rng.uniform(0, _BACKOFF(state)), _retry_after(tried.response))

    def _stop(self, state: tenacity.RetryCallState) -> bool:
        if state.attempt_number >= self._limits.tries:
            return True
        left, asked = self._left(), _retry_after(_last(state).response)
        if state.upcoming_sleep < left:
            return False
        if left > 0:
            wish = f"the server asks to wait {_span(asked)}, but " if asked >= left else ""
            self._given_up = f"{wish}the deadline of {self._limits.deadline_seconds:g} s leaves no time for another try"
        return True

    def _note(self, state: tenacity.RetryCallState) -> None:
        """Note on the last try why it was not enough, and how long the next one waits."""
        fault, waited = _last(state).reply.detail, round(state.upcoming_sleep, 3)
        self._tries[-1] = replace(self._tries[-1], fault=fault, waited=waited)

    def _explained(self, detail: str) -> str:
        tries = f"{len(self._tries)} tries" if len(self._tries) > 1 else ""
        notes = "; ".join(each for each in (tries, self._given_up) if each)
        return f"{detail} ({notes})" if detail and notes else detail


def _last(state: tenacity.RetryCallState) -> Tried:
    return cast("tenacity.Future", state.outcome).result()


def _may_be_helped(tried: Tried) -> bool:
    return tried.reply.retry


def _retry_after(response: Response | None) -> float:
    """Return the seconds that a response asks to wait, 0 where it asks none; a date counts from the server's clock.

    However large a number is, it is one, if need be infinity.
    """
    value = response.headers.get("retry-after", "").strip() if response else ""
    if re.fullmatch(r"[0-9]+(\.[0-9]*)?(e\+?[0-9]+)?", value, re.IGNORECASE):
        return float(value)
    until = _http_date(value)
    if response is None or until is None:
        return 0.0
    now = _http_date(response.headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds <= _WEEK else "more than a week"


def _http_date(value: str) -> datetime | None:
    with contextlib.suppress(ValueError, OverflowError):
        moment = email.utils.parsedate_to_datetime(value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
