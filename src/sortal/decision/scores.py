"""Scores of rows, block by block: picklable values that a pass can run anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sortal.decision.posterior import decide, leading, log_of, log_posterior, posterior

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sortal._typing import Counts, Float
    from sortal.data.schema import Design
    from sortal.data.sources import Batch


@dataclass(frozen=True, eq=False)
class ScoredTerms:
    """What was asked of a block's rows; cells without a usable value, by column."""

    answer: NDArray[Any]
    missing: Counts
    unknown: Counts


@dataclass(frozen=True, eq=False)
class ScoreTermsBlock:
    """Block → Answered: functions of the rows, and what `ask` makes of them."""

    function: RowFunctions
    ask: Callable[[Float], NDArray[Any]]

    def __call__(self, batch: Batch) -> ScoredTerms:
        """Ask one block."""
        mapped = self.function(batch)
        return ScoredTerms(self.ask(mapped.values), mapped.missing, mapped.unknown)


def identity(values: Float) -> Float:
    """The functions themselves."""
    return values


def margin(values: Float) -> Float:
    """The functions; of two, the second less the first."""
    return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values


@dataclass(frozen=True, eq=False)
class FromPriors:
    """ln f_k(x) up to a common term, and priors → what is said. (Bar *)

    `what` is "functions", "label", "proba" or "log_proba".
    """

    prior: Float
    what: str
    costs: Float | None = None

    def __call__(self, log_density: Float) -> NDArray[Any]:
        """Answer for one block."""
        log_joint = log_density
        log_joint += log_of(self.prior)
        if self.what == "functions":
            return log_joint
        if self.what == "label" and self.costs is None:
            return leading(log_joint)
        if self.what == "log_proba":
            return log_posterior(log_joint, self.prior)
        shares = posterior(log_joint, self.prior)
        return decide(shares, self.costs) if self.what == "label" else shares


def gather_answered(blocks: Sequence[ScoredTerms]) -> ScoredTerms:
    """Blocks as one."""
    return ScoredTerms(
        np.concatenate([block.answer for block in blocks]),
        np.sum([block.missing for block in blocks], axis=0),
        np.sum([block.unknown for block in blocks], axis=0),
    )


class RowFunctions(Protocol):
    """Functions of rows, a column a function."""

    @property
    def design(self) -> Design:
        """The terms of a row."""

    @property
    def center(self) -> Float:
        """What rows are compared with where single ones are looked at."""

    def __call__(self, batch: Batch) -> Mapped:
        """The functions of a block's rows."""


@dataclass(frozen=True, eq=False)
class Mapped:
    """The functions of a block's rows; missing values by column, unknown values by column."""

    values: Float
    missing: Counts
    unknown: Counts


def public_functions(functions: Float) -> Float:
    """Functions of classes as scikit-learn has them: of two classes the second less the first."""
    return np.diff(functions, axis=0) if len(functions) == 2 else np.asarray(functions)
