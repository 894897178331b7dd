"""What a pass over blocks does with a Bayes model: picklable values that can run anywhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import given_values
from sortal.models.bayes import Encoded, encode, log_likelihood
from sortal.models.decision import decide, n_impossible, posterior

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.models.bayes import BayesModel

    Counts = NDArray[np.int64]
    Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scored:
    """What was asked of a block's rows; cells left out, by column; rows that are impossible."""

    answer: NDArray[Any]
    holes: Counts
    unknown: Counts
    n_impossible: int


@dataclass(frozen=True, eq=False)
class ScoreBlock:
    """Block → Scored. `ask` turns ln P(x|c)P(c) and the prior into the answer."""

    model: BayesModel
    ask: Callable[[Float, Float], NDArray[Any]] = posterior

    def __call__(self, batch: Batch) -> Scored:
        """Score one block."""
        encoded = encode(self.model, batch)
        log_joint = self.model.log_prior + log_likelihood(self.model, encoded)
        answer = self.ask(log_joint, self.model.prior)
        return Scored(answer, encoded.holes(), encoded.unknown(), n_impossible(log_joint))


@dataclass(frozen=True, eq=False)
class Label:
    """ln P(x|c)P(c) → the class to say, so that no block's posteriors are kept."""

    costs: Float | None = None

    def __call__(self, log_joint: Float, prior: Float) -> NDArray[np.intp]:
        """Decide on one block."""
        return decide(posterior(log_joint, prior), self.costs)


@dataclass(frozen=True, eq=False)
class FittedRows:
    """Labeled rows in a model's codes: classes `y` and weights `w` beside them."""

    encoded: Encoded
    y: NDArray[np.int32]
    w: Float

    def own(self, n_classes: int) -> Float:
        """w in the column of the row's own class, 0 elsewhere."""
        weights = np.zeros((len(self.y), n_classes))
        weights[np.arange(len(self.y)), self.y] = self.w
        return weights


@dataclass(frozen=True, eq=False)
class EncodeBlock:
    """Block → Encoded, with the words as they were given."""

    model: BayesModel

    def __call__(self, batch: Batch) -> Encoded:
        """Encode one block."""
        given = [given_values(batch.columns[j]) for j in self.model.categories]
        shape = len(given), batch.n_rows
        words = np.array(given, dtype=object).reshape(shape)
        return replace(encode(self.model, batch), words=words)


@dataclass(frozen=True, eq=False)
class ReadFittedBlock:
    """Block with labels → FittedRows."""

    model: BayesModel

    def __call__(self, batch: Batch) -> FittedRows:
        """Read one block."""
        place = {label: k for k, label in enumerate(self.model.classes)}
        weights = np.ldexp(batch.row_units().astype(np.float64), -batch.exponent)
        # a row of a class without weight has none itself: whose it is does not matter
        y = np.maximum(batch.labels().recode(place), 0)
        return FittedRows(encode(self.model, batch), y, weights)


def gather_encoded(blocks: Sequence[Encoded]) -> Encoded:
    """Blocks as one."""
    return Encoded(
        np.concatenate([block.codes for block in blocks], axis=1),
        np.concatenate([block.numbers for block in blocks], axis=1),
        np.concatenate([block.words for block in blocks], axis=1),
    )


def gather_scored(blocks: Sequence[Scored]) -> Scored:
    """Blocks as one."""
    return Scored(
        np.concatenate([block.answer for block in blocks]),
        np.sum([block.holes for block in blocks], axis=0),
        np.sum([block.unknown for block in blocks], axis=0),
        sum(block.n_impossible for block in blocks),
    )


def gather_fitted(blocks: Sequence[FittedRows]) -> FittedRows:
    """Blocks as one."""
    return FittedRows(
        gather_encoded([block.encoded for block in blocks]),
        np.concatenate([block.y for block in blocks]),
        np.concatenate([block.w for block in blocks]),
    )
