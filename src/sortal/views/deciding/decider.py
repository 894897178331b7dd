"""A fitted model as plain data with which a page's script decides as Python does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sortal.models.bayes import BayesModel
from sortal.models.fisher import FisherModel
from sortal.models.indicator import IndicatorModel
from sortal.models.linear import LinearModel
from sortal.models.quadratic import QuadraticModel
from sortal.models.tree import TreeModel
from sortal.views.deciding.bayes import describe_bayes
from sortal.views.deciding.linear import describe_fisher, describe_indicator, describe_linear
from sortal.views.deciding.packing import pack, packed_bytes
from sortal.views.deciding.quadratic import describe_quadratic
from sortal.views.deciding.tree import describe_tree
from sortal.views.palette import color
from sortal.views.tree_lettering import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from sortal.views.deciding.described import Described

_KINDS: Final[dict[type, Callable[[Any], Described]]] = {
    BayesModel: describe_bayes,
    FisherModel: describe_fisher,
    IndicatorModel: describe_indicator,
    LinearModel: describe_linear,
    QuadraticModel: describe_quadratic,
    TreeModel: describe_tree,
}

# A page may have 2 MB in all.
MOST_BYTES: Final = 800_000


def describe(model: Any) -> Described | None:
    """What a model tells a page; None of a kind that no page can decide by."""
    made = _KINDS.get(type(model))
    return None if made is None else made(model)


def decider(
    model: Any,
    *,
    missing: str = "",
    unknown: str = "",
    costs: Any = None,
    most_bytes: int = MOST_BYTES,
) -> dict[str, Any] | None:
    """Plain data, ready for JSON, or None for a model of a kind that no page can decide by.

    `missing` and `unknown` are the estimator's policies, of which "error" matters here, and `costs`
    its costs (a tree has its own). What rows with holes need is left out (`with_holes` is False)
    where all would take more than `most_bytes`; `model` is None where the rest still does.
    """
    described = describe(model)
    if described is None:
        return None
    numbers = dict(described.numbers)
    whole = numbers | ({} if described.holes is None else {"holes": described.holes})
    with_holes = packed_bytes(whole) <= most_bytes or described.holes is None
    kept: dict[str, Any] | None = whole if with_holes else numbers
    if packed_bytes(kept) > most_bytes:
        kept = None
    given = model.costs if isinstance(model, TreeModel) else costs
    return {
        "kind": described.kind,
        "model": kept,
        "with_holes": with_holes,
        "classes": [plain(label) for label in model.classes],
        "colors": [color(k) for k in range(len(model.classes))],
        "costs": None if given is None else pack(np.asarray(given, dtype=np.float64)),
        "refuses": {"missing": missing == "error", "unknown": unknown == "error"},
        "largest": described.largest,
        "words": dict(described.words),
    }
