"""Pictures of judged predictions and of a comparison."""

from __future__ import annotations

from types import SimpleNamespace
from xml.etree import ElementTree as ET

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sortal import LinearDiscriminant, datasets
from sortal.models.judged import Confusion, Reliability, Roc
from sortal.views.pictures.judged import comparison_pictures, judged_pictures


def judge(n: int, K: int) -> tuple[Confusion, Reliability, Roc]:
    rng = np.random.default_rng(K)
    truth = rng.integers(0, K, n)
    logits = rng.normal(size=(n, K))
    logits[np.arange(n), truth] += 3
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    said, classes = shares.argmax(axis=1), [f"class {k}" for k in range(K)]
    return (
        Confusion.of(truth, said, classes),
        Reliability.of(truth, said, shares),
        Roc.of(truth, shares, classes),
    )


@pytest.mark.parametrize("K", [2, 30])
def test_pictures_of_what_was_judged(K: int) -> None:
    confusion, reliability, roc = judge(2000, K)
    found = judged_pictures("lda", confusion, reliability, roc)
    names = [picture.name for picture in found]
    assert names == ["lda-judged-confusion", "lda-judged-reliability", "lda-judged-roc"]
    assert not found.left_out
    for picture in found:
        assert len(picture.svg().encode()) < 40_000
        assert picture.table is not None
        assert len(picture.table.rows) <= 60
    first, second, third = (picture.alt for picture in found)
    assert f"{2000 - confusion.n_wrong:,} of 2,000 rows are said right" in first
    assert "expected calibration error" in second
    assert "area under the curve" in third


def test_letters_in_cells_stay_light_where_cells_are_dark() -> None:
    truth = np.repeat([0, 1], [20, 40])
    said = np.where(np.arange(60) == 59, 0, truth)
    (picture,) = judged_pictures("x", Confusion.of(truth, said, ["a", "b"]))
    root = ET.fromstring(picture.svg())  # noqa: S314  (our own)
    texts = {e.text: e.get("fill") for e in root.iter() if e.text}
    assert texts["20"] == texts["39"] == "#ffffff"
    assert texts["1"] == "currentColor"  # a pale cell: as dark or light as the page's letters


def test_the_code_draws_the_like() -> None:
    X = datasets.iris()
    y = X.pop(X.columns[-1])
    names = {"model": LinearDiscriminant(), "X": X, "y": y}
    for picture in judged_pictures("lda", *judge(50, 3)):
        exec(picture.code, dict(names))  # noqa: S102
        assert len(plt.get_fignums()) == 1
        plt.close("all")


def test_nothing_judged_has_no_picture() -> None:
    assert len(judged_pictures("fisher", None)) == 0
    empty = Roc.of([0, 0], [[1.0, 0.0], [1.0, 0.0]], ["a", "b"])
    found = judged_pictures("fisher", None, None, empty)
    assert len(found) == 0
    assert "is not drawn: There is no curve" in found.left_out[0]


def test_a_comparison_is_a_picture() -> None:
    def model(name: str, score: float | None, *, baseline: bool = False) -> SimpleNamespace:
        low, high = (None, None) if score is None else (score - 0.05, score + 0.02)
        told = {"score": score, "low": low, "high": high, "baseline": baseline}
        return SimpleNamespace(name=name, title=name, eligible=True, **told)

    models = [model("tree", 0.91), model("forest", 0.9, baseline=True), model("lda", None)]
    choice = SimpleNamespace(best="tree", chosen="tree", learner="tree")
    settings = SimpleNamespace(head="accuracy ↑")
    comparison = SimpleNamespace(models=models, choice=choice, settings=settings)
    (picture,) = comparison_pictures(comparison)
    assert "tree 0.91 (0.86 to 0.93), best and chosen" in picture.alt
    assert picture.table is not None
    assert [row[0] for row in picture.table.rows] == ["tree", "forest"]
    assert len(picture.svg()) < 20_000
