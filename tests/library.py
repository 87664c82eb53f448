"""A small library and a museum: scenarios, and what a good model says in them, for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from simulator.testing import Step

LIBRARY = """\
scenario: library
suite: lending
title: Riverside Library
case_id: RL-1
facts: {card: LC-4471}
rules: {max_words: 12, closing_line: "Ref: {case_id}"}
refusal: It does not say.
holding: One moment.
passages: [{id: lending, text: A book may be kept for 21 days. A film may be kept for 7 days.}]
turns:
  - {say: "Hello, my card is LC-4471. How long may I keep a book?", answer_from: document}
  - {say: "And a film?", answer_from: document, expect: {contains: [7 days]}}
  - {say: "What is my card number?", answer_from: conversation, expect: {contains: [LC-4471]}}
"""
MUSEUM = """\
scenario: museum
suite: lending
title: Riverside Museum
rules: {max_words: 12}
refusal: It does not say.
holding: One moment.
passages: [{id: hours, text: The museum opens at noon.}]
turns:
  - {say: "When does it open?", answer_from: document}
"""
SUITES = "lending:\n  title: Lending\n  turns: 3\n"
REPLIES = {
    "How long may I keep a book": "You may keep a book for 21 days.\nRef: RL-1",
    "And a film": "A film may be kept for 7 days.\nRef: RL-1",
    "card number": "Your card is LC-4471.\nRef: RL-1",
    "When does it open": "The museum opens at noon.",
}
SUPPORTED = '{"unsupported": [], "verdict": "supported"}'

Script = Callable[[dict[str, Any]], Step]


def answers(**replies: Step) -> Script:
    """Return a script that finds everything supported; *replies* replace those of a turn, t1 to t3."""
    changed = dict(zip(REPLIES, (replies.get(f"t{number}") for number in range(1, 5)), strict=True))

    def script(body: dict[str, Any]) -> Step:
        last = body["messages"][-1]["content"]
        if "REPLY TO CHECK" in last:
            return SUPPORTED
        question = next(question for question in REPLIES if question in last)
        return changed[question] or REPLIES[question]

    return script


def working_folder(folder: Path) -> Path:
    """Return *folder* with two scenarios, and beside them what is wrong in one way each."""
    for name, text in {
        "scenarios/library.yaml": LIBRARY,
        "scenarios/museum.yaml": MUSEUM,
        "scenarios/suites.yaml": SUITES,
        "bad/broken.yaml": "scenario: [",
        "bad/unknown.yaml": MUSEUM.replace("museum", "unknown") + "colour: red\n",
        "bad/other.yaml": MUSEUM,
        "bad/folder.yaml/here": "",
        "bad/text.gguf": "no model",
        "bad/templates/support.jinja": "{% block system %}{{ nothing }}{% endblock %}",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "bad/latin.yaml").write_bytes(MUSEUM.replace("Riverside", "Rivi\xe8re").encode("latin-1"))
    return folder
