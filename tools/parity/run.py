"""Freeze the numbers of R's MASS::lda, MASS::qda and rpart, which the tests compare sortal with.

    python tools/parity/run.py            run R and write tests/parity/mass.json and rpart.json
    python tools/parity/run.py --check    run R and fail if its numbers differ from those files

R with the packages MASS and rpart is needed here only; the tests read the files. `mass_lda.R` says
what is asked of MASS, `rpart.R` what of rpart. Three tables: iris, the measurements of the penguins
(complete rows), and a made one of four classes of very unequal sizes whose columns differ in scale;
mass.json holds the made one. rpart sends a number that equals a threshold to the right, sortal to
the left, and measurements on a grid do meet thresholds halfway: rpart has them off the grid.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from sortal import datasets

ROOT: Final = Path(__file__).resolve().parents[2]
SCRIPTS: Final = Path(__file__).parent
FROZEN: Final = {name: ROOT / "tests" / "parity" / f"{name}.json" for name in ("mass", "rpart")}
FOLDS: Final = 10
EVERY: Final = 5  # per-row numbers are kept for every fifth row
TOLERANCE: Final = 1e-10  # relative

Table: TypeAlias = tuple[list[str], list[list[float]], list[str]]  # columns, rows, classes


class ParityError(Exception):
    """R cannot be run, or its numbers are not the frozen ones."""


# --- Tables --------------------------------------------------------------------------------------


def from_frame(frame: Any, columns: list[str]) -> Table:
    """The complete rows of some columns of numbers, and the species."""
    kept = frame.dropna(subset=columns)
    return columns, kept[columns].to_numpy(float).tolist(), kept["species"].tolist()


def made_table() -> Table:
    """120 rows of 4 classes, in no order, of 6 correlated columns in very different units."""
    random = np.random.default_rng(20)
    sizes, units = [70, 28, 13, 9], np.array([0.05, 1.0, 3.0, 40.0, 1e3, 2e5])
    label = random.permutation(np.repeat(np.arange(4), sizes))
    centers = 0.7 * random.normal(size=(4, 6))
    mixing = np.eye(6) + 0.4 * random.normal(size=(6, 6))
    values = (centers[label] + random.normal(size=(120, 6)) @ mixing + 3.0) * units
    rows = [[float(f"{value:.6g}") for value in row] for row in values]
    return [f"x{j}" for j in range(1, 7)], rows, [f"class {k}" for k in label]


def tables() -> dict[str, Table]:
    """What MASS is asked about."""
    flowers = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    birds = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    return {
        "iris": from_frame(datasets.iris(), flowers),
        "penguins": from_frame(datasets.penguins(), birds),
        "unequal": made_table(),
    }


def off_grid(rows: list[list[float]]) -> list[list[float]]:
    """Every row moved by less than a twentieth, another way than the rows beside it."""
    return [[x + 1e-4 * (37 * i % len(rows)) for x in row] for i, row in enumerate(rows)]


def with_folds(table: Table) -> Table:
    """A table as rpart gets it: off the grid, with folds by the number of the row."""
    columns, rows, label = table
    folded = [[*row, float(i % FOLDS)] for i, row in enumerate(off_grid(rows))]
    return [*columns, "fold"], folded, label


def write_csv(path: Path, table: Table) -> None:
    """A table as the scripts read it."""
    columns, rows, label = table
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*columns, "class"])
        writer.writerows([*row, name] for row, name in zip(rows, label, strict=True))


# --- R -------------------------------------------------------------------------------------------


def run_r(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Rscript's answer; without Rscript an error that says what to install."""
    program = shutil.which("Rscript")
    if program is None:
        raise ParityError(
            "Rscript was not found. Install R with its packages MASS and rpart (Debian: "
            "r-base-core, r-cran-mass, r-cran-rpart), or leave the frozen numbers as they are."
        )
    command = [program, "--vanilla", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603


def fresh() -> dict[str, dict[str, Any]]:
    """The numbers of the R that is installed, to 15 significant digits, by package."""
    asked = tables()
    mass = answer("MASS", "mass_lda.R", "mass.json", asked, str(EVERY))
    _, rows, label = asked["unequal"]
    mass["tables"]["unequal"]["data"] = {"rows": rows, "class": label}
    folded = {key: with_folds(table) for key, table in asked.items()}
    rpart = answer("rpart", "rpart.R", "rpart.json", folded)
    return {"mass": dict(rounded(mass)), "rpart": dict(rounded(rpart))}


def answer(
    package: str, script: str, file: str, asked: dict[str, Table], *more: str
) -> dict[str, Any]:
    """What a script says about some tables."""
    if run_r(["-e", f"library({package})"]).returncode != 0:
        debian = f"r-cran-{package.lower()}"
        raise ParityError(f"R is here, but not its package {package} (Debian: {debian}).")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key, table in asked.items():
            write_csv(folder / f"{key}.csv", table)
        done = run_r([str(SCRIPTS / script), name, *more])
        if done.returncode != 0:
            raise ParityError(f"{script} failed:\n{done.stderr}")
        result: dict[str, Any] = json.loads((folder / file).read_text(encoding="utf-8"))
    return result


# --- The file ------------------------------------------------------------------------------------


def rounded(value: Any) -> Any:
    """The same with 15 significant digits."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.15g}") if isinstance(value, float) else value


def written(value: Any, indent: str = "") -> str:
    """JSON with a line for each name, and one for each row of a matrix."""
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(k)}: {written(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], list):
        rows = [inner + json.dumps(row, separators=(",", ":")) for row in value]
        return "[\n" + ",\n".join(rows) + f"\n{indent}]"
    return json.dumps(value)


def differences(old: Any, new: Any, place: str = "") -> list[str]:
    """Where two files differ by more than the tolerance."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return [line for k in old for line in differences(old[k], new[k], f"{place}/{k}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, f"{place}/{i}")]
    if isinstance(old, int | float) and isinstance(new, int | float):
        same = math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=1e-300)
    else:
        same = old == new
    return [] if same else [f"{place}: frozen {old!r}, now {new!r}"]


def check() -> None:
    """Compare the numbers of this R with the frozen ones; versions may differ."""
    for name, new in fresh().items():
        old = json.loads(FROZEN[name].read_text(encoding="utf-8"))
        print(f"{name}: frozen with {old['versions']}, compared with {new['versions']}")
        found = differences(old["tables"], new["tables"], "tables")
        if found:
            shown = "\n".join(found[:20])
            raise ParityError(
                f"{FROZEN[name].name} differs, number of places: {len(found)}\n{shown}"
            )
    print(f"all numbers agree to {TOLERANCE:g}")


def main() -> int:
    """Write the file, or compare with it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a difference")
    try:
        if parser.parse_args().check:
            check()
        else:
            for name, numbers in fresh().items():
                FROZEN[name].write_text(written(numbers) + "\n", encoding="utf-8")
                print(f"wrote {FROZEN[name].relative_to(ROOT)}")
    except ParityError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
