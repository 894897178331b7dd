"""Trees of large incomplete tables beside the list of all tests of each node.

The oracle of small tables holds the list; where rows are many, the list holds the tree, which is
grown by bins, bounds and cached counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from tests.trees.oracle import CUT, LEAF, MULTIWAY, SUBSET

from sortal import TreeClassifier
from sortal.trees.working.node import look

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Large:
    """Numbers with NaN, or codes of words with -1, for the missing values."""

    columns: tuple[NDArray[Any], ...]
    kinds: tuple[int, ...]
    classes: NDArray[np.int64]
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def frame(self) -> Any:
        words = np.array([*(f"v{i:03d}" for i in range(100)), None], object)
        cells = zip(self.columns, self.kinds, strict=True)
        return pd.DataFrame(
            {f"x{j}": x if k == CUT else words[x.astype(int)] for j, (x, k) in enumerate(cells)}
        )

    def fit(self, **options: Any) -> Any:
        words = {SUBSET: "subset", MULTIWAY: "multiway"}
        split = {f"x{j}": words[kind] for j, kind in enumerate(self.kinds) if kind != CUT}
        plain = {"pruning": None, "smoothing": None, "categorical_split": split or "subset"}
        model = TreeClassifier(**{**plain, **self.options, **options})
        return model.fit(self.frame, self.classes)

    def check(self, fitted: Any) -> int:
        """Every node asks the first of its tests, and leaves have none; gives how many ask."""
        rows, _ = fitted._read_again(self.frame, self.classes, None)
        tree, options, told = (
            fitted._model,
            fitted._fitted.options,
            fitted.to_frame(max_values=None)["test"],
        )
        for t in range(tree.n_nodes):
            tests = look(tree, rows, options, t)  # which refuses other counts than the node's
            if tree.kind[t] == LEAF:
                is_pure = tree.units[t].max() == tree.units[t].sum()
                is_deep = tree.depths()[t] == options.max_depth
                assert is_pure or is_deep or tests.best is None
                continue
            assert tests.asked is not None, told[t]
            j, i = tests.asked
            found = tests.found[j]
            assert (found.ranks[i], tests.words(j, i)) == (1, told[t])
            assert tree.score[t] == pytest.approx(found.scores[i], rel=1e-12)
            assert tree.gain[t] == pytest.approx(found.gains[i], rel=1e-12)
        return int(np.count_nonzero(tree.kind))
