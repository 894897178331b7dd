"""The base of every estimator: tables and labels read, columns matched, a fit reported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from sortal.base.labels import labels_of, read_target, read_truth, split_target
from sortal.base.save import OptionalAttribute, SaveMixin, label_array
from sortal.data.columns import union
from sortal.data.schema import Schema
from sortal.data.sources import DataTable, TableSource, read_frame, read_table, read_weights
from sortal.decision.options import costs_for, priors_for
from sortal.engines import LocalEngine
from sortal.errors import (
    ColumnError,
    FormatError,
    InputError,
    LabelError,
    MissingValueError,
    MissingValueWarning,
    OneClassWarning,
    ParameterError,
    UnknownCategoryError,
    UnknownCategoryWarning,
    brief,
    counted,
    listed,
    warn,
)
from sortal.modelfile.arrays import RecordField
from sortal.modelfile.fields import (
    BACKENDS,
    Flag,
    LabelType,
    Layout,
    Named,
    Several,
    ValuesField,
    Whole,
    Word,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sortal._typing import Counts, Float, Mask
    from sortal.data.columns import Values
    from sortal.data.schema import ColumnSchema, Kind
    from sortal.engines import Engine


# Which columns of a table are used, and as what: `categorical_features`, names and positions.


def declare_schema(table: DataTable, categorical_features: Any) -> Schema:
    """The columns of a table before its rows are read: names, kinds, declared values."""
    columns = [table.column_schema(j) for j in range(len(table.names))]
    for j in _chosen(categorical_features, table):
        if columns[j].kind == "date":
            raise ParameterError(
                f"categorical_features names {columns[j].name!r}, which holds dates: convert the "
                "column to strings to use it as a category."
            )
        if columns[j].kind == "number":
            columns[j] = replace(columns[j], kind="category")
    return Schema(tuple(columns))


def adopt_kinds(schema: Schema, declared: Schema) -> Schema:
    """A schema whose columns without any value so far take the kind a new table declares."""
    pairs = zip(schema.columns, declared.columns, strict=True)
    columns = tuple(new if old.kind == "empty" else old for old, new in pairs)
    return Schema(columns, schema.classes)


def merge_declared(declared: Schema, met: Schema) -> Schema:
    """What a later block declares joins what was declared before; kinds do not change."""
    columns = []
    for old, new in zip(declared.columns, met.columns, strict=True):
        mergeable = "empty" in (old.kind, new.kind) or old.kind == new.kind
        columns.append(old.merge(replace(new, name=old.name)) if mergeable else old)
    return Schema(tuple(columns), union(declared.classes, met.classes)[0])


def _chosen(given: Any, table: DataTable) -> list[int]:
    """The columns that the user declares to be categories."""
    n = len(table.names)
    if given is None or (isinstance(given, str) and given == "from_dtype"):
        return []
    if isinstance(given, str):
        if given != "all":
            raise _unreadable(given)
        return list(range(n))
    try:
        listed = np.asarray(given)
    except ValueError:  # lists of different lengths
        raise _unreadable(given) from None
    if listed.ndim != 1:
        raise _unreadable(given)
    if listed.size == 0:
        return []
    if listed.dtype.kind == "b":
        return _from_mask(listed, n)
    if listed.dtype.kind in "iu":
        return [_position(int(j), n) for j in listed]
    if all(isinstance(name, str) for name in listed.tolist()):
        return [_named(str(name), table) for name in listed.tolist()]
    raise _unreadable(given)


def _from_mask(mask: np.ndarray[Any, Any], n: int) -> list[int]:
    if len(mask) != n:
        raise ParameterError(
            f"categorical_features is a mask of length {len(mask)}, and the table has "
            f"{counted(n, 'column')}."
        )
    return [int(j) for j in np.flatnonzero(mask)]


def _position(j: int, n: int) -> int:
    if not -n <= j < n:
        raise ParameterError(
            f"categorical_features names column {j}, and the table has {counted(n, 'column')}."
        )
    return j % n


def _named(name: str, table: DataTable) -> int:
    if name not in table.names:
        raise ParameterError(
            f"categorical_features names {name!r}, which is no column of this table: "
            f"it has {listed(table.names)}."
        )
    return table.names.index(name)


def _unreadable(given: Any) -> ParameterError:
    return ParameterError(
        f"categorical_features={brief(given)} cannot be read: give 'from_dtype', 'all', None, a "
        "mask, a list of positions or a list of names."
    )


def match_columns(table: DataTable, schema: Schema, by_name: bool, owner: str) -> tuple[int, ...]:
    """Where each column of a fitted schema stands in a table; a missing one is an error."""
    if not (by_name and table.has_names):
        if len(table.names) != len(schema.columns):
            raise InputError(
                f"X has {len(table.names)} features, but {owner} is expecting "
                f"{len(schema.columns)} features as input."
            )
        return tuple(range(len(schema.columns)))
    place = {name: j for j, name in enumerate(table.names)}
    absent = [name for name in schema.names if name not in place]
    if absent:
        raise _lacks(owner, absent, table.names)
    return tuple(place[name] for name in schema.names)


def _lacks(owner: str, absent: Sequence[str], names: Sequence[str]) -> ColumnError:
    return ColumnError(
        f"{owner} was fitted with the columns {listed(absent)}, which this table lacks: it has "
        f"{listed(names)}."
    )


def add_unused(X: Any, schema: Schema, unused: Mapping[int, Any], owner: str) -> Any:
    """A data frame with the columns that it lacks and a model does not use.

    All cells of such a column are the value in `unused`, or missing where the fit had none, too.
    """
    frame = read_frame(X)
    if frame is None or not frame.columns:
        return X
    names = tuple(str(name) for name in frame.columns)
    lacking = {j: column for j, column in enumerate(schema.columns) if column.name not in names}
    if absent := [c.name for j, c in lacking.items() if j not in unused and c.kind != "empty"]:
        raise _lacks(owner, absent, names)
    added = [
        nw.lit(_EPOCH if column.kind == "date" else unused.get(j)).alias(column.name)
        for j, column in lacking.items()
    ]
    return frame.with_columns(*added).to_native() if added else X


_EPOCH = datetime(1970, 1, 1)  # from which days are counted


def check_kinds(table: DataTable, schema: Schema, places: tuple[int, ...]) -> None:
    """Words where numbers were fitted, or the reverse, are an error, not a surprise."""
    for column, j in zip(schema.columns, places, strict=True):
        given = table.column_schema(j).kind
        if not _agree(column, given) and not _is_all_missing(table, j, given):
            example = f" (such as {column.values[0]!r})" if column.values else ""
            raise ColumnError(
                f"Column {column.name!r} was fitted with {_CONTENTS[column.kind]}{example}, and "
                f"now holds {_CONTENTS[given]}: convert it to what was fitted, or fit again."
            )


_CONTENTS = {"number": "numbers", "date": "dates", "category": "words or truth values"}


def _agree(column: ColumnSchema, given: Kind) -> bool:
    if "empty" in (column.kind, given):
        return True
    if column.is_number:
        return given == column.kind
    words = bool(column.values) and all(isinstance(value, str) for value in column.values)
    return given == "category" or not words


def _is_all_missing(table: DataTable, j: int, kind: Kind) -> bool:
    """An empty column says nothing, whatever type its library gives it."""
    read = table.categories if kind == "category" else table.numbers
    return bool(read(j, 0, table.n_rows).missing().all())


@dataclass(frozen=True)
class FitReport:
    """What a fit met: rows, missing values by column where there are any, and what was done."""

    rows: int
    missing: dict[str, int]
    notes: tuple[str, ...] = ()

    LAYOUT: ClassVar[Layout] = Layout(
        rows=Whole(least=0), missing=Named(Whole(least=0)), notes=Several(Word())
    )

    def __str__(self) -> str:
        missing = ", ".join(f"{name} {count}" for name, count in self.missing.items()) or "none"
        return "\n".join([f"{counted(self.rows, 'row')}; missing values: {missing}", *self.notes])


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


def counted_cells(cells: dict[str, int], most: int = 5) -> str:
    """How many cells, and of which columns."""
    named = [f"{name!r} {n}" for name, n in cells.items() if n]
    more = f", and {counted(len(named) - most, 'more column')}" if len(named) > most else ""
    n = sum(cells.values())
    return f"{counted(n, 'cell')} ({', '.join(named[:most])}{more})"


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


def refuse_empty(table: DataTable) -> None:
    """One column and one row at least."""
    if len(table.names) == 0:
        raise InputError(
            f"Found array with 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is "
            "required: the table has no columns."
        )
    if table.n_rows == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape=(0, {len(table.names)})) while a minimum of 1 is "
            "required: the table has no rows."
        )


def note_classes(report: FitReport, classes: Values, present: Values) -> FitReport:
    """What to know of the classes beside a report; of one class only, warned of, too."""
    notes, counted = list(report.notes), set(present)
    if absent := [label for label in classes if label not in counted]:
        notes.append(f"no row that counts is of {listed(absent)}: never predicted, probability 0")
    if len(present) == 1:
        notes.append(f"all rows that count are of the class {present[0]!r}: it is always predicted")
        warn(
            f"There is 1 class only ({present[0]!r}) in the rows that count: it is predicted "
            "whatever a row holds. Check the labels and weights, or give rows of another class.",
            OneClassWarning,
        )
    return replace(report, notes=tuple(notes))


def refuse_one_class(classes: Values, owner: str) -> None:
    """Two classes at least."""
    if len(classes) < 2:
        only = f"1 class only ({classes[0]!r})" if classes else "no class"
        raise LabelError(
            f"{owner} needs at least two classes, and there is {only}: there is nothing to tell "
            "apart. Check the labels, or keep rows of another class."
        )
