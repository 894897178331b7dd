"""Freeze trees of R's rpart with priors and losses, which the tests compare sortal's with.

    python tools/parity/rpart_costs.py    run R and write tests/parity/rpart_costs.json

R with the package rpart is needed here only; the tests read the file. `rpart_costs.R` says what is
asked of rpart. Two bundled tables: iris, and the complete rows of the penguins with their island
and sex.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from sortal import datasets

ROOT: Final = Path(__file__).resolve().parents[2]
SCRIPT: Final = Path(__file__).with_name("rpart_costs.R")
FROZEN: Final = ROOT / "tests" / "parity" / "rpart_costs.json"
BIRDS: Final = [
    "island",
    "bill_length_mm",
    "flipper_length_mm",
    "body_mass_g",
    "sex",
]


def tables() -> dict[str, Any]:
    """Columns, and the species as the class."""
    iris, birds = datasets.iris(), datasets.penguins().dropna(subset=BIRDS)
    return {
        "iris": iris.rename(columns={"species": "class"}),
        "penguins": birds[[*BIRDS, "species"]].rename(columns={"species": "class"}),
    }


def main() -> int:
    """Write the file."""
    program = shutil.which("Rscript")
    if program is None:
        print("Rscript was not found: install R with its package rpart.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key, table in tables().items():
            table.to_csv(folder / f"{key}.csv", index=False)
        command = [program, "--vanilla", str(SCRIPT), name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode != 0:
            print(f"rpart_costs.R failed:\n{done.stderr}", file=sys.stderr)
            return 1
        found = json.loads((folder / "rpart_costs.json").read_text(encoding="utf-8"))
    FROZEN.write_text(written(found) + "\n", encoding="utf-8")
    print(f"wrote {FROZEN.relative_to(ROOT)}")
    return 0


def written(value: Any, indent: str = "") -> str:
    """JSON with a line for each name."""
    if not isinstance(value, dict):
        return json.dumps(value, separators=(",", ":"))
    inner = indent + " "
    lines = [f"{inner}{json.dumps(k)}: {written(v, inner)}" for k, v in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


if __name__ == "__main__":
    sys.exit(main())
