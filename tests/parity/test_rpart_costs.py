"""TreeClassifier with priors and costs against frozen trees of R's rpart.

Both alter the priors of the Gini index by the sums of the losses of each class (Breiman and others
1984, 4.4) and say the class of least expected loss, so that trees are equal where

- `criterion="gini"`, and rpart grows without pruning (`cp = -1`);
- no two tests are equal: rpart and sortal choose among those by other rules.

rpart's left branch is the one of smaller mean, so that nodes are compared by their rows.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from tests.parity.peers import frozen

from sortal import TreeClassifier, datasets

BIRDS: Final = [
    "island",
    "bill_length_mm",
    "flipper_length_mm",
    "body_mass_g",
    "sex",
]
CASES: Final = ("neither", "equal", "skewed", "loss", "both")


def table(name: str) -> tuple[Any, Any]:
    if name == "iris":
        frame = datasets.iris()
        return frame.drop(columns="species"), frame["species"]
    frame = datasets.penguins().dropna(subset=BIRDS)
    return frame[BIRDS], frame["species"]


def options(given: dict[str, Any], case: str) -> dict[str, Any]:
    K = len(given["classes"])
    return {
        "neither": {},
        "equal": {"priors": np.full(K, 1 / K)},
        "skewed": {"priors": given["priors"]},
        "loss": {"costs": given["loss"]},
        "both": {"priors": given["priors"], "costs": given["loss"]},
    }[case]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["iris", "penguins"])
def test_trees_are_those_of_rpart(name: str, case: str) -> None:
    given = frozen("rpart_costs")["tables"][name]
    expected, (X, y) = given["fits"][case], table(name)
    model = TreeClassifier(
        "gini",
        max_depth=3,
        min_samples_leaf=5,
        pruning=None,
        smoothing=None,
        **options(given, case),
    )
    model.fit(X, y)
    tree, leaves = model._model, model.apply(X)
    asks = tree.kind > 0
    found = sorted(
        (-int(n), X.columns[j]) for n, j in zip(tree.sizes[asks], tree.attribute[asks], strict=True)
    )
    assert [-n for n, _ in found] == expected["n"]
    assert [column for _, column in found] == expected["columns"]
    pairs = set(zip(leaves.tolist(), expected["leaf"], strict=True))
    assert len(pairs) == model.get_n_leaves() == len(set(expected["leaf"]))  # one to one
    np.testing.assert_array_equal(model.predict(X), model.classes_[expected["class"]])
    shares = dict(zip(expected["leaves"], expected["shares"], strict=True))
    np.testing.assert_allclose(
        model.predict_proba(X), [shares[leaf] for leaf in expected["leaf"]], rtol=1e-12, atol=1e-15
    )
