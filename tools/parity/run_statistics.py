"""Freeze R's classical statistics of discriminants, which the tests compare sortal's with.

    python -m tools.parity.run_statistics    run R and write tests/parity/statistics.json

R with the package MASS is needed here only; the tests read the file. `statistics.R` says what is
asked. The tables are those of `run.py`: iris, the penguins' measurements, and a made one of four
classes of very unequal sizes, whose rows are in mass.json.
"""

from __future__ import annotations

import sys

from tools.parity.run import ROOT, ParityError, answer, rounded, tables, written

FROZEN = ROOT / "tests" / "parity" / "statistics.json"


def main() -> int:
    """Write the file."""
    try:
        found = answer("MASS", "statistics.R", "statistics.json", tables())
    except ParityError as error:
        print(error, file=sys.stderr)
        return 1
    FROZEN.write_text(written(rounded(found)) + "\n", encoding="utf-8")
    print(f"wrote {FROZEN.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
