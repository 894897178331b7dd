"""Comparisons and models made by hand, for the words that are said of them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from sortal.evaluation import Confusion, Reliability
from sortal.tasks.baselines import CONSTANT
from sortal.tasks.compare.candidates import Candidate, candidates
from sortal.tasks.compare.choose import ScoredCandidate, Yardstick, choose
from sortal.tasks.compare.comparison import Comparison, ModelResult
from sortal.tasks.compare.fold_run import Folds
from sortal.tasks.compare.settings import METRICS, CompareOptions, Settings
from sortal.tasks.report.models import FittedLearner, ModelFacts

CLASSES = ("ant", "bee", "cow")
BASELINES = (CONSTANT, "logistic")
SPREAD = (-0.01, 0.0, 0.01, 0.0, 0.005, -0.005, 0.0, 0.01, -0.01, 0.0)


def candidate(name: str) -> Candidate:
    """Who takes part; what is not in the registry is a baseline."""
    is_baseline = name in BASELINES
    field = candidates(["lda"] if is_baseline else [name], [name] if is_baseline else False)
    return next(one for one in field if one.name == name)


def model(name: str, mean: float, terms: float, *, eligible: bool = True) -> ModelResult:
    """A model with ten scores around a mean."""
    one = candidate(name)
    turn = len(name)  # else one would lead by the same in every fold
    spread = (0.0,) * 10 if name == CONSTANT else (*SPREAD[turn % 10 :], *SPREAD[: turn % 10])
    return ModelResult(
        name=name,
        title=one.title,
        baseline=one.baseline,
        score=mean if eligible else None,
        low=mean - 0.02,
        high=mean + 0.015,
        measures={"accuracy": mean} if eligible else {},
        terms=terms,
        size=terms,
        fit_seconds=0.1 if eligible else None,
        predict_seconds=0.1,
        rows=90,
        status="" if eligible else "error: no",
        eligible=eligible,
        behind=None,
        scores=tuple(mean + d for d in spread) if eligible else (),
    )


def comparison(
    *models: ModelResult,
    metric: str = "balanced_accuracy",
    asked: CompareOptions | None = None,
    **given: Any,
) -> Comparison:
    """These models, judged; they decide by no costs."""
    fields: dict[str, Any] = {"costs": None, "folds": Folds(10, 1, 0), "dropped": (), "path": None}
    fields |= {"rows": 100, "left_out": 0, "classes": CLASSES, "counts": (50, 30, 20), "n_jobs": 1}
    fields |= {"judged": (True,) * 3, "seconds": 1.0, "backend": "pandas"}
    fields |= {"candidates": tuple(candidate(one.name) for one in models)}
    asked = CompareOptions("kind") if asked is None else asked
    fields |= {"asked": asked, "metric": metric} | given
    settings = Settings(**fields)
    constant = next((one.score for one in models if one.name == CONSTANT), None)
    contestants = [
        ScoredCandidate(
            one.name, one.scores, one.title, who.kind, one.terms or np.inf, one.size or np.inf,
            one.eligible and not one.baseline,
        )
        for one, who in zip(models, settings.candidates, strict=True)
        if one.scores
    ]  # fmt: skip
    choice = choose(contestants, Yardstick(metric, 1 / 9, constant=constant))
    sign = 1 if METRICS[metric].higher_is_better else -1
    ranked = sorted(models, key=lambda one: (one.score is None, -sign * (one.score or 0.0)))
    return Comparison(tuple(ranked), choice, settings, ("Compared by what fits.",))


def fitted(found: Comparison, name: str, **given: Any) -> FittedLearner:
    """A learner that stands for one that was fitted."""
    names = np.array(["x", "wide one", "z"], dtype=object)
    estimator: Any = SimpleNamespace(
        feature_names_in_=names, n_parameters_=12, classes_=np.array(CLASSES)
    )
    return replace(FittedLearner(candidate(name), found[name], {}, estimator), **given)


def facts(
    found: Comparison, name: str, truth: Any = None, predicted: Any = None, sure: Any = None
) -> ModelFacts:
    """What is known of a learner's predictions: codes, and probabilities of what was predicted."""
    confusion = None if truth is None else Confusion.of(truth, predicted, CLASSES)
    reliability = None
    if sure is not None:
        shares = np.full((len(predicted), 3), 0.5 * (1 - np.asarray(sure))[:, None])
        shares[np.arange(len(predicted)), predicted] = sure
        reliability = Reliability.of(truth, predicted, shares)
    one = fitted(found, name)
    empty: dict[str, Any] = dict.fromkeys(("facts", "rules", "roc", "errors"))
    empty |= dict.fromkeys(("pictures", "tables", "judged_pictures"), ())
    empty |= {"more": "", "judged": "", "confusion": confusion, "reliability": reliability}
    return ModelFacts(name, one.title, one.learner.facts.reads, result=found[name], **empty)
