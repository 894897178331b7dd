"""The tables that sortal and its peers are both fitted to, and MASS's frozen numbers for them."""

from typing import Any

import numpy as np
import pytest
from tests.parity.peers import Table, frozen

from sortal import datasets


@pytest.fixture(scope="session")
def mass() -> dict[str, Any]:
    tables: dict[str, Any] = frozen("mass")["tables"]
    return tables


@pytest.fixture(scope="session")
def tables(mass: dict[str, Any]) -> dict[str, Table]:
    """Numbers and classes: the rows MASS was given, in its order."""

    def complete(name: str, frame: Any) -> Table:
        columns = mass[name]["columns"]
        kept = frame.dropna(subset=columns)
        return kept[columns].to_numpy(float), kept["species"].to_numpy(str)

    made = mass["unequal"]["data"]
    return {
        "iris": complete("iris", datasets.iris()),
        "penguins": complete("penguins", datasets.penguins()),
        "unequal": (np.array(made["rows"]), np.array(made["class"])),
    }
