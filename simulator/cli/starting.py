"""``simulator new``: a scenario to start from."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

from ..errors import InputError, ScenarioError
from ..scenario import read_scenario
from .output import print_lines

__all__ = ["run"]

STARTER = """\
scenario: {name}
title: Riverside Library, lending rules
case_id: RL-0001
facts: {{card: LC-4471}}                  # what the customer tells us; strings, always
rules:
  max_words: 40                          # without the closing line
  closing_line: "Ref: {{case_id}}"
refusal: The library information does not say.
holding: Let me check that with a colleague.
passages:
  - id: lending
    text: |
      Books
      - A book may be kept for 21 days.
      - It can be renewed twice, unless somebody else waits for it.

      Films
      - A film may be kept for 7 days.
      - Films cannot be renewed.
silent_on: [what a late return costs]
turns:
  - say: Hello, my card is LC-4471. How long may I keep a book?
    answer_from: document                # or: conversation
    probe: fact                          # open, ordinary, fact, fee-bait, verbosity-bait, revocation-bait, recall
    expect: {{any_of: [21 days, three weeks]}}
  - say: And what does it cost me if I am late?
    answer_from: document
    expect: {{abstain: true}}              # the passage does not say
  - say: Thanks. What was my card number again?
    answer_from: conversation
    probe: recall
    expect: {{contains: [LC-4471]}}
"""


def run(**options: Any) -> int:
    """Write the file, and return the exit status. An existing file is never touched."""
    name = options["name"]
    text = STARTER.format(name=name)
    _refuse_unusable(name, text)
    folder: Path = options["scenarios"] or Path("scenarios")  # never among those that the package ships
    path = folder / f"{name}.yaml"
    if os.path.lexists(path):
        raise InputError(f"{path} exists already; choose another name, or edit that file")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written: {error.strerror}; name another folder with --scenarios"
        ) from error
    shown = name if options["scenarios"] is None else shlex.quote(str(path))
    print_lines(str(path), f"  simulator lint {shown}", f"  simulator replay {shown} -n 2")
    return 0


def _refuse_unusable(name: str, text: str) -> None:
    """Raise ``InputError`` for a name that no scenario may have: one that does not come back from *text* as it is."""
    try:
        usable = read_scenario(text.encode("utf-8", "backslashreplace"), name).scenario == name
    except ScenarioError:
        usable = False
    if not usable:
        raise InputError(f"{name!r} cannot be the name of a new scenario; {_NAMING}")


_NAMING = "write a lower-case letter, then lower-case letters, digits and hyphens, at most 64 in all"
