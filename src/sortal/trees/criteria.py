"""The criteria of trees: what each is called, and what it needs.

Their measures are in cpp/trees/measures.hpp.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class TreeCriterion(NamedTuple):
    """The score in a sentence and on an axis, and the split's impurity, where it is one.

    A criterion that is `two_sided` has no tests of more branches; one that `uses_logs` counts
    copies exactly up to 2**46. `sklearn` is what scikit-learn has in its place.
    """

    score: str
    axis: str
    sklearn: str
    impurity: str | None = None
    two_sided: bool = False
    uses_logs: bool = False


CRITERIA_BY_NAME: Final = {
    "gain": TreeCriterion("the gain", "gain in bits", "entropy", "split entropy", uses_logs=True),
    "gain_ratio": TreeCriterion(
        "gain by split information", "gain ratio", "entropy", "split entropy", uses_logs=True
    ),
    "gini": TreeCriterion(
        "the decrease of the Gini index", "decrease of the Gini index", "gini", "split Gini"
    ),
    "cart": TreeCriterion("the CART measure", "CART measure", "gini", two_sided=True),
}
