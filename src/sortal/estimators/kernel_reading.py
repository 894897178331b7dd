"""What is read off a fitted kernel discriminant: attributes, explanations, its numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sortal.data.checks import whole_number
from sortal.estimators.base import refuse_one_class
from sortal.estimators.kernel_left_out import KernelLeftOut
from sortal.learners.kernel_working import show_kernel
from sortal.models.kernel_explain import explain_rows
from sortal.models.kernel_rows import ReadKernelRows, gather_kernel_rows
from sortal.models.linear_blocks import as_they_are
from sortal.models.records import Explanations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.kernel import KernelModel
    from sortal.models.kernel_explain import KernelExplanation
    from sortal.models.kernel_functions import KernelFunction
    from sortal.models.kernel_rows import KernelRows
    from sortal.models.records import Table, Working

    Float = NDArray[np.float64]


class ReadableKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelLeftOut):
    """A fitted kernel discriminant, read."""

    def transform(self, X: Any) -> Float:
        """The projections p(x) = Σ_j a_j k(x_j, x) on the directions, not centered.

        Parameters
        ----------
        X : table

        Returns
        -------
        ndarray of shape (n_samples, n_directions)
        """
        model: KernelModel = self._fitted_model()
        return self._ask(X, model.coordinates, as_they_are)

    def explain(self, X: Any, most: int = 5) -> Explanations[KernelExplanation]:
        """Why: the rows of the basis that pull each row most, to the class said and away from it.

        With costs, what they add to the log-odds is a part of its own.

        Parameters
        ----------
        X : table
        most : int, default=5
            How many basis rows are named; the rest is added up.
        """
        whole_number("most", most, 1)
        rows, backend = self._read_rows(X)
        refuse_one_class(self._schema.classes, "explain")
        made = explain_rows(self._fitted_model(), rows, self._read_costs(self.costs), most)
        return Explanations(made, range(len(rows)), backend)

    def working(self, X: Any = None, most: int = 20) -> Working:
        """The numbers of this fit: K, M, N, a, projections; of rows X, projections and posteriors.

        Parameters
        ----------
        X : table, default=None
        most : int, default=20
            Rows of the basis up to which matrices are shown whole.
        """
        whole_number("most", most, 1)
        model = self._fitted_model()
        rows, backend = (None, self._backend) if X is None else self._read_rows(X)
        return show_kernel(model, rows, self._read_costs(self.costs), most, backend)

    def _read_rows(self, X: Any) -> tuple[KernelRows, str]:
        model, source = self._fitted_model(), self._open(X)
        rows = gather_kernel_rows(list(self._engine().map(source, ReadKernelRows(model))))
        unknown = rows.unknown.sum(axis=0)
        self._report_columns(rows.missing.sum(axis=0) - unknown, unknown)
        return rows, source.table.backend or self._backend

    @property
    def terms_(self) -> NDArray[Any]:
        """What the kernel is asked about: a number's column, or column=value."""
        model: KernelModel = self._fitted_model()
        return np.array(model.inputs.design.terms, dtype=object)

    @property
    def kernel_(self) -> KernelFunction:
        """The kernel: name, gamma, degree, coef0."""
        kernel: KernelFunction = self._fitted_model().kernel
        return kernel

    @property
    def gamma_(self) -> float:
        """γ of the kernel."""
        return float(self._fitted_model().kernel.gamma)

    @property
    def ridge_(self) -> float:
        """The ridge, as given or as chosen."""
        return float(self._fitted_model().ridge)

    @property
    def mu_(self) -> float:
        """The weight of the penalty: μ, or ε with penalty="coefficients"."""
        return float(self._fitted_model().mu)

    @property
    def solver_(self) -> str:
        """Whether all rows are the basis, or landmarks."""
        return str(self._fitted_model().solver)

    @property
    def n_landmarks_(self) -> int:
        """How many landmarks there are."""
        model: KernelModel = self._fitted_model()
        if model.solver != "landmarks":
            raise AttributeError("n_landmarks_ exists where solver_ is 'landmarks'.")
        return len(model.ids)

    @property
    def basis_ids_(self) -> NDArray[np.int64]:
        """The rows of the basis, as places in the table of the fit, or of the first call."""
        return np.asarray(self._fitted_model().ids)

    @property
    def dual_coef_(self) -> Float:
        """The coefficients a, a row a basis row and a column a direction."""
        return np.asarray(self._fitted_model().coefs)

    @property
    def eigenvalues_(self) -> Float:
        """λ of each direction, falling."""
        return np.asarray(self._fitted_model().eigenvalues)

    @property
    def projected_means_(self) -> Float:
        """m_c, a row a class; NaN for a class without rows."""
        model: KernelModel = self._fitted_model()
        means = np.where(model.weight[:, None] > 0, model.means, np.nan)
        return self._spread(means, np.nan, axis=0)

    @property
    def projected_scatters_(self) -> Float:
        """s_c², a row a class."""
        return self._spread(self._fitted_model().scatters, axis=0)

    @property
    def condition_(self) -> float:
        """An estimate of the condition number of the matrix that was inverted."""
        return float(self._fitted_model().condition)

    @property
    def loo_curve_(self) -> Table:
        """The mean of ln P(y|x) without each row, for every ridge that was tried."""
        found: Table | None = self._fitted_model().curve
        if found is None:
            raise AttributeError("loo_curve_ exists after a fit with ridge='loo'.")
        return replace(found, backend=self._backend)

    @property
    def _n_features_out(self) -> int:
        return int(self._fitted_model().coefs.shape[1])
