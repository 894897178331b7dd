"""Does `compare` keep its promises: 50,000 × 15 in three minutes, and Ctrl-C within a second?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from harness import Result
from sortal.tasks.compare.compare import compare

if TYPE_CHECKING:
    from sortal.tasks.compare.comparison import Comparison

SEED = 0
PACKAGES = ["sortal", "scikit-learn", "numpy", "pandas"]
N = 50_000

# Seconds after which a comparison is interrupted: at the start of workers, and in several models.
MOMENTS = (0.5, 2.0, 5.0, 12.0, 30.0)

_SCRIPT = """
import sys
import pandas as pd
from sortal.tasks.compare.compare import compare

compare(pd.read_parquet(sys.argv[1]), "class", progress=lambda *told: print(told[2], flush=True))
"""


def mixed(n: int) -> pd.DataFrame:
    """Seven numbers, six columns of words, a truth value and a date; half of them incomplete."""
    rng = np.random.default_rng(SEED)
    y = rng.choice(3, n, p=[0.55, 0.3, 0.15])
    columns: dict[str, object] = {}
    for j in range(4):
        columns[f"number_{j}"] = rng.normal(size=n) + 0.35 * (j < 3) * y
    columns["amount"] = np.exp(rng.normal(3 + 0.3 * y, 1.0, n)).round(2)
    columns["age"] = rng.integers(18, 90, n).astype(float)
    for j, levels in enumerate((2, 3, 5, 8, 12, 25)):
        shares = rng.dirichlet(np.full(levels, 2.0), size=3)
        codes = np.array([rng.choice(levels, n, p=p) for p in shares])[y, np.arange(n)]
        columns[f"word_{j}"] = np.array([f"{chr(97 + j)}{v}" for v in range(levels)])[codes]
    columns["member"] = rng.random(n) < 0.3 + 0.15 * y
    days = rng.integers(0, 3_000, n) + 100 * y
    columns["since"] = pd.Timestamp("2015-01-01") + pd.to_timedelta(days, unit="D")
    columns["number_4"] = rng.normal(size=n) * np.where(y == 1, 2.0, 1.0)  # nothing linear
    frame = pd.DataFrame(columns)
    for name in frame.columns[1::2]:
        frame.loc[rng.random(n) < 0.04, name] = None
    return frame.assign(**{"class": np.array(["low", "middle", "high"])[y]})


def whole() -> tuple[Result, Comparison]:
    """The question with a bar, once: it takes minutes."""
    frame, load = mixed(N), os.getloadavg()[0]
    start = time.perf_counter()
    found = compare(frame, "class")
    seconds = time.perf_counter() - start
    result = Result(
        f"compare: {N:,} × {frame.shape[1] - 1} mixed, {len(found.models)} models, at defaults",
        {"compare": seconds},
        "Bar: at most 180 seconds on two cores",
        load,
        ["One run.", "", "```text", str(found), "```"],
    )
    return result, found


def interrupted() -> Result:
    """From Ctrl-C to the end of the process, at several moments; and who is left."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        mixed(N).to_parquet(path)
        ends = {f"after {moment:g} s": _interrupt(path, moment) for moment in MOMENTS}
    return Result(
        f"compare: Ctrl-C, {N:,} × 15 mixed",
        {name: seconds for name, (seconds, _) in ends.items()},
        "Bar: at most 1 second",
        load,
        [f"Workers left: {sum(left for _, left in ends.values())}. One run each."],
    )


def _interrupt(path: Path, moment: float) -> tuple[float, int]:
    process = subprocess.Popen(  # noqa: S603  (our own script)
        [sys.executable, "-c", _SCRIPT, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()  # the comparison has begun
    time.sleep(moment)
    workers = _children(process.pid)
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    process.wait()
    seconds = time.perf_counter() - start
    return seconds, sum(Path(f"/proc/{pid}").exists() for pid in workers)


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()


def results() -> list[Result]:
    """All questions."""
    return [whole()[0], interrupted()]
