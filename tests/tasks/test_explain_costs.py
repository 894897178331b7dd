"""Every learner of the registry with costs and weights: what it explains is what it decided."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from tests.explained import read

from sortal import DiscreteBayes, LinearDiscriminant
from sortal.tasks import registry

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(23)
COSTED = [
    one.name for one in registry.learners() if "costs" in one.options() and one.facts.probabilistic
]


def mixed_table(n_classes: int) -> pd.DataFrame:
    """Classes that overlap, in numbers and categories."""
    y = RNG.integers(n_classes, size=80)
    return pd.DataFrame(
        {
            "a": RNG.normal(y, 1.0),
            "b": RNG.normal(-y, 2.0),
            "c": [f"v{min(2, v)}" for v in (y + RNG.integers(3, size=80)) // 2],
            "y": [f"class {v}" for v in y],
        }
    )


# Zeros on the diagonal, none, a third class that decides, and costs that say nothing.
COSTS: dict[str, Callable[[], Any]] = {
    "two": lambda: 10.0 ** RNG.uniform(-2, 2, (2, 2)) * (1 - np.eye(2)),
    "two, right ones cost too": lambda: RNG.uniform(0, 1, (2, 2)) + 5 * (1 - np.eye(2)),
    "two, any": lambda: RNG.uniform(0, 1, (2, 2)),
    "three": lambda: 10.0 ** RNG.uniform(-2, 2, (3, 3)) * (1 - np.eye(3)),
    "three, any": lambda: RNG.integers(0, 4, (3, 3)).astype(float),
    "three, all the same": lambda: np.full((3, 3), 2.0),
}


@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
@pytest.mark.parametrize(
    ("name", "kind"),
    # of two classes, Fisher's separating point has the costs in
    [*product(COSTED, COSTS), *(("fisher", kind) for kind in COSTS if "three" in kind)],
)
def test_the_parts_add_up_to_the_decision(name: str, kind: str) -> None:
    costs = COSTS[kind]()
    table = mixed_table(len(costs))
    X = table.drop(columns="y")
    model = registry.find(name).make(costs=costs).fit(X, table["y"])
    if name == "fisher":  # ln P(k|x) up to a common term
        shares = softmax(model.decision_function(X), axis=1)
    else:
        shares = model.predict_proba(X)
    expected = shares @ costs
    for i, (row, label) in enumerate(zip(model.explain(X), model.predict(X), strict=True)):
        assert row.label == label
        k = row.classes.index(label)
        assert expected[i, k] <= expected[i].min() * (1 + 1e-12)
        if row.amount in ("share", "vote"):
            told = row.facts["expected_costs"]
            np.testing.assert_allclose(told, expected[i], rtol=1e-12)
            assert row.to_dict()["expected_costs"] == list(told)
            next_best = min(cost for j, cost in enumerate(told) if j != k)
            assert f"cost {told[k]:.4g}, next {next_best:.4g}" in str(row)
            continue
        parts, total = row.parts.column(row.amount), row.total
        size = max(1.0, *(abs(part) for part in parts if math.isfinite(part)))
        assert total >= -1e-12 * size
        if all(map(math.isfinite, parts)):
            assert total == pytest.approx(sum(parts), abs=1e-12 * size)
        other = row.classes.index(row.against)
        assert shares[i, other] == max(p for j, p in enumerate(shares[i]) if j != k)
        # by the definition: what the other costs more where it does, by what the label does
        more = costs[:, other] - costs[:, k]
        gain, loss = shares[i] @ np.maximum(more, 0), shares[i] @ np.maximum(-more, 0)
        if gain > 0 and loss > 0:
            unit = math.log(2) if row.amount == "bits" else 1.0
            assert total == pytest.approx(math.log(gain / loss) / unit, abs=1e-9 * size)
        lines = [line.split()[0] for line in str(row).splitlines()]
        assert lines[-2:] == ["costs", "total"]


def test_costs_of_two_classes_add_the_same_to_every_row() -> None:
    table = mixed_table(2)
    costs = [[1.0, 4.0], [7.0, 2.0]]
    added = math.log((7 - 2) / (4 - 1))  # for the second class against the first
    rows = LinearDiscriminant(costs=costs).fit(table, "y").explain(table)
    for row in rows:
        sign = 1 if row.label == "class 1" else -1
        assert read(row).costs == pytest.approx(sign * added, rel=1e-14)
    assert {row.label for row in rows} == {"class 0", "class 1"}


def test_costs_that_count_errors_alone_add_nothing() -> None:
    table = mixed_table(3)
    plain = LinearDiscriminant().fit(table, "y").explain(table)
    for row, other in zip(
        LinearDiscriminant(costs=1 - np.eye(3)).fit(table, "y").explain(table), plain, strict=True
    ):
        assert (row.label, row.against, row.total) == (other.label, other.against, other.total)
        assert (read(row).costs, read(other).costs) == (0.0, None)
        assert "costs" not in str(other)


def test_a_class_that_cannot_be_may_be_the_cheapest() -> None:
    table = pd.DataFrame({"v": ["p", "p", "p"] * 4, "y": ["a", "b", "c"] * 4})
    # saying c is never far wrong: a row that cannot be of c is called so
    costs = [[0.0, 9.0, 1.0], [9.0, 0.0, 1.0], [9.0, 9.0, 0.0]]
    model = DiscreteBayes(alpha=0, priors=[0.5, 0.5, 0.0], costs=costs).fit(table, "y")
    row = read(model.explain(table)[0])
    assert (row.label, row.posterior) == ("c", (0.5, 0.5, 0.0))
    assert (row.start, row.costs) == (-math.inf, math.inf)
    # against a: 0.5 · 8 saved where b is true, 0.5 · 1 lost where a is
    assert row.total == pytest.approx(math.log2(8))


LEARNERS = registry.learners()
WEIGHED = [one.name for one in LEARNERS if "class_weight" in one.options()]
DRAW = np.random.default_rng(4)
Y = np.repeat([0, 1, 2], 8)
X = DRAW.normal(Y[:, None], 1.0, (24, 2))

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


def fit(name: str, table: Any = X, weights: Any = None, **options: Any) -> Any:
    model: Any = registry.find(name).make(**options)
    return model.fit(table, Y, sample_weight=weights)


@pytest.mark.parametrize("name", WEIGHED)
def test_class_weights_within_bounds_give_probabilities(name: str) -> None:
    cases = product([{0: 1e20}, {0: 1e-20}, {0: 1e20, 1: 1e-20}], [1.0, 1e130, 1e-130])
    for weights, size in cases:
        model = fit(name, size * X, class_weight=weights)
        assert set(model.predict(size * X)) <= {0, 1, 2}, (weights, size)
        if hasattr(model, "predict_proba"):
            shares = model.predict_proba(size * X)
            assert (shares >= 0).all(), (weights, size)
            np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", [one.name for one in LEARNERS if one.name != "neighbors"])
def test_the_unit_of_small_sample_weights_does_not_matter(name: str) -> None:
    one, other = fit(name, weights=np.full(24, 0.125)), fit(name, weights=np.full(24, 2.0**-165))
    assert (one.predict(X) == other.predict(X)).all()
