"""Freeze R's distances and nearest neighbors, which the tests compare sortal's with.

    python -m tools.parity.run_neighbors    run R and write tests/parity/neighbors.json

R with the packages class and cluster is needed here only; the tests read the file. `neighbors.R`
says what is asked. Two tables: penguins, all that have missing values and every ninth of the
others, with island and sex (two have no number at all); and the made one of `run.py`, whose rows
are in mass.json.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from tools.parity.run import (
    ROOT,
    SCRIPTS,
    ParityError,
    made_table,
    rounded,
    run_r,
    write_csv,
    written,
)

from sortal import datasets

FROZEN: Final = ROOT / "tests" / "parity" / "neighbors.json"


def birds() -> Any:
    """Words, numbers and missing values; the rows are numbered anew."""
    frame = datasets.penguins().drop(columns=["species", "year"])
    kept = frame.isna().any(axis=1) | (frame.index % 9 == 0)
    return frame[kept].reset_index(drop=True)


def answer() -> dict[str, Any]:
    """What the script says."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        birds().to_csv(folder / "birds.csv", index=False, na_rep="NA")
        write_csv(folder / "unequal.csv", made_table())
        done = run_r([str(SCRIPTS / "neighbors.R"), name])
        if done.returncode != 0:
            raise ParityError(f"neighbors.R failed:\n{done.stderr}")
        found: dict[str, Any] = json.loads((folder / "neighbors.json").read_text(encoding="utf-8"))
    return found


def main() -> int:
    """Write the file."""
    try:
        found = answer()
    except ParityError as error:
        print(error, file=sys.stderr)
        return 1
    FROZEN.write_text(written(rounded(found)) + "\n", encoding="utf-8")
    print(f"wrote {FROZEN.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
