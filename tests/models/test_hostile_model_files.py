"""Changed model files are refused in our words, or give a model that still answers.

No other exception, no end of the process, no endless work, and no more memory than a bound.
"""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

FILES = 1000


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """What the process said that loads all files; see `hostile_run`."""
    command = [sys.executable, "-m", "tests.models.hostile_run", "0", str(FILES)]
    root = Path(__file__).parents[2]
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=root, env=alone, capture_output=True, text=True, check=False, timeout=900
    )
    said = done.stdout.splitlines()
    assert done.returncode == 0, f"ended at {said[-1:]}: {done.stderr[-3000:]}"
    return said


def test_every_file_is_refused_in_our_words_or_answers(lines: list[str]) -> None:
    failed = [f"{lines[i - 1]}\n{line}" for i, line in enumerate(lines) if ": failed" in line]
    assert not failed, "\n".join(failed).replace("\\n", "\n")
    assert sum(line.startswith("begins") for line in lines) == FILES


def test_models_that_nobody_changed_answer(lines: list[str]) -> None:
    assert {line for line in lines if line.startswith("as it was")} == {"as it was: answers"}


def test_the_files_reach_every_part_of_the_reader(lines: list[str]) -> None:
    counts = Counter(lines)
    assert counts["damaged: door"] > 0.3 * FILES
    assert counts["damaged: answers"] > 0  # what no checksum covers, such as a comment of the zip
    assert counts["renewed: behind"] > 0.25 * FILES  # far more than at the door
    assert counts["renewed: answers"] > 0.05 * FILES
    assert counts["renewed: door"] > 0
    refused = counts["renewed: behind"] + counts["renewed: door"]
    assert counts["renewed: behind"] > 0.8 * refused
