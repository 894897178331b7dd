"""The metrics of nearest neighbors: what each measures, and what it needs.

Their terms are in cpp/neighbors/distance_keys.hpp.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class MetricFacts(NamedTuple):
    """The tag in docs/math.md, the power of terms (None: the option p), and the scale of "auto".

    A metric of scale "none" knows no unit of a column. One that `takes_words` asks of categories
    whether they are equal; `by_value`, of numbers too. `by_covariance`: numbers are whitened first.
    `is_mean`: the sum over the columns is divided by their number.
    """

    equation: str
    power: float | None
    scale: str = "std"
    takes_words: bool = False
    by_value: bool = False
    by_covariance: bool = False
    is_mean: bool = False


METRICS: Final = {
    "euclidean": MetricFacts("MSML euclidean", 2.0),
    "manhattan": MetricFacts("MSML manhattan", 1.0),
    "minkowski": MetricFacts("MSML minkowski", None),
    "hamming": MetricFacts("MSML hamming", 1.0, "none", takes_words=True, by_value=True),
    "gower": MetricFacts("S 73", 1.0, "range", takes_words=True, is_mean=True),
    "mahalanobis": MetricFacts("S 74", 2.0, "none", by_covariance=True),
}
