"""What differs between learners, as a value of a few functions, and what a fit leaves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
)

import numpy as np

from sortal.base.tables import labels_of
from sortal.data.columns import union
from sortal.decision.options import checked, costs_for, priors_for, read_costs
from sortal.errors import (
    LabelError,
    MissingValueError,
    OneClassWarning,
    SortalError,
    UnavailableError,
    agreed,
    counted,
    listed,
    warn,
)
from sortal.modelfile.record import limits, record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import CostsLike, Counts, Float, Mask, PriorsLike
    from sortal.base.save import FitCall
    from sortal.data.columns import Schema, Values
    from sortal.data.sources import Batch, DataTable, TableSource
    from sortal.decision.scores import Question, ScoredTerms
    from sortal.engines import Engine


class Model(Protocol):
    """What a learner makes of a summary."""

    @property
    def size(self) -> int:
        """How many numbers predict needs."""


class AskedRows(Protocol):
    """What a pass over rows gives for a block, as a record that `gather` joins."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def missing(self) -> Counts:
        """Cells without a value, by column."""

    @property
    def unknown(self) -> Counts:
        """Cells with a value that the fit did not have, by column."""


class RowSummary(Protocol):
    """What a learner reads of the rows of a fit."""

    @property
    def labels(self) -> Values:
        """The classes that have weight."""

    @property
    def class_weights(self) -> Counts | Float:
        """Their weights, in any unit."""


Opt = TypeVar("Opt")
S = TypeVar("S", bound=RowSummary)
M = TypeVar("M", bound=Model)
R = TypeVar("R")
P = ParamSpec("P")


# --- The rows of a fit, and what it met ----------------------------------------------------------


@record(eq=True)
class FitReport:
    """What a fit met: rows, missing values by column where there are any, and what was done."""

    rows: int = limits(least=0)
    missing: dict[str, int] = limits(least=0)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: int, schema: Schema, missing: Counts, notes: Iterable[str] = ()) -> Self:
        """The same, of missing values by column of a schema."""
        pairs = zip(schema.names, missing.tolist(), strict=True)
        return cls(rows, {name: n for name, n in pairs if n}, tuple(notes))

    def __str__(self) -> str:
        missing = ", ".join(f"{name} {count}" for name, count in self.missing.items()) or "none"
        return "\n".join([f"{counted(self.rows, 'row')}; missing values: {missing}", *self.notes])


@dataclass(frozen=True)
class Training:
    """Rows of a fit, what their table declares, the type of their labels, and what reads them.

    `more` says that other rows may be added to them.
    """

    source: TableSource
    declared: Schema
    label_dtype: np.dtype[Any]
    engine: Engine
    more: bool = False

    def classes(self, present: Values, *, dropped: bool = False) -> Values:
        """Those of rows that count, and of rows that do not: without weight, or `dropped`."""
        units = self.source.units
        if not dropped and (units is None or units.all()):
            return present
        assert self.source.target is not None  # noqa: S101  (rows of a fit have labels)
        return union(present, labels_of(self.source.target))[0]


@dataclass(frozen=True)
class CellWords:
    """What becomes of missing and unknown values at predict, by policy, and what to do instead."""

    missing: str | Mapping[str, str] = "they are left out"
    unknown: str | Mapping[str, str] = ""
    missing_remedy: str = "Fill them, or set missing='skip' to leave them out."
    unknown_remedy: str = "Map them to known values, or set unknown='skip' to leave them out."

    def no_missing(self, names: tuple[str, ...], missing: Counts) -> MissingValueError:
        """The error for missing values, counted by column, where the policy is "error"."""
        what = without_value(names, missing)
        return MissingValueError(f"{what}, and the policy is 'error'. {self.missing_remedy}")


def _summarize(training: Training, plan: Any, options: Any) -> Any:  # noqa: ARG001
    return training.engine.reduce(training.source, plan)


def _missing_of(summary: Any, schema: Schema, options: Any) -> Counts:  # noqa: ARG001
    counts: Counts = summary.rows.missing
    return counts


def _read_schema(declared: Schema, summary: Any, options: Any) -> Schema:  # noqa: ARG001
    return declared.joined({}, summary.labels)


def _report(summary: Any, schema: Schema, model: Any, options: Any) -> FitReport:  # noqa: ARG001
    return FitReport.of(summary.rows.rows, schema, summary.rows.missing)


def _never(*_: object) -> Any:
    return None


def _empty(*_: object) -> str:
    return ""


def _same_source(source: TableSource, fitted: Any) -> TableSource:  # noqa: ARG001
    return source


def _pack(fitted: Any) -> dict[str, Any]:
    return {"model": fitted.model, "summary": fitted.summary}


def _unpack(learner: Any, kept: dict[str, Any], declared: Schema, options: Any) -> tuple[Any, ...]:
    return learner.later_plan(declared, options, None), kept.get("summary"), kept["model"]


@dataclass(frozen=True, kw_only=True)
class Learner(Generic[Opt, S, M]):
    """What makes an estimator of a family: functions of values, called by `TableClassifier`.

    Parameters
    ----------
    options : the dataclass of its parameters (sortal.decision.options)
    kept : types of what a model file holds of it beside what it holds of all; "model" is one
    plan : (training, options) → how blocks of a first call are summarized: Batch → summary, unless
        `summarize` reads something else
    later_plan : (schema, options, fitted) → the same of rows that come later, or come again
    model : (summary, schema, options, training or None) → the model; `training` has all rows again
    answer : (fitted, question) → a pass: Batch → ScoredTerms, what is asked of a block's rows
    schema : (declared, summary, options) → the schema of all rows, classes included; values of
        categories are those declared, unless given
    report : (summary, schema, model or None, options) → what the fit met; None while it waits
    check : refuses options that contradict each other
    summarize : (training, plan, options) → the summary of all blocks, by merging unless given
    missing : (summary, schema, options) → missing values by column
    join : (fitted, plan) → the summary so far as one by a later plan
    refuse_rows : (summary, schema) → refuses rows of which none can be learned from, where there is
        more to say than that
    refuse_more : refuses options by which rows cannot join those of the fit
    refuse_leaving : (fitted, method) → refuses fits of which rows cannot be left out
    leave_out : (fitted, training) → leave-one-out probabilities, and the rows that are not in the
        fit (None: all are); nothing where the learner has no such thing
    take : (fitted, ids) → the summary without the rows of these ids, where rows have ids
    whole : (options) → why rows cannot come in pieces; "" where they can
    absent : methods that it lacks, and why
    strangers : (training, fitted) → cells of more rows with a value that the fit did not have, by
        column, where such values cannot join; None where they can
    words, quiet : what becomes of cells at predict; (model) → columns whose missing values are met
    refuse_table : (table, fitted) → refuses rows before their columns are matched
    rows : (source, fitted) → rows to be predicted, as they are read
    notice : (answered) → warns of what a pass met
    agrees : (fitted) → whether a summary from a file is one of the model
    origin : (fitted) → a word, and plain data that stands for the rows where no summary is kept
    pack, unpack : what `kept` names, from a fit and back
    keeps : the summary stays in the fit; else it is needed for the model only
    waits : rows that make no model yet are kept until more come
    own_threads : a pass has threads of its own, so that blocks come one by one
    by_position : (options) → columns are rows of the fit, as in a matrix of kernel values: they
        are matched by position whatever their names
    """

    options: type[Opt]
    kept: Mapping[str, Any]
    plan: Callable[[Training, Opt], object]
    later_plan: Callable[[Schema, Opt, Any], object]
    model: Callable[[S, Schema, Opt, Training | None], M]
    answer: Callable[[Any, Question], Callable[[Batch], ScoredTerms]]
    schema: Callable[[Schema, S, Opt], Schema] = _read_schema
    report: Callable[[S, Schema, M | None, Opt], FitReport] = _report
    check: Callable[[Opt], None] = _never
    summarize: Callable[[Training, Any, Opt], S] = _summarize
    missing: Callable[[S, Schema, Opt], Counts] = _missing_of
    join: Callable[[Any, Any], S] = lambda fitted, plan: fitted.summary  # noqa: ARG005
    refuse_rows: Callable[[S, Schema], None] = _never
    refuse_more: Callable[[Any, Opt], None] = _never
    refuse_leaving: Callable[[Any, str], None] = _never
    leave_out: Callable[[Any, Training], tuple[Float, Mask | None]] | None = None
    take: Callable[[Any, ArrayLike | None], S] | None = None
    whole: Callable[[Any], str] = _empty
    absent: Mapping[str, str] = field(default_factory=dict)
    strangers: Callable[[Training, Any], Counts | None] = _never
    words: CellWords = CellWords()
    refuse_table: Callable[[DataTable, Any], None] = _never
    quiet: Callable[[M], Mask | None] = _never
    rows: Callable[[TableSource, Any], TableSource] = _same_source
    notice: Callable[[Any], None] = _never
    agrees: Callable[[Any], bool] = lambda fitted: True  # noqa: ARG005
    origin: Callable[[Any], tuple[str, Any] | None] = _never
    pack: Callable[[Any], dict[str, Any]] = _pack
    unpack: Callable[[Any, dict[str, Any], Schema, Opt], tuple[Any, ...]] = _unpack
    keeps: bool = True
    waits: bool = False
    own_threads: bool = False
    by_position: Callable[[Any], bool] = lambda options: False  # noqa: ARG005

    def __post_init__(self) -> None:
        if "model" not in self.kept:
            raise TypeError(
                "This learner does not say what its model is: give it "
                'kept={"model": …}, with the class of the model, which is a record '
                "(sortal.modelfile.record)."
            )

    def read(self, estimator: object) -> Opt:
        """A snapshot of the options, checked one by one and together."""
        options = checked(self.options, estimator)  # type: ignore[type-var]
        self.check(options)
        return options

    def lacks(self, method: str, estimator: object) -> str:
        """Why an estimator does not have a method; nothing where it has."""
        if method == "loo_proba" and self.leave_out is None:
            return "This learner has no leave-one-out probabilities."
        pieces = method in ("partial_fit", "forget")
        return self.absent.get(method, "") or (self.whole(estimator) if pieces else "")


@dataclass(frozen=True)
class InputNames:
    """How the columns of a fit were named; `backend` is the library of its data frame."""

    by_name: bool
    strings: bool
    backend: str


@dataclass(frozen=True, eq=False)
class Fitted(Generic[Opt, S, M]):
    """What a fit leaves.

    `options` are those of the fit, for the classes that have weight: those of `schema`. `labels`
    are all classes of y, `declared` is what tables declare, with the classes that have no weight.
    Where more rows are awaited, `waiting` is why those so far make no model. `summary` is None
    where a learner does not keep it.
    """

    options: Opt
    declared: Schema
    schema: Schema
    labels: NDArray[Any]
    label_dtype: np.dtype[Any]
    names: InputNames
    plan: Any
    summary: S
    report: FitReport
    found: M | None
    waiting: SortalError | None = None
    call: FitCall | None = None

    @property
    def model(self) -> M:
        """The model, or the error that says why there is none yet."""
        if self.waiting is not None:
            raise type(self.waiting)(*self.waiting.args)
        assert self.found is not None  # noqa: S101  (one of the two is there)
        return self.found

    @property
    def classes(self) -> Values:
        """All classes of y."""
        return tuple(self.labels.tolist())

    @property
    def weightless(self) -> Values:
        """Those that the model does not know."""
        known = set(self.schema.classes)
        return tuple(label for label in self.classes if label not in known)

    @property
    def class_weights(self) -> Float:
        """The weight of each class of the model, which has it where no summary is kept."""
        rows: Any = self.model if self.summary is None else self.summary
        return np.asarray(rows.class_weights, dtype=np.float64)

    def read_costs(self, given: CostsLike = None) -> Float | None:
        """Costs given for all classes, among those of the model; by default those of the fit."""
        present = self.schema.classes
        if given is None:
            return read_costs(getattr(self.options, "costs", None), present)
        return costs_for(given, self.classes, present, self.class_weights)

    def read_priors(self, given: PriorsLike) -> Float | None:
        """Priors given for all classes, of those of the model."""
        return priors_for(given, self.classes, self.schema.classes)

    def over_classes(self, answers: NDArray[Any], fill: float = 0.0, axis: int = 1) -> NDArray[Any]:
        """Numbers by class of the model, along an axis, as numbers by class of y."""
        others = set(self.weightless)
        if not others:
            return answers
        known = np.array([label not in others for label in self.classes])
        shape = list(answers.shape)
        shape[axis] = len(known)
        spread = np.full(shape, fill, dtype=np.result_type(answers, type(fill)))
        np.moveaxis(spread, axis, 0)[known] = np.moveaxis(answers, axis, 0)
        return spread

    def predicted(self, codes: NDArray[Any]) -> NDArray[Any]:
        """The labels of classes of the model."""
        others = set(self.weightless)
        known = np.array([label not in others for label in self.classes])
        return np.asarray(self.labels[known][codes])


class offered(Generic[P, R]):  # noqa: N801  (it is used as a decorator)
    """A method that some learners, or some options, leave an estimator without.

    `hasattr` then says that there is none, which scikit-learn asks before it calls one, and whoever
    asks all the same is told why.
    """

    def __init__(self, method: Callable[Concatenate[Any, P], R]) -> None:
        self.method, self.name = method, method.__name__
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, owner: type[Any]) -> Callable[P, R]:
        learner: Learner[Any, Any, Any] | None = getattr(owner, "_learner", None)
        if estimator is None:
            if learner is not None and self.name in learner.absent:
                raise AttributeError(self.name)
            return self.method  # type: ignore[return-value]
        if learner is not None and (reason := learner.lacks(self.name, estimator)):
            raise UnavailableError(reason)
        bound: Callable[P, R] = self.method.__get__(estimator, owner)
        return bound


def note_classes(report: FitReport, classes: Values, present: Values) -> FitReport:
    """What to know of the classes beside a report; of one class only, warned of, too."""
    notes, there = list(report.notes), set(present)
    if absent := [label for label in classes if label not in there]:
        notes.append(f"no row that counts is of {listed(absent)}: never predicted, probability 0")
    if len(present) == 1:
        notes.append(f"all rows that count are of the class {present[0]!r}: it is always predicted")
        warn(
            f"There is 1 class only ({present[0]!r}) in the rows that count: it is predicted "
            "whatever a row holds. Check the labels and weights, or give rows of another class.",
            OneClassWarning,
        )
    return replace(report, notes=tuple(notes))


def counted_cells(cells: Mapping[str, int], most: int = 5) -> str:
    """How many cells, and of which columns."""
    named = [f"{name!r} {n}" for name, n in cells.items() if n]
    more = f", and {counted(len(named) - most, 'more column')}" if len(named) > most else ""
    n = sum(cells.values())
    return f"{counted(n, 'cell')} ({', '.join(named[:most])}{more})"


def cells_of(names: tuple[str, ...], counts: Counts) -> str:
    """The same of counts by column."""
    return counted_cells(dict(zip(names, counts.tolist(), strict=True)))


def without_value(names: tuple[str, ...], missing: Counts) -> str:
    """How many cells have no value, and of which columns."""
    return f"{cells_of(names, missing)} {agreed(missing.sum(), 'has', 'have')} no value"


def refuse_no_rows(summary: RowSummary, owner: str) -> None:
    """A row with weight at least."""
    if not summary.labels:
        raise LabelError(f"{owner} has no row left to learn from: keep some, or fit others.")


def refuse_one_class(classes: Values, owner: str) -> None:
    """Two classes at least."""
    if len(classes) < 2:
        only = f"1 class only ({classes[0]!r})" if classes else "no class"
        raise LabelError(
            f"{owner} needs at least two classes, and there is {only}: there is nothing to tell "
            "apart. Check the labels, or keep rows of another class."
        )
