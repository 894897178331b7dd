"""Class statistics from moments that were given: discriminants without rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.data.columns import ColumnSchema, Design, Schema, as_value, sort_values
from sortal.decision.options import numbers, read_priors
from sortal.discriminants.statistics import ClassStatistics, without_rounding
from sortal.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from sortal._typing import Float, PriorsLike
    from sortal.data.columns import Values


def read_moments(
    means: ArrayLike,
    *,
    covariances: ArrayLike | None,
    scatters: ArrayLike | None,
    counts: ArrayLike | None,
    classes: ArrayLike | None,
    names: Iterable[str] | None,
    priors: PriorsLike,
    unbiased: bool,
) -> ClassStatistics:
    """Checked moments. Without counts they are exact, and the weights are shares.

    With counts, covariances are scatters divided by n - 1 (`unbiased`), as in (Sch 4-7b), or by n.
    """
    mu = numbers("means", means)
    if mu.ndim != 2 or mu.shape[0] < 2 or mu.shape[1] < 1:
        raise ParameterError(
            f"means has the shape {mu.shape}: give a row a class, two at least, and a column an "
            "attribute."
        )
    K, p = mu.shape
    labels = _labels(classes, K)
    n = None if counts is None else _counts(counts, K)
    if (covariances is None) == (scatters is None):
        how_many = "neither was" if scatters is None else "both were"
        raise ParameterError(f"Give either covariances or scatters: {how_many} given.")
    if n is not None:
        weight = n
    else:
        given = read_priors(priors, labels)
        # a class that is never expected still has a covariance: then all weigh alike
        weight = np.full(K, 1 / K) if given is None or (given == 0).any() else given
    if scatters is not None:
        if n is None:
            raise ParameterError("scatters are sums over rows: give counts with them.")
        scatter = _matrices("scatters", scatters, K, p)
    else:
        unit: Float = np.maximum(weight - 1, 0.0) if n is not None and unbiased else weight
        scatter = unit[:, None, None] * _matrices("covariances", covariances, K, p)
    center = weight @ mu / weight.sum()
    stats = ClassStatistics(
        design=Design(Schema(_columns(names, p), labels)),
        weight=weight,
        rows=np.zeros(K) if n is None else n,
        center=center,
        gap=mu - center,
        scatter=scatter,
        third=np.full((K, p), np.nan),
        fourth=np.full(K, np.nan),
        exact=n is None,
    )
    return without_rounding(stats)


def _labels(given: ArrayLike | None, K: int) -> Values:
    if given is None:
        return tuple(range(K))
    raw = np.asarray(given, dtype=object).ravel().tolist()
    try:
        labels = tuple(as_value(label) for label in raw)
    except TypeError:
        labels = ()
    if None in labels or len(labels) != K or labels != sort_values(labels):  # type: ignore[arg-type]
        raise ParameterError(
            f"classes={given!r} must name the {K} classes of means, each once and in sorted order."
        )
    return labels  # type: ignore[return-value]


def _counts(given: ArrayLike, K: int) -> Float:
    counts = numbers("counts", given)
    if counts.shape != (K,) or (counts <= 0).any():
        raise ParameterError(
            f"counts={given!r} must hold a number above 0 for each of {K} classes."
        )
    return counts


def _matrices(name: str, given: ArrayLike | None, K: int, p: int) -> Float:
    matrices = numbers(name, given)
    if matrices.shape == (p, p) and name == "covariances":
        matrices = np.broadcast_to(matrices, (K, p, p))
    if matrices.shape != (K, p, p):
        raise ParameterError(
            f"{name} has the shape {matrices.shape}: give {K} matrices of {p} × {p}, or one where "
            "covariances are common."
        )
    diagonal = np.sqrt(np.abs(np.einsum("kjj->kj", matrices)))
    off = np.abs(matrices - matrices.transpose(0, 2, 1))
    if (off > 1e-8 * diagonal[:, :, None] * diagonal[:, None, :]).any():
        raise ParameterError(f"{name} must be symmetric.")
    scale = np.where(diagonal > 0, diagonal, 1.0)
    least = np.linalg.eigvalsh(matrices / (scale[:, :, None] * scale[:, None, :])).min()
    if least < -1e-8 * p:
        raise ParameterError(f"{name} must not have negative eigenvalues: no rows can give them.")
    return np.asarray((matrices + matrices.transpose(0, 2, 1)) / 2)


def _columns(names: Iterable[str] | None, p: int) -> tuple[ColumnSchema, ...]:
    listed = [f"x{j}" for j in range(p)] if names is None else list(names)
    if len(listed) != p or len(set(listed)) != p or not all(isinstance(n, str) for n in listed):
        raise ParameterError(f"names={names!r} must name the {p} columns of means, each once.")
    return tuple(ColumnSchema(name, "number") for name in listed)
