"""What a pass over blocks does with a Bayes model: picklable values that can run anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal.models.bayes import Encoded, encode, log_likelihood
from sortal.models.decision import n_impossible, posterior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.models.bayes import BayesModel

    Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scored:
    """P(c|x) of a block's rows; how many cells were left out, how many rows are impossible."""

    shares: Float
    n_holes: int
    n_unknown: int
    n_impossible: int


@dataclass(frozen=True, eq=False)
class ScoreBlock:
    """Block → Scored."""

    model: BayesModel

    def __call__(self, batch: Batch) -> Scored:
        """Score one block."""
        encoded = encode(self.model, batch)
        log_joint = self.model.log_prior + log_likelihood(self.model, encoded)
        shares = posterior(log_joint, self.model.prior)
        return Scored(shares, encoded.n_holes(), encoded.n_unknown(), n_impossible(log_joint))


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
    """Block → Encoded."""

    model: BayesModel

    def __call__(self, batch: Batch) -> Encoded:
        """Encode one block."""
        return encode(self.model, batch)


@dataclass(frozen=True, eq=False)
class ReadFittedBlock:
    """Block with labels → FittedRows."""

    model: BayesModel

    def __call__(self, batch: Batch) -> FittedRows:
        """Read one block."""
        place = {label: k for k, label in enumerate(self.model.classes)}
        weights = np.ldexp(batch.row_units().astype(np.float64), -batch.exponent)
        return FittedRows(encode(self.model, batch), batch.labels().recode(place), weights)


def gather_encoded(blocks: Sequence[Encoded]) -> Encoded:
    """Blocks as one."""
    return Encoded(
        np.concatenate([block.codes for block in blocks], axis=1),
        np.concatenate([block.numbers for block in blocks], axis=1),
    )


def gather_scored(blocks: Sequence[Scored]) -> Scored:
    """Blocks as one."""
    return Scored(
        np.concatenate([block.shares for block in blocks]),
        sum(block.n_holes for block in blocks),
        sum(block.n_unknown for block in blocks),
        sum(block.n_impossible for block in blocks),
    )


def gather_fitted(blocks: Sequence[FittedRows]) -> FittedRows:
    """Blocks as one."""
    return FittedRows(
        gather_encoded([block.encoded for block in blocks]),
        np.concatenate([block.y for block in blocks]),
        np.concatenate([block.w for block in blocks]),
    )
