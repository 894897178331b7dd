"""The documentation runs, and says what runs."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


def load_tool() -> Any:
    spec = spec_from_file_location("docs_tool", ROOT / "tools" / "docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = load_tool()


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in TOOL.pages()])
def test_a_page_prints_what_it_says(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert TOOL.regenerate(text) == text


@pytest.mark.parametrize(
    "module",
    [
        *(
            f"estimators.{name}"
            for name in ("bayes", "fisher", "indicator", "linear", "neighbors", "tree")
        ),
        "tasks.load",
        "tasks.fit",
        "tasks.partition",
        "tasks.reporting.saying",
        "tasks.sklearn_tree",
        "tasks.work",
    ],
)
def test_the_examples_in_docstrings_run(module: str) -> None:
    done = doctest.testmod(import_module(f"sortal.{module}"))
    assert done.attempted > 0
    assert done.failed == 0


def test_a_wrong_output_is_noticed() -> None:
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert "2\n" in TOOL.regenerate(page)


def test_blocks_share_a_namespace_and_consoles_a_folder(tmp_path: Path) -> None:
    page = "```python\na = 1\n```\nand\n```python\nprint(a)\n```\n\n```text\n```\n"
    assert "```text\n1\n```" in TOOL.regenerate(page)
    assert (
        TOOL.run_console("$ echo hi > x\n$ cat x\n", str(tmp_path))
        == "$ echo hi > x\n$ cat x\nhi\n"
    )


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in TOOL.pages()])
def test_links_within_the_project_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    missing = [t for t in targets if not ((ROOT / page).parent / t).exists()]
    assert missing == []
