"""Labels that no learner can use."""

from typing import Final

from tests.contract.refusals.table import Refusal

from sortal import LinearDiscriminant
from sortal.errors import LabelError

REFUSALS: Final = [
    Refusal(
        "one label for two rows",
        lambda: LinearDiscriminant().fit([[1.0], [2.0]], ["a"]),
        LabelError,
        "2 rows.*1 label.*one label a row",
    ),
]
