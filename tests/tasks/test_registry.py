"""The registry: names, classes, grids, facts; and how many numbers a learner needs, by hand."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

import sortal
from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    QuadraticDiscriminant,
    TreeClassifier,
    datasets,
)
from sortal.tasks import registry
from sortal.tasks.registry import LearnerEntry, LearnerFacts

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

NAMES = ["tree", "bayes", "lda", "qda", "fisher", "indicator", "neighbors", "kernel"]
FACTS = LearnerFacts(probabilistic=False, reads="Not at all.")


class Toy:
    """An estimator of one option."""

    def __init__(self, depth: int = 3, *, color: str = "red") -> None:
        self.depth, self.color = depth, color


@pytest.fixture
def toy() -> Iterator[LearnerEntry]:
    yield registry.register(LearnerEntry("toy", Toy, "toy", FACTS))
    registry.unregister("toy")


def test_every_estimator_of_the_library_is_registered_once() -> None:
    assert [learner.name for learner in registry.learners()] == NAMES
    classes = {learner.class_name for learner in registry.learners()}
    public = [kind for name in sortal.__all__ if hasattr(kind := getattr(sortal, name), "predict")]
    assert classes == {cls.__name__ for cls in public}
    assert {registry.estimator_named(name) for name in classes} == set(public)


def test_reading_the_registry_imports_nothing_heavy() -> None:
    heavy = ("numpy", "sklearn", "pandas", "narwhals", "scipy", "duckdb")
    script = (
        "import sys; from sortal.tasks import registry;"
        "[(l.title, l.class_name, l.facts.reads, l.grid) for l in registry.learners()];"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", NAMES)
def test_facts_and_grids_are_true(name: str) -> None:
    learner = registry.find(name)
    iris = datasets.iris()
    X, y = iris[["sepal_length", "sepal_width"]], iris["species"] == "setosa"
    for values in product(*learner.grid.values()):
        options = dict(zip(learner.grid, values, strict=True))
        fitted = learner.make(**options).fit(X, y)
        assert hasattr(fitted, "predict_proba") == learner.facts.probabilistic
    defaults = learner.options()
    assert all(defaults[option] == values[0] for option, values in learner.grid.items())
    assert learner.facts.reads.endswith(".")


def test_a_learner_joins_by_one_entry(toy: LearnerEntry) -> None:
    assert registry.find("toy") is toy
    assert registry.learners()[-1] is toy
    assert registry.estimator_named("Toy") is Toy
    assert toy.options() == {"depth": 3, "color": "red"}
    assert toy.make(color="blue").color == "blue"


def iris() -> tuple[pd.DataFrame, pd.Series]:
    table = datasets.iris()
    return table[["sepal_length", "sepal_width"]], table["species"]


def test_of_trees_of_cuts() -> None:
    X, Y = iris()
    tree = TreeClassifier(max_leaf_nodes=3, pruning=None).fit(X, Y)
    assert tree.n_parameters_ == 2 * 2 + 3


def test_of_trees_of_words() -> None:
    tennis = datasets.play_tennis()
    pair = TreeClassifier(max_leaf_nodes=2, pruning=None).fit(tennis, "PlayTennis")
    assert "Outlook in {Overcast}" in pair.to_text() or "Outlook = Overcast" in pair.to_text()
    assert pair.n_parameters_ == (1 + 1) + 2
    fan = TreeClassifier(max_depth=1, pruning=None, categorical_split="multiway")
    assert fan.fit(tennis, "PlayTennis").n_parameters_ == (1 + 3) + 3


def test_a_branch_for_missing_values_is_one_more() -> None:
    X, Y = iris()
    known = X[["sepal_length"]]
    missing = known.where((np.arange(len(X)) % 7 != 0)[:, None])
    whole = TreeClassifier(max_depth=1, pruning=None).fit(known, Y)
    assert whole.n_parameters_ == 2 + 2
    direction = TreeClassifier(max_depth=1, pruning=None).fit(missing, Y)
    assert direction.n_parameters_ == 2 + 1 + 2
    own = TreeClassifier(max_depth=1, pruning=None, missing="branch").fit(missing, Y)
    assert own.n_parameters_ == 2 + 1 + 3


def test_of_discriminants() -> None:
    (X, Y), K, p = iris(), 3, 2
    assert LinearDiscriminant().fit(X, Y).n_parameters_ == K * (p + 1)
    assert IndicatorRegression().fit(X, Y).n_parameters_ == K * (p + 1)
    assert FisherDiscriminant().fit(X, Y).n_parameters_ == K * (p + 1)
    assert FisherDiscriminant().fit(X, Y == "setosa").n_parameters_ == p + 1
    assert QuadraticDiscriminant().fit(X, Y).n_parameters_ == K * (p + 3 + 1)


def test_of_discrete_bayes() -> None:
    tennis = datasets.play_tennis()
    assert DiscreteBayes().fit(tennis, "PlayTennis").n_parameters_ == 2 + 2 * (3 + 3 + 2 + 2)
    joint = DiscreteBayes("joint").fit(tennis, "PlayTennis")
    assert joint.n_parameters_ == 2 + 2 * 14
    X, Y = iris()
    assert DiscreteBayes().fit(X.assign(constant=1.0), Y).n_parameters_ == 3 + 2 * 3 * 2
