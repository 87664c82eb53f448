"""``simulator list``: the runs there are."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from ..recording import RunRecord, list_runs
from ..report import visible
from .output import print_json, print_page

__all__ = ["run"]


def run(**options: Any) -> int:
    """Print the runs, oldest first, and return the exit status."""
    runs = list_runs(options["recordings"])
    if options["json"]:
        print_json([_facts(run) for run in runs])
    elif not runs:
        print_page(Text(f"no runs in {options['recordings']}; `simulator replay` makes one"))
    else:
        print_page(_table(runs))
    return 0


def _facts(run: RunRecord) -> dict[str, Any]:
    return {
        "run": run.manifest.run,
        "started": run.manifest.started,
        "model": run.manifest.endpoints.get("answer", {}).get("model", ""),
        "scenarios": list(run.manifest.scenarios),
        "attempts": run.manifest.attempts,
        "state": "not ended" if run.seal is None else "complete" if run.seal.complete else "incomplete",
    }


def _table(runs: tuple[RunRecord, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for head in ("run", "started", "model", "scenarios", "attempts", "state"):
        table.add_column(head, overflow="fold")
    for run in runs:
        facts = _facts(run) | {"scenarios": ", ".join(run.manifest.scenarios)}
        table.add_row(*(Text(visible(str(value))) for value in facts.values()))
    return table
