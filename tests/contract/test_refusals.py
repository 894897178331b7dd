"""Every refusal of the tables in `refusals`: the error is ours, and its words say what to do."""

from importlib import import_module
from pathlib import Path

import pytest
from tests.contract.refusals.table import Refusal

PARTS = sorted(
    path.stem for path in (Path(__file__).parent / "refusals").glob("*.py") if path.stem != "table"
)
TABLE = {
    f"{part}: {row.what}": row
    for part in PARTS
    for row in import_module(f"tests.contract.refusals.{part}").REFUSALS
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("refusal", TABLE.values(), ids=TABLE)
def test_it_is_refused_in_words_that_help(refusal: Refusal) -> None:
    with pytest.raises(refusal.error, match=f"(?s){refusal.words}") as raised:
        refusal.call()
    assert type(raised.value) is refusal.error


def test_rows_have_names_of_their_own() -> None:
    rows = [import_module(f"tests.contract.refusals.{part}").REFUSALS for part in PARTS]
    assert len(TABLE) == sum(map(len, rows))
