"""``simulator lint``: whether scenarios can be read and make sense."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..lint import lint
from ..scenario import load_suites, select
from .output import print_json, print_lines
from .places import scenario_folder, template_folders

__all__ = ["run"]

_WRONG = 2


def run(**options: Any) -> int:
    """Print the findings, and return 2 where one of them is an error."""
    folder = scenario_folder(options["scenarios"])
    paths = select(folder, options["files"] or [], None)
    suites = load_suites(folder) if folder.is_dir() else {}
    findings = lint(paths, suites, template_folders(options["templates"]))
    errors = sum(finding.severity == "error" for finding in findings)
    if options["json"]:
        print_json([asdict(finding) for finding in findings])
    else:
        counted = ((len(paths), "scenario"), (errors, "error"), (len(findings) - errors, "warning"))
        read, *found = (f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counted)
        total = f"{read}: {', '.join(found)}"
        print_lines(*map(str, findings), total)
    return _WRONG if errors else 0
