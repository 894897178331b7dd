"""Frames of polars and pyarrow need no pandas: everything runs where it cannot be imported."""

import subprocess
import sys

import pytest

# In a process of its own, because pandas is long imported in this one. Every finder of modules says
# that there is no pandas, as where it is not installed: one that raises would trouble polars, and a
# None in sys.modules troubles pyarrow.
WITHOUT = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, *rest):
        return None if name.split(".")[0] == "pandas" else self.finder.find_spec(name, *rest)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""
USE = """
import warnings
warnings.simplefilter("error")
import numpy as np
from sortal import DiscreteBayes
from sortal.errors import MissingValueWarning

rows = {
    "word": ["a", "b", None, "a", "b", "a"],
    "number": [1.5, None, 2.5, 0.5, 4.0, 1.0],
    "whole": [1, 2, 3, 4, None, 6],
    "truth": [True, False, True, None, False, True],
    "y": ["p", "q", "p", "p", "q", "q"],
}
frame = make(rows)
for structure in ("naive", "joint"):
    model = DiscreteBayes(structure, categorical_features=["whole"]).fit(frame, "y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)
        assert model.predict(frame).shape == (6,)
        frames = [*model.working(frame).to_frame().values(), model.explain(frame).to_frame()]
        str(model.working(frame)), model.explain(frame)._repr_html_()
    assert {type(each) for each in frames} == {type(frame)}, [type(each) for each in frames]
    model.loo_proba(frame, "y")
    model.partial_fit(frame, "y").forget(frame, "y")
assert "pandas" not in sys.modules
"""
ARRAYS = """
import numpy as np
from sortal import DiscreteBayes, datasets

X = [["a", 1.5], ["b", 2.0], ["a", 0.5]]
model = DiscreteBayes().fit(X, [0, 1, 0])
model.predict(np.array(X, dtype=object))
str(model.explain(X)), str(model.working(X))
for name in datasets.__all__:
    getattr(datasets, name)("polars")
"""
SCRIPTS = {
    "arrays": ARRAYS,
    "polars": f"import polars as pl\nmake = pl.DataFrame\n{USE}",
    "pyarrow": f"import pyarrow as pa\nmake = pa.table\n{USE}",
}


@pytest.mark.parametrize(
    "script",
    ["polars", *(pytest.param(name, marks=pytest.mark.full) for name in ("arrays", "pyarrow"))],
)
def test_arrays_and_frames_of_other_libraries_need_no_pandas(script: str) -> None:
    command = [sys.executable, "-c", WITHOUT + SCRIPTS[script]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
