"""Scores of rows, block by block: picklable values that a pass can run anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from sortal.decision.posterior import decide, leading, log_of, log_posterior, posterior
from sortal.engines import total

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sortal._typing import Counts, Float
    from sortal.data.columns import Design
    from sortal.data.sources import Batch

RowPass: TypeAlias = "Callable[[Batch], ScoredTerms]"

# Functions of the rows of a block.
RowValues: TypeAlias = "Callable[[Batch], Mapped]"


@dataclass(frozen=True, eq=False)
class ScoredTerms:
    """What was asked of a block's rows; cells without a usable value, by column."""

    answer: NDArray[Any]
    missing: Counts = total()
    unknown: Counts = total()


What = Literal["label", "proba", "log_proba", "functions"]


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of rows, with other priors than the model's if given, and with costs if any.

    `unknown` is what becomes of values that the fit did not have. A pass that has threads of its
    own may have as many as `n_threads`.
    """

    what: What
    prior: Float | None = None
    costs: Float | None = None
    unknown: str = "skip"
    n_threads: int = 1

    def answer(self, log_joint: Float, prior: Float) -> NDArray[Any]:
        """Of ln P(x|c)P(c) of some rows, by these priors."""
        if self.what == "functions":
            return log_joint
        if self.what == "label" and self.costs is None:
            return leading(log_joint)
        if self.what == "log_proba":
            return log_posterior(log_joint, prior)
        return self.of_shares(posterior(log_joint, prior))

    def of_shares(self, shares: Float) -> NDArray[Any]:
        """Of P(c|x) of some rows."""
        if self.what == "label":
            return decide(shares, self.costs)
        return log_of(shares) if self.what == "log_proba" else shares


def ask(function: RowValues, answer: Callable[[Float], NDArray[Any]]) -> RowPass:
    """A pass: functions of the rows of a block, and what is answered by them."""

    def score(batch: Batch) -> ScoredTerms:
        mapped = function(batch)
        return ScoredTerms(answer(mapped.values), mapped.missing, mapped.unknown)

    return score


def ask_densities(function: RowValues, prior: Float, question: Question) -> RowPass:
    """A pass: ln f_k(x) up to a common term, and what is answered by them and priors. (Bar *)"""
    prior = prior if question.prior is None else question.prior

    def answer(log_density: Float) -> NDArray[Any]:
        log_density += log_of(prior)
        return question.answer(log_density, prior)

    return ask(function, answer)


def identity(values: Float) -> Float:
    """The functions themselves."""
    return values


def margin(values: Float) -> Float:
    """The functions; of two, the second less the first."""
    return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values


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
