"""The scenario files that there are, and which of them are meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, TypeAdapter

from ..errors import InputError, ScenarioError
from ..yamltext import as_count, quoted, read_yaml
from .fields import Line, Name
from .loading import in_words, load_scenario, shown, validated, yaml_bytes
from .parts import Part
from .wording import instead

__all__ = ["Suite", "find_scenarios", "load_suites", "select"]

_SUITES_FILE = "suites.yaml"
_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """A named set of scenarios."""

    name: str
    title: str
    turns: int | None
    """How many turns each of its scenarios has; None: any number."""


class _SuiteEntry(Part):
    title: Line
    turns: Annotated[int, Field(ge=1, le=500), BeforeValidator(as_count)] | None = None


_SUITES: TypeAdapter[dict[str, _SuiteEntry]] = TypeAdapter(dict[Name, _SuiteEntry])


def find_scenarios(folder: Path) -> dict[str, Path]:
    """Return the scenario files in *folder* and below by name, in the order of the names; none is read.

    Raises `InputError` if the folder cannot be read, or if two names differ at most in case.
    """
    found: dict[str, Path] = {}
    folded: dict[str, Path] = {}
    for path in _yaml_files(folder):
        other = folded.setdefault(path.stem.casefold(), path)
        if other != path:
            raise InputError(f"{shown(other)} and {shown(path)} have the same name; rename one of them")
        found[path.stem] = path
    return dict(sorted(found.items()))


def _yaml_files(folder: Path) -> list[Path]:
    _require(folder)
    with in_words(folder):
        return sorted(
            path
            for path in folder.rglob("*")
            if path.suffix.lower() in _SUFFIXES
            and path.name != _SUITES_FILE
            and not any(part.startswith(".") for part in path.relative_to(folder).parts)
            and path.is_file()
        )


def _require(folder: Path) -> None:
    with in_words(folder):
        if not folder.is_dir():
            raise InputError(f"{shown(folder)}: there is no such folder; name the one that holds the scenarios")


def load_suites(folder: Path) -> dict[str, Suite]:
    """Return the suites that ``suites.yaml`` in *folder* names, in its order; none if there is no such file."""
    _require(folder)
    path = folder / _SUITES_FILE
    with in_words(path):
        if not path.exists():
            return {}
    document = read_yaml(yaml_bytes(path), str(path))
    entries = validated(_SUITES, _SuiteEntry, document, document.problems)
    return {name: Suite(name=name, title=entry.title, turns=entry.turns) for name, entry in entries.items()}


def select(folder: Path, names: Sequence[str], suite: str | None) -> list[Path]:
    """Return the files of the scenarios that are meant, each once.

    *names* are names of scenarios in *folder* or paths of YAML files, and come in the order given. Without names they
    are the scenarios of *suite*, or all for None, in the order of their names.
    Raises `InputError` for what is not there, and `ScenarioError` if it is not known which suite a broken file is of.
    """
    if names:
        return _distinct(_named(folder, names))
    found = find_scenarios(folder)
    if suite is not None:
        found = _of_suite(folder, found, suite)
    if not found:
        wanted = f"scenario of the suite {suite}" if suite else "scenario"
        raise InputError(f"{shown(folder)}: there is no {wanted} here; write one as NAME.yaml")
    return list(found.values())


def _named(folder: Path, names: Sequence[str]) -> list[Path]:
    written = [Path(name) if _is_path(name) else None for name in names]
    found = find_scenarios(folder) if None in written else {}
    unknown = [name for name, path in zip(names, written, strict=True) if path is None and name not in found]
    if unknown:
        where = shown(folder)
        raise InputError(
            "\n".join(f"{where}: there is no scenario {quoted(n)} here; {instead(n, found)}" for n in unknown)
        )
    for path in filter(None, written):
        yaml_bytes(path)
    return [path or found[name] for name, path in zip(names, written, strict=True)]


def _is_path(name: str) -> bool:
    return Path(name).name != name or Path(name).suffix.lower() in _SUFFIXES


def _distinct(paths: Sequence[Path]) -> list[Path]:
    """Return *paths* without repetitions; two files of one name would be recorded as one scenario."""
    first: dict[str, Path] = {}
    for path in paths:
        other = first.setdefault(path.stem.casefold(), path)
        if other.resolve() != path.resolve():
            raise InputError(f"{shown(other)} and {shown(path)} have the same name; rename one of them")
    return list(first.values())


def _of_suite(folder: Path, found: Mapping[str, Path], suite: str) -> dict[str, Path]:
    """Return those of the *found* scenarios that say they are of *suite*."""
    if suite not in (suites := load_suites(folder)):
        file = shown(folder / _SUITES_FILE)
        raise InputError(f"{file}: there is no suite {quoted(suite)} here; {instead(suite, suites)}")
    chosen: dict[str, Path] = {}
    broken: list[str] = []
    for name, path in found.items():
        try:
            if load_scenario(path).suite == suite:
                chosen[name] = path
        except ScenarioError as error:
            broken.append(str(error))
    if broken:
        raise ScenarioError("\n".join(broken))
    return chosen
