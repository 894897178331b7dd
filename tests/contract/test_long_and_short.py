"""What is printed is bounded, grows with what is printed, and agrees in number."""

import re
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sortal
from sortal.records.tables import Table, Working
from sortal.tasks.registry import learners
from sortal.tasks.show import show

NOUNS = "row node leave cell column number neighbor place table rule value direction class label"
ONE_OF_MANY = re.compile(rf"(?<![\w.,])1 (?:more )?(?:{'|'.join(NOUNS.split())})e?s\b")


def chain(depth: int) -> sortal.TreeClassifier:
    """A tree whose every split parts one row from the others."""
    n = depth + 1
    tree = sortal.TreeClassifier(criterion="gini", pruning=None)
    return tree.fit(np.arange(n)[:, None], np.arange(n) % 2)


def calls(act: Any) -> int:
    """How many functions of Python an act calls."""
    met = 0

    def count(frame: Any, event: str, given: Any) -> None:
        nonlocal met
        met += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return met


def test_all_rules_of_a_deep_tree_take_work_in_proportion_to_its_nodes() -> None:
    trees = [chain(depth) for depth in (150, 300)]
    assert [tree.get_depth() for tree in trees] == [150, 300]
    short, long = (calls(lambda: show(tree, everything=True).to_text()) for tree in trees)  # noqa: B023
    assert long < 2.2 * short  # four times as many if each leaf walked its whole path


def test_a_long_model_shows_its_beginning_unless_all_is_asked_for() -> None:
    tree = chain(300)
    shown, whole = show(tree), show(tree, everything=True)
    more = "… and 201 more rules: to_frame(), or --all, has them all"
    assert str(shown).endswith(more)
    assert shown.to_markdown().endswith(more)
    assert more in shown.to_html()
    assert len(shown.to_dict()["rules"]) == 100
    assert whole.to_text().count("then class is") == len(whole.to_dict()["rules"]) == 301
    assert whole.to_html().count("<tr>") > 301
    assert str(tree.rules()) == tree.rules().short().to_text()


def test_a_long_set_of_values_is_shortened() -> None:
    table = pd.DataFrame({"place": [f"p{k:03}" for k in range(200)], "y": ["a", "b"] * 100})
    tree = sortal.TreeClassifier(pruning=None).fit(table, "y")
    assert "(100 values)" in str(show(tree))
    assert "(100 values)" not in str(show(tree, everything=True))


def test_a_long_working_prints_its_beginning() -> None:
    table = Table("t", "Title", tuple(map(str, range(150))), ((*range(149), "x" * 900),) * 250)
    wide = Table("w", "Wide", ("a", "b"), (("y" * 900, 1.5),))
    working = Working("All", (table, wide, *([wide] * 30)))
    short = working.short()
    assert short.title == "All (the first 20 of 32 tables)"
    assert short.tables[0].title == "Title (the first 100 of 250 rows and 100 of 150 columns)"
    assert (len(short), len(short.tables[0].rows), len(short.tables[0].columns)) == (20, 100, 100)
    assert short["w"].rows == (("y" * 500 + "…", 1.5),)
    assert str(working) == short.to_text()
    assert short.title in working._repr_html_()
    assert working.to_text().count("Wide") == 31
    assert Working("One", (wide,)).short().title == "One"


@pytest.mark.parametrize("learner", [learner.name for learner in learners()])
def test_one_of_something_is_not_several(learner: str) -> None:
    table = pd.DataFrame({"x": [0.0, 1.0, 0.5, 4.0, None], "y": [*"aabba"]})
    make = {one.name: one for one in learners()}[learner].make
    options: dict[str, Any] = {"neighbors": {"n_neighbors": 1}, "tree": {"max_depth": 0}}
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        model = make(**options.get(learner, {})).fit(table, "y")
        one = table[["x"]][4:]
        texts = [str(model.fit_report_), str(show(model)), str(model.explain(one)), repr(model)]
        texts += [str(warning.message) for warning in met]
    assert [text for text in texts if ONE_OF_MANY.search(text)] == []
    assert ONE_OF_MANY.search("pruned to 1 leaves")
