"""Comparisons and models made by hand, for the words that are said of them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from sortal.evaluation import Confusion, Reliability
from sortal.tasks.compare.choose import ScoredCandidate, choose
from sortal.tasks.compare.comparison import Comparison, ModelResult
from sortal.tasks.compare.fold_run import Candidate, Folds
from sortal.tasks.compare.settings import METRICS, Settings
from sortal.tasks.registry import find
from sortal.tasks.report.models import FittedLearner, ModelFacts

CLASSES = ("ant", "bee", "cow")
TITLES = {"majority": "majority class", "logistic": "logistic regression"}
SPREAD = (-0.01, 0.0, 0.01, 0.0, 0.005, -0.005, 0.0, 0.01, -0.01, 0.0)


def model(name: str, mean: float, size: float, *, eligible: bool = True) -> ModelResult:
    """A model with ten scores around a mean; what is not in the registry is a baseline."""
    baseline = name in TITLES
    title = TITLES[name] if baseline else find(name).title
    turn = len(name)  # else one would lead by the same in every fold
    spread = (0.0,) * 10 if name == "majority" else (*SPREAD[turn % 10 :], *SPREAD[: turn % 10])
    none: dict[str, Any] = dict.fromkeys(("log_loss", "behind", "p"))
    return ModelResult(
        name=name,
        title=title,
        baseline=baseline,
        score=mean if eligible else None,
        low=mean - 0.02,
        high=mean + 0.015,
        size=size,
        fit_seconds=0.1 if eligible else None,
        predict_seconds=0.1,
        rows=90,
        status="" if eligible else "error: no",
        eligible=eligible,
        scores=tuple(mean + d for d in spread) if eligible else (),
        **none,
    )


def comparison(*models: ModelResult, metric: str = "balanced_accuracy", **given: Any) -> Comparison:
    """These models, judged."""
    fields: dict[str, Any] = {"target": "kind", "metric": metric, "folds": Folds(10, 1, 0)}
    fields |= {
        "confidence_level": 0.95,
        "budget": 150.0,
        "tune": False,
        "drop": (),
        "categorical_features": (),
    }
    fields |= {"rows": 100, "left_out": 0, "classes": CLASSES, "counts": (50, 30, 20), "n_jobs": 1}
    fields |= {"seconds": 1.0, "backend": "pandas", "path": None, "entrants": ()}
    settings = Settings(**(fields | given))
    sign = METRICS[metric].higher_is_better
    contestants = [
        ScoredCandidate(
            one.name, one.scores, one.size or 0.0, one.eligible, one.baseline, one.title
        )
        for one in models
    ]
    choice = choose(contestants, 1 / 9, higher_is_better=sign, metric=METRICS[metric].words)
    ranked = sorted(models, key=lambda one: (one.score is None, -(one.score or 0.0)))
    return Comparison(tuple(ranked if sign else ranked[::-1]), choice, settings)


def fitted(found: Comparison, name: str, **given: Any) -> FittedLearner:
    """A learner that stands for one that was fitted."""
    names = np.array(["x", "wide one", "z"], dtype=object)
    estimator: Any = SimpleNamespace(
        feature_names_in_=names, n_parameters_=12, classes_=np.array(CLASSES)
    )
    return replace(FittedLearner(find(name), found[name], {}, estimator), **given)


def facts(
    found: Comparison, name: str, truth: Any = None, said: Any = None, sure: Any = None
) -> ModelFacts:
    """What is known of a learner's predictions: codes, and probabilities of what was said."""
    confusion = None if truth is None else Confusion.of(truth, said, CLASSES)
    reliability = None
    if sure is not None:
        shares = np.full((len(said), 3), 0.5 * (1 - np.asarray(sure))[:, None])
        shares[np.arange(len(said)), said] = sure
        reliability = Reliability.of(truth, said, shares)
    learner = find(name)
    empty: dict[str, Any] = dict.fromkeys(("facts", "rules", "roc", "errors"))
    empty |= dict.fromkeys(("pictures", "tables", "judged_pictures"), ())
    empty |= {"more": "", "judged": "", "confusion": confusion, "reliability": reliability}
    return ModelFacts(name, learner.title, learner.facts.reads, result=found[name], **empty)


def entrant(name: str) -> Candidate:
    """A learner that takes part."""
    learner = find(name)
    return Candidate(name, learner.title, learner.facts.probabilistic, learner)
