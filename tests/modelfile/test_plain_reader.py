"""The page on the model file is enough to write a reader: one that was, agrees with sortal."""

import ast
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.modelfile import plain_reader
from tests.modelfile.plain_reader import PlainReader

from sortal import DiscreteBayes, KernelDiscriminant, LinearDiscriminant, TreeClassifier, datasets

# Missing and unknown values are met on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")

N = 150
LEVELS = ["low", "mid", "high", "top"]
COSTS = [[0, 1, 4], [1, 0, 1], [2, 1, 0]]
CATEGORIES = ["word", "level", "yes", "code"]


def table(seed: int, *, missing: bool, strange: bool = False) -> tuple[pd.DataFrame, list[str]]:
    """Rows of all kinds of columns, and their labels."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 3, N)

    def noisy() -> Any:
        return np.where(rng.random(N) < 0.6, k, rng.integers(0, 4, N))

    frame = pd.DataFrame(
        {
            "x": np.round(k + rng.normal(size=N), 2),
            "word": np.array(["a", "b", "c", "d", "e"], dtype=object)[noisy() + (k > 1)],
            "when": pd.Timestamp("2021-03-04") + pd.to_timedelta(30 * noisy(), "D"),
            "level": pd.Categorical.from_codes(noisy(), LEVELS, ordered=True),
            "yes": noisy() > 1,
            "code": noisy() + 2**60,
            "z": rng.normal(size=N),
        }
    ).astype({"yes": object, "code": object})
    if missing:
        for name in ("x", "word", "when", "level", "yes"):
            frame.loc[rng.random(N) < 0.15, name] = None
    if strange:
        frame.loc[rng.random(N) < 0.2, "word"] = "never seen"
        frame.loc[rng.random(N) < 0.2, "code"] = -7
    return frame, [["no", "perhaps", "yes"][i] for i in k]


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as a reader in another language would meet them."""

    def days(cell: Any) -> float:
        return float((cell - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1))

    plain = {
        str(name): [
            None if pd.isna(cell) else days(cell) if isinstance(cell, pd.Timestamp) else cell
            for cell in frame[name].tolist()
        ]
        for name in frame
    }
    return [dict(zip(plain, cells, strict=True)) for cells in zip(*plain.values(), strict=True)]


def agrees(model: Any, frame: pd.DataFrame, folder: Path) -> PlainReader:
    """The reader says the same labels and probabilities of all rows."""
    model.save(folder / "model.sortal")
    reader = PlainReader(folder / "model.sortal")
    rows = rows_of(frame)
    assert reader.classes == model.classes_.tolist()
    assert [reader.predict(row) for row in rows] == model.predict(frame).tolist()
    expected = model.predict_proba(frame)
    np.testing.assert_allclose([reader.probabilities(r) for r in rows], expected, 1e-9, 1e-12)
    return reader


def by_columns(estimator: Any, **options: Any) -> Any:
    return estimator(categorical_features=CATEGORIES, **options)


# Every way of going on with a missing value, each with one kind of test on categories.
@pytest.mark.parametrize(
    ("missing", "split"),
    [
        *(("branch", "subset"), ("direction", "multiway"), ("fractional", "subset")),
        *(("majority", "multiway"), ("fractional", "multiway")),
    ],
)
def test_trees_with_missing_and_unknown_values(missing: str, split: str, tmp_path: Path) -> None:
    frame, y = table(1, missing=True)
    model = by_columns(TreeClassifier, missing=missing, categorical_split=split, pruning=None)
    reader = agrees(model.fit(frame, y), table(2, missing=True, strange=True)[0], tmp_path)
    kinds = set(reader.model["kind"])
    assert kinds >= ({0, 1, 2} if split == "subset" else {0, 1, 3})
    assert (-2 in reader.model["missing"]) == (missing == "fractional")


def test_ordered_categories_are_cut_also_on_levels_without_rows(tmp_path: Path) -> None:
    frame, y = table(3, missing=False)
    kept = frame["level"] != "mid"
    model = by_columns(TreeClassifier, pruning=None).fit(frame[kept], np.array(y)[kept])
    reader = agrees(model, table(4, missing=True)[0], tmp_path)
    assert reader.columns[3]["order"] == LEVELS
    tests = zip(reader.model["kind"], reader.model["attribute"], strict=True)
    assert any(kind == 1 and j == 3 for kind, j in tests)


def test_declared_values_without_rows_are_unknown(tmp_path: Path) -> None:
    frame, y = table(5, missing=False)
    frame = frame.assign(word=pd.Categorical(frame["word"], [*"edcbaf"]))
    asked = frame.assign(word=pd.Categorical(["f"] * N, [*"edcbaf"]))
    for split in ("subset", "multiway"):
        model = by_columns(TreeClassifier, categorical_split=split, pruning=None).fit(frame, y)
        reader = agrees(model, asked, tmp_path)
        assert any(reader.model["unseen"])


# Estimators and options; of rows with missing values and unknown ones, unless told otherwise.
MODELS: list[tuple[Any, dict[str, Any]]] = [
    (TreeClassifier, {"smoothing": "laplace"}),
    (TreeClassifier, {"smoothing": "m_estimate", "smoothing_strength": 3.0}),
    (TreeClassifier, {"smoothing": "shrinkage", "smoothing_strength": 20.0}),
    (TreeClassifier, {"costs": COSTS}),
    (TreeClassifier, {"priors": {"no": 0.2, "perhaps": 0.5, "yes": 0.3}, "smoothing": "laplace"}),
    (TreeClassifier, {"class_weight": "balanced", "costs": COSTS, "missing": "fractional"}),
    (LinearDiscriminant, {"priors": [0.2, 0.3, 0.5]}),
    (LinearDiscriminant, {"shrinkage": 0.3, "costs": COSTS}),
    (KernelDiscriminant, {"ridge": "loo", "penalty": "coefficients"}),
    (KernelDiscriminant, {"kernel": "laplacian", "costs": COSTS, "missing": "mean"}),
    (KernelDiscriminant, {"kernel": "poly", "coef0": 1.0, "rule": "nearest_mean"}),
    (KernelDiscriminant, {"kernel": "linear", "scale": "std", "solver": "landmarks"}),
    (DiscreteBayes, {}),
    (DiscreteBayes, {"alpha": 0.0}),
    (DiscreteBayes, {"structure": "joint"}),
    (DiscreteBayes, {"structure": "joint", "alpha": 0.0}),
]


@pytest.mark.parametrize(
    ("estimator", "options"), MODELS, ids=lambda part: str(getattr(part, "__name__", part))
)
def test_probabilities_and_labels(estimator: Any, options: dict[str, Any], tmp_path: Path) -> None:
    whole = estimator is LinearDiscriminant  # whose reader knows no conditional means
    frame, y = table(6, missing=not whole)
    model = by_columns(estimator, **options).fit(frame, y)
    agrees(model, table(7, missing=not whole, strange=not whole)[0], tmp_path)


def test_weights_that_are_no_copies(tmp_path: Path) -> None:
    frame, y = table(8, missing=True)
    weights = np.random.default_rng(8).random(N)
    model = by_columns(TreeClassifier, smoothing="laplace").fit(frame, y, sample_weight=weights)
    agrees(model, table(9, missing=True)[0], tmp_path)


def test_given_kernel_values(tmp_path: Path) -> None:
    iris = datasets.iris()[::3]
    u = iris.drop(columns="species").to_numpy()
    K = pd.DataFrame(u @ u.T, columns=[f"row {i}" for i in range(len(u))])
    weights = np.arange(len(u)) % 3
    model = KernelDiscriminant("precomputed").fit(K, iris["species"], sample_weight=weights)
    agrees(model, K[:20], tmp_path)


def test_the_reader_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(str(plain_reader.__file__)).read_text(encoding="utf-8"))
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    names |= {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert names == {"json", "math", "struct", "hashlib", "typing", "zipfile"}
    assert math.isclose(plain_reader.EPSILON, float(np.finfo(float).eps))
