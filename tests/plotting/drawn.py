"""What tests of pictures ask of them."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.collections import PathCollection

from sortal import datasets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

PLANE: Final = ["sepal_length", "sepal_width"]


def setosa_or_not(one: str = "setosa", other: str = "rest") -> tuple[Any, NDArray[Any]]:
    """Setosa against the rest, by sepal length and width."""
    frame = datasets.iris()
    return frame[PLANE], np.where(frame["species"] == "setosa", one, other)


def legend_of(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def words_of(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def crossings(display: Any) -> NDArray[np.float64]:
    """The points of the grid, in the order of its labels."""
    x, y = np.meshgrid(display.grid.x, display.grid.y)
    return np.column_stack([x.ravel(), y.ravel()])


def rendered(display: Any) -> bytes:
    """Everything is laid out and drawn, so that text which cannot be drawn fails here."""
    into = io.BytesIO()
    display.figure_.savefig(into, format="png", dpi=40)
    return into.getvalue()


def clouds(ax: Axes) -> list[PathCollection]:
    return [c for c in ax.collections if isinstance(c, PathCollection)]


def n_drawn(ax: Axes) -> int:
    return sum(len(np.asarray(cloud.get_offsets())) for cloud in clouds(ax))


def predictions(k: int, n: int = 300) -> tuple[Any, Any, Any]:
    """True codes, those said, and probabilities."""
    rng = np.random.default_rng(k)
    truth = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), truth] += 2.0
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return truth, shares.argmax(axis=1), shares


def comparison(head: str = "accuracy ↑", **choice: Any) -> Any:
    """As much of a comparison as is drawn."""

    def model(name: str, score: float | None, **kw: Any) -> Any:
        given = {"title": f"the {name}", "baseline": False, "eligible": True, "part": None}
        low, high = (None, None) if score is None else (score - 0.1, score + 0.05)
        return SimpleNamespace(
            **{"name": name, "score": score, "low": low, "high": high, **given, **kw}
        )

    models = (
        model("lda", 0.9),
        model("tree", 0.88),
        model("svm", 0.7, baseline=True),
        model("slow", 0.6, part=40),
        model("broken", None, eligible=False),
    )
    told = {"best": "lda", "recommended": "tree", "runner_up": "", **choice}
    return SimpleNamespace(
        models=models, choice=SimpleNamespace(**told), settings=SimpleNamespace(head=head)
    )
