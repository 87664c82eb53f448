"""``simulator import``: scenarios made from the files of a benchmark."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from ..squad import choose, read_squad, write_scenarios
from .output import print_lines

__all__ = ["run"]


def run(**options: Any) -> int:
    """Write the scenarios, and return the exit status."""
    folder: Path = options["out"]
    paths = write_scenarios(folder, choose(read_squad(options["file"]), options["questions"], options["seed"]))
    print_lines(
        f"{folder}: {len(paths)} scenarios, half of them with an answer, seed {options['seed']}",
        f"  simulator replay --scenarios {shlex.quote(str(folder))} --suite squad",
    )
    return 0
