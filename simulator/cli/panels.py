"""The help of a command with many options: the options in groups."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["PanelCommand"]


class PanelCommand(TyperCommand):
    """A command whose help shows each option under the name of its panel."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each panel, in the order in which they first appear."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                panels.setdefault(getattr(param, "rich_help_panel", None) or _OTHERS, []).append(record)
        for panel, records in panels.items():
            with formatter.section(panel):
                formatter.write_dl(records)


_OTHERS = "Input and output"
