"""The faults of tools/faults.toml can be made: their texts are there once, and results parse."""

from __future__ import annotations

import ast
import json
from collections import Counter
from pathlib import Path

import pytest
from coverage import CoverageData
from tools.fault_places import Change, Fault, PlaceError, change_of, read_faults
from tools.mutants import KINDS, sample

from tools import fault_reach

ROOT = Path(__file__).resolve().parents[2]
FAULTS = read_faults()


def fault(symbol: str, text: str, instead: str = "pass") -> Fault:
    return Fault("one", "some", symbol, text, instead, "")


def small_project(root: Path, path: str, source: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True)
    file.write_text(source, encoding="utf-8")
    return root


def test_there_are_enough_faults_under_names_of_their_own() -> None:
    assert len(FAULTS) >= 80
    assert Counter(one.name for one in FAULTS).most_common(1)[0][1] == 1
    assert all(one.breaks and one.text != one.instead for one in FAULTS)


@pytest.mark.full
def test_every_fault_is_made_once_and_parses() -> None:
    for one in FAULTS:
        change = change_of(one)
        before = (ROOT / change.path).read_text(encoding="utf-8")
        assert before.count(one.text) >= 1
        assert change.text != before, one.name
        assert len(change.text) - len(before) == len(one.instead) - len(one.text), one.name
        if change.path.suffix == ".py":
            ast.parse(change.text)


def test_a_symbol_is_found_where_it_has_moved(tmp_path: Path) -> None:
    source = "class A:\n    def f(self):\n        x = 1\n\n\ndef f():\n    'é'; y = 1\n"
    root = small_project(tmp_path, "src/sortal/elsewhere/new.py", source)
    change = change_of(fault("old.module.f", "y = 1"), root)
    assert change.text == source.replace("y = 1", "pass")


def test_a_function_of_c_plus_plus_is_found_by_its_braces(tmp_path: Path) -> None:
    source = (
        "double twice(double x);\n"
        "struct A { int f() const { return 1; } };\n"
        "struct B { int f() const { return 1; } };  // }\n"
        'int A::g() { call("}"); return 2; }\nint h() { return 2; }\n'
    )
    root = small_project(tmp_path, "cpp/some.cpp", source)
    assert (
        "struct B { int f() const { return 3"
        in change_of(fault("cpp.some.B.f", "return 1", "return 3"), root).text
    )
    made = change_of(fault("cpp.other.A.g", "return 2", "return 3"), root).text
    assert made == source.replace("return 2; }\nint h", "return 3; }\nint h")


@pytest.mark.parametrize(
    ("symbol", "text", "words"),
    [
        ("new.f", "x = 2", "0 times"),
        ("new.f", "x = 1", "2 times"),
        ("new.g", "x = 1", "no symbol new.g"),
    ],
)
def test_a_fault_that_has_no_one_place_says_so(
    tmp_path: Path, symbol: str, text: str, words: str
) -> None:
    root = small_project(tmp_path, "src/sortal/new.py", "def f():\n    x = 1\n    x = 1\n")
    with pytest.raises(PlaceError, match=words):
        change_of(fault(symbol, text), root)


def test_tests_that_execute_the_line_come_quickest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "reach_quick"
    folder.mkdir()
    (folder / "state").write_text("now", encoding="utf-8")
    seconds = {"t.py::a": 2.0, "t.py::b[x|y]": 1.0, "u.py::c": 0.5, "v.py::d": 0.1}
    (folder / "seconds.json").write_text(json.dumps(seconds), encoding="utf-8")
    notes = CoverageData(str(folder / "coverage"))
    for context, lines in (
        ("", [1]),
        ("t.py::a|run", [3]),
        ("t.py::b[x|y]|run", [3, 4]),
        ("u.py::c|setup", [4]),
        ("w.py::gone|run", [4]),
    ):
        notes.set_context(context)
        notes.add_lines({"/copy/src/sortal/new.py": lines})
    notes.write()
    monkeypatch.setattr("tools.fault_scratch.HERE", tmp_path)
    monkeypatch.setattr(fault_reach, "ROOT", tmp_path)
    source = "a = 1\n\nb = 2\nc = 3\nd = 4\n"
    small_project(tmp_path, "src/sortal/new.py", source)
    reach = fault_reach.Reach("quick", [], "now")
    for line, expected in (
        ("b", ["t.py::b[x|y]", "t.py::a"]),
        ("c", ["u.py::c", "t.py::b[x|y]"]),
        ("a", ["u.py::c", "t.py::b[x|y]", "t.py::a"]),  # at import: of all who use the file
    ):
        change = Change(Path("src/sortal/new.py"), source.replace(f"{line} =", f"{line} = 0 *"))
        assert reach.tests(change) == expected


def test_mutants_are_drawn_by_their_seed_and_change_one_place(tmp_path: Path) -> None:
    source = (
        '"""Doc."""\n\ndef f(x: int = 1) -> float:\n    """Doc."""\n    x += 2\n'
        "    if x is not None and 0.5 < x:\n        raise ValueError(f'é {x + 1}')\n"
        "    return (x * 3) - (\n        4\n    )\n"
    )
    root = small_project(tmp_path, "src/sortal/new.py", source)
    drawn = sample(12, 0, root)
    assert [one for one, _ in drawn] == [one for one, _ in sample(12, 0, root)]
    assert {one.family for one, _ in drawn} == set(KINDS)
    for one, change in drawn:
        ast.parse(change.text)
        assert ast.dump(ast.parse(change.text)) != ast.dump(ast.parse(source)), one.name
        assert len(change.text) - len(source) == len(one.instead) - len(one.text), one.name
