"""Reading nearest neighbors: row by row, and number by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.data.checks import whole_number
from sortal.data.table import read_frame
from sortal.engines.local import n_threads
from sortal.estimators.keeping_rows import KeepingRows
from sortal.learners.neighbors_working import show_working
from sortal.models.decision import decide, shares_of_votes
from sortal.models.neighbors_explain import ExplainNeighbors, NeighborsExplanation
from sortal.models.neighbors_polled import PollBlock, gather_polled
from sortal.models.records import Explanations

if TYPE_CHECKING:
    from collections.abc import Callable

    from sortal.models.neighbors_blocks import Answered
    from sortal.models.neighbors_polled import Polled
    from sortal.models.records import Working


class ReadableNeighbors(KeepingRows):
    """What nearest neighbors show of themselves."""

    n_jobs: int | None
    costs: Any

    _ask: Callable[..., list[Answered]]
    _skips: Callable[[], bool]

    def explain(self, X: Any) -> Explanations[NeighborsExplanation]:
        """Why: the neighbors of each row, their distances and votes, and what they differ in.

        The votes of the neighbors add up to the votes by class, and the shares of the columns to
        the distance. A column is marked where a value is missing in one of the two rows, and where
        no row of the fit has the value. With costs, the class predicted is that of the least of
        `expected_costs`.
        """
        rows, backend = self._poll(X)
        shares = shares_of_votes(rows.votes, self._model.prior)
        costs = self._read_costs(self.costs)
        made = ExplainNeighbors(self._model, rows, shares, decide(shares, costs), costs)
        return Explanations(made, range(len(rows)), backend)

    def working(self, X: Any = None, most: int = 1000) -> Working:
        """The numbers of this fit: scales, classes and, for rows X, distances and votes.

        Parameters
        ----------
        X : table, default=None
            Rows whose distances to the rows of the fit are listed.
        most : int of at least 1, default=1000
            Of the rows of the fit so many are listed for each row of X, the nearest first.

        Returns
        -------
        Working
            Tables `scale` and `classes`; under mahalanobis `covariance` and `inverse`; where the
            number of neighbors was chosen, `loo`. With X, `distances`: of each row of the fit its
            rank, what each column adds to the sum, the distance, and its vote; and `votes`.
        """
        whole_number("most", most, 1)
        model = self._fitted_model()
        rows, backend = (None, self._backend) if X is None else self._poll(X)
        return show_working(model, rows, most, backend, n_threads(self.n_jobs))

    def _poll(self, X: Any) -> tuple[Polled, str]:
        model = self._fitted_model()
        block = PollBlock(model, self._skips(), n_threads(self.n_jobs))
        rows = gather_polled([part.answer for part in self._ask(X, block, model.k + 1)])
        frame = read_frame(X)
        return rows, self._backend if frame is None else str(frame.implementation)
