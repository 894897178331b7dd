"""Run the documentation: every `python` block, comparing or writing the `text` block after it.

    python tools/docs.py            run all pages and write their outputs
    python tools/docs.py --check    run all pages and fail if an output differs

The python blocks of a page share one namespace; what a block prints is the `text` block that
follows it. A `console` block holds commands after `$` and what they print; those of a page are run
in one folder, which is empty at first, with this Python's own `python` and `sortal`.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.M | re.S)

# 2026-01-01: the day that models name, which would make another page every day.
NEW_YEAR = "1767225600"


def pages() -> list[Path]:
    """Every page of the documentation."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def regenerate(text: str) -> str:
    """A page with the outputs of its blocks as they are now."""
    namespace: dict[str, object] = {"__name__": "page"}
    with tempfile.TemporaryDirectory() as folder:

        def renew(match: re.Match[str]) -> str:
            language, code, _ = match.groups()
            if language == "console":
                return f"```console\n{run_console(code, folder)}```\n"
            printed = run_python(code, namespace)
            output = f"\n```text\n{printed}```\n" if printed else ""
            return f"```python\n{code}```\n{output}"

        return FENCE.sub(renew, text)


def run_python(code: str, namespace: dict[str, object]) -> str:
    """What a block prints; a block that fails, or warns unasked, stops the run."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(code, "<page>", "exec"), namespace)  # noqa: S102  (our own documentation)
    return "".join(line.rstrip() + "\n" for line in printed.getvalue().splitlines())


def run_console(block: str, folder: str) -> str:
    """The block's commands with what they print now."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    lines = []
    for command in [line[2:] for line in block.splitlines() if line.startswith("$ ")]:
        done = subprocess.run(  # noqa: S602  (our own documentation)
            command,
            shell=True,
            cwd=folder,
            env={**os.environ, "PATH": path, "SOURCE_DATE_EPOCH": NEW_YEAR},
            capture_output=True,
            text=True,
            check=False,
        )
        lines += [f"$ {command}", *(done.stdout + done.stderr).splitlines()]
    return "".join(line.rstrip() + "\n" for line in lines)


def main() -> int:
    """Write the pages, or say how they differ."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail on a difference")
    check = parser.parse_args().check
    stale = 0
    for page in pages():
        old = page.read_text(encoding="utf-8")
        new = regenerate(old)
        if new == old:
            continue
        stale += 1
        name = str(page.relative_to(ROOT))
        if check:
            sys.stdout.writelines(
                difflib.unified_diff(
                    old.splitlines(keepends=True), new.splitlines(keepends=True), name, "as run now"
                )
            )
        else:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {name}")
    if check and stale:
        print(f"{stale} pages are out of date: run `make docs` and look at the difference.")
    return 1 if check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
