"""Known rows that are searched by themselves: what their tests are worth in the node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sortal.models.tree_criteria import CRITERIA
from sortal.native.judging import judge_tests
from sortal.native.trees import CRITERIA as NUMBERED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.native.judging import Judged

    Int64 = NDArray[np.int64]


class Apart(NamedTuple):
    """The known rows of a node and its holes, by class; whether holes have a branch of their own.

    `total` and `criterion` are as in `native.judging`.
    """

    known: Int64
    holes: Int64
    own_branch: bool
    total: int
    criterion: int

    @property
    def share(self) -> float:
        """The share of the known rows."""
        return int(self.known.sum()) / int(self.known.sum() + self.holes.sum())

    def in_node(self, judged: Judged) -> Judged:
        """Tests of known rows in the scale of the node. (S 41)

        Holes are one more part in the split information. Without a branch of their own the score
        is that of the known rows times their share; with one, parting the known rows from the
        holes adds what it is worth itself, which is true of gain and Gini.
        """
        alone = self.alone()
        stretch, shift = self._scale(judged.base, alone.base)
        more = float(alone.scores[0]) if self.own_branch else 0.0
        return judged._replace(
            keys=judged.keys * stretch + shift,
            scores=judged.scores * self.share + more,
            information=judged.information + alone.information[0],
            base=alone.base,
        )

    def alone(self) -> Judged:
        """The one test known | missing."""
        return self._judge(self.known + self.holes, self.known[None])

    def _scale(self, base_of_known: float, base: float) -> tuple[float, float]:
        if CRITERIA[NUMBERED[self.criterion]].two_sided:
            n = float(self.known.sum())
            return float(self.known.sum() + self.holes.sum()) / n, 0.0
        if self.own_branch:
            return 1.0, self._judge(self.holes, self.holes[None][:0]).base
        return 1.0, base - base_of_known

    def _judge(self, node: Int64, yes: Int64) -> Judged:
        return judge_tests(node, np.ascontiguousarray(yes), self.total, self.criterion)
