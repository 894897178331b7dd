"""What a tree from a file must hold: an order of its nodes, branches of values, finite weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sortal import TreeClassifier, datasets
from sortal.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sortal.trees.model import TreeModel


def _before_its_parent(model: TreeModel) -> dict[str, Any]:
    """The last branch leads to the first node below the root, and the root's first to the last."""
    children = model.children.copy()
    children[[0, -1]] = children[[-1, 0]]
    return {"children": children}


def _beyond_the_branches(model: TreeModel) -> dict[str, Any]:
    branches = model.branches.copy()
    branches[0] = 2
    return {"branches": branches}


def _without_end(model: TreeModel) -> dict[str, Any]:
    return {"factors": np.full(len(model.schema.classes), 1e308)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_before_its_parent, "a node before the one above it"),
        (_beyond_the_branches, "a value without a branch"),
        (_without_end, "weights that are no numbers"),
    ],
)
def test_it_is_refused_by_name(change: Callable[[TreeModel], dict[str, Any]], words: str) -> None:
    fitted = TreeClassifier(pruning=None).fit(datasets.penguins(), "species")
    model = fitted._model
    model.check()
    with np.errstate(over="ignore"), pytest.raises(FormatError, match=words):
        replace(model, **change(model)).check()
