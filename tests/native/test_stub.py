"""The typed stub of the compiled module says what the module says."""

import subprocess
import sys
from pathlib import Path

from tests.contract.refusals.compiled import SOUND

STUB = Path(__file__).resolve().parents[2] / "src" / "sortal" / "native" / "_core.pyi"


def test_the_stub_is_the_one_nanobind_writes(tmp_path: Path) -> None:
    """When this fails after a change of the bindings, `make stub` writes it again."""
    fresh = tmp_path / "_core.pyi"
    command = ["-m", "nanobind.stubgen", "-q", "-m", "sortal.native._core", "-o", str(fresh)]
    subprocess.run([sys.executable, *command], check=True)
    assert fresh.read_text(encoding="utf-8") == STUB.read_text(encoding="utf-8")


def test_what_refusals_change_is_sound() -> None:
    for call in SOUND:
        call()
