"""The README: its commands run, its options exist, and its excerpt is what the program prints."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent
README = (TOP / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = [
    re.sub(r"\s{2,}#.*", "", line.split("uv run simulator ", 1)[1]).split()
    for block in BLOCKS
    for line in block.splitlines()
    if "uv run simulator " in line
]
OFFLINE = [
    words for words in COMMANDS if words[0] in ("show", "diff", "list") and not {"LAST", "PREVIOUS"} & set(words)
]


def simulator(*words: str, cwd: Path = TOP) -> subprocess.CompletedProcess[str]:
    """Run the program as a person would, without colour, 80 columns wide."""
    return subprocess.run(
        [sys.executable, "-m", "simulator", *words],
        cwd=cwd,
        env={"COLUMNS": "80", "PATH": "", "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_the_readme_shows_commands_of_every_kind() -> None:
    """What these tests read out of the README is there to be read."""
    assert {"replay", "show", "diff", "list", "new", "lint"} <= {words[0] for words in COMMANDS}
    assert [words for words in OFFLINE if words[1:] and words[1].startswith("parks-")]


@pytest.mark.parametrize("words", [words for words in OFFLINE if "LAST" not in " ".join(words)], ids=" ".join)
def test_what_needs_no_model_runs_as_it_stands(words: list[str]) -> None:
    """A command on the shipped runs ends well and prints something."""
    done = simulator(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_option_that_is_shown_exists(words: list[str]) -> None:
    """Each option of a shown command stands in the help of that command."""
    text = simulator(words[0], "--help").stdout
    for word in words[1:]:
        if re.fullmatch(r"--?[a-z][a-z-]*", word):
            assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text), f"{words[0]} has no {word}"


def test_the_excerpt_is_what_the_program_prints() -> None:
    """The diff on the first page is the output of the command above it."""
    block = next(block for block in re.findall(r"```text\n(.*?)```", README, flags=re.DOTALL))
    command, *shown = block.strip().splitlines()
    done = simulator(*shlex.split(command.split("uv run simulator ", 1)[1]))
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    for line in shown:
        assert line.rstrip() in printed


def test_the_names_of_files_and_folders_exist() -> None:
    """Every folder of the table of places is there."""
    for folder in re.findall(r"^\| `([a-z]+/)` \|", README, flags=re.MULTILINE):
        assert (TOP / folder).is_dir(), folder
