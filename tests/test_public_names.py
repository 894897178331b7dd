"""How the package gives its public names; which there are, with signatures, is in tests/pins."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import sortal


def test_the_names_of_the_package_are_listed() -> None:
    assert dir(sortal) == sorted(sortal.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Tree'"):
        _ = sortal.Tree


def test_the_version_is_that_of_the_metadata() -> None:
    assert sortal.__version__ == version("sortal")


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = ("numpy", "sklearn", "pandas", "matplotlib")
    script = f"import sys, sortal; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
