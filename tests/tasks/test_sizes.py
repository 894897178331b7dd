"""How many numbers predict needs, counted by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    QuadraticDiscriminant,
    TreeClassifier,
    datasets,
)

if TYPE_CHECKING:
    import pandas as pd


def iris() -> tuple[pd.DataFrame, pd.Series]:
    table = datasets.iris()
    return table[["sepal_length", "sepal_width"]], table["species"]


def test_of_trees_of_cuts() -> None:
    X, Y = iris()
    tree = TreeClassifier(max_leaf_nodes=3, pruning=None).fit(X, Y)
    assert tree.size_ == 2 * 2 + 3


def test_of_trees_of_words() -> None:
    tennis = datasets.play_tennis()
    pair = TreeClassifier(max_leaf_nodes=2, pruning=None).fit(tennis, "PlayTennis")
    assert "Outlook in {Overcast}" in pair.to_text() or "Outlook = Overcast" in pair.to_text()
    assert pair.size_ == (1 + 1) + 2
    fan = TreeClassifier(max_depth=1, pruning=None, categorical_split="multiway")
    assert fan.fit(tennis, "PlayTennis").size_ == (1 + 3) + 3


def test_a_branch_for_holes_is_one_more() -> None:
    X, Y = iris()
    known = X[["sepal_length"]]
    holes = known.where((np.arange(len(X)) % 7 != 0)[:, None])
    whole = TreeClassifier(max_depth=1, pruning=None).fit(known, Y)
    assert whole.size_ == 2 + 2
    direction = TreeClassifier(max_depth=1, pruning=None).fit(holes, Y)
    assert direction.size_ == 2 + 1 + 2
    own = TreeClassifier(max_depth=1, pruning=None, missing="branch").fit(holes, Y)
    assert own.size_ == 2 + 1 + 3


def test_of_discriminants() -> None:
    (X, Y), K, p = iris(), 3, 2
    assert LinearDiscriminant().fit(X, Y).size_ == K * (p + 1)
    assert IndicatorRegression().fit(X, Y).size_ == K * (p + 1)
    assert FisherDiscriminant().fit(X, Y).size_ == K * (p + 1)
    assert FisherDiscriminant().fit(X, Y == "setosa").size_ == p + 1
    assert QuadraticDiscriminant().fit(X, Y).size_ == K * (p + 3 + 1)


def test_of_discrete_bayes() -> None:
    tennis = datasets.play_tennis()
    assert DiscreteBayes().fit(tennis, "PlayTennis").size_ == 2 + 2 * (3 + 3 + 2 + 2)
    joint = DiscreteBayes("joint").fit(tennis, "PlayTennis")
    assert joint.size_ == 2 + 2 * 14
    X, Y = iris()
    assert DiscreteBayes().fit(X.assign(constant=1.0), Y).size_ == 3 + 2 * 3 * 2
