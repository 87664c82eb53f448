"""A run read back, and compared with what its manifest and its seal say of it."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from ..canonical import digest_bytes
from ..errors import RecordingError
from ..prompt import Templates
from ..scenario import Scenario, read_scenario
from .attempt import AttemptRecord, read_attempt
from .files import attempts_begun, read_file
from .lines import FORMAT, Manifest, Seal
from .parsing import parse, problem

__all__ = ["RunRecord", "open_run"]

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """A recorded run: its manifest and where its attempts are."""

    folder: Path
    manifest: Manifest
    manifest_digest: str
    seal: Seal | None
    """None while the run is played, and after a crash."""
    attempts: Mapping[str, tuple[int, ...]]
    """The attempt numbers that have a file, by scenario."""
    _scenarios: dict[str, Scenario] = field(init=False, repr=False, compare=False, default_factory=dict[str, Scenario])
    """Those read so far."""

    @property
    def name(self) -> str:
        """What the run is called: the name of its folder."""
        return self.folder.name

    @property
    def state(self) -> Literal["not ended", "complete", "incomplete"]:
        """Whether the run ended, and every planned attempt in it."""
        return "not ended" if self.seal is None else "complete" if self.seal.complete else "incomplete"

    @property
    def planned(self) -> int:
        """The attempts that were to be played, of all scenarios together."""
        return self.manifest.attempts * len(self.manifest.scenarios)

    @property
    def recorded(self) -> int:
        """The attempts that have a file, however far they came."""
        return sum(map(len, self.attempts.values()))

    def scenario(self, name: str) -> Scenario:
        """Return the scenario as it was played; read once. Raises ``RecordingError`` where it was changed since."""
        if name not in self.manifest.scenarios:
            raise self._without(name)
        if name not in self._scenarios:
            file = f"scenarios/{name}.yaml"
            data = self._snapshot(file, self.manifest.scenarios[name])
            self._scenarios[name] = read_scenario(data, str(self.folder / file), stem=name)
        return self._scenarios[name]

    def templates(self) -> Templates:
        """Return the templates as they were used. Raises ``RecordingError`` where one was changed since."""
        digests = self.manifest.templates.items()
        return Templates({name: self._template(f"templates/{name}.jinja", digest) for name, digest in digests})

    def _template(self, file: str, digest: str) -> str:
        try:
            return self._snapshot(file, digest).decode()
        except UnicodeDecodeError as error:
            raise RecordingError(f"{self.folder / file}: is not UTF-8: {error}") from error

    def _snapshot(self, file: str, digest: str) -> bytes:
        data = read_file(self.folder, file)
        if digest_bytes(data) != digest:
            raise RecordingError(f"{self.folder / file}: is not what was played; run.json has another SHA-256 of it")
        return data

    def numbers(self, scenario: str) -> tuple[int, ...]:
        """Return the attempts of *scenario*. Raises ``RecordingError`` where there is none, naming what there is."""
        if scenario not in self.attempts:
            raise self._without(scenario)
        return self.attempts[scenario]

    def _without(self, scenario: str) -> RecordingError:
        there = ", ".join(self.attempts) or "no attempt at all"
        what = "attempt of" if scenario in self.manifest.scenarios else "scenario"
        return RecordingError(f"run {self.name} has no {what} {scenario}; it has {there}")

    def attempt(self, scenario: str, attempt: int) -> AttemptRecord:
        """Read one attempt. Raises ``RecordingError`` for what is damaged, or is not as it was sealed, naming it."""
        there = self.numbers(scenario)
        place = bisect_left(there, attempt)
        if there[place : place + 1] != (attempt,):
            numbers = ", ".join(str(number) for number in there)
            raise RecordingError(f"run {self.name} has no attempt {attempt} of {scenario}; it has {numbers}")
        file = f"{scenario}/{attempt}.jsonl"
        return read_attempt(
            self.folder / file,
            read_file(self.folder, file),
            scenario=scenario,
            attempt=attempt,
            turns=len(self.scenario(scenario).turns),
            manifest=self.manifest_digest,
            sealed=self.seal.files[file] if self.seal else None,
        )


def open_run(folder: Path) -> RunRecord:
    """Open the run in *folder*: its manifest and its seal are read, and which attempts it has; no attempt is.

    Raises ``RecordingError`` where it is none, is of a newer format, or does not hold the files that were sealed.
    """
    data = read_file(folder, "run.json")
    manifest = _read(Manifest, data, folder / "run.json")
    # Before the attempts are looked for: the run may be sealed meanwhile.
    seal = _read_seal(folder)
    run = RunRecord(
        folder=folder,
        manifest=manifest,
        manifest_digest=digest_bytes(data),
        seal=seal,
        attempts=attempts_begun(folder, manifest.scenarios),
    )
    _refuse_unplanned(run)
    if seal is not None:
        _compare(run, seal)
    return run


def _read_seal(folder: Path) -> Seal | None:
    if not os.path.lexists(folder / "sealed.json"):
        return None
    return _read(Seal, read_file(folder, "sealed.json"), folder / "sealed.json")


def _read(model: type[_Model], data: bytes, path: Path) -> _Model:
    try:
        value = parse(data)
        _refuse_newer(value, path)
        return model.model_validate(value)
    except ValidationError as error:
        raise RecordingError(f"{path}: {problem(error)}") from error
    except ValueError as error:
        raise RecordingError(f"{path}: {error}") from error


def _refuse_newer(value: object, path: Path) -> None:
    version: object = value.get("format") if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if isinstance(version, int) and version > FORMAT:
        raise RecordingError(f"{path}: format {version} is newer than {FORMAT}, the newest that this version reads")


def _refuse_unplanned(run: RunRecord) -> None:
    for name, numbers in run.attempts.items():
        if numbers[-1] > run.manifest.attempts:
            file = run.folder / name / f"{numbers[-1]}.jsonl"
            raise RecordingError(f"{file}: run.json plans {run.manifest.attempts} of {name}; take it out of the run")


def _compare(run: RunRecord, seal: Seal) -> None:
    """Raise ``RecordingError`` where the files of *run* are others than those of its seal."""
    if seal.manifest != run.manifest_digest:
        raise RecordingError(f"{run.folder / 'run.json'}: is not the one that was sealed when the run ended")
    there = {f"{name}/{number}.jsonl" for name, numbers in run.attempts.items() for number in numbers}
    for file in sorted(there ^ seal.files.keys()):
        why = "was added after the run ended" if file in there else "is missing; it was there when the run ended"
        raise RecordingError(f"{run.folder / file}: {why}")
    if seal.complete and len(there) != run.planned:
        told = f"says that all {run.planned} planned attempts ended, and names {len(there)}"
        raise RecordingError(f"{run.folder / 'sealed.json'}: {told}")
