"""What the arguments name: scenario files, and the attempts of a recorded run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from ..errors import InputError
from ..recording import Reference, RunRecord, find_run, parse_reference
from ..scenario import find_scenarios, select
from ..transcript import Transcript, read_transcript, read_transcripts
from .places import scenario_folder, template_folders

__all__ = ["ChosenAttempts", "choose_attempts", "choose_scenarios", "resolve"]

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_SUITE = "parks"


def choose_scenarios(given: Path | None, names: Sequence[str], suite: str | None) -> list[Path]:
    """Return the files of the scenarios *names*, or without names of those of *suite*, by default the parks.

    A name is looked for in the folder *given*, or in ``./scenarios`` and then among those that ship: a first scenario
    of one's own does not hide them. A suite is only looked for in the one folder.
    """
    if not names:
        return select(scenario_folder(given), (), _SUITE if suite is None else suite)
    if suite is not None:
        raise InputError(f"--suite {suite}: scenarios are named too; write their names or --suite, not both")
    return select(scenario_folder(given), resolve(given, names), None)


def resolve(given: Path | None, names: Sequence[str]) -> list[str]:
    """Return *names*, with the path in the place of a name that only the shipped folder has.

    Raises ``InputError`` for an unknown one, naming all there are.
    """
    if not any(map(_NAME.fullmatch, names)):
        return list(names)
    own = scenario_folder(given)
    known = find_scenarios(own)
    shipped = {} if given is not None else find_scenarios(template_folders(None)[-1].with_name("scenarios"))
    unknown = [name for name in names if _NAME.fullmatch(name) and name not in {**shipped, **known}]
    if unknown:
        raise InputError("\n".join(_no_such(name, own, {**shipped, **known}) for name in unknown))
    return [str(shipped[name]) if name in shipped and name not in known else name for name in names]


def _no_such(name: str, folder: Path, known: Mapping[str, Path]) -> str:
    """Return the error for an unknown *name*: all that are known, the closest first."""
    ranked = sorted(known, key=lambda each: (-SequenceMatcher(None, name, each).ratio(), each))
    there = f"write one of {', '.join(ranked)}" if ranked else "there is none at all"
    return f'{folder}: there is no scenario "{name}" here; {there}'


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenAttempts:
    """The attempts that RUN, RUN:SCENARIO or RUN:SCENARIO#ATTEMPT names."""

    run: RunRecord
    reference: Reference
    attempts: tuple[Transcript, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """What was to be played and was not, or not to its last turn, one line each."""
        broken = [f"{each.scenario}#{each.attempt}: {each.problem}" for each in self.attempts if not each.complete]
        return (*broken, *(self._never_began() if self.reference.attempt is None else ()))

    def _never_began(self) -> Iterator[str]:
        planned = self.run.manifest.attempts
        for scenario in self.run.manifest.scenarios:
            there = len(self.run.attempts.get(scenario, ()))
            if self.reference.scenario in (None, scenario) and there < planned:
                yield f"{scenario}: {planned - there} of {planned} attempts never began"


def choose_attempts(recordings: Path, text: str) -> ChosenAttempts:
    """Return the attempts that *text* names. Raises ``InputError`` for what is not there."""
    reference = parse_reference(text)
    run = find_run(recordings, reference)
    return ChosenAttempts(run=run, reference=reference, attempts=tuple(_read(run, reference)))


def _read(run: RunRecord, reference: Reference) -> Iterator[Transcript]:
    if reference.scenario is not None and reference.attempt is not None:
        yield read_transcript(run, reference.scenario, reference.attempt)
        return
    for name in list(run.attempts) if reference.scenario is None else [reference.scenario]:
        yield from read_transcripts(run, name)
