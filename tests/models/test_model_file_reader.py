"""The page on the model file is enough to write a reader: one that was, agrees with sortal."""

import ast
import math
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
import pytest
from tests.models import plain_reader
from tests.models.plain_reader import PlainReader

from sortal import (
    DiscreteBayes,
    KernelDiscriminant,
    LinearDiscriminant,
    TreeClassifier,
    datasets,
)

# Holes and unknown values are met on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")

N = 150
LEVELS = ["low", "mid", "high", "top"]
COSTS = [[0, 1, 4], [1, 0, 1], [2, 1, 0]]
HOLED = ("branch", "direction", "fractional", "majority")
CATEGORIES = ["word", "level", "yes", "code"]


def table(seed: int, *, holes: bool, strange: bool = False) -> tuple[pd.DataFrame, list[str]]:
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
    if holes:
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


def make_tree(**options: Any) -> TreeClassifier:
    """A tree that is not grown yet."""
    return TreeClassifier(categorical_features=CATEGORIES, **options)


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


@pytest.mark.parametrize("missing", HOLED)
@pytest.mark.parametrize("split", ["subset", "multiway"])
def test_trees_with_holes_and_unknown_values(missing: str, split: str, tmp_path: Path) -> None:
    frame, y = table(1, holes=True)
    model = TreeClassifier(
        categorical_features=CATEGORIES, missing=missing, categorical_split=split, pruning=None
    ).fit(frame, y)
    reader = agrees(model, table(2, holes=True, strange=True)[0], tmp_path)
    kinds = set(reader.model["kind"])
    assert kinds >= ({0, 1, 2} if split == "subset" else {0, 1, 3})
    assert (-2 in reader.model["missing"]) == (missing == "fractional")


def test_ordered_categories_are_cut_also_on_levels_without_rows(tmp_path: Path) -> None:
    frame, y = table(3, holes=False)
    kept = (frame["level"] != "mid").tolist()
    model = make_tree(pruning=None).fit(frame[kept], [c for c, k in zip(y, kept, strict=True) if k])
    reader = agrees(model, table(4, holes=True)[0], tmp_path)
    assert reader.columns[3]["order"] == LEVELS
    assert any(
        k == 1 and j == 3
        for k, j in zip(reader.model["kind"], reader.model["attribute"], strict=True)
    )


def test_declared_values_without_rows_are_unknown(tmp_path: Path) -> None:
    frame, y = table(5, holes=False)
    frame = frame.assign(word=pd.Categorical(frame["word"], ["e", "d", "c", "b", "a", "f"]))
    asked = frame.assign(word=pd.Categorical(["f"] * N, ["e", "d", "c", "b", "a", "f"]))
    for split in ("subset", "multiway"):
        model = make_tree(categorical_split=split, pruning=None).fit(frame, y)
        reader = agrees(model, asked, tmp_path)
        assert any(reader.model["unseen"])


@pytest.mark.parametrize(
    "options",
    [
        {"smoothing": "laplace"},
        {"smoothing": "m_estimate", "smoothing_strength": 3.0},
        {"smoothing": "shrinkage", "smoothing_strength": 20.0},
        {"costs": COSTS},
        {"priors": {"no": 0.2, "perhaps": 0.5, "yes": 0.3}, "smoothing": "laplace"},
        {"class_weight": "balanced", "costs": COSTS, "missing": "fractional"},
    ],
    ids=str,
)
def test_what_a_node_says(options: dict[str, Any], tmp_path: Path) -> None:
    frame, y = table(6, holes=True)
    agrees(
        make_tree(**options).fit(frame, y),
        table(7, holes=True)[0],
        tmp_path,
    )


def test_weights_that_are_no_copies(tmp_path: Path) -> None:
    frame, y = table(8, holes=True)
    weights = np.random.default_rng(8).random(N)
    model = make_tree(smoothing="laplace").fit(frame, y, sample_weight=weights)
    agrees(model, table(9, holes=True)[0], tmp_path)


@pytest.mark.parametrize("options", [{}, {"shrinkage": 0.3}, {"costs": COSTS}], ids=str)
def test_linear_discriminant_without_holes(options: dict[str, Any], tmp_path: Path) -> None:
    frame, y = table(10, holes=False)
    agrees(
        LinearDiscriminant(categorical_features=CATEGORIES, **options).fit(frame, y),
        table(11, holes=False)[0],
        tmp_path,
    )


def test_priors_of_the_linear_discriminant(tmp_path: Path) -> None:
    iris = datasets.iris()
    model = LinearDiscriminant(priors=[0.2, 0.3, 0.5]).fit(iris, "species")
    agrees(model, iris.drop(columns="species"), tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {"ridge": "loo"},
        {"kernel": "laplacian", "costs": COSTS, "missing": "mean"},
        {"kernel": "poly", "scale": "std", "coef0": 1.0, "penalty": "coefficients"},
        {"kernel": "linear", "scale": "std", "solver": "landmarks", "rule": "nearest_mean"},
    ],
    ids=str,
)
def test_kernel_discriminant(options: dict[str, Any], tmp_path: Path) -> None:
    frame, y = table(14, holes=True)
    agrees(
        KernelDiscriminant(categorical_features=CATEGORIES, **options).fit(frame, y),
        table(15, holes=True, strange=True)[0],
        tmp_path,
    )


def test_given_kernel_values(tmp_path: Path) -> None:
    u = datasets.iris().drop(columns="species").to_numpy()
    K = pd.DataFrame(u @ u.T, columns=[f"row {i}" for i in range(len(u))])
    w = np.arange(len(u)) % 3
    model = KernelDiscriminant("precomputed").fit(K, datasets.iris()["species"], sample_weight=w)
    agrees(model, K[:20], tmp_path)


@pytest.mark.parametrize(
    "options",
    [{}, {"alpha": 0.0}, {"structure": "joint"}, {"structure": "joint", "alpha": 0.0}],
    ids=str,
)
def test_discrete_bayes(options: dict[str, Any], tmp_path: Path) -> None:
    frame, y = table(12, holes=True)
    agrees(
        DiscreteBayes(categorical_features=CATEGORIES, **options).fit(frame, y),
        table(13, holes=True, strange=True)[0],
        tmp_path,
    )


def test_the_reader_refuses_what_the_page_refuses(tmp_path: Path) -> None:
    TreeClassifier().fit(datasets.iris(), "species").save(tmp_path / "model.sortal")
    with ZipFile(tmp_path / "model.sortal") as archive, ZipFile(tmp_path / "z", "w") as other:
        for name in archive.namelist():
            other.writestr(name, archive.read(name), ZIP_DEFLATED)
    with pytest.raises(ValueError, match="compressed"):
        PlainReader(tmp_path / "z")


def test_the_reader_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(str(plain_reader.__file__)).read_text(encoding="utf-8"))
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    names |= {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert names == {"json", "math", "struct", "hashlib", "typing", "zipfile"}
    assert math.isclose(plain_reader.EPSILON, float(np.finfo(float).eps))
