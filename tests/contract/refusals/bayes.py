"""What discrete Bayes cannot be told, and what it cannot do with the rows that it has counted."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
from tests.contract.learners import labels, mixed, whole
from tests.contract.refusals.table import Refusal

from sortal import DiscreteBayes
from sortal.errors import InputError, LabelError, ParameterError, TrainingRowsError

OPTIONS: Final[list[tuple[dict[str, Any], str]]] = [
    ({"structure": "tree"}, r"structure='tree'.*'naive', 'joint'"),
    ({"structure": None}, "structure=None"),
    ({"alpha": -1}, "alpha=-1 .*at least 0"),
    ({"alpha": float("nan")}, "alpha=nan .*finite"),
    ({"alpha": float("inf")}, "alpha=inf .*finite"),
    ({"alpha": 1e101}, r"alpha=1e\+101 cannot be used: give a finite"),
    ({"alpha": "1"}, "alpha='1'"),
    ({"alpha": True}, "alpha=True"),
    ({"alpha": None}, "alpha=None"),
    ({"numeric": "histogram"}, "numeric='histogram'.*'gaussian'"),
    # Checks that other learners share.
    ({"priors": [-0.5, 0.5, 1.0]}, "priors=.*at least 0"),
    ({"priors": {"ash": 0.5, "oak": 0.5}}, r"priors names \['oak'\].*'ash', 'birch'"),
    ({"priors": {"ash": 0.5}}, r"priors=.*it is 0\.5"),
    ({"priors": "uniform"}, "priors='uniform'.*finite numbers"),
    ({"priors": [0.5, 0.5, float("nan")]}, "priors=.*finite numbers"),
    ({"class_weight": {"ash": -1}}, r"class_weight=.*must be 0 or from 1e-20 to 1e\+20"),
    ({"class_weight": dict.fromkeys(["ash", "birch", "elm"], 0)}, "class_weight=.*above 0"),
    ({"class_weight": [1, 2]}, "class_weight=.*a dict by label"),
    ({"costs": (1.0 - 2 * np.eye(3)).tolist()}, "costs .*least entry of -1.*at least 0"),
    ({"costs": [[0.0, 1.0, float("inf")]] * 3}, "costs=.*finite numbers"),
    ({"costs": [[0, 1], [1]]}, "costs=.*finite numbers"),
    ({"n_jobs": 1.5}, r"n_jobs=1\.5: give a whole number"),
    ({"n_jobs": "2"}, "n_jobs='2': give a whole number"),
]
CLASSES: Final[list[tuple[Any, str]]] = [
    (3, "1d array"),
    ([[0, 1]], "1d array"),
    ([0.5, 1], "continuous"),
    ([None, "a"], "a missing label: name real classes only"),
]


def fitted(**options: Any) -> DiscreteBayes:
    return DiscreteBayes(**options).fit(mixed(), labels())


def left_out(change: Any, scale: float) -> Any:
    X = np.random.default_rng(0).normal(size=(30, 2)) * scale
    y = np.tile(["a", "b", "b"], 10)
    return DiscreteBayes().fit(X, y).loo_proba(change(X), y)


REFUSALS: Final = [
    *(
        Refusal(f"{options}", partial(fitted, **options), ParameterError, words)
        for options, words in OPTIONS
    ),
    *(
        Refusal(
            f"classes={classes}",
            partial(DiscreteBayes().partial_fit, [[1.0], [2.0]], [0, 1], classes=classes),
            LabelError,
            words,
        )
        for classes, words in CLASSES
    ),
    *(
        Refusal(
            f"leaving out rows {how}, in units of {scale}",
            partial(left_out, change, scale),
            TrainingRowsError,
            "takes the rows of the fit again",
        )
        for scale in (1.0, 1e-9)
        for how, change in {
            "a little larger": lambda X: X * 1.01,
            "elsewhere": lambda X: X + 100,
            "of other labels": lambda X: X[::-1],
        }.items()
    ),
    Refusal(
        "priors for a class that was not told of",
        lambda: DiscreteBayes(priors={"n": 0.5, "y": 0.3, "z": 0.2}).partial_fit(
            [["a"], ["b"]], ["n", "y"]
        ),
        ParameterError,
        "by its parameter classes",
    ),
    Refusal(
        "another structure goes on with the summary of the first",
        lambda: fitted().set_params(structure="joint").partial_fit(mixed(), labels()),
        ParameterError,
        "set after a fit with the other structure",
    ),
    Refusal(
        "forgetting values that were not fitted",
        lambda: fitted().forget(whole().assign(city="Bonn"), labels()),
        TrainingRowsError,
        "cannot be taken out.*only rows that were fitted",
    ),
    Refusal(
        "forgetting everything",
        lambda: fitted().forget(mixed(), labels()),
        LabelError,
        "no row left to learn from",
    ),
    Refusal(
        "a table of the working that is not there",
        lambda: fitted().working()["rule"],
        ParameterError,
        "no table 'rule'.*'priors', 'city'",
    ),
    Refusal(
        "numbers beyond what squares hold",
        lambda: DiscreteBayes().fit(pd.DataFrame({"far": [1e200, 2e200]}), ["a", "b"]),
        InputError,
        "'far' holds numbers beyond",
    ),
]
