"""The shape of the package: files that hold a whole thought, folders that can be overlooked."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

import sortal

ROOT: Final = Path(sortal.__file__).parent
FILES: Final = sorted(ROOT.rglob("*.py"))
LONGEST, SHORTEST, MOST_FILES = 600, 80, 30
# Every family has these, however short they are, and a task that asks all families for them.
OF_A_FAMILY: Final = {"model", "learn", "explain", "working", "leave_one_out", "estimator"} | {
    "displays",
    "browser",
}


def name_of(path: Path) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> set[str]:
    """What a module names in imports: modules, and names that may be modules."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def n_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_files_are_not_too_long() -> None:
    assert {name_of(path): n for path in FILES if (n := n_lines(path)) > LONGEST} == {}


def test_a_short_module_has_more_than_one_importer() -> None:
    importers = Counter(name for path in FILES for name in imported(path))
    short = [
        name_of(path)
        for path in FILES
        if n_lines(path) < SHORTEST
        and path.stem not in OF_A_FAMILY | {"__init__", "__main__"}
        and importers[name_of(path)] <= 1
    ]
    assert short == []


def test_folders_are_not_too_full() -> None:
    folders = Counter(path.parent for path in FILES)
    assert {str(folder): n for folder, n in folders.items() if n > MOST_FILES} == {}


def test_no_two_public_classes_have_one_name() -> None:
    homes = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(name_of(path))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}
