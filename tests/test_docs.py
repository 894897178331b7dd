"""The documentation runs, and says what runs.

The commands of README are processes, as a reader starts them. On other pages those are that README
does not have, and what a shell must take apart. The rest is run here: a process would take seconds
to import what is imported already.
"""

from __future__ import annotations

import io
import re
import shlex
import subprocess
from contextlib import chdir, redirect_stderr, redirect_stdout
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from sortal.cli import main

ROOT = Path(__file__).resolve().parent.parent
NOT_IN_README: Final = ("docs/commands.md", "report")


def load_tool(name: str) -> Any:
    spec = spec_from_file_location(f"{name}_tool", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = load_tool("docs")


def is_run_here(page: str, command: str) -> bool:
    """Whether it is a plain command of ours that is a process elsewhere."""
    words = shlex.split(command)
    is_plain = words[0] == "sortal" and not re.search(r"[|<>;&$*]", command)
    return is_plain and page != "README.md" and (page, words[1]) != NOT_IN_README


def run_here(command: str, cwd: str, **_: Any) -> subprocess.CompletedProcess[str]:
    """What a process would give."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        code = main(shlex.split(command)[1:])
    return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())


PAGES: Final = [str(page.relative_to(ROOT)) for page in TOOL.pages()]
# They start processes, compare learners, write reports or draw, as tests of their own do; or print
# a missing value, which is None with older versions of pandas.
SLOW: Final = {
    *("README.md", "docs/commands.md", "docs/report.md", "docs/comparing.md"),
    "docs/reading_files.md",
    *(f"docs/worked/{name}.md" for name in ("tree", "tree_reading", "kernel")),
}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.full] * (page in SLOW)) for page in PAGES]
)
def test_a_page_prints_what_it_says(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: str, **how: Any) -> Any:
        return (run_here if is_run_here(page, command) else subprocess.run)(command, **how)

    monkeypatch.setattr(TOOL, "subprocess", SimpleNamespace(run=run))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", TOOL.NEW_YEAR)  # as the pages are written
    if page != "README.md":  # more workers change nothing, and each imports everything
        monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    text = (ROOT / page).read_text(encoding="utf-8")
    assert TOOL.regenerate(text) == text


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


@pytest.mark.parametrize("page", PAGES)
def test_links_within_the_project_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    missing = [t for t in targets if not ((ROOT / page).parent / t).exists()]
    assert missing == []


def test_the_first_screen_says_how_to_begin() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:30]
    for words in ("pip install .", "make demo", "make test", "sortal compare ", "sortal report "):
        assert [line for line in lines if line.strip().startswith(words)], words


def test_photographs_belong_to_the_report_of_their_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = load_tool("report_pictures")
    kept = tool.RECORD.read_text(encoding="utf-8")
    text = kept.split("\n\n", 1)[1]
    assert "Take linear discriminant" in text
    assert tool.check(text) == 0
    assert tool.check(text.replace("Take", "Use")) == 1
    assert "run tools/report_pictures.py" in capsys.readouterr().out
    monkeypatch.setattr(tool, "COMMAND", "sortal report other.csv")
    assert tool.check(text) == 1
    assert "README.md has a picture of the report and not the command" in capsys.readouterr().out
    monkeypatch.undo()
    for one in tool.PICTURES.glob("report_*.png"):
        (tmp_path / one.name).write_bytes(one.read_bytes() + b"another")
    monkeypatch.setattr(tool, "PICTURES", tmp_path)
    assert tool.check(text) == 1


def test_what_a_photograph_shows() -> None:
    tool = load_tool("report_pictures")
    page = (
        "<nav><a>In short</a></nav><h1>no</h1>"
        '<section id="summary"><p>Take <b>this</b>.</p><p>A &lt; B</p></section>'
        '<section id="decide"><script>no</script><label>x</label></section><p>no</p>'
        '<figure id="picture-tree-tree"><figure>error</figure><svg><text>node 0</text></svg>'
        "</figure><figure>no</figure>"
    )
    lines = "In short\nTake this .\nA < B\nx\nerror node 0\n"
    assert tool.shown(page) == lines
    with pytest.raises(SystemExit, match="summary"):
        tool.shown("<nav></nav>")


def test_every_picture_has_a_tool_that_knows_whether_it_is_stale() -> None:
    shown = {
        Path(name).name
        for page in TOOL.pages()
        for name in re.findall(r"\]\(([^)]*pictures/[^)]+)\)", page.read_text(encoding="utf-8"))
    }
    folder = ROOT / "docs" / "pictures"
    drawn = (ROOT / "tools" / "pictures.py").read_text(encoding="utf-8")
    kept = "".join((folder / f"{name}.txt").read_text("utf-8") for name in ("report", "tree"))
    for name in shown:
        if name.endswith(".svg"):  # drawn anew each time
            assert f'"{Path(name).stem}": draw_' in drawn, name
        else:
            assert sha256((folder / name).read_bytes()).hexdigest() in kept, name
