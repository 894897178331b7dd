"""Testing what a discriminant assumes, on rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from sortal.data.design import Design
from sortal.data.sources import TableSource
from sortal.data.table import read_table
from sortal.estimators.base import TableClassifier, refuse_empty, refuse_one_class
from sortal.estimators.target import read_target, split_target
from sortal.learners.assumptions import ReadRows, gather_rows, present_classes, refuse_none_left
from sortal.learners.assumptions_working import show_assumptions

if TYPE_CHECKING:
    from sortal.models.records import Working


class Assumptions(TableClassifier):
    """`check_assumptions`, for classifiers of Gaussian classes."""

    def check_assumptions(self, X: Any, y: Any) -> Working:
        """Tests of what Gaussian discriminants assume of rows.

        Tables: "rows"; "covariances", Box's M for equal covariances; "normality", Mardia's skewness
        and kurtosis of each class; "columns", the test of D'Agostino and Pearson of each number
        column in each class; "separability", whether a plane lies between each two classes, and
        one linear function a class tells all rows.

        Rows with holes or values never seen at fit are left out and counted. Categories are not
        tested for normality. What is too small or too large for a test is said beside it.

        Parameters
        ----------
        X : table
            With the columns of the fit: its rows, or others.
        y : array-like of shape (n_samples,), or str
            The labels, or the name of the column of X that holds them.

        Returns
        -------
        Working
        """
        check_is_fitted(self)
        X, y = split_target(X, y, type(self).__name__)
        table = read_table(X)
        refuse_empty(table)
        target = read_target(y, table.n_rows)
        source = TableSource(table, self._schema, self._places(table), target.table)
        design = Design(self._schema)
        rows = gather_rows(list(self._engine().map(source, ReadRows(design))))
        self._report_columns(rows.holes, rows.unknown, "rows with such cells are left out")
        refuse_none_left(rows)
        here = present_classes(rows, self._schema.classes)
        labels = tuple(self._schema.classes[k] for k in here)
        refuse_one_class(labels, "check_assumptions")
        return show_assumptions(rows, design, table.backend or self._backend)
