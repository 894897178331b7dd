"""What a comparison, and a report on it, is asked for, and how it was done: to do it again."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from sortal.errors import counted
from sortal.tasks.registry import features_among

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal.tasks.compare.fold_run import Candidate, Folds


class Metric(NamedTuple):
    """What a score is called, whether more is better, its largest value, scikit-learn's name."""

    words: str
    higher_is_better: bool
    highest: float
    scorer: str


METRICS = {
    "balanced_accuracy": Metric("balanced accuracy", True, 1.0, "balanced_accuracy"),  # noqa: FBT003
    "accuracy": Metric("accuracy", True, 1.0, "accuracy"),  # noqa: FBT003
    "log_loss": Metric("log loss", False, float("inf"), "neg_log_loss"),  # noqa: FBT003
}


@dataclass(frozen=True)
class CompareOptions:
    """The options of `compare`, which says what each of them is."""

    target: str
    learners: Sequence[str] | None = None
    baselines: bool | Sequence[str] = True
    metric: str = "balanced_accuracy"
    folds: int = 10
    repeats: int | None = None
    budget: float = 150.0
    confidence_level: float = 0.95
    tune: bool = False
    drop: Sequence[str] = ()
    categorical_features: Sequence[str] = ()
    random_state: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True)
class ReportOptions(CompareOptions):
    """The options of `report`: those of `compare`, how a file is read, and how much is shown.

    `joins` says that there was rare text to be joined, which code that makes a model again must do.
    """

    include_rows: bool = False
    min_frequency: int = 5
    keep: Sequence[str] = ()
    title: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    joins: bool = False

    def named(self) -> dict[str, object]:
        """Options that differ from their defaults, without target and reading, as one types them.

        How many cores work is left out: it changes no score.
        """
        unnamed = ("target", "reading", "n_jobs", "joins")
        told = differing({f.name: getattr(self, f.name) for f in fields(self)})
        return {name: value for name, value in told.items() if name not in unnamed}

    def fitting(self) -> dict[str, object]:
        """The options among these that `fit` and `working` take, too."""
        shared = ("drop", "categorical_features")
        return {name: value for name, value in self.named().items() if name in shared}


def differing(given: Mapping[str, object]) -> dict[str, object]:
    """Options that are given and differ from their defaults, in the order of the functions."""
    told = {}
    for f in fields(ReportOptions):
        value = given.get(f.name)
        if value is not None and value != f.default:
            told[f.name] = list(value) if isinstance(value, tuple) else value
    return told


# How the options are typed that are not called the same.
_FLAGS = {
    "learners": "--learner",
    "categorical_features": "--categorical",
    "random_state": "--seed",
    "confidence_level": "--confidence-level",
    "include_rows": "--include-rows",
    "min_frequency": "--min-frequency",
    "na_values": "--na-values",
}


def as_typed(options: Mapping[str, Any]) -> list[str]:
    """Options as one types them; those that are None, and the format of a file, are not typed."""
    words: list[str] = []
    for name, value in options.items():
        flag = _FLAGS.get(name, f"--{name}")
        if name == "na_values":
            words += [flag, ",".join(value)]
        elif isinstance(value, bool):
            words.append(flag if value else f"--no-{name}")
        elif isinstance(value, list | tuple):
            words += [word for one in value for word in (flag, str(one))]
        elif value is not None and name != "format":
            words += [flag, str(value)]
    return words


# --- Calls as Python code ------------------------------------------------------------------------

# Longer calls have one argument a line.
_WIDTH = 88


class Name(str):
    """A variable, which stands in code as it is."""

    __slots__ = ()


TABLE = Name("table")


def call(function: str, *given: object, **named: object) -> str:
    """A call with these values as its arguments, one a line where it is long."""
    line = in_one_line(function, *given, **named)
    if len(line) <= _WIDTH:
        return line
    inner = "".join(f"    {part},\n" for part in _arguments(given, named))
    return f"{function}(\n{inner})"


def in_one_line(function: str, *given: object, **named: object) -> str:
    """The same in one line, however long."""
    return f"{function}({', '.join(_arguments(given, named))})"


def _arguments(given: Sequence[object], named: Mapping[str, object]) -> list[str]:
    return [
        *(_code_of(value) for value in given),
        *(f"{name}={_code_of(value)}" for name, value in named.items()),
    ]


def _code_of(value: object) -> str:
    """A value as it stands in code; infinities and NaN have no name of their own there."""
    if isinstance(value, Name):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {_code_of(item)}' for name, item in value.items())}}}"
    return repr(value)


# --- How a comparison was done ------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """Rows, classes, folds, options. `path` is the file that the rows came from, if any."""

    target: str
    metric: str
    folds: Folds
    confidence_level: float
    budget: float
    tune: bool
    drop: tuple[str, ...]
    categorical_features: tuple[str, ...]
    rows: int
    left_out: int
    classes: tuple[Any, ...]
    counts: tuple[int, ...]
    n_jobs: int
    seconds: float
    backend: str
    path: str | None
    entrants: tuple[Candidate, ...]

    @property
    def significance_level(self) -> float:
        """The level of the tests, without what the subtraction rounds."""
        return round(1 - self.confidence_level, 12)

    @property
    def declared_features(self) -> list[str]:
        """The columns that are learned from and declared to be categories."""
        return features_among(self.categorical_features, self.target)

    @property
    def head(self) -> str:
        """The metric, with an arrow to where better is."""
        metric = METRICS[self.metric]
        return f"{metric.words} {'↑' if metric.higher_is_better else '↓'}"

    @property
    def title(self) -> str:
        """What was compared."""
        return (
            f"{self.target}: {counted(len(self.classes), 'class', 'classes')}, "
            f"{counted(self.rows, 'row')}, {self.folds}; "
            f"intervals of {100 * self.confidence_level:g} %"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings."""
        own = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
            if name not in ("target", "metric", "folds", "backend", "path", "entrants")
        }
        return {
            "target": self.target,
            "metric": self.metric,
            "folds": self.folds.folds,
            "repeats": self.folds.repeats,
            "random_state": self.folds.seed,
            **own,
            "file": self.path,
        }
