"""The map of the package, and that the code follows it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import simulator
from simulator import errors

PACKAGE = Path(simulator.__file__).parent
NOUNS = re.findall(r"^    (\w+) {2,}\S", simulator.__doc__ or "", flags=re.MULTILINE)


def imported_nouns(path: Path) -> set[str]:
    """Return the top-level modules of the package that *path* imports, deferred imports included."""
    depth = len(path.relative_to(PACKAGE).parts)
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    found: set[str] = set()
    for node in nodes:
        if node.level == depth:
            found |= {node.module.split(".")[0]} if node.module else {alias.name for alias in node.names}
    return found & set(NOUNS)


def test_the_map_names_every_module() -> None:
    """The package docstring lists exactly the modules and folders that there are."""
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert set(NOUNS) == {name for name in there if not name.startswith("_")}


def test_a_module_imports_only_modules_above_it() -> None:
    """Imports run one way along the order of the map."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        noun = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if noun in NOUNS:
            above = NOUNS[: NOUNS.index(noun) + 1]
            wrong += [f"{path.relative_to(PACKAGE)} imports {name}" for name in imported_nouns(path) - set(above)]
    assert wrong == []


def test_no_module_of_the_package_is_named_absolutely() -> None:
    """Inside the package imports are relative."""
    absolute = [
        str(path)
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^\s*(from|import) simulator\b", path.read_text(), flags=re.MULTILINE)
    ]
    assert absolute == []


def drawn_tree() -> dict[str, str]:
    """Return parent by class name, as the docstring of ``errors`` draws them."""
    parents: dict[str, str] = {}
    stack: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^( {4}[\s│├└─]*)([A-Z]\w+Error)\b", line)
        if match:
            depth = len(match[1])
            stack = [entry for entry in stack if entry[0] < depth]
            if stack:
                parents[match[2]] = stack[-1][1]
            stack.append((depth, match[2]))
    return parents


def test_the_error_tree_is_as_drawn() -> None:
    """The drawing at the top of ``errors`` shows every class under its parent, with its exit status."""
    classes = {name: getattr(errors, name) for name in errors.__all__}
    actual = {name: cls.__bases__[0].__name__ for name, cls in classes.items() if name != "SimulatorError"}
    assert drawn_tree() == actual
    for name, status in re.findall(r"(\w+Error)\s+\((\d)\)", errors.__doc__ or ""):
        assert classes[name].exit_status == int(status)
