"""Whether probabilities can be taken at their word: how often what was said with p was right."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sortal.models.judged_codes import need_rows, read_codes, read_probabilities
from sortal.models.records import Table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

N_BINS = 10
# The 97.5 % point of the normal distribution.
_Z = 1.959963984540054


@dataclass(frozen=True)
class Bin:
    """Rows whose class was said with a probability in (low, high]; 0 belongs to the first bin.

    `mean` is that of the probabilities, `share` the part said right, between `share_low` and
    `share_high` by Wilson's interval of 95 %.
    """

    low: float
    high: float
    n: int
    mean: float
    share: float
    share_low: float
    share_high: float


@dataclass(frozen=True)
class Reliability:
    """Bins that have rows, by the probability of the class said; `brier` is that of all classes."""

    bins: tuple[Bin, ...]
    brier: float

    @classmethod
    def of(cls, truth: ArrayLike, said: ArrayLike, probabilities: ArrayLike) -> Self:
        """By codes of classes, one a row, and probabilities with a column for each class."""
        given = np.asarray(probabilities, dtype=np.float64)
        k = given.shape[1] if given.ndim == 2 else 0
        true = read_codes("truth", truth, k)
        need_rows(len(true))
        answers = read_codes("said", said, k, len(true))
        shares = read_probabilities(given, len(true), k)
        sure = np.minimum(shares[np.arange(len(true)), answers], 1.0)
        return cls(_bins(sure, answers == true), brier_score(true, shares))

    @property
    def n(self) -> int:
        """All rows."""
        return sum(one.n for one in self.bins)

    @property
    def expected_error(self) -> float:
        """The expected calibration error Σ_b n_b/n |share_b − mean_b| (S 63)."""
        return sum(one.n * abs(one.share - one.mean) for one in self.bins) / self.n

    @property
    def lead(self) -> float:
        """Mean probability minus the share right: above 0, the model is surer than it may be."""
        return sum(one.n * (one.mean - one.share) for one in self.bins) / self.n

    def table(self, backend: str = "pandas") -> Table:
        """A row for each bin; its title has the error and the Brier score."""
        heads = ("p above", "p to", "rows", "mean p", "share right", "from", "to")
        rows = tuple(astuple(one) for one in self.bins)
        title = (
            "How often the class said with so much probability is right; intervals of 95 %; "
            f"expected calibration error {self.expected_error:.3g}, Brier score {self.brier:.3g}"
        )
        return Table("reliability", title, heads, rows, "S 63", backend)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON."""
        return {
            "bins": [dict(vars(one)) for one in self.bins],
            "expected_error": self.expected_error,
            "brier": self.brier,
        }

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def brier_score(truth: NDArray[np.intp], shares: NDArray[np.float64]) -> float:
    """Return the mean over rows of Σ_k (p_k − [k is true])², between 0 and 2 (S 64)."""
    # Σ p² − 2 p_true + 1, without a second array of the size of the first
    own = shares[np.arange(len(truth)), truth]
    others = np.einsum("ik,ik->i", shares, shares) - own**2
    return float(np.mean(np.maximum(others, 0.0) + (1.0 - own) ** 2))


def wilson(share: float, n: int) -> tuple[float, float]:
    """Bounds of 95 % for a share of n rows."""
    u = _Z**2 / n
    middle, arm = share + u / 2, sqrt(share * (1 - share) * u + u * u / 4)
    low, high = (middle - arm) / (1 + u), (middle + arm) / (1 + u)
    return min(max(low, 0.0), share), max(min(high, 1.0), share)


def _bins(sure: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[Bin, ...]:
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    places = np.searchsorted(edges[1:-1], sure)
    n = np.bincount(places, minlength=N_BINS)
    sums = np.bincount(places, weights=sure, minlength=N_BINS)
    hits = np.bincount(places, weights=right, minlength=N_BINS)
    found = []
    for b in np.flatnonzero(n).tolist():
        rows, share = int(n[b]), float(hits[b] / n[b])
        mean, bounds = float(sums[b] / rows), wilson(share, rows)
        found.append(Bin(float(edges[b]), float(edges[b + 1]), rows, mean, share, *bounds))
    return tuple(found)
