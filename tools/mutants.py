"""A random sample of small changes to src/sortal that nobody chose.

A change replaces the exact text of one operator, constant, comparison or statement; the rest of
the file stays as it is.
"""

from __future__ import annotations

import ast
import random
import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from tools.fault_places import ROOT, Change, Fault, line_starts, offset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ARITHMETIC: Final[dict[type[ast.AST], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
COMPARING: Final[dict[type[ast.AST], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
KINDS: Final = ("operator", "constant", "comparison", "statement")
TYPES: Final = {"annotation", "returns", "type_params", "decorator_list"}


class Text:
    """A module's source, and where its nodes stand in it."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._starts = line_starts(source)

    def start(self, node: ast.expr | ast.stmt) -> int:
        return offset(self.source, self._starts, node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        return offset(self.source, self._starts, node.end_lineno or 0, node.end_col_offset or 0)

    def between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Cut]:
        """The operator that stands between two operands."""
        low = self.end(left)
        found = re.search(rf"(?<!\w){re.escape(old)}(?!\w)", self.source[low : self.start(right)])
        if found:
            yield low + found.start(), low + found.end(), new


Cut = tuple[int, int, str]


def runs(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below one that are run; annotations and docstrings are not."""
    for field, value in ast.iter_fields(node):
        if field in TYPES:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not skipped(child):
                yield child
                yield from runs(child)


def skipped(node: ast.AST) -> bool:
    """Types, imports, docstrings, and whether zip looks at lengths, which equal ones never show."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    return isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr)


def operators(text: Text, node: ast.AST) -> Iterator[Cut]:
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield from text.between(node.left, node.right, *ARITHMETIC[type(node.op)])
    if isinstance(node, ast.BoolOp):
        first, second = node.values[:2]
        yield from text.between(first, second, *ARITHMETIC[type(node.op)])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield text.start(node), text.start(node.operand), ""


def comparisons(text: Text, node: ast.AST) -> Iterator[Cut]:
    if isinstance(node, ast.Compare):
        yield from text.between(node.left, node.comparators[0], *COMPARING[type(node.ops[0])])


def constants(text: Text, node: ast.AST) -> Iterator[Cut]:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value = node.value
        new = not value if isinstance(value, bool) else value + 1 if value == 0 else value * 2
        yield text.start(node), text.end(node), repr(new)


def statements(text: Text, node: ast.AST) -> Iterator[Cut]:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return  # the next line would not know the name
    if isinstance(node, ast.Assign | ast.Expr | ast.AugAssign | ast.Raise):
        yield text.start(node), text.end(node), "pass"


MAKERS: Final = dict(zip(KINDS, (operators, constants, comparisons, statements), strict=True))


def symbol_of(tree: ast.Module, line: int) -> str:
    """The innermost function or class around a line."""
    around = [
        (node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return ".".join(name for _, name in sorted(around)) or "module"


def cuts_of(path: Path, kind: str) -> list[Cut]:
    """All changes of one kind that a file offers, in the order of its text."""
    source = path.read_text(encoding="utf-8")
    text = Text(source)
    return sorted(cut for node in runs(ast.parse(source)) for cut in MAKERS[kind](text, node))


def mutant(path: Path, kind: str, cut: Cut, root: Path) -> tuple[Fault, Change]:
    """A change under a name that says where it is."""
    source = path.read_text(encoding="utf-8")
    start, end, new = cut
    changed = source[:start] + new + source[end:]
    line = source.count("\n", 0, start)
    module = ".".join(path.relative_to(root / "src" / "sortal").with_suffix("").parts)
    symbol = f"{module}.{symbol_of(ast.parse(source), line + 1)}"
    name = f"{symbol}:{line + 1}:{start - source.rfind(chr(10), 0, start)} {kind}"
    before, after = source.splitlines()[line].strip(), changed.splitlines()[line].strip()
    fault = Fault(name, kind, symbol, source[start:end], new, f"{before} → {after}")
    return fault, Change(path.relative_to(root), changed)


def parses(change: Change) -> bool:
    """Whether the file is still Python."""
    try:
        ast.parse(change.text)
    except SyntaxError:
        return False
    return True


def sample(count: int, seed: int, root: Path = ROOT) -> list[tuple[Fault, Change]]:
    """As many mutants of each kind, drawn from all that there are."""
    rng = random.Random(seed)  # noqa: S311
    files = sorted((root / "src" / "sortal").rglob("*.py"))
    drawn: list[tuple[Fault, Change]] = []
    for i, kind in enumerate(KINDS):
        offered = [(path, cut) for path in files for cut in cuts_of(path, kind)]
        rng.shuffle(offered)
        made = (mutant(path, kind, cut, root) for path, cut in offered)
        wanted = count // len(KINDS) + (i < count % len(KINDS))
        drawn += islice((one for one in made if parses(one[1])), wanted)
    return drawn
