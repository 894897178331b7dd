"""Rows that come and go in blocks: the order of blocks, classes to come, forgetting in steps."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sortal import DiscreteBayes
from sortal.errors import ImpossibleRowWarning, TrainingRowsError

Y = ["n", "y", "n", "y"]


def test_levels_that_a_later_block_declares_count_in_any_order() -> None:
    narrow = pd.DataFrame({"x": pd.Categorical(list("abab"), categories=["a", "b"])})
    wide = pd.DataFrame({"x": pd.Categorical(list("abab"), categories=["a", "b", "c"])})
    one = DiscreteBayes().partial_fit(narrow, Y).partial_fit(wide, Y)
    other = DiscreteBayes().partial_fit(wide, Y).partial_fit(narrow, Y)
    assert one.working()["x"].column("x") == ("a", "b", "c")
    assert (one.predict_proba(narrow) == other.predict_proba(narrow)).all()


@pytest.mark.parametrize("backwards", [False, True])
def test_true_beside_1_is_1_in_any_order(backwards: bool) -> None:
    blocks: list[tuple[list[list[float]], Any]] = [
        ([[1.0], [2.0]], np.array([True, False])),
        ([[3.0], [4.0]], np.array([1, 2])),
    ]
    model = DiscreteBayes()
    for X, y in blocks[::-1] if backwards else blocks:
        model.partial_fit(X, y)
    assert [(type(label), label) for label in model.classes_] == [(bool, False), (int, 1), (int, 2)]


def test_columns_named_by_numbers_are_matched_too() -> None:
    frame = pd.DataFrame({2010: list("abab"), 2011: list("uuvv")})
    model = DiscreteBayes().fit(frame, Y)
    assert (model.predict_proba(frame) == model.predict_proba(frame[[2011, 2010]])).all()


@pytest.mark.parametrize(
    ("y", "classes", "known"),
    [
        (np.array([0, 1, 0, 1], dtype=np.int8), [0, 1, 300], [0, 1, 300]),
        ([0, 1, 0, 1], ["a", "b"], [0, 1, "a", "b"]),
        (np.array([True, False] * 2), [0, 1, 2], [0, 1, 2]),
        (["0", "1", "0", "1"], [0, 1], [0, 1, "0", "1"]),
        (["a", "b", "a", "b"], ["a", "longer"], ["a", "b", "longer"]),
    ],
)
def test_classes_to_come_are_known_as_they_are(y: Any, classes: Any, known: list[Any]) -> None:
    model = DiscreteBayes().partial_fit([[1.0], [2.0], [3.0], [4.0]], y, classes=classes)
    assert model.classes_.tolist() == known
    assert model.predict_proba([[1.0]]).shape == (1, len(known))


def test_priors_may_name_classes_to_come_if_told_of_them() -> None:
    model = DiscreteBayes(priors={"n": 0.5, "y": 0.3, "z": 0.2})
    X = [["a"], ["b"], ["a"], ["b"]]
    assert model.partial_fit(X, Y, classes=["n", "y", "z"]).classes_.tolist() == ["n", "y", "z"]


def test_forgetting_in_steps_never_loses_digits_in_silence() -> None:
    # what rounding did to a large spread is still there when only a small one is left
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=20) * 10.0**e for e in range(8, -1, -1)])[:, None]
    y = np.tile(["a", "b"], 90)
    model = DiscreteBayes().fit(X, y)

    def forget_in_steps() -> None:
        for start in range(0, 160, 20):
            model.forget(X[start : start + 20], y[start : start + 20])
            rest = DiscreteBayes().fit(X[start + 20 :], y[start + 20 :])
            ours, theirs = model.working()["gaussians"], rest.working()["gaussians"]
            assert ours.column("variance") == pytest.approx(theirs.column("variance"), rel=1e-11)

    with pytest.raises(TrainingRowsError, match="'x0'"):
        forget_in_steps()


def test_copies_can_be_forgotten_one_by_one() -> None:
    X, y = [["a"], ["b"]], ["n", "y"]
    model = DiscreteBayes().fit(X, y, sample_weight=[3, 3])
    assert model.fit_report_.rows == 6
    model.forget(X, y).forget(X, y)
    assert model.fit_report_.rows == 2
    assert (model.predict_proba(X) == DiscreteBayes().fit(X, y).predict_proba(X)).all()


def test_fractional_weights_stand_a_long_stream() -> None:
    """Their unit is fixed by the first block, and thousands of times its weight follow."""
    model = DiscreteBayes()
    for copies in (1, *[200] * 30):
        rows, weight = [["u"], ["v"]] * copies, [0.5, 0.75] * copies
        model.partial_fit(rows, ["a", "b"] * copies, sample_weight=weight)
    assert model.working()["x0"].column("n(v, a)") == (3000.5, 0)


def test_a_column_without_values_does_not_empty_the_joint_table() -> None:
    frame = pd.DataFrame({"a": list("xyxy"), "h": pd.Series([None] * 4, dtype=object)})
    model = DiscreteBayes("joint").fit(frame, Y)
    assert model.working()["cells"].rows == (("x", 2, 0), ("y", 0, 2))
    assert model.fit_report_.notes == ()


def test_rows_left_out_of_the_joint_table_are_noted() -> None:
    frame = pd.DataFrame({"a": ["x", None, "x", "y"]})
    model = DiscreteBayes("joint").fit(frame, Y)
    assert model.fit_report_.notes == (
        "25.0% of the rows have a missing value and are not in the joint table",
    )


def test_log_posteriors_go_below_the_smallest_float() -> None:
    X = np.repeat([[0.0], [1.0], [10.0], [11.0]], 300, axis=1)
    model = DiscreteBayes().fit(X, ["a", "a", "b", "b"])
    logs = model.predict_log_proba(X[:1])
    assert logs[0, 0] == 0.0
    assert -1e6 < logs[0, 1] < -1000


def test_a_column_typed_as_words_but_without_any_is_noted_in_the_joint_structure() -> None:
    # its kind is known by its type, so it is one of the columns of a cell, and no row is whole
    frame = pd.DataFrame({"a": list("xyxy"), "h": pd.Series([None] * 4, dtype="string")})
    [note] = DiscreteBayes("joint").fit(frame, Y).fit_report_.notes
    assert note == "100.0% of the rows have a missing value and are not in the joint table"


def test_the_rival_is_the_next_best_also_where_posteriors_vanish() -> None:
    X = [[0.0], [1.0], [500.0], [501.0], [100.0], [101.0]]
    model = DiscreteBayes().fit(X, list("ppqqrr"))
    assert model.explain([[0.5]])[0].against == "r"


def test_the_cells_of_the_working_are_counts() -> None:
    frame = pd.DataFrame({"a": list("xyxy")})
    model = DiscreteBayes("joint", class_weight={"n": 3.0}).fit(frame, Y)
    assert model.working()["cells"].rows == (("x", 2, 0), ("y", 0, 2))


def test_the_working_of_impossible_rows_is_json_and_warned_of() -> None:
    frame = pd.DataFrame({"a": list("uuvv"), "b": list("stst")})
    model = DiscreteBayes(alpha=0).fit(frame, ["n", "y", "y", "y"])
    model.forget(frame[1:2], ["y"])
    with pytest.warns(ImpossibleRowWarning, match="1 row has"):
        working = model.working(pd.DataFrame({"a": ["u"], "b": ["t"]}))
    assert "-inf" in json.dumps(working.to_dict(), allow_nan=False)
