"""docs/math.md and the code that cites its equations say the same thing."""

import ast
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "math.md"
CODE = (("src", ".py"), ("cpp", ".cpp"), ("cpp", ".hpp"), ("cpp", ".h"))

# A tag is not valid syntax in either language, so in a source file it is in a comment or a string.
# "S" must be followed by a digit: it is also a scatter matrix.
TAG = re.compile(r"\(((?:ZM|Sch|MSML|Bar) [^()]+|S [0-9][^()]*)\)")
PLACE = re.compile(r"`((?:src|cpp)/[\w/.]+)::(\w+)`")
HEADER = ["tag", "formula", "in words", "where"]
NOT_IN_CODE = {
    "derivation",
    "to come: tree",
    "to come: discriminants",
    "to come: neighbors",
}

ZAKI_MEIRA = [f"ZM {chapter}.{number}" for chapter in (19, 20) for number in range(1, 23)]
SCHALKOFF = [
    "Sch 4-2",
    "Sch 4-3",
    "Sch 4-4",
    *("Sch 4-5a", "Sch 4-5b", "Sch 4-5c"),
    *("Sch 4-6a", "Sch 4-6b"),
    *("Sch 4-7a", "Sch 4-7b"),
    "Sch 4-8",
    *("Sch 4-9a", "Sch 4-9b", "Sch 4-9c", "Sch 4-9d", "Sch 4-9e", "Sch 4-9f"),
    *("Sch 4-10a", "Sch 4-10b", "Sch 4-10c", "Sch 4-10d"),
    *("Sch 4-11a", "Sch 4-11b", "Sch 4-11c", "Sch 4-11d"),
    "Sch 4-12",
    "Sch 4-13",
    "Sch 4-14",
]
BARNER = ["Bar *"]


@dataclass(frozen=True)
class Equation:
    """One row of the page; places are (path, name), none for a formula that is not in code."""

    tag: str
    places: tuple[tuple[str, str], ...]


def parse_page(text: str) -> list[Equation]:
    """Read the rows of all tables of the page."""
    tables = (line for line in text.splitlines() if line.startswith("|"))
    rows = ([cell.strip() for cell in line.strip().strip("|").split("|")] for line in tables)
    return [parse_row(row) for row in rows if row != HEADER and set("".join(row)) != {"-"}]


def parse_row(row: list[str]) -> Equation:
    """Check the form of one row and read it."""
    if len(row) != len(HEADER):
        raise ValueError(f"a row needs {len(HEADER)} cells: {row}")
    tag, formula, words, where = row
    match = TAG.fullmatch(tag)
    if match is None:
        raise ValueError(f"not a tag in parentheses: {tag!r}")
    if not re.fullmatch(r"`[^`]+`", formula) or not words:
        raise ValueError(f"{tag} needs a formula in inline code, and words")
    if where in NOT_IN_CODE:
        return Equation(match[1], ())
    places = [PLACE.fullmatch(place) for place in where.split(", ")]
    if None in places:
        raise ValueError(f"{tag} has an unknown place: {where!r}")
    return Equation(match[1], tuple((place[1], place[2]) for place in places if place))


def read_code() -> dict[str, str]:
    """All source texts by path from the root of the repository."""
    paths = [path for folder, suffix in CODE for path in (ROOT / folder).rglob(f"*{suffix}")]
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(paths)
    }


parsed = cache(ast.parse)


def definitions(path: str, text: str, name: str) -> list[str]:
    """Source segments that define a name; in C++, which is not parsed here, the whole file."""
    if not path.endswith(".py"):
        return [text] if re.search(rf"\b{name}\b", text) else []
    lines = text.split("\n")  # whole lines, to keep a comment after the last statement
    return [
        "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.name == name
    ]


def unknown_tags(page: list[Equation], code: dict[str, str]) -> list[str]:
    """Tags that stand in the code and not on the page."""
    known = {equation.tag for equation in page}
    return [
        f"{path} cites ({tag})"
        for path, text in code.items()
        for tag in sorted(set(TAG.findall(text)) - known)
    ]


def broken_places(page: list[Equation], code: dict[str, str]) -> list[str]:
    """Places on the page that do not exist or do not carry their tag."""
    problems = []
    for equation in page:
        for path, name in equation.places:
            segments = definitions(path, code[path], name) if path in code else []
            if path not in code:
                problems.append(f"({equation.tag}): there is no {path}")
            elif not segments:
                problems.append(f"({equation.tag}): {path} does not define {name}")
            elif not any(equation.tag in TAG.findall(segment) for segment in segments):
                problems.append(f"({equation.tag}) is not written inside {path}::{name}")
    return problems


def unlisted_files(page: list[Equation], code: dict[str, str]) -> list[str]:
    """Files that cite a tag of the page without being a place of it."""
    listed = {equation.tag: {path for path, _ in equation.places} for equation in page}
    return [
        f"{path} cites ({tag})"
        for path, text in code.items()
        for tag in sorted(set(TAG.findall(text)))
        if tag in listed and path not in listed[tag]
    ]


@pytest.fixture(scope="module")
def page() -> list[Equation]:
    return parse_page(PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def code() -> dict[str, str]:
    return read_code()


def test_every_tag_in_the_code_is_on_the_page(page: list[Equation], code: dict[str, str]) -> None:
    problems = unknown_tags(page, code)
    assert not problems, "docs/math.md has no such row:\n" + "\n".join(problems)


def test_every_place_on_the_page_carries_its_tag(
    page: list[Equation], code: dict[str, str]
) -> None:
    problems = broken_places(page, code)
    assert not problems, "docs/math.md names wrong places:\n" + "\n".join(problems)


def test_every_file_that_cites_a_tag_is_on_the_page(
    page: list[Equation], code: dict[str, str]
) -> None:
    problems = unlisted_files(page, code)
    assert not problems, "docs/math.md does not list these files:\n" + "\n".join(problems)


def test_no_tag_appears_twice(page: list[Equation]) -> None:
    counts = Counter(equation.tag for equation in page)
    twice = [tag for tag, count in counts.items() if count > 1]
    assert not twice, f"docs/math.md has more than one row for {twice}"


@pytest.mark.parametrize("tags", [ZAKI_MEIRA, SCHALKOFF, BARNER], ids=["ZM", "Sch", "Bar"])
def test_the_page_holds_every_numbered_equation(page: list[Equation], tags: list[str]) -> None:
    missing = sorted(set(tags) - {equation.tag for equation in page})
    assert not missing, f"docs/math.md lacks {missing}"


EXAMPLE = parse_page("""
| tag | formula | in words | where |
|---|---|---|---|
| (S 1) | `a = b` | Equal. | `src/one.py::f`, `cpp/one.cpp::g` |
| (ZM 19.3) | `c = d` | Equal too. | to come: tree |
""")
GOOD = {
    "src/one.py": "class C:\n    def f(self):\n        return 1  # (S 1)\n",
    "cpp/one.cpp": "int g() { return 1; }  // (S 1)\n",
}


def test_an_agreeing_page_and_code_have_no_problems() -> None:
    assert EXAMPLE[0].places == (("src/one.py", "f"), ("cpp/one.cpp", "g"))
    assert not unknown_tags(EXAMPLE, GOOD)
    assert not broken_places(EXAMPLE, GOOD)
    assert not unlisted_files(EXAMPLE, GOOD)


@pytest.mark.parametrize("tag", ["S 11", "ZM 19.14, 19.16", "Bar lda"])
def test_a_wrong_tag_is_caught(tag: str) -> None:
    code = GOOD | {"src/two.py": f'"""Cites ({tag})."""\n'}
    assert unknown_tags(EXAMPLE, code) == [f"src/two.py cites ({tag})"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("def g(): ...  # (S 1)\n", "(S 1): src/one.py does not define f"),
        ("# (S 1)\ndef f(): ...\n", "(S 1) is not written inside src/one.py::f"),
        ("def f(): ...  # (S 12)\n", "(S 1) is not written inside src/one.py::f"),
    ],
    ids=["no such name", "tag outside", "other tag"],
)
def test_a_wrong_place_is_caught(text: str, problem: str) -> None:
    assert broken_places(EXAMPLE, GOOD | {"src/one.py": text}) == [problem]


def test_a_missing_file_is_caught() -> None:
    code = {"cpp/one.cpp": GOOD["cpp/one.cpp"]}
    assert broken_places(EXAMPLE, code) == ["(S 1): there is no src/one.py"]


def test_an_unlisted_file_is_caught() -> None:
    code = GOOD | {"cpp/two.hpp": "// (S 1), (ZM 19.3)\n"}
    problems = ["cpp/two.hpp cites (S 1)", "cpp/two.hpp cites (ZM 19.3)"]
    assert unlisted_files(EXAMPLE, code) == problems


@pytest.mark.parametrize(
    "row",
    [
        "| S 1 | `a` | No parentheses. | derivation |",
        "| (S 1) | a | No inline code. | derivation |",
        "| (S 1) | `P(a|b)` | A pipe in a cell. | derivation |",
        "| (S 1) | `a` | No such part. | to come: forest |",
        "| (S 1) | `a` | No name. | `src/one.py` |",
    ],
)
def test_a_malformed_row_is_refused(row: str) -> None:
    with pytest.raises(ValueError, match="S 1"):
        parse_page(row)
