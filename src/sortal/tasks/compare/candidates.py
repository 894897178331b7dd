"""Who takes part in a comparison: learners with their options, and baselines of scikit-learn."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sortal.errors import ParameterError, listed
from sortal.tasks.baselines import BASELINES, CONSTANT, find_baseline, size_of_baseline
from sortal.tasks.registry import find, learner_of, read_value
from sortal.tasks.registry import learners as all_learners

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sklearn.pipeline import Pipeline

    from sortal._typing import Plain
    from sortal.tasks.registry import FittedClassifier, LearnerEntry, SomeClassifier


@dataclass(frozen=True)
class Candidate:
    """A model that takes part: a learner of the registry with options, or a baseline by its name.

    The name of a learner with options is "tree:criterion=gini,max_depth=3".
    """

    name: str
    title: str
    probabilistic: bool
    learner: LearnerEntry | None = None
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def baseline(self) -> bool:
        """Whether it is one of scikit-learn's."""
        return self.learner is None

    @property
    def ensemble(self) -> bool:
        """Whether it is what one would take without wanting to read it."""
        return self.learner is None and find_baseline(self.name).ensemble

    @property
    def kind(self) -> str:
        """By what it is read."""
        return "" if self.learner is None else self.learner.facts.kind

    @property
    def grid(self) -> dict[str, list[Any]]:
        """The options to choose from, by the names that the whole estimator has for them."""
        if self.learner is None:
            grid = find_baseline(self.name).grid
            return {f"model__{name}": list(values) for name, values in grid.items()}
        own = self.learner.grid.items()
        return {name: list(values) for name, values in own if name not in self.given}

    def carries(self, n_classes: int) -> bool:
        """Whether the estimator itself decides by costs, so that its model file does."""
        if self.learner is None or "costs" not in self.learner.options():
            return False
        return n_classes == 2 or self.learner.facts.costs_of_many

    def options(
        self, seed: int, categorical_features: Sequence[str], costs: object = None
    ) -> dict[str, Any]:
        """What a learner is told beside its defaults."""
        assert self.learner is not None  # noqa: S101  (of learners only)
        known = self.learner.options()
        told: dict[str, Any] = {"random_state": seed}
        if categorical_features:
            told["categorical_features"] = list(categorical_features)
        if costs is None:
            told |= self.learner.facts.natural
        else:
            told["costs"] = costs
        return {name: value for name, value in told.items() if name in known} | dict(self.given)

    def size(self, fitted: FittedClassifier) -> float | None:
        """How many numbers predict needs; None where an estimator does not say."""
        if self.learner is None:
            return size_of_baseline(self.name, cast("Pipeline", fitted))
        size = getattr(fitted, "n_parameters_", None)
        return None if size is None else float(size)

    def terms(self, fitted: FittedClassifier) -> int | None:
        """How much there is to read: the leaves of a tree, the terms of a function."""
        if self.learner is None:
            return None
        if hasattr(fitted, "get_n_leaves"):
            return int(fitted.get_n_leaves())
        terms = getattr(fitted, "terms_", None)
        return getattr(fitted, "n_features_in_", None) if terms is None else len(terms)


# A tree of so many leaves is read at a glance.
SHORT_TREE = "tree:max_leaf_nodes=16"


def candidates(
    learners: Sequence[str | SomeClassifier] | None, baselines: bool | Sequence[str]
) -> list[Candidate]:
    """Who takes part; the constant prediction always does, to be compared with."""
    if learners is None:
        learners = [*(one.name for one in all_learners()), SHORT_TREE]
    elif isinstance(learners, str):
        learners = [learners]
    found = [_of_learner(given) for given in learners]
    named = list(BASELINES) if baselines is True else baselines or ()
    names = dict.fromkeys([CONSTANT, *([named] if isinstance(named, str) else named)])
    for name in names:
        baseline = find_baseline(name)
        found.append(Candidate(name, baseline.title, baseline.probabilistic))
    known = [one.name for one in found]
    twice = [name for i, name in enumerate(known) if name in known[:i]]
    if twice:
        raise ParameterError(
            f"{listed(twice)} would take part more than once: name each model once."
        )
    if all(one.name == CONSTANT for one in found):
        raise ParameterError("There is no model to compare: name a learner or a baseline.")
    # Fast ones first: what they leave of their share goes to those that come later.
    return sorted(found, key=lambda one: (one.name != CONSTANT, one.baseline))


def _of_learner(given: str | SomeClassifier) -> Candidate:
    """A learner by its name, by its name with options, or by an estimator that is not fitted."""
    if isinstance(given, str):
        name, _, words = given.partition(":")
        learner, options = find(name), read_options(words, given)
    else:
        learner = learner_of(type(given).__name__)
        defaults = learner.options()
        told = given.get_params(deep=False).items()
        options = {n: value for n, value in told if not _same(value, defaults[n])}
    learner.make(**options)  # an option that does not exist is an error now
    if not options:
        return Candidate(learner.name, learner.title, learner.facts.probabilistic, learner)
    words = ",".join(f"{n}={_as_word(value)}" for n, value in options.items())
    title = f"{learner.title} ({words.replace(',', ', ')})"
    name = f"{learner.name}:{words}"
    return Candidate(name, title, learner.facts.probabilistic, learner, options)


def _same(value: object, default: object) -> bool:
    return value is default or (type(value) is type(default) and bool(np.all(value == default)))


def _as_word(value: object) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except TypeError:
        return repr(value)


def read_options(words: str, given: str) -> dict[str, Plain]:
    """Options in one word: "criterion=gini,max_depth=3"; a comma before a name parts them."""
    options: dict[str, Plain] = {}
    for part in re.split(r",(?=\s*[A-Za-z_]+=)", words) if words else ():
        name, sign, value = part.partition("=")
        if not sign or not name.strip() or name.strip() in options:
            raise ParameterError(
                f"learner {given!r} cannot be read: give each option once, with its value, such "
                "as tree:criterion=gini,max_depth=3."
            )
        options[name.strip()] = read_value(value)
    return options
