"""load: files of every version of the format that is read; and files that are none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sortal import LinearDiscriminant, TreeClassifier, datasets
from sortal.base.save import parts_of, restore
from sortal.errors import FormatError
from sortal.modelfile.archive import ArchiveMembers, read_archive, write_archive
from sortal.tasks.load import load

FROZEN = sorted((Path(__file__).parents[1] / "modelfile" / "frozen").glob("v*/*.sortal"))


@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
@pytest.mark.parametrize("path", FROZEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_frozen_files_are_read(path: Path) -> None:
    kept = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    estimator = load(path)
    X: Any = pd.DataFrame(kept["rows"])
    if "found" in X:
        X["found"] = pd.to_datetime(X["found"])
    if not hasattr(estimator, "feature_names_in_"):
        X = X.to_numpy(dtype=float)
    assert estimator.predict(X).tolist() == kept["says"]
    has_proba = hasattr(estimator, "predict_proba")
    numbers = (estimator.predict_proba if has_proba else estimator.decision_function)(X)
    np.testing.assert_allclose(numbers, kept["numbers"], rtol=1e-9, atol=1e-12)
    assert len(estimator.explain(X)) == len(X)


def test_there_is_a_sample_of_every_estimator() -> None:
    names = {read_archive(path).manifest["estimator"] for path in FROZEN}
    assert len(names) == 8


def good() -> ArchiveMembers:
    iris = datasets.iris()
    return parts_of(TreeClassifier(max_depth=2).fit(iris, "species"))


def changed(tmp_path: Path, **parts: Any) -> Path:
    base = good()
    path = tmp_path / "m.sortal"
    write_archive(path, ArchiveMembers({**base.manifest, **parts}, base.numbers))
    return path


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"estimator": "os.system"}, "not known here.*TreeClassifier"),
        ({"estimator": ["TreeClassifier"]}, "names no estimator"),
        ({"estimator": "LinearDiscriminant"}, "LinearDiscriminant"),
        ({"options": {"evil": 1}}, "no options"),
        ({"options": {"n_jobs": 0}}, "n_jobs=0"),
        ({"options": {"criterion": [1]}}, "options of this model"),
        ({"options": []}, "no options"),
        ({"library": None}, "release"),
        ({"schema": None}, "no schema"),
        ({"state": []}, "parts"),
        ({"state": {}}, "state of a TreeClassifier"),
        ({"model": []}, "'model' is no object"),
        ({"data": None}, "learned from"),
        ({"arrays": {}}, "list its arrays"),
        ({"more": 1}, "parts"),
    ],
)
def test_a_manifest_that_says_otherwise_is_refused(
    parts: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match=words):
        load(changed(tmp_path, **parts))


def test_data_that_are_not_those_of_the_model_are_refused(tmp_path: Path) -> None:
    data = good().manifest["data"]
    for other in ({"rows": 7}, {"fingerprint": "sha256:0"}, {"file": {"name": 3}}):
        with pytest.raises(FormatError):
            load(changed(tmp_path, data={**data, **other}))


# What shapes and bounds do not say of a tree: each change leaves them right.
TREES: dict[str, dict[str, Any]] = {
    "a cycle": {"children": [1, 2, 2, 4]},
    "itself": {"children": [1, 1, 3, 4]},
    "backward": {"children": [1, 2, 4, 3]},
    "outside": {"children": [1, 2, 3, 5]},
    "no such column": {"attribute": [9, -1, 2, -1, -1]},
    "a leaf that asks": {"attribute": [0, 2, 2, -1, -1]},
    "another kind": {"kind": [2, 0, 1, 0, 0]},
    "all leaves": {"kind": [0, 0, 0, 0, 0]},
    "lists backward": {"child_start": [0, 2, 1, 4, 4, 4]},
    "lists beyond": {"child_start": [0, 2, 2, 4, 4, 9]},
    "values of a cut": {"value_start": [0, 0, 0, 0, 0, 1], "values": [0], "branches": [0]},
    "a branch too many": {"heavier": [2, -1, 0, -1, -1]},
    "missing values too far": {"missing": [2, -1, -1, -1, -1]},
    "missing values that spread": {"missing": [-2, -1, -1, -1, -1]},
    "a cut at nothing": {"threshold": [np.nan, np.nan, 1.0, np.nan, np.nan]},
    "no weight": {"units": [[50, 50, 50], [0, 0, 0], [0, 50, 50], [0, 49, 5], [0, 1, 45]]},
}


@pytest.mark.parametrize("name", TREES)
def test_arrays_that_are_no_tree_are_refused(name: str) -> None:
    tree = TreeClassifier(max_depth=2).fit(datasets.iris(), "species")
    changes: dict[str, Any] = {
        field: np.array(items, getattr(tree._model, field).dtype)
        for field, items in TREES[name].items()
    }
    tree._fitted = replace(tree._fitted, found=replace(tree._model, **changes))
    with pytest.raises(FormatError, match="This model has"):
        restore(TreeClassifier, parts_of(tree))


def test_a_summary_of_other_rows_is_refused() -> None:
    iris, penguins = datasets.iris(), datasets.penguins().dropna()
    base, fewer, other = (LinearDiscriminant() for _ in range(3))
    base.fit(iris, "species")
    for wrong in (fewer.fit(iris.iloc[:100], "species"), other.fit(penguins, "species")):
        base._fitted = replace(base._fitted, summary=wrong._fitted.summary)
        with pytest.raises(FormatError, match="summary"):
            restore(LinearDiscriminant, parts_of(base))
