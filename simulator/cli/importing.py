"""``simulator import``: scenarios made from the files of a benchmark."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from rich.text import Text

from ..report import visible
from ..squad import choose, read_squad, write_scenarios
from .output import print_page

__all__ = ["run"]


def run(**options: Any) -> int:
    """Write the scenarios, and return the exit status."""
    folder: Path = options["out"]
    paths = write_scenarios(folder, choose(read_squad(options["file"]), options["questions"], options["seed"]))
    written = f"{folder}: {len(paths)} scenarios, half of them with an answer, seed {options['seed']}"
    play = f"  simulator replay --scenarios {shlex.quote(str(folder))} --suite squad"
    print_page(Text(visible(f"{written}\n{play}")))
    return 0
