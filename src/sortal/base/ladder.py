"""The base of every estimator: tables and labels read, columns matched, a fit reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from sortal.base.columns import add_unused, check_kinds, declare_schema, match_columns
from sortal.base.columns import adopt_kinds as adopt_kinds
from sortal.base.columns import merge_declared as merge_declared
from sortal.base.columns import refuse_empty as refuse_empty
from sortal.base.labels import labels_of, read_target, read_truth, split_target
from sortal.base.learner import FitReport as FitReport
from sortal.base.learner import counted_cells as counted_cells
from sortal.base.learner import note_classes as note_classes
from sortal.base.learner import refuse_one_class as refuse_one_class
from sortal.base.save import OptionalAttribute, SaveMixin, label_array
from sortal.data.columns import union
from sortal.data.schema import Schema
from sortal.data.sources import DataTable, TableSource, read_table, read_weights
from sortal.decision.options import costs_for, priors_for
from sortal.engines import LocalEngine
from sortal.errors import (
    FormatError,
    MissingValueError,
    MissingValueWarning,
    UnknownCategoryError,
    UnknownCategoryWarning,
    warn,
)
from sortal.modelfile.arrays import RecordField
from sortal.modelfile.fields import (
    BACKENDS,
    Flag,
    LabelType,
    Layout,
    ValuesField,
    Word,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal._typing import Counts, Float, Mask
    from sortal.data.columns import Values
    from sortal.engines import Engine


@dataclass(frozen=True)
class Training:
    """The rows of a fit, what their table declares, and the type in which their labels came."""

    source: TableSource
    declared: Schema
    label_dtype: np.dtype[Any]

    def classes(self, present: Values, *, dropped: bool = False) -> Values:
        """Those of rows that count, and of rows that do not: without weight, or `dropped`."""
        units = None if self.source.weights is None else self.source.weights.units
        if not dropped and (units is None or units.all()):
            return present
        assert self.source.target is not None  # noqa: S101  (rows of a fit have labels)
        return union(present, labels_of(self.source.target))[0]


class TableClassifier(SaveMixin, ClassifierMixin, BaseEstimator):
    """Reading and matching of tables, common to all classifiers."""

    _kept: ClassVar[Layout] = Layout(
        _labels=LabelType(),
        _weightless=ValuesField(),
        _named=Flag(),
        _by_name=Flag(),
        _backend=Word(BACKENDS),
        fit_report_=OptionalAttribute(RecordField(FitReport)),
    )

    n_jobs: int | None
    categorical_features: Any
    missing: str
    unknown: str
    classes_: NDArray[Any]
    _schema: Schema
    _model: Any
    # what becomes of missing and unknown values at predict, and what else to do about them
    _missing_words = "they are left out"
    _missing_remedy = "Fill them, or set missing='skip' to leave them out."
    _unknown_remedy = "Map them to known values, or set unknown='skip' to leave them out."

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    @property
    def n_parameters_(self) -> int:
        """How many numbers predict needs of the fitted model."""
        return int(self._fitted_model().size)

    def _fitted_model(self) -> Any:
        check_is_fitted(self)
        return self._model

    # --- Classes: a model knows those that have weight, `classes_` has all ------------------------

    @property
    def _classes(self) -> Values:
        """All classes of y."""
        return tuple(self.classes_.tolist())

    @property
    def _weightless(self) -> Values:
        """Those that the model does not know."""
        known = set(self._schema.classes)
        return tuple(label for label in self._classes if label not in known)

    def _with_weight(self) -> Mask:
        """Which of `classes_` the model knows."""
        others = set(self._weightless)
        return np.array([label not in others for label in self._classes])

    def _predicted(self, codes: NDArray[Any]) -> NDArray[Any]:
        """The labels of classes of the model."""
        return np.asarray(self.classes_[self._with_weight()][codes])

    def _spread(self, answers: NDArray[Any], fill: float = 0.0, axis: int = 1) -> NDArray[Any]:
        """Numbers by class of the model, along an axis, as numbers by class of `classes_`."""
        known = self._with_weight()
        if known.all():
            return answers
        shape = list(answers.shape)
        shape[axis] = len(known)
        spread = np.full(shape, fill, dtype=np.result_type(answers, type(fill)))
        np.moveaxis(spread, axis, 0)[known] = np.moveaxis(answers, axis, 0)
        return spread

    def _read_costs(self, given: Any) -> Float | None:
        """Costs given for `classes_`, among the classes of the model."""
        return costs_for(given, self._classes, self._schema.classes)

    def _read_priors(self, given: Any) -> Float | None:
        """Priors given for `classes_`, of the classes of the model."""
        return priors_for(given, self._classes, self._schema.classes)

    def _engine(self) -> Engine:
        return LocalEngine(self.n_jobs)

    def _open_training(
        self, X: Any, y: Any, sample_weight: Any, exponent: int | None = None
    ) -> Training:
        """The rows of a fit. With `exponent`, by the schema and the unit of an earlier one."""
        X, y = split_target(X, y, type(self).__name__)
        table = read_table(X)
        refuse_empty(table)
        target = read_target(y, table.n_rows)
        declared = declare_schema(table, self.categorical_features)
        if exponent is None:
            schema, places = declared, tuple(range(len(table.names)))
        else:
            places = self._places(table)
            declared = Schema(tuple(declared.columns[j] for j in places))
            schema = adopt_kinds(self._schema, declared)
        weights = read_weights(sample_weight, table.n_rows, exponent)
        source = TableSource(table, schema, places, target.table, weights)
        return Training(source, declared, target.dtype)

    def _set_input_names(self, training: Training) -> None:
        """The names of columns, set when all else has succeeded."""
        table = training.source.table
        self.n_features_in_ = len(table.names)
        self._by_name = table.has_names
        if table.string_names:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._backend = table.backend or "pandas"
        self.__dict__.pop("_fit_call", None)  # whoever called for the fit says so again

    @property
    def _labels(self) -> np.dtype[Any]:
        """The type of the labels."""
        return self.classes_.dtype

    @property
    def _named(self) -> bool:
        """Whether the columns of the fit had names."""
        return hasattr(self, "feature_names_in_")

    def _restore(self, kept: dict[str, Any]) -> None:
        labels, named, others = kept.pop("_labels"), kept.pop("_named"), kept.pop("_weightless")
        if set(others) & set(self._schema.classes):
            raise FormatError("A class is both with and without weight: damaged?")
        self.classes_ = label_array(union(self._schema.classes, others)[0], labels)
        super()._restore(kept)
        self.n_features_in_ = len(self._schema.columns)
        if named:
            self.feature_names_in_ = np.array(self._schema.names, dtype=object)

    def _open(self, X: Any) -> TableSource:
        """The source of rows to be predicted; columns that the model does not use may be absent."""
        check_is_fitted(self)
        if self._by_name:
            unused = getattr(self._model, "unused", {})
            X = add_unused(X, self._schema, unused, type(self).__name__)
        table = read_table(X)
        refuse_empty(table)
        return TableSource(table, self._schema, self._places(table))

    def _places(self, table: DataTable) -> tuple[int, ...]:
        owner = type(self).__name__
        if hasattr(self, "feature_names_in_") and not table.has_names:
            warn(
                f"X does not have valid feature names, but {owner} was fitted with feature names: "
                "its columns are taken in the order of the fit.",
                UserWarning,
            )
        places = match_columns(table, self._schema, self._by_name, owner)
        check_kinds(table, self._schema, places)
        return places

    def _report_cells(
        self, missing: dict[str, int], unknown: dict[str, int], words: str | None = None
    ) -> None:
        """Says once, with the counts, what predict met; or raises where the policy forbids it."""
        words = words or self._missing_words
        if sum(missing.values()):
            _say(
                self.missing,
                f"{counted_cells(missing)} {_verb(missing, 'has', 'have')} no value",
                MissingValueError,
                MissingValueWarning,
                self._missing_remedy,
                words,
            )
        if sum(unknown.values()):
            _say(
                self.unknown,
                f"{counted_cells(unknown)} {_verb(unknown, 'holds a value', 'hold values')} "
                "never seen at fit",
                UnknownCategoryError,
                UnknownCategoryWarning,
                self._unknown_remedy,
                words,
            )

    def _report_columns(self, missing: Counts, unknown: Counts, words: str | None = None) -> None:
        """The same, of counts by column of the schema."""
        names = self._schema.names
        self._report_cells(
            dict(zip(names, missing.tolist(), strict=True)),
            dict(zip(names, unknown.tolist(), strict=True)),
            words,
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are predicted rightly; y may be the name of a column of X."""
        X, y = split_target(X, y, type(self).__name__)
        predicted = self.predict(X)
        truth = read_truth(y, self._classes, len(predicted))
        right = (truth >= 0) & (self.classes_[truth.clip(0)] == predicted)
        return float(accuracy_score(right, np.ones_like(right), sample_weight=sample_weight))


def _verb(cells: dict[str, int], one: str, several: str) -> str:
    return one if sum(cells.values()) == 1 else several


def _say(
    policy: str,
    what: str,
    error: type[Exception],
    warning: type[Warning],
    remedy: str,
    words: str,
) -> None:
    if policy == "error":
        raise error(f"{what}, and the policy is 'error'. {remedy}")
    warn(f"{what}; {words}.", warning)
