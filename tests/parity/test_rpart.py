"""Cost-complexity pruning against the frozen tables of complexities of R's rpart.

Both grow the same trees when rpart has no surrogates, cp = 0 and the least sizes of ours
(`minbucket` is `min_samples_leaf`, `minsplit` is `leaf_size` + 1), and where no score is a tie that
rounding decides. rpart sends a row whose number equals a threshold to the right, sortal to the
left; midpoints of measurements on a grid are measurements too, so the tables are moved off it.

rpart's price of a node is too small where the node collapses before a grandchild that collapses
before its child; in these tables none does. The decision on pruning says more.

rpart's folds are the row numbers modulo 10. It prunes a fold's tree at ten times the largest
strength for its first row, where sortal takes the root alone.
"""

from typing import Any, Final

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.parity.peers import Table, frozen

from sortal import TreeClassifier
from sortal.trees.learn import Criterion

CRITERIA: Final[dict[str, Criterion]] = {"gini": "gini", "information": "gain"}


@pytest.mark.parametrize("least", [1, 5])
@pytest.mark.parametrize("split", CRITERIA)
@pytest.mark.parametrize("name", ["iris", "penguins", "unequal"])
def test_the_table_of_complexities(
    name: str, split: str, least: int, tables: dict[str, Table]
) -> None:
    X, y = tables[name]
    row = np.arange(len(X))
    model = TreeClassifier(
        CRITERIA[split],
        min_samples_leaf=least,
        leaf_size=2 * least - 1,
        max_depth=30,
        pruning="cost_complexity",
        cv=row % 10,
        smoothing=None,
    ).fit(X + 1e-4 * (37 * row % len(X))[:, None], y)
    expected: dict[str, Any] = dict(frozen("rpart")["tables"][name][f"{split} {least}"])
    assert_array_equal(model.cp_table_.n_leaves, expected.pop("n_leaves"))
    for column, numbers in expected.items():
        assert_allclose(
            getattr(model.cp_table_, column), numbers, rtol=1e-10, atol=1e-14, err_msg=column
        )
