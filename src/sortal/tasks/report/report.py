"""Report on a table: everything about which model to take, in one page that can be sent on."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sortal.data.atomic_write import replace_file
from sortal.decision.options import choose
from sortal.errors import ParameterError
from sortal.records.render import fold
from sortal.tasks.compare.settings import ReportOptions
from sortal.tasks.options import read_options, takes
from sortal.tasks.report.gather import gather, plain_facts
from sortal.tasks.tables import ReadOptions, open_table

if TYPE_CHECKING:
    from sortal.tasks.report.gather import Progress, ReportFacts
    from sortal.tasks.tables import DataLike

_READING = tuple(ReadOptions.__annotations__)


# --- The forms that a report is written in -------------------------------------------------------

FORMATS = ("html", "md")

_SUFFIXES = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md"}


def report_format(path: str | os.PathLike[str], given: str | None) -> str:
    """The format asked for, or the one that the name of the file says."""
    if given is not None:
        return choose("format", given, FORMATS)
    suffix = Path(os.fspath(path)).suffix.lower()
    if suffix not in _SUFFIXES:
        raise ParameterError(
            f"The name {os.fspath(path)!r} does not say what to write: end it with .html or .md, "
            "or give format='html' or format='md'."
        )
    return _SUFFIXES[suffix]


def pictures_folder(path: str | os.PathLike[str]) -> Path:
    """Where the pictures of a text of Markdown are; of a.md and a.markdown, two folders."""
    file = Path(path)
    return file.with_name(f"{file.name.removesuffix('.md')}_pictures")


@dataclass(frozen=True, repr=False, eq=False)
class Report:
    """What `report` found: `facts`, and their faces."""

    facts: ReportFacts

    def to_html(self) -> str:
        """A page that holds all it needs."""
        from sortal.tasks.report.page import render  # noqa: PLC0415  (templates are slow)

        return render(self.facts)

    def to_markdown(self, folder: str = "report_pictures") -> tuple[str, dict[str, bytes]]:
        """A text of Markdown, and the PNG pictures that it shows from a folder, by file name."""
        from sortal.tasks.report.markdown import markdown  # noqa: PLC0415  (the same)

        return markdown(self.facts, folder)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON; without pictures."""
        return plain_facts(self.facts)

    def to_text(self, width: int | None = None) -> str:
        """The summary, and the table of the comparison."""
        told = self.facts.answer
        answers = "\n\n".join([told.which, told.why, told.how_sure, told.new_row])
        parts = [self.facts.title, *answers.split("\n\n")]
        words = [fold(" ".join(part.split()), width) for part in parts]
        return "\n\n".join([*words, self.facts.comparison.table.to_text(width)])

    def save(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,  # noqa: A002
    ) -> None:
        """Write a page (.html), or Markdown (.md) with a folder of pictures beside it.

        None as a format means what the name of the file says. A file is written whole or not at
        all; `report.md` comes with the folder `report_pictures`, which is written first.
        """
        form = report_format(path, format)
        if form == "html":
            text = self.to_html()
            with replace_file(path) as draft:
                draft.write_text(text, encoding="utf-8")
            return
        from sortal.tasks.report.markdown import save_markdown  # noqa: PLC0415  (the same)

        folder = pictures_folder(path)
        save_markdown(*self.to_markdown(folder.name), Path(path), folder)

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title = escape(self.facts.title)
        page = escape(self.to_html())
        style = "width: 100%; height: 48rem; border: 1px solid #888"
        return f'<iframe title="{title}" style="{style}" srcdoc="{page}"></iframe>'


@takes(ReportOptions, "reading")
def report(
    data: DataLike,
    target: str,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Report:
    """Look at a table, compare all learners on it, and tell everything about them in one page.

    The table is read once. Learners are compared as by `compare`; each is then fitted to all rows,
    drawn, and evaluated by what it predicted of rows that it had not seen; the calculations of the
    recommended one are shown number by number.

    Parameters
    ----------
    data : path, "-" or data frame
        A CSV, Parquet or JSON-lines file, standard input, or a table.
    target : str
        The column to predict. Rows without a value there are left out, which is stated.
    OPTIONS
    progress : callable, default=None
        Called with how many steps are done, how many there are, what is done now, and the seconds
        left, or None. What it raises ends the report.
    reading :
        For a file, options of `sortal.read`.

    Returns
    -------
    Report
        It has `save`, `to_html`, `to_markdown`, `to_dict` and `facts`, and prints the summary.

    Examples
    --------
    >>> from sortal import datasets
    >>> from sortal.tasks.report.report import report
    >>> found = report(datasets.iris(), "species", learners=["lda"], baselines=False, folds=3,
    ...                repeats=1)
    >>> found.facts.chosen
    'lda'
    """
    reading = cast("ReadOptions", {name: options.pop(name) for name in _READING if name in options})
    if hasattr(options.get("costs"), "tolist"):
        options["costs"] = options["costs"].tolist()  # as the page's code has them
    wishes = replace(read_options(ReportOptions, target, options), reading=reading)
    return Report(gather(open_table(data, **reading), wishes, progress))
