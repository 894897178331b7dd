"""The registry: names, classes, grids, facts; and nothing heavy before it is needed."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from typing import TYPE_CHECKING

import pytest

import sortal
from sortal import datasets
from sortal.tasks import registry
from sortal.tasks.registry import Facts, Learner

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ["tree", "bayes", "lda", "qda", "fisher", "indicator", "neighbors", "kernel"]
FACTS = Facts(probabilistic=False, reads="Not at all.")


class Toy:
    """An estimator of one option."""

    def __init__(self, depth: int = 3, *, color: str = "red") -> None:
        self.depth, self.color = depth, color


@pytest.fixture
def toy() -> Iterator[Learner]:
    yield registry.register(Learner("toy", Toy, "toy", FACTS))
    registry.unregister("toy")


def test_every_estimator_of_the_library_is_registered_once() -> None:
    assert [learner.name for learner in registry.learners()] == NAMES
    classes = {learner.class_name for learner in registry.learners()}
    public = [getattr(sortal, name) for name in sortal.__all__ if name[0].isupper()]
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


def test_a_learner_joins_by_one_entry(toy: Learner) -> None:
    assert registry.find("toy") is toy
    assert registry.learners()[-1] is toy
    assert registry.estimator_named("Toy") is Toy
    assert toy.options() == {"depth": 3, "color": "red"}
    assert toy.make(color="blue").color == "blue"
