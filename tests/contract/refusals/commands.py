"""What commands refuse before they do anything; `tests/cli/test_problems.py` has their endings."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.contract.refusals.table import Refusal

from sortal.cli.options import read_cost_options, read_settings
from sortal.errors import ParameterError

COSTS: Final = [
    (["a->b=2"], "a=0.5", "--cost and --threshold.*one of them"),
    (["a->b"], None, "--cost 'a->b' cannot be read.*= and a number.*--cost 'yes->no=10'"),
    (["a->b=x"], None, "--cost 'a->b=x' cannot be read"),
    (["a=2"], None, "true and the predicted class, such as --cost 'yes->no=10'"),
    (["a->=2"], None, "true and the predicted class"),
    (["a->b->c=2"], None, "in double quotes"),
    (['"a->b->c=2'], None, "in double quotes"),
    (["a->b=-1"], None, "each error once, and a finite number of at least 0"),
    (["a->b=inf"], None, "a finite number of at least 0"),
    (["a->b=1", "a->b=2"], None, "each error once"),
    (["balanced", "a->b=2"], None, "balanced stands alone"),
    ([], "a", "--threshold 'a' cannot be read.*--threshold yes=0.2"),
    ([], "a=0", "above 0 and below 1"),
    ([], "a=1", "above 0 and below 1"),
    ([], "a=nan", "above 0 and below 1"),
]
REFUSALS: Final = [
    Refusal(
        "a setting without a value", lambda: read_settings(["a"]), ParameterError, "max_depth=3"
    ),
    Refusal(
        "a setting without a name", lambda: read_settings(["=1"]), ParameterError, "max_depth=3"
    ),
    Refusal("a setting twice", lambda: read_settings(["a=1", "a=2"]), ParameterError, "twice"),
    *(
        Refusal(
            f"cost {given} {threshold}",
            partial(read_cost_options, given, threshold),
            ParameterError,
            words,
        )
        for given, threshold, words in COSTS
    ),
]
