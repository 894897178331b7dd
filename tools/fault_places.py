"""Find a symbol by name, in src/sortal by its syntax tree and in cpp/ by its braces, and change it.

A symbol is a dotted name: `kernels.learn.KernelOptions`, `modelfile.archive.VERSION`,
`cpp.pessimistic.Pruner.estimate`. Where no module of that name has it, any other that has a symbol
of the same last name will do, so that a fault outlives the move of what it breaks.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
LIST: Final = ROOT / "tools" / "faults.toml"
HIDDEN: Final = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.S)

BEFORE_BODY: Final = re.compile(r"\s*(?:const|noexcept|override|final|\s)*(?::[^;{]*)?\{")


class PlaceError(Exception):
    """A fault does not name exactly one place."""


@dataclass(frozen=True)
class Fault:
    """A text within a symbol, what is put in its place, and what that breaks."""

    name: str
    family: str
    symbol: str
    text: str
    instead: str
    breaks: str

    @property
    def package(self) -> str:
        """The part of the program: `cpp`, `learners` or another folder of src/sortal."""
        return self.symbol.partition(".")[0]


@dataclass(frozen=True)
class Change:
    """A file, relative to the project, and its whole text with one fault in it."""

    path: Path
    text: str


@dataclass(frozen=True)
class Symbol:
    """A named stretch of a file."""

    name: str
    path: Path
    source: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """Its own source."""
        return self.source[self.start : self.end]

    def changed(self, text: str, instead: str) -> Change:
        """The file with the one occurrence of a text replaced."""
        new = self.text.replace(text, instead)
        return Change(self.path, self.source[: self.start] + new + self.source[self.end :])


def read_faults(path: Path = LIST) -> list[Fault]:
    """The list, in its order."""
    families = tomllib.loads(path.read_text(encoding="utf-8"))
    return [
        Fault(name, family, **entry)
        for family, faults in families.items()
        for name, entry in faults.items()
    ]


def line_starts(source: str) -> list[int]:
    """Where each line begins, in characters."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def offset(source: str, starts: list[int], line: int, column: int) -> int:
    """A place of the syntax tree, which counts bytes of UTF-8, in characters."""
    rest = source[starts[line - 1] : starts[line]].encode()[:column]
    return starts[line - 1] + len(rest.decode())


def named(node: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


@cache
def python_symbols(root: Path, path: Path) -> list[Symbol]:
    """Functions, classes, methods and assigned names of a module."""
    return list(_python_symbols(root, path, path.read_text(encoding="utf-8")))


def _python_symbols(root: Path, path: Path, source: str) -> Iterator[Symbol]:
    starts = line_starts(source)
    module = ".".join(path.relative_to(root / "src" / "sortal").with_suffix("").parts)
    open_nodes: list[tuple[str, ast.AST]] = [(module.removesuffix(".__init__"), ast.parse(source))]
    while open_nodes:
        prefix, parent = open_nodes.pop()
        for node in ast.iter_child_nodes(parent):
            if not isinstance(node, ast.stmt):
                continue
            for name in named(node):
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
                end = offset(source, starts, node.end_lineno or 0, node.end_col_offset or 0)
                own = f"{prefix}.{name}"
                yield Symbol(own, path.relative_to(root), source, starts[first - 1], end)
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    open_nodes.append((own, node))


def closing(plain: str, start: int, pair: str) -> int:
    """The place after the bracket that closes the one at `start`, or -1."""
    depth = 0
    for i in range(start, len(plain)):
        depth += (plain[i] == pair[0]) - (plain[i] == pair[1])
        if not depth:
            return i + 1
    return -1


def cpp_functions(plain: str, name: str) -> Iterator[tuple[int, int]]:
    """Where functions of a name are defined, from the name to the last brace."""
    for match in re.finditer(rf"(?<![\w:.>]){re.escape(name)}\s*\(", plain):
        after = closing(plain, match.end() - 1, "()")
        head = BEFORE_BODY.match(plain, after) if after > 0 else None
        if head:
            yield match.start(), closing(plain, head.end() - 1, "{}")


def cpp_types(plain: str, name: str) -> Iterator[tuple[int, int]]:
    """Where structs and classes of a name are defined."""
    for match in re.finditer(rf"\b(?:struct|class)[\w() ]* {re.escape(name)}\b[^;{{(]*\{{", plain):
        yield match.start(), closing(plain, match.end() - 1, "{}")


@cache
def cpp_text(path: Path) -> tuple[str, str]:
    """A file, and the same with blanks for comments and strings, whose braces close nothing."""
    source = path.read_text(encoding="utf-8")
    return source, HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), source)


def cpp_symbols(root: Path, path: Path, names: list[str]) -> Iterator[Symbol]:
    """Definitions of `Struct.function` or `function` in a file."""
    source, plain = cpp_text(path)
    dotted = ".".join(["cpp", path.stem, *names])
    spans = list(cpp_functions(plain, "::".join(names)))
    spans += [
        (low + a, low + b)
        for low, high in cpp_types(plain, names[0])
        for a, b in cpp_functions(plain[low:high], names[-1])
        if len(names) > 1
    ]
    yield from (Symbol(dotted, path.relative_to(root), source, a, b) for a, b in spans)


def symbols_like(name: str, root: Path) -> list[Symbol]:
    """Symbols of that dotted name; if there is none, those of the same last name."""
    if name.startswith("cpp."):
        _, file, *names = name.split(".")
        files = sorted((root / "cpp").rglob("*.?pp"))
        found = [s for path in files for s in cpp_symbols(root, path, names)]
        return [s for s in found if s.path.stem == file] or found
    last = "." + name.rpartition(".")[2]
    files = sorted((root / "src" / "sortal").rglob("*.py"))
    found = [
        symbol
        for path in files
        for symbol in python_symbols(root, path)
        if symbol.name.endswith(last)
    ]
    return [s for s in found if s.name == name] or found


def change_of(fault: Fault, root: Path = ROOT) -> Change:
    """The file with the fault in it; the text must be there exactly once."""
    like = symbols_like(fault.symbol, root)
    if not like:
        raise PlaceError(
            f"{fault.name}: there is no symbol {fault.symbol}, nor one of its last name elsewhere. "
            "Name the symbol that does its work now."
        )
    counts = [symbol.text.count(fault.text) for symbol in like]
    if sum(counts) != 1:
        where = ", ".join(sorted({f"{s.name} in {s.path}" for s in like}))
        raise PlaceError(
            f"{fault.name}: the text {fault.text!r} is {sum(counts)} times in {where}; it must be "
            "there once. Give a text that is."
        )
    return like[counts.index(1)].changed(fault.text, fault.instead)
