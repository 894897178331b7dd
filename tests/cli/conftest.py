"""A folder with a table and models, and a way to run commands in it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from sortal import datasets
from sortal.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Penguins, and a tree and a linear discriminant of them."""
    folder = tmp_path_factory.mktemp("store")
    table = folder / "penguins.csv"
    datasets.penguins().to_csv(table, index=False)
    for learner, name in (("tree", "model"), ("lda", "lda")):
        model = str(folder / f"{name}.sortal")
        assert main(["fit", str(table), "-t", "species", "-l", learner, "-o", model, "-q"]) == 0
    return folder


@pytest.fixture
def here(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own with these files, where one is."""
    for file in store.iterdir():
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(here: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Runs a command in that folder."""

    def call(*arguments: str) -> Done:
        capsys.readouterr()
        code = main(list(arguments))
        told = capsys.readouterr()
        assert "Traceback" not in told.err
        return Done(code, told.out, told.err)

    return call
