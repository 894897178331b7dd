"""`python -m tests.clients`: what works with sortal's estimators, tried and listed.

Each client is a short function with an assertion; its docstring says what is tried. A package that
is not installed fails its clients: `make clients` installs `tests/clients/requirements.txt` into an
environment of its own. The exit code is 1 if one does not work.

    python -m tests.clients           all
    python -m tests.clients shap      those whose text holds the word
"""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from typing import TYPE_CHECKING

import matplotlib as mpl
from tests.clients import packages, scikit_learn

if TYPE_CHECKING:
    from collections.abc import Callable


def main(arguments: list[str]) -> int:
    """Try every client, and print a table."""
    mpl.use("agg")
    warnings.simplefilter("ignore")  # those of other people's code are theirs
    words = [word for word in arguments if not word.startswith("-")]
    both = [*scikit_learn.CLIENTS, *packages.CLIENTS]
    chosen = [c for c in both if all(word in str(c.__doc__) for word in words)]
    worked = [_tried(client) for client in chosen]
    print(f"{sum(worked)} of {len(worked)} clients work")  # noqa: T201
    return int(not all(worked))


def _tried(client: Callable[[], None]) -> bool:
    start = time.monotonic()
    try:
        client()
    except Exception as error:  # noqa: BLE001  (whatever it is, the others are tried too)
        told = f"FAILS {type(error).__name__}: {str(error).strip().splitlines()[:1]}"
        traceback.print_exc()
    else:
        told = "works"
    print(f"{time.monotonic() - start:6.1f} s  {client.__doc__:70} {told}", flush=True)  # noqa: T201
    return told == "works"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
