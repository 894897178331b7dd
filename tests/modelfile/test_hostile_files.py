"""Changed model files are refused in our words, or give a model that still answers.

No other exception, no end of the process, no endless work, and no more memory than a bound.
"""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

# Neighboring numbers are of one model; steps meet every model and every way to change it.
FULL = pytest.param(range(1, 2001, 5), marks=pytest.mark.full)
EVIDENCE = [
    pytest.param(range(start, start + 2500), marks=pytest.mark.evidence)
    for start in range(2001, 52001, 2500)
]


@pytest.mark.parametrize("numbers", [range(0, 2046, 33), FULL, *EVIDENCE], ids=str)
def test_changed_files_are_refused_in_our_words_or_answer(numbers: range) -> None:
    given = (str(numbers.start), str(numbers.stop), str(numbers.step))
    done = subprocess.run(
        [sys.executable, "-m", "tests.modelfile.hostile_run", *given],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"ended at {lines[-1:]}: {done.stderr[-3000:]}"
    failed = [f"{lines[i - 1]}\n{line}" for i, line in enumerate(lines) if ": failed" in line]
    assert not failed, "\n".join(failed).replace("\\n", "\n")
    assert sum(line.startswith("begins") for line in lines) == len(numbers)
    assert {line for line in lines if line.startswith("as it was")} == {"as it was: answers"}
    reach_every_part_of_the_reader(Counter(lines), len(numbers))


def reach_every_part_of_the_reader(counts: Counter[str], n: int) -> None:
    assert counts["damaged: door"] > 0.3 * n
    assert counts["renewed: behind"] > 0.25 * n  # far more than at the door
    assert counts["renewed: answers"] > 0.05 * n
    if n >= 300:
        # what no checksum covers, such as a comment of the zip
        assert counts["damaged: answers"] > 0
        assert 0 < counts["renewed: door"] < 0.25 * counts["renewed: behind"]
