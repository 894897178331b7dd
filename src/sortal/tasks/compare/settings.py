"""What a comparison, and a report on it, is asked for, and how it was done: to do it again.

Each option is declared once, with its default, its description and how one types it. Signatures and
docstrings of `compare` and `report`, and the options of the commands, follow.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from inspect import Parameter, cleandoc, signature
from textwrap import indent
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

from sortal.errors import counted, listed
from sortal.tasks.registry import features_among
from sortal.tasks.registry import learners as known_learners

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sortal._typing import CostsLike
    from sortal.tasks.compare.candidates import Candidate
    from sortal.tasks.compare.fold_run import Folds
    from sortal.tasks.registry import SomeClassifier

Task = TypeVar("Task", bound="Callable[..., Any]")
Asked = TypeVar("Asked", bound="CompareOptions")

MetricName = Literal[
    "accuracy", "balanced_accuracy", "cost", "log_loss", "brier", "roc_auc", "average_precision"
]


class Metric(NamedTuple):
    """What a measure is called, whether more is better, its largest value, and what it rests on."""

    words: str
    higher_is_better: bool
    highest: float
    needs: Literal["labels", "probabilities", "scores"]

    @property
    def head(self) -> str:
        """Its name, with an arrow to where better is."""
        return f"{self.words} {'↑' if self.higher_is_better else '↓'}"


METRICS = {
    "balanced_accuracy": Metric("balanced accuracy", True, 1.0, "labels"),  # noqa: FBT003
    "accuracy": Metric("accuracy", True, 1.0, "labels"),  # noqa: FBT003
    "cost": Metric("mean cost", False, float("inf"), "labels"),  # noqa: FBT003
    "log_loss": Metric("log loss", False, float("inf"), "probabilities"),  # noqa: FBT003
    "brier": Metric("Brier score", False, 2.0, "probabilities"),  # noqa: FBT003
    "roc_auc": Metric("ROC AUC", True, 1.0, "scores"),  # noqa: FBT003
    "average_precision": Metric("average precision", True, 1.0, "probabilities"),  # noqa: FBT003
}


@dataclass(frozen=True)
class Typed:
    """How an option is typed: its flags, what stands for its value, a line of help, its type."""

    flags: tuple[str, ...]
    metavar: str | None
    help: str
    type: Any


@dataclass(frozen=True)
class Told:
    """What is known of an option beside its default: its type in words and its description."""

    kind: str
    text: str
    typed: Typed | None = None


def told(
    default: object,
    kind: str,
    text: str,
    flag: str = "",
    help: str = "",  # noqa: A002
    type: Any = str,  # noqa: A002
    metavar: str | None = None,
) -> Any:
    """An option; one without a flag is for Python only."""
    typed = Typed(tuple(flag.split()), metavar, help, type) if flag else None
    return field(default=default, metadata={"told": Told(kind, text, typed)})


@dataclass(frozen=True)
class CompareOptions:
    """The options of `compare`."""

    target: str
    learners: Sequence[str | SomeClassifier] | None = told(
        None,
        "names or estimators",
        """Registered learners, also with options, "tree:criterion=gini,max_leaf_nodes=8", or
        estimators that are not fitted; None means all.""",
        "--learner -l",
        f"Only these of {', '.join(one.name for one in known_learners())}; also with options, "
        "such as tree:max_leaf_nodes=8.",
        list[str],
        "NAME",
    )
    baselines: bool | Sequence[str] = told(
        True,  # noqa: FBT003
        "bool or names",
        "Models of scikit-learn to compare with, or some of them; they are never recommended.",
        "--baselines/--no-baselines",
        "Also models of scikit-learn, to compare with.",
        bool,
    )
    metric: str | None = told(
        None,
        '{"accuracy", "balanced_accuracy", "cost", "log_loss", "brier", "roc_auc", '
        '"average_precision"}',
        """What models are compared by, and by whose rule they decide. None: the mean cost where
        there are costs, accuracy where the largest class has at most 1.5 times the rows of the
        smallest, else balanced accuracy.""",
        "--metric -m",
        "What models are compared by; by the classes' sizes if not given.",
        MetricName,
    )
    costs: CostsLike = told(
        None,
        "dict or array-like of shape (n_classes, n_classes)",
        """{("yes", "no"): 10} is what it costs to predict "no" where "yes" is true; other errors
        cost 1. Models then decide by, and are compared by, the mean cost.""",
    )
    require_proba: bool = told(
        True,  # noqa: FBT003
        "bool",
        "Recommend only models that give probabilities.",
        "--require-proba/--no-require-proba",
        "Recommend only models that give probabilities.",
        bool,
    )
    folds: int | None = told(
        None,
        "int of at least 2",
        "None: 10 up to 20,000 rows, 5 up to 100,000, else 3.",
        "--folds",
        "Parts of a cross-validation; by the number of rows if not given.",
        int,
        "N",
    )
    repeats: int | None = told(
        None,
        "int of at least 1",
        "None: 10 below 1,000 rows, 3 below 10,000, else 1.",
        "--repeats",
        "Cross-validations; by the number of rows if not given.",
        int,
        "N",
    )
    budget: float = told(
        150.0,
        "float above 0",
        """Seconds of CPU time that each worker may take. A model that would take more than its
        share learns from fewer rows, which is stated.""",
        "--budget",
        "CPU time of each worker.",
        float,
        "SECONDS",
    )
    confidence_level: float = told(
        0.95,
        "float between 0 and 1",
        "Of the intervals, and of the bound on how far a model is behind.",
        "--confidence-level",
        "Confidence level of the intervals and bounds.",
        float,
        "PROPORTION",
    )
    tune: bool = told(
        False,  # noqa: FBT003
        "bool",
        "Choose among a few options of each model by three folds within each training part.",
        "--tune",
        "Choose a learner's options in each fold.",
        bool,
    )
    drop: Sequence[str] = told(
        (), "names", "Columns to leave out.", "--drop", "Leave a column out.", list[str], "COLUMN"
    )
    use: Sequence[str] = told(
        (),
        "names",
        """Columns to learn from although they look like identifiers, free text or a leak of the
        target; without this they are left out, which is stated.""",
        "--use",
        "Learn from a column that looks like an identifier, free text or a leak.",
        list[str],
        "COLUMN",
    )
    categorical_features: Sequence[str] = told(
        (),
        "names",
        "Columns of numbers that are names rather than amounts.",
        "--categorical",
        "Take a column of numbers for names, such as codes.",
        list[str],
        "COLUMN",
    )
    min_class_rows: int = told(
        5,
        "int of at least 1",
        """A class of fewer rows is too small to be judged: models learn it, but rows of it count
        in no measure.""",
        "--min-class-rows",
        "Classes of fewer rows are rare: they count in no measure.",
        int,
        "N",
    )
    merge_rare: str | None = told(
        None,
        "str",
        "Join the classes of fewer than `min_class_rows` rows into one of this name.",
        "--merge-rare",
        "Join the rare classes into one of this name.",
        str,
        "NAME",
    )
    drop_rare: bool = told(
        False,  # noqa: FBT003
        "bool",
        "Leave out the rows of the classes of fewer than `min_class_rows` rows.",
        "--drop-rare",
        "Leave out the rows of rare classes.",
        bool,
    )
    groups: str | None = told(
        None,
        "str",
        "A column whose equal values mark rows that belong together: they stay in one fold.",
        "--groups",
        "Keep rows with equal values of this column in one fold.",
        str,
        "COLUMN",
    )
    time: str | None = told(
        None,
        "str",
        "A column that orders the rows: models learn from earlier rows and are judged on later.",
        "--time",
        "Learn from earlier rows by this column, and test on later ones.",
        str,
        "COLUMN",
    )
    replay: str | Mapping[str, Any] | None = told(
        None,
        "path or dict",
        """What `to_dict` of an earlier comparison gave, or a JSON file of it: the same models run
        on the same folds and numbers of rows, whatever time they take.""",
        "--replay",
        "Run exactly the models, folds and rows of an earlier JSON result.",
        str,
        "FILE",
    )
    random_state: int = told(
        0,
        "int from 0 to 2^32 - 1",
        "Which rows fall into which fold.",
        "--seed",
        "For the folds.",
        int,
        "N",
    )
    n_jobs: int | None = told(
        None,
        "int",
        "Workers, one core each; None means all cores. Scores do not depend on it.",
        "--jobs",
        "Workers; at most the cores.",
        int,
        "N",
    )

    @property
    def selection(self) -> dict[str, Any]:
        """The options that decide which rows and columns are learned from, which `fit` has, too."""
        return {name: getattr(self, name) for name in SELECTION}


SELECTION = (
    *("drop", "use", "categorical_features", "min_class_rows", "merge_rare", "drop_rare"),
    *("groups", "time"),
)


@dataclass(frozen=True)
class ReportOptions(CompareOptions):
    """The options of `report`: those of `compare`, how a file is read, and how much is shown.

    `reading` are options of `sortal.read`. `joins` says that there was rare text to be joined,
    which code that makes a model again must do.
    """

    include_rows: bool = told(
        False,  # noqa: FBT003
        "bool",
        """Whether the page may hold rows of the table. Otherwise it holds counts, and models that
        keep rows do not decide in it.""",
        "--include-rows",
        "Rows of the table may be in the report; else only counts.",
        bool,
    )
    min_frequency: int = told(
        5,
        "int of at least 1",
        """Text that fewer rows have is read as "other", unless rows may be shown, so that neither
        the models nor the report hold it. Class labels stay.""",
        "--min-frequency",
        "Text that fewer rows have is joined as 'other'; not where rows may be shown.",
        int,
        "N",
    )
    title: str | None = told(None, "str", "The heading.", "--title", "The heading.", str, "WORDS")
    reading: Mapping[str, Any] = field(default_factory=dict)
    joins: bool = False

    def named(self) -> dict[str, object]:
        """Options that differ from their defaults, without target and reading, as one types them.

        How many cores work is left out: it changes no score.
        """
        given = differing(vars(self))
        return {name: value for name, value in given.items() if name not in ("target", "n_jobs")}

    def fitting(self) -> dict[str, object]:
        """The options among these that `fit` and `working` take, too."""
        return {name: value for name, value in self.named().items() if name in SELECTION}


def options_of(options: type[Any]) -> list[tuple[str, object, Any, Told]]:
    """Name, default, annotation and description of each option of a record."""
    return [(f.name, f.default, f.type, f.metadata["told"]) for f in fields(options) if f.metadata]


def takes(options: type[Any], *more: str) -> Callable[[Task], Task]:
    """A function that takes these options by name: its signature and its docstring list them.

    `more` names what stands for further keywords, if it takes any.
    """

    def declared(function: Task) -> Task:
        own = signature(function)
        kept = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        known = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, default, kind, _ in options_of(options)
        ]
        rest = [Parameter(name, Parameter.VAR_KEYWORD) for name in more]
        order = sorted([*kept[:2], *known, *kept[2:], *rest], key=lambda p: p.kind)
        vars(function)["__signature__"] = own.replace(parameters=order)
        described = [
            f"{name} : {one.kind}, default={default!r}\n{indent(cleandoc(one.text), '    ')}"
            for name, default, _, one in options_of(options)
        ]
        text = indent("\n".join(described), "    ").lstrip()
        function.__doc__ = (function.__doc__ or "").replace("OPTIONS", text)
        return function

    return declared


def read_options(kind: type[Asked], target: str, given: Mapping[str, Any]) -> Asked:
    """The record of options that were given by name; a name alone may stand for a list of one."""
    known = {name: default for name, default, _, _ in options_of(kind)}
    for name in given:
        if name not in known:
            raise TypeError(
                f"There is no option {name!r}: there are {listed(list(known), most=40)}."
            )
    listed_ones = {name for name, default in known.items() if default == ()}
    values: dict[str, Any] = {
        name: (value,) if name in listed_ones and isinstance(value, str) else value
        for name, value in given.items()
    }
    return kind(target, **values)


def differing(given: Mapping[str, object]) -> dict[str, object]:
    """Options that are given and differ from their defaults, in the order of the functions."""
    different = {}
    for name, default, _, _ in options_of(ReportOptions):
        value = given.get(name)
        value = tuple(value) if isinstance(value, list) and default == () else value
        same = type(value) is type(default) and value == default
        if value is not None and not same:
            different[name] = list(value) if isinstance(value, tuple) else value
    return different


# --- Options as one types them -------------------------------------------------------------------


def _flag(name: str) -> str:
    """The long flag of an option."""
    typed = {known: one.typed for known, _, _, one in options_of(ReportOptions)}.get(name)
    flags = (f"--{name.replace('_', '-')}",) if typed is None else typed.flags
    return flags[0].partition("/")[0]


def as_typed(options: Mapping[str, Any]) -> list[str]:
    """Options as one types them; those that are None, and the format of a file, are not typed."""
    words: list[str] = []
    for name, value in options.items():
        flag = _flag(name)
        if name == "costs" and value is not None:
            words += cost_words(value)
        elif name == "na_values":
            words += [flag, ",".join(value)]
        elif isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        elif isinstance(value, list | tuple):
            words += [word for one in value for word in (flag, str(one))]
        elif value is not None and name != "format":
            words += [flag, str(value)]
    return words


def cost_words(costs: CostsLike) -> list[str]:
    """Costs as one types them, by the names of classes; (label, None) is a threshold of a class."""
    if isinstance(costs, str):
        return ["--cost", costs]
    words: list[str] = []
    for (true, predicted), cost in dict(cast("Mapping[Any, float]", costs)).items():
        number = str(cost).removesuffix(".0")
        words += (
            ["--threshold", f"{_label(true)}={1 / (1 + cost):.10g}"]
            if predicted is None
            else ["--cost", f"{_label(true)}->{_label(predicted)}={number}"]
        )
    return words


def _label(label: object) -> str:
    """A class as costs name it, in quotes where it would be read otherwise."""
    text = str(label)
    plain = text and text == text.strip() and "->" not in text and not text.startswith('"')
    return text if plain else json.dumps(text, ensure_ascii=False)


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
    """What was asked for, and on which rows, classes and folds it was done.

    `metric` is the measure that decided, `costs` the rule by which models decide: None, "balanced"
    or a matrix. Of `classes`, which have `counts` rows, those in `judged` count in the measures.
    `dropped` columns were left out, the ones that were asked for among them. `path` is the file
    that the rows came from, if any.
    """

    asked: CompareOptions
    metric: str
    costs: Any
    folds: Folds
    rows: int
    left_out: int
    classes: tuple[Any, ...]
    counts: tuple[int, ...]
    judged: tuple[bool, ...]
    dropped: tuple[str, ...]
    n_jobs: int
    seconds: float
    backend: str
    path: str | None
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The column that is predicted."""
        return self.asked.target

    @property
    def confidence_level(self) -> float:
        """That of intervals and bounds."""
        return self.asked.confidence_level

    @property
    def declared_features(self) -> list[str]:
        """The columns that are learned from and declared to be categories."""
        return features_among(self.asked.categorical_features, self.target)

    @property
    def head(self) -> str:
        """The metric, with an arrow to where better is."""
        return METRICS[self.metric].head

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
        asked = {
            name: value
            for name, value in vars(self.asked).items()
            if name not in ("learners", "replay", "reading", "joins")
        }
        own = ("metric", "rows", "left_out", "classes", "counts", "judged", "dropped")
        return asked | {
            **{name: getattr(self, name) for name in own},
            "decided_by": self.costs,
            "folds": self.folds.folds,
            "repeats": self.folds.repeats,
            "n_jobs": self.n_jobs,
            "seconds": self.seconds,
            "file": self.path,
        }
