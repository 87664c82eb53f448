"""``simulator schema``: the JSON Schema of a scenario file."""

from __future__ import annotations

from ..scenario import json_schema
from .output import print_json

__all__ = ["run"]


def run() -> int:
    """Print the schema, and return the exit status."""
    print_json(json_schema())
    return 0
