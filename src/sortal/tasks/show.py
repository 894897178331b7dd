"""Show a model: what it is, what it was learned from, and the model itself, to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sortal.base.classifier import TableClassifier
from sortal.base.save import parts_of
from sortal.decision.options import declared
from sortal.errors import InputTypeError, ParameterError, counted, printable
from sortal.records import render as faces
from sortal.records.render import fold
from sortal.records.tables import MOST_TABLES, Sentences, Shown, Table, Working
from sortal.summaries.counts import BayesSummary
from sortal.summaries.rows import KeptRows
from sortal.tasks.findings import FEW
from sortal.tasks.load import as_model
from sortal.tasks.registry import find, learner_of
from sortal.trees.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Counts, Plain
    from sortal.base.save import DataFile
    from sortal.records.tables import Cell, Piece
    from sortal.tasks.load import ModelLike
    from sortal.tasks.registry import SomeClassifier


def some_of(names: Sequence[Any], most: int = 8) -> str:
    """Names with commas and an "and"; of many the first, and how many more there are."""
    shown = [printable(" ".join(str(name).split())) for name in names]
    if len(shown) > most + 1:
        shown = [*shown[:most], f"{len(shown) - most:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


# --- What of the rows that it was learned from a model holds, and with it its file ---------------


def held(estimator: SomeClassifier) -> str:
    """Values of categories, of which rare ones can tell of people, and rows; or that none are."""
    counts, model = _counts(estimator), estimator._model
    columns = [one for one in estimator._schema.columns if one.values]
    values = [
        f"{counted(len(one.values), 'value')} of {one.name!r}{_rare(counts.get(one.name))}"
        for one in columns
    ]
    parts = [some_of(values)] if values else []
    if getattr(model, "joint", None) is not None:
        parts.append(f"{counted(len(model.joint.codes), 'combination')} of values")
    if hasattr(model, "ids") and np.size(getattr(model, "basis", model.ids)):
        parts.append(f"{counted(len(model.ids), 'row')} of the table")
    return "; ".join(parts) or "class labels and numbers only"


def _rare(counts: Counts | None) -> str:
    """How many values few rows have, where the model knows it."""
    n = 0 if counts is None else int(np.count_nonzero(counts < FEW))
    return f" ({n:,} of them in fewer than {FEW} rows)" if n else ""


def _counts(estimator: SomeClassifier) -> dict[str, Counts]:
    """How many rows have each value, by column; nothing where it is not known.

    A tree keeps the values alone. The counts of Bayes are rows where every row weighs one.
    """
    summary, columns = getattr(estimator, "_summary", None), estimator._schema.columns
    if isinstance(summary, BayesSummary):
        is_rows = summary.exponent == 0 and int(summary.classes.units.sum()) == summary.rows.rows
        names = [columns[j].name for j in estimator._fitted.plan.categories]
        tables = summary.values.tables if is_rows else ()
        return {name: table.sum(axis=1) for name, table in zip(names, tables, strict=False)}
    if isinstance(summary, KeptRows):
        names = [columns[j].name for j in estimator._fitted.plan.named]
        codes = summary.codes.T
        return {
            name: np.unique(c[c >= 0], return_counts=True)[1]
            for name, c in zip(names, codes, strict=True)
        }
    return {}


# The tables of a working that say what is predicted; by their first column, too, because a table
# can be named after an attribute.
_READ = {
    "priors": "class",
    "shares": "class",
    "classes": "class",
    "functions": "class",
    "directions": "direction",
    "projections": "direction",
}

# Tables by which something was chosen, and nothing is predicted; the facts say what was chosen.
_CHOSEN_BY = {"loo": "k"}

# What a fit resolved or chose, by the name of the attribute.
_RESOLVED = {
    "n_neighbors_": "neighbors",
    "metric_": "distance",
    "weights_": "votes",
    "gamma_": "width γ",
    "ridge_": "ridge",
    "solver_": "solver",
    "n_landmarks_": "landmarks",
}

# Classes that a line names; of more, the first and how many there are.
_MOST_CLASSES = 10


class ModelRules(Protocol):
    """The rules of a model, in order."""

    def __len__(self) -> int: ...

    def __getitem__(self, i: slice) -> ModelRules: ...

    def to_dict(self) -> Plain:
        """Plain lists and strings."""

    def to_text(self) -> str:
        """What is printed."""

    def to_markdown(self) -> str:
        """The same in Markdown."""

    def _repr_html_(self) -> str: ...


@dataclass(frozen=True)
class _RulesPiece:
    """Rules among what else is shown of a model."""

    rules: ModelRules

    def to_text(self, width: int | None = None) -> str:
        return fold(self.rules.to_text(), width)

    def to_markdown(self, level: int) -> str:
        return faces.join_markdown("Rules", [self.rules.to_markdown()], level)

    def _repr_html_(self) -> str:
        shown = self.rules.to_table() if isinstance(self.rules, Rules) else self.rules
        return shown._repr_html_()


@dataclass(frozen=True, repr=False)
class ModelDescription(Shown):
    """A model to be read: facts, options that differ from their defaults, rules or tables."""

    title: str
    facts: Table
    options: Table
    rules: ModelRules | None
    tables: tuple[Table, ...]
    more: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON."""
        told: dict[str, Any] = {
            "title": self.title,
            "facts": {str(row[0]): row[1] for row in self.facts.rows},
            "options": {str(row[0]): row[1] for row in self.options.rows},
        }
        if self.rules is not None:
            told["rules"] = self.rules.to_dict()
        return told | {"tables": [table.to_dict() for table in self.tables]}

    LEVEL = 2

    def _pieces(self) -> Sequence[Piece]:
        """Facts, options, rules or tables, and what is left out."""
        return [
            self.facts,
            *([self.options] if self.options.rows else []),
            *([] if self.rules is None else [_RulesPiece(self.rules)]),
            *self.tables,
            *([Sentences((self.more,))] if self.more else []),
        ]


def show(model: ModelLike, *, everything: bool = False) -> ModelDescription:
    """What a model is, what it was learned from, and the model to be read.

    Parameters
    ----------
    model : path or fitted estimator
    everything : bool, default=False
        All rules and tables, however many and long they are. Otherwise the first 100 rules, 20
        values of a set, 20 tables and 100 rows and columns of each are shown.

    Returns
    -------
    Shown
        It prints well and has `to_text`, `to_markdown`, `to_html` and `to_dict`. The model is
        given by its `rules()`, where it has them, else by the tables of its `working()` that say
        what is predicted.
    """
    estimator = as_model(model)
    if not hasattr(estimator, "get_params"):
        raise InputTypeError(f"A {type(estimator).__name__} is no estimator and cannot be shown.")
    title, reads = _title_and_reading(estimator)
    rows = [("estimator", type(estimator).__name__), ("read it so", reads), *_facts(estimator)]
    facts = Table("facts", "Facts", ("what", "value"), tuple(r for r in rows if r[1] != ""))
    rules = estimator.rules() if hasattr(estimator, "rules") else None
    tables = _tables(estimator) if rules is None else ()
    shown = ModelDescription(title, facts, _options(estimator), rules, tables)
    return shown if everything else _short(shown)


def _short(shown: ModelDescription) -> ModelDescription:
    """What is read of a long model, and how much more of it there is."""
    left = len(shown.tables) - MOST_TABLES
    rules = shown.rules.short() if isinstance(shown.rules, Rules) else shown.rules
    return ModelDescription(
        shown.title,
        shown.facts.short(),
        shown.options.short(),
        rules,
        tuple(table.short() for table in shown.tables[:MOST_TABLES]),
        f"… and {counted(left, 'more table')}: working(), or --all, has them all" * (left > 0),
    )


def _title_and_reading(estimator: SomeClassifier) -> tuple[str, str]:
    """A title and how the model is read."""
    try:
        learner = learner_of(type(estimator).__name__)
    except ParameterError:  # an estimator of one's own that is not registered
        return type(estimator).__name__, ""
    return learner.title[:1].upper() + learner.title[1:], learner.facts.reads


def _facts(estimator: SomeClassifier) -> list[tuple[str, Cell]]:
    """Classes, columns, rows, missing values, size and where the rows came from."""
    classes = [str(label) for label in estimator.classes_.tolist()]
    named = ", ".join(classes[:_MOST_CLASSES])
    more = f", … ({len(classes)} in all)" if len(classes) > _MOST_CLASSES else ""
    rows: list[tuple[str, Cell]] = [("classes", named + more)]
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        rows.append(("columns", _columns_by_kind(estimator, names)))
    if hasattr(estimator, "fit_report_"):
        report = estimator.fit_report_
        rows.append(("rows", report.rows))
        missing = ", ".join(f"{k} {n}" for k, n in report.missing.items())
        rows.append(("missing", missing or "none"))
        rows += [("note", note) for note in report.notes]
    there = {said: name for name, said in _RESOLVED.items() if hasattr(estimator, name)}
    rows += [(said, getattr(estimator, name)) for said, name in there.items()]
    if hasattr(estimator, "n_parameters_"):
        rows.append(("size", counted(estimator.n_parameters_, "number")))
    return rows + _origin(estimator)


def _origin(estimator: SomeClassifier) -> list[tuple[str, Cell]]:
    """The call for the fit, the file of its rows, their fingerprint, and what the model holds."""
    rows: list[tuple[str, Cell]] = []
    call = getattr(estimator, "_fit_call", None)
    if call is not None:
        rows += [("target", call.target), ("dropped", ", ".join(call.dropped))]
        rows.append(("fitted", f"{call.date}, by sortal {call.library}"))
    if call is not None and call.file is not None:
        file = call.file
        rows.append(("file", f"{file.name}, {file.bytes} bytes, sha256 {file.sha256}"))
        rows.append(("read as", _read_as(file)))
    if isinstance(estimator, TableClassifier):
        rows.append(("fingerprint", parts_of(estimator).manifest["data"]["fingerprint"]))
        rows.append(("holds", held(estimator)))
    return rows


def _read_as(file: DataFile) -> str:
    """How the file was read, which is how later ones are."""
    signs = (("delimiter", file.delimiter), ("decimal mark", file.decimal))
    told = [file.format, *(f"{name} {sign!r}" for name, sign in signs if sign is not None)]
    words = f", {', '.join(map(repr, file.na_values))}" if file.na_values else ""
    return f"{', '.join(told)}; missing values: NA, ? and the like{words}"


def _columns_by_kind(estimator: SomeClassifier, names: Sequence[object]) -> str:
    """The columns, and of which kind they are where that is known."""
    schema = getattr(estimator, "_schema", None)
    if schema is None:
        return ", ".join(map(str, names))
    by_kind: dict[str, list[str]] = {}
    for column in schema.columns:
        by_kind.setdefault(column.kind, []).append(str(column.name))
    return "; ".join(f"{kind}: {', '.join(columns)}" for kind, columns in by_kind.items())


def _options(estimator: SomeClassifier) -> Table:
    """Options that differ from their defaults."""
    given = estimator.get_params(deep=False)
    usual = type(estimator)().get_params(deep=False)
    rows = tuple(
        (name, _option_text(value))
        for name, value in given.items()
        if name not in usual or _option_text(value) != _option_text(usual[name])
    )
    heads = ("option", "value")
    return Table("options", "Options that differ from their defaults", heads, rows)


def _option_text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _tables(estimator: SomeClassifier) -> tuple[Table, ...]:
    """The tables to read a model by."""
    if not hasattr(estimator, "working"):
        return ()
    working: Working = estimator.working()
    leading = tuple(t for t in working if _READ.get(t.name) == t.columns[0])
    said_so = any(t.name in ("functions", "directions") for t in leading)
    others = tuple(t for t in working if _CHOSEN_BY.get(t.name) != t.columns[0])
    return leading if said_so else others


# --- The options of a learner --------------------------------------------------------------------


def options_of(name: str) -> Table:
    """The options of a learner by its name: defaults, and what is declared of each."""
    learner = find(name)
    own = getattr(learner.load(), "_learner", None)
    known = {} if own is None else declared(own.options)
    rows = []
    for option, default in learner.options().items():
        shown = "null" if default is None else str(default)  # as --set takes it
        told = known.get(option)
        rows.append((option, shown, *((told.kind, told.sentence) if told else ("", ""))))
    heads = ("option", "default", "can be", "what it is")
    return Table("options", f"Options of the learner {name}", heads, tuple(rows))
