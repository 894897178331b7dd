"""What used to end in an error of somebody else's: bounds that say so, in the words of ours."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import cpu_count
from tests.modelfile.hostile_run import table

import sortal
from sortal.errors import FormatError, ParameterError, WeightError
from sortal.tasks.compare.fold_run import plan_folds

SOURCES = Path(sortal.__file__).parents[1]


@pytest.mark.parametrize("seed", [2**32, 2**64, 10**5000], ids=["2^32", "2^64", "long"])
def test_a_seed_that_no_fold_can_be_drawn_by(seed: int) -> None:
    with pytest.raises(ParameterError, match="from 0 to 4294967295"):
        sortal.compare(sortal.datasets.iris(), "species", random_state=seed)
    assert plan_folds([50, 50], 10, 1, 2**32 - 1).split(np.arange(100) % 2)


@pytest.mark.parametrize(
    ("rows", "repeats", "most"),
    [(50, 10_000_000, "1,000 times"), (10**6, 20, "13 times"), (10**8, 10**5000, "1 time ")],
    ids=["small", "large", "largest"],
)
def test_more_repeats_than_memory_holds(rows: int, repeats: int, most: str) -> None:
    with pytest.raises(ParameterError, match=f"can be repeated {most}"):
        plan_folds([rows, rows], 10, repeats, 0)
    assert plan_folds([rows, rows], 10, 1, 0).repeats == 1


@pytest.mark.parametrize("column", ["all", "both", "ids", "one"])
def test_infinities_are_looked_at(column: str) -> None:
    inf, n = np.inf, 30
    columns = {
        "all": np.full(n, inf),
        "both": np.where(np.arange(n) % 2, inf, -inf),
        "ids": np.r_[np.arange(1.0, n), inf],
        "one": np.r_[np.full(n - 1, 2.0), -inf],
    }
    frame = pd.DataFrame({column: columns[column], "y": ["a", "b"] * 15})
    for found in (sortal.inspect(frame), sortal.inspect(frame, "y")):
        assert "inf" in str(found)


def test_a_joint_table_of_values_that_were_never_counted() -> None:
    model = sortal.DiscreteBayes("joint").fit(*table())
    cells = model._summary.cells
    assert cells is not None
    forged = (("", *cells.values[0][1:]), *cells.values[1:])
    summary = replace(model._summary, cells=replace(cells, values=forged))
    model._fitted = replace(model._fitted, summary=summary)
    with pytest.raises(FormatError, match="does not fit the schema"):
        model.save("never")  # what could not be read again is not written
    assert not Path("never").exists()


@pytest.mark.full  # it starts them
def test_no_more_workers_than_cores() -> None:
    iris = sortal.datasets.iris()
    found = sortal.compare(
        iris, "species", learners=["lda"], baselines=True, folds=2, repeats=1, n_jobs=300
    )
    assert found.settings.n_jobs <= cpu_count()


REFUSED = """
import resource
from pathlib import Path
import numpy as np
from sortal import NeighborsClassifier
rows = np.random.default_rng(0).normal(size=(900, 4))
wanted = NeighborsClassifier(3, n_jobs=1).fit(rows, np.arange(900) % 2).predict_proba(rows)
model = NeighborsClassifier(3, n_jobs=8).fit(rows, np.arange(900) % 2)
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + (24 << 20)  # a thread's stack takes 8 MB
resource.setrlimit(resource.RLIMIT_AS, (most, most))
print((model.predict_proba(rows) == wanted).all())
"""


@pytest.mark.full  # a process that imports everything
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is bounded as on Linux")
def test_where_threads_are_refused_the_others_do_the_work() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFUSED], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_ctrl_c_is_ours_before_anything_large_is_imported() -> None:
    code = (
        "import sys; before = set(sys.modules); "
        f"sys.path.insert(0, {str(SOURCES)!r}); import sortal.cli; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"typing", "re", "numpy", "inspect"} & set(done.stdout.split())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ridge", [None, 0, "loo"])
def test_weights_of_which_few_count_in_a_kernel_discriminant(ridge: Any) -> None:
    rows, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) // 10
    model = sortal.KernelDiscriminant(ridge=ridge)
    with pytest.raises(WeightError, match="their sum is 1e-50 or more"):
        model.fit(rows, y, sample_weight=np.full(20, 1e-160))
    for heavy in (1, 2):  # only rows of class 0 count
        weights = np.where(np.arange(20) < heavy, 1.0, 1e-160)
        shares = model.fit(rows, y, sample_weight=weights).predict_proba(rows)
        np.testing.assert_array_equal(shares, np.tile([1.0, 0.0], (20, 1)))


def test_a_summary_of_the_other_structure_does_not_agree() -> None:
    naive, joint = (
        sortal.DiscreteBayes(structure).fit(*table()) for structure in ("naive", "joint")
    )
    agrees = sortal.DiscreteBayes._learner.agrees
    for own, other in ((naive, joint), (joint, naive)):
        assert agrees(own._fitted)
        assert not agrees(replace(own._fitted, summary=other._summary))
