"""What a kernel discriminant does at its door: policies, matrices of kernel values, more rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.checks import choose
from sortal.errors import OptionError
from sortal.estimators.posteriors import Posteriors
from sortal.estimators.summarized import SummaryClassifier
from sortal.learners.kernel_basis import CountUnknown
from sortal.learners.kernel_first import refuse_hollow
from sortal.learners.kernel_options import priorless
from sortal.models.kernel import rows_at_a_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.schema import Schema
    from sortal.data.sources import TableSource
    from sortal.data.table import Table
    from sortal.estimators.base import Training
    from sortal.learners.kernel_basis import KernelBasis, KernelSummary
    from sortal.learners.kernel_options import KernelOptions

    Float = NDArray[np.float64]


class KernelDoor(Posteriors, SummaryClassifier):
    """How tables are read."""

    kernel: Any
    class_weight: Any
    progress: Any
    _summary: KernelSummary
    _plan: KernelBasis
    _waits = True  # blocks of one class only are kept until more come

    def _policies(self) -> None:
        choose("missing", self.missing, ("drop_rows", "mean", "error"))
        choose("unknown", self.unknown, ("skip", "error"))

    def _given(self) -> bool:
        """Whether tables are matrices of kernel values."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _remember(self, training: Training) -> None:
        super()._remember(training)
        self._by_name = self._by_name and not self._given()  # its columns are rows of the fit

    def _open(self, X: Any) -> TableSource:
        source = super()._open(X)
        most = rows_at_a_time(len(self._fitted_model().ids))
        return replace(source, block_rows=min(source.rows_per_block, most))

    def _places(self, table: Table) -> tuple[int, ...]:
        if self._given():
            refuse_hollow(table)  # before its columns are counted
        return super()._places(table)

    def _answer(self, X: Any, priors: Any, what: str, costs: Float | None = None) -> NDArray[Any]:
        self._fitted_model()
        if priors is not None and self._fitted.rule == "nearest_mean":
            raise priorless()
        return super()._answer(X, priors, what, costs)

    def _fills(self) -> bool:
        """Whether rows with holes take part."""
        return bool(self.missing == "mean")

    def _refuse_holes(self, schema: Schema, holes: NDArray[np.int64]) -> None:
        if self.missing == "error":
            self._report_cells(dict(zip(schema.names, holes.tolist(), strict=True)), {})

    def _no_pieces(self) -> str:
        """Why rows cannot come in pieces; nothing where they can."""
        words = {
            "kernel": ("precomputed", "set kernel='rbf'"),
            "solver": ("dense", "set solver='landmarks'"),
            "ridge": ("loo", "give a number"),
        }
        for name, (word, remedy) in words.items():
            given = getattr(self, name)
            if isinstance(given, str) and given == word:
                return f"{name}={word!r} needs all rows at once: use fit, or {remedy}."
        return ""

    def _open_again(self, X: Any, y: Any, sample_weight: Any, options: KernelOptions) -> Training:
        if options.reads() != self._fitted.reads():
            raise OptionError(
                "The kernel, its parameters, the scale or the landmarks were set to others after "
                "the first rows, whose basis they cannot use: set them back, or fit again."
            )
        if self._fills() != self._fitted.fills:
            raise OptionError(
                f"missing={self.missing!r} was set after a fit with another policy, whose summary "
                "it cannot use: set it back, or fit again."
            )
        if not self._plan.inputs.factor.any():
            raise OptionError(
                "The first rows, all of one class, do not vary in any column, so that there is no "
                "scale for others: fit again to all rows."
            )
        training = super()._open_again(X, y, sample_weight, options)
        inputs, none = self._plan.inputs, np.zeros(len(self._schema.columns), dtype=np.int64)
        if inputs.design.categories:
            unknown = sum(self._engine().map(training.source, CountUnknown(inputs)), none)
            self._report_columns(none, unknown)
        return training
