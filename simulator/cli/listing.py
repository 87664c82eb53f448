"""``simulator list``: the runs there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ..recording import RunRecord, Runs, UnreadableRun, list_runs
from ..report.layout import line, styled, whole
from ..visible import escaped
from .output import print_json, print_page

__all__ = ["run"]


def run(**options: Any) -> int:
    """Print the runs, oldest first, then what cannot be read as one, and return the exit status."""
    runs = list_runs(options["recordings"])
    if options["json"]:
        print_json([*map(_facts, runs.readable), *map(_unreadable_facts, runs.unreadable)])
    elif not (runs.readable or runs.unreadable):
        print_page(line(escaped(f"no runs in {options['recordings']}; `simulator replay` makes one")))
    else:
        print_page(Group(*_page(runs)))
    return 0


def _facts(run: RunRecord) -> dict[str, Any]:
    return {
        "run": run.name,
        "started": run.manifest.started,
        "model": run.manifest.endpoints.get("answer", {}).get("model", ""),
        "scenarios": list(run.manifest.scenarios),
        "attempts": run.manifest.attempts,
        "recorded": run.recorded,
        "planned": run.planned,
        "state": run.state,
        "problem": "",
    }


def _unreadable_facts(run: UnreadableRun) -> dict[str, Any]:
    unknown = dict.fromkeys(("started", "model", "scenarios", "attempts", "recorded", "planned"))
    return {"run": run.name, **unknown, "state": "unreadable", "problem": run.reason}


def _page(runs: Runs) -> Iterator[RenderableType]:
    """Yield each run under its name, which stands on a line of its own: names are there to be copied."""
    for run in runs.readable:
        facts = _facts(run)
        played = f"attempts: {run.recorded} of {run.planned}"
        yield _name(run.name)
        yield _below(line(escaped(" · ".join(map(str, (facts["started"], run.state, played, facts["model"]))))))
        yield _below(line(_listed(facts["scenarios"])))
    for unreadable in runs.unreadable:
        yield _name(unreadable.name)
        yield _below(styled(escaped(f"unreadable: {unreadable.reason}"), "unknown"))


def _name(name: str) -> Text:
    return whole(escaped(name), "bold")


def _below(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2))


_MOST_LISTED = 20


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
