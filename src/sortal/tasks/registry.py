"""The registry of learners: one entry, and a learner is in every task and every command.

Nothing heavy is imported before an estimator is asked for: the help of the command line lists
the learners, too.
"""

from __future__ import annotations

import inspect
import json
import re
import shlex
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from sortal.errors import ColumnError, ParameterError, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float, LabelsLike, Plain, TableLike
    from sortal.base.learner import FitReport
    from sortal.base.save import FitCall
    from sortal.pictures import Pictures


# --- Words of messages: names nearest to one that users give, and what to type -------------------

# Fewer rows than that are too few to tell an identifier from chance.
FEW_ROWS = 20


def nearest_first(given: str, known: Sequence[str]) -> list[str]:
    """All known names, those most like a given one first, however it is capitalized."""
    lower = {name.lower(): name for name in known}
    near = [lower[name] for name in get_close_matches(given.lower(), lower, n=3, cutoff=0.5)]
    return near + [name for name in known if name not in near]


def check_columns(names: Sequence[str], columns: Sequence[str], what: str) -> None:
    """Every name is a column; `what` says where the names stand."""
    for name in names:
        if name not in columns:
            there = listed(nearest_first(str(name), columns))
            raise ColumnError(f"{what}={name!r} is no column of this table: it has {there}.")


def features_among(categorical_features: Sequence[str], target: str) -> list[str]:
    """The names of columns that are declared to be categories, without the target."""
    return [name for name in categorical_features if name != target]


def option(name: str, value: str) -> str:
    """An option as one would type it into a shell."""
    word = shlex.quote(value)
    return f"{name}={word}" if value.startswith("-") else f"{name} {word}"


# --- Values of options, as they are typed ---------------------------------------------------------

_WORDS = {"None": None, "True": True, "False": False, "inf": inf}  # as Python has them


def read_value(text: str) -> Plain:
    """A value as it is typed: JSON, or else a word."""
    if text in _WORDS:
        return _WORDS[text]
    try:
        read: Plain = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return text
    return read


# --- What tasks know of a classifier, whatever its kind ------------------------------------------


class FittedClassifier(Protocol):
    """A fitted classifier, one of ours or of somebody's own that is registered."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of the columns of probabilities."""

    @property
    def fit_report_(self) -> FitReport:
        """What the fit met."""

    def predict(self, X: TableLike) -> NDArray[Any]:
        """The class of each row."""

    def predict_proba(self, X: TableLike) -> Float:
        """The probability of each class, of those that are probabilistic."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, by name."""


class SomeClassifier(FittedClassifier, Protocol):
    """One whose class is known only when it is there, and with it what else it has."""

    _fit_call: FitCall

    def fit(self, X: TableLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit again."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write it into a model file."""

    def __getattr__(self, name: str) -> Any: ...


# --- The learners --------------------------------------------------------------------------------

_NAME = re.compile(r"[a-z][a-z0-9_]*")

_HOME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True)
class LearnerFacts:
    """What is true of a learner whatever the data.

    `probabilistic`: it has `predict_proba`. `reads`: one sentence on how its model is read.
    `plain`: what it does, for somebody who has never heard of it. `missing`: what it does, by
    default, with a value that is missing in a new row, and with a word that it has never met.
    `keeps_rows`: rows that it learned from are a part of the model. `kind` is by what it is read:
    "tree", "linear", "quadratic", "neighbors", "kernel" or "other". `natural` are the options by
    which it decides by the proportions of the classes, where that is not its default.
    `costs_of_many`: it decides by costs among more than two classes, too.
    """

    probabilistic: bool
    reads: str
    plain: str = ""
    missing: str = ""
    keeps_rows: bool = False
    kind: str = "other"
    natural: Mapping[str, Any] = field(default_factory=dict)
    costs_of_many: bool = True


@dataclass(frozen=True)
class LearnerEntry:
    """A method that can be asked for by name.

    `estimator` is the class itself, or "module:Class" where it can be imported. `grid` gives for
    some options the few values worth trying, the default among them. `pictures` is the function
    that a report draws the fitted estimator by, "module:function": it takes (estimator, X, y) and
    `rows`, whether single rows may be seen, and gives `Pictures` (sortal.pictures).
    """

    name: str
    estimator: str | type
    title: str
    facts: LearnerFacts
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    pictures: str = ""

    @property
    def class_name(self) -> str:
        """The name of the estimator's class, without importing it."""
        if isinstance(self.estimator, str):
            return self.estimator.partition(":")[2]
        return self.estimator.__name__

    def load(self) -> type:
        """The estimator's class."""
        if not isinstance(self.estimator, str):
            return self.estimator
        module, _, name = self.estimator.partition(":")
        return cast("type", getattr(import_module(module), name))

    def draw(
        self,
        estimator: object,
        X: object,
        y: object,
        *,
        rows: bool,
        **extra: object,
    ) -> Pictures | None:
        """Pictures of a fitted estimator; None of a learner that brings no function for them."""
        if not self.pictures:
            return None
        module, _, name = self.pictures.partition(":")
        return cast(
            "Pictures", getattr(import_module(module), name)(estimator, X, y, rows=rows, **extra)
        )

    def options(self) -> dict[str, Any]:
        """The options that the estimator's class takes, with their defaults."""
        parameters = inspect.signature(self.load()).parameters.values()
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        return {p.name: p.default for p in parameters if p.kind in named}

    def make(self, **options: object) -> SomeClassifier:
        """An estimator that is not fitted; an option that does not exist is an error."""
        known = list(self.options())
        for name in options:
            if name not in known:
                raise ParameterError(
                    f"The learner {self.name!r} has no option {name!r}: "
                    f"it has {listed(nearest_first(name, known), most=40)}."
                )
        return cast("SomeClassifier", self.load()(**options))


_LEARNERS: dict[str, LearnerEntry] = {}


def register(learner: LearnerEntry) -> LearnerEntry:
    """Add a learner to all tasks and commands; a name that is taken is an error."""
    _check(learner)
    if learner.name in _LEARNERS:
        raise ParameterError(
            f"A learner {learner.name!r} is registered already ({_LEARNERS[learner.name].title}): "
            "choose another name, or take the other out with unregister."
        )
    taken = {known.class_name: known.name for known in _LEARNERS.values()}
    if learner.class_name in taken:
        raise ParameterError(
            f"The class name {learner.class_name!r} belongs to the learner "
            f"{taken[learner.class_name]!r}, and model files tell estimators by it: rename the "
            "class."
        )
    _LEARNERS[learner.name] = learner
    return learner


def unregister(name: str) -> None:
    """Take a learner out again."""
    del _LEARNERS[find(name).name]


def learners() -> tuple[LearnerEntry, ...]:
    """All learners, in the order in which they were registered."""
    return tuple(_LEARNERS.values())


def find(name: str) -> LearnerEntry:
    """The learner of a name."""
    if not isinstance(name, str) or name not in _LEARNERS:
        known = listed(nearest_first(str(name), list(_LEARNERS)), most=40)
        raise ParameterError(f"There is no learner {name!r}: there are {known}.")
    return _LEARNERS[name]


def learner_of(class_name: str) -> LearnerEntry:
    """The learner whose estimator has this class name; nothing that is not listed is imported."""
    for learner in _LEARNERS.values():
        if learner.class_name == class_name:
            return learner
    known = [learner.class_name for learner in _LEARNERS.values()]
    raise ParameterError(
        f"No learner has an estimator called {class_name!r}: there are {listed(known)}. Register "
        "the learner first, if it is one of your own."
    )


def estimator_named(class_name: str) -> type:
    """The class of a registered estimator by its name."""
    return learner_of(class_name).load()


def _check(learner: LearnerEntry) -> None:
    if not isinstance(learner, LearnerEntry):
        raise ParameterError(
            f"{learner!r} is no LearnerEntry: registry.LearnerEntry(...) makes one."
        )
    if not _NAME.fullmatch(learner.name):
        raise ParameterError(
            f"name={learner.name!r} cannot be used: give small letters, digits and underscores, "
            "a letter first, so that it can be typed as an option."
        )
    if isinstance(learner.estimator, str) and not _HOME.fullmatch(learner.estimator):
        raise ParameterError(
            f"estimator={learner.estimator!r} cannot be used: give a class, or 'module:Class'."
        )
    if learner.pictures and not _HOME.fullmatch(learner.pictures):
        raise ParameterError(
            f"pictures={learner.pictures!r} cannot be used: give 'module:function', or nothing."
        )


_SAYS_NOTHING = (
    "A value that is missing, and a word it has never met, say nothing: the other columns decide, "
    "as if the model had been made for them alone."
)

_EXPECTED = (
    "In place of a value that is missing, or of a word it has never met, it takes what is to be "
    "expected there by the other columns of the row."
)

for _learner in (
    LearnerEntry(
        "tree",
        "sortal.trees.estimator:TreeClassifier",
        "decision tree",
        LearnerFacts(
            probabilistic=True,
            kind="tree",
            reads="Follow the tests from the root to a leaf; rules() lists every way.",
            plain=(
                "It asks one question about a row after the other, such as whether a number is "
                "at most so much; the answers lead to an end, and the end names the class."
            ),
            missing=(
                "Where a value is missing, a row goes the way that rows with a missing value "
                "went when the tree was made, or else the way that most rows went. A word that "
                "the tree has never met goes the way of most rows, too."
            ),
        ),
        {"criterion": ("gain", "gini"), "confidence": ("auto", 0.05), "min_samples_leaf": (1, 10)},
        "sortal.trees.displays.tree:pictures",
    ),
    LearnerEntry(
        "bayes",
        "sortal.bayes.estimator:DiscreteBayes",
        "discrete Bayes",
        LearnerFacts(
            probabilistic=True,
            kind="linear",
            reads="Multiply, for each class, its prior by one probability a column.",
            plain=(
                "It begins with how common each class is, and asks column by column in which "
                "class such a value is more usual; the class for which most speaks in the end "
                "is the answer."
            ),
            missing=(
                "A value that is missing, and a word it has never met, say nothing: the other "
                "columns decide."
            ),
        ),
        {"alpha": (1.0, 0.1, 10.0)},
        "sortal.bayes.displays:pictures",
    ),
    LearnerEntry(
        "lda",
        "sortal.discriminants.estimators.gaussian:LinearDiscriminant",
        "linear discriminant",
        LearnerFacts(
            probabilistic=True,
            kind="linear",
            reads="Each class has a weighted sum of the columns; the largest sum wins.",
            plain=(
                "It gives each class a score: a sum in which every column counts with a weight "
                "of its own. The class with the highest score is the answer."
            ),
            missing=_SAYS_NOTHING,
        ),
        {"shrinkage": (None, 0.1, 0.5)},
        "sortal.discriminants.displays.canonical:linear_pictures",
    ),
    LearnerEntry(
        "qda",
        "sortal.discriminants.estimators.gaussian:QuadraticDiscriminant",
        "quadratic discriminant",
        LearnerFacts(
            probabilistic=True,
            kind="quadratic",
            reads="Each class has a mean and a covariance; the nearest class wins.",
            plain=(
                "It knows of each class what is usual there, and how far and in which "
                "directions rows differ from that; the class to which a row is nearest, so "
                "measured, is the answer."
            ),
            missing=_SAYS_NOTHING,
        ),
        {"pooling": (0.0, 0.1, 0.5)},
        "sortal.discriminants.displays.canonical:quadratic_pictures",
    ),
    LearnerEntry(
        "fisher",
        "sortal.discriminants.estimators.scored:FisherDiscriminant",
        "Fisher's discriminant",
        LearnerFacts(
            probabilistic=False,
            kind="linear",
            natural={"priors": "empirical"},
            reads="Project a row on a few directions; the nearest class mean wins.",
            plain=(
                "It adds up the columns, each with a weight of its own, to one new number or a "
                "few in which the classes lie as far apart as they can; the class whose middle "
                "is nearest is the answer."
            ),
            missing=_EXPECTED,
        ),
        pictures="sortal.discriminants.displays.canonical:fisher_pictures",
    ),
    LearnerEntry(
        "indicator",
        "sortal.discriminants.estimators.scored:IndicatorRegression",
        "indicator regression",
        LearnerFacts(
            probabilistic=False,
            kind="linear",
            costs_of_many=False,
            reads="Each class has a linear function fitted to its 0s and 1s; the largest wins.",
            plain=(
                "It gives each class a sum in which every column counts with a weight of its "
                "own; the weights are such that the sum is near 1 in rows of the class and near "
                "0 in others. The class with the largest sum is the answer."
            ),
            missing=_EXPECTED,
        ),
        {"ridge": (0.0, 1.0, 100.0)},
        "sortal.discriminants.displays.canonical:indicator_pictures",
    ),
    LearnerEntry(
        "neighbors",
        "sortal.neighbors.estimator:NeighborsClassifier",
        "nearest neighbors",
        LearnerFacts(
            probabilistic=True,
            kind="neighbors",
            reads="Look up the rows of the fit that are most alike; most of them decide.",
            plain=(
                "It keeps all rows that it was shown. For a new row it looks up the few that are "
                "most like it, column by column, and says the class that most of them have."
            ),
            missing=(
                "A column in which a value is missing is left out when two rows are compared. A "
                "word it has never met counts as different from every other."
            ),
            keeps_rows=True,
        ),
        {"n_neighbors": (5, 1, 15), "weights": ("auto", "distance")},
        "sortal.neighbors.displays:pictures",
    ),
    LearnerEntry(
        "kernel",
        "sortal.kernels.estimator:KernelDiscriminant",
        "kernel discriminant",
        LearnerFacts(
            probabilistic=True,
            kind="kernel",
            reads="Add up how alike a row is to each basis row, by its coefficient.",
            plain=(
                "It compares a row with rows that it was shown: each is like it to some degree, "
                "and pulls it to one side or the other by so much. Where the row ends up, the "
                "class whose middle is nearest is the answer, the common classes a little before "
                "the others."
            ),
            missing=(
                "In place of a value that is missing, or of a word it has never met, it takes the "
                "mean of the column."
            ),
            keeps_rows=True,
        ),
        {"ridge": (None, 1e-2, 1e-4)},
        "sortal.kernels.displays.contours:pictures",
    ),
):
    register(_learner)
