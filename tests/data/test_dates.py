"""Moments in few digits part the values as the moments themselves do."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sortal import TreeClassifier
from sortal.data.columns import PER_DAY, brief_moments

days = st.floats(-40_000, 40_000)


@given(st.lists(days, min_size=2, max_size=20, unique=True))
def test_no_value_lies_between_a_moment_and_its_brief_form(values: list[float]) -> None:
    x = np.unique(np.array(values) + 0.0)
    middle = x[:-1] + (x[1:] - x[:-1]) / 2
    inside = (x[:-1] <= middle) & (middle < x[1:])
    brief = brief_moments(middle[inside], x)
    assert ((x[:-1][inside] <= brief) & (brief < x[1:][inside])).all()


def test_the_coarsest_unit_that_fits_is_taken() -> None:
    second = 1 / PER_DAY["s"]
    values = np.array([0.0, 0.4, 2.0, 2.001]) * second + 18262
    brief = (brief_moments((values[:-1] + values[1:]) / 2, values) - 18262) * PER_DAY["us"]
    assert brief.round().tolist() == [0, 1_000_000, 2_000_000]
    fine = np.array([18262 + 10.25 * second, 18262 + 10.75 * second])
    half = (brief_moments(fine.mean(keepdims=True), fine) - 18262) * PER_DAY["ms"]
    assert half.round(3).tolist() == [10_500]  # neither 10 nor 11 whole seconds lie between


def test_hours_are_cut_at_half_past() -> None:
    X = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=8, freq="h")})
    y = [0, 0, 1, 1, 0, 0, 1, 1]
    model = TreeClassifier(pruning=None).fit(X, y)
    cuts = [rule.merged[0].text() for rule in model.rules()]
    assert cuts[0] == "when <= 2020-01-01T01:30:00"
    assert cuts[1] == "2020-01-01T01:30:00 < when <= 2020-01-01T03:30:00"
    assert model.predict(X).tolist() == y
    told = model.working(0, X, y)["when"]
    assert told.column("v")[told.column("chosen").index(True)] == "2020-01-01T01:30:00"
