"""A report in Markdown, with pictures as files beside it."""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from sortal.data.atomic_write import draft_folder, flush, replace_file
from sortal.errors import InputError
from sortal.records import render as faces
from sortal.tasks.report.parts import has_form

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sortal.pictures.scene import Picture
    from sortal.tasks.report.gather import ReportFacts
    from sortal.tasks.report.models import ModelFacts


# --- A report in Markdown and its pictures as files: all of them, or none ------------------------
# The name of a picture ends with a hash of its bytes. So the pictures of a new text lie beside
# those of the old one until the text is replaced, and a file of somebody else is never taken for
# one.

_NAME = re.compile(r"(.+)-[0-9a-f]{16}\.png")


def picture_file(name: str, data: bytes) -> str:
    """What the file of a picture is called."""
    return f"{name}-{hashlib.sha256(b'sortal' + data).hexdigest()[:16]}.png"


def save_markdown(text: str, pictures: Mapping[str, bytes], path: Path, folder: Path) -> None:
    """Write a text and its pictures, by file name; then remove the pictures of an older text.

    If anything fails, the old text and its old pictures stay, and nothing new does. Files in the
    folder that are not pictures of a report are left alone.
    """
    if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
        raise InputError(f"{str(folder)!r} is no folder, and pictures go there: rename it.")
    is_new = not folder.exists()
    # only what is there already: another report of that name may be on its way
    old = [] if is_new else [one for one in folder.iterdir() if _is_ours(one)]
    added: list[Path] = []
    try:
        with replace_file(path) as draft, draft_folder(folder, path) as drafts:
            draft.write_text(text, encoding="utf-8")
            missing = {name: data for name, data in pictures.items() if _lacks(folder, name, data)}
            for name, data in missing.items():
                (drafts / name).write_bytes(data)
                flush(drafts / name)
            folder.mkdir(exist_ok=True)
            for name in missing:
                (drafts / name).rename(folder / name)
                added.append(folder / name)
            flush(folder)
    except BaseException:
        for one in added:
            one.unlink()
        if is_new and folder.exists():
            folder.rmdir()
        raise
    for one in old:
        if one.name not in pictures:
            one.unlink(missing_ok=True)


def _lacks(folder: Path, name: str, data: bytes) -> bool:
    """Whether a picture has to be written."""
    file = folder / name
    if not os.path.lexists(file):
        return True
    if not file.is_file() or file.read_bytes() != data:
        raise InputError(
            f"{str(file)!r} is where a picture goes, and something else is there: move it, or give "
            "the report another name."
        )
    return False


def _is_ours(file: Path) -> bool:
    """Whether a file is a picture of a report: its name has the hash of what is in it."""
    name = _NAME.fullmatch(file.name)
    is_file = file.is_file() and not file.is_symlink()
    return name is not None and is_file and picture_file(name[1], file.read_bytes()) == file.name


_MODELS = (
    "Each model was fitted to all rows. How often it is right was judged on rows that it had not "
    "learned from."
)


def markdown(facts: ReportFacts, folder: str) -> tuple[str, dict[str, bytes]]:
    """The text, and the pictures by file name; the text expects them in the folder."""
    writer = _Writer(folder)
    parts = [
        f"# {faces.marked(facts.title)}",
        f"{faces.marked(facts.data.title)} · {facts.date}",
        *_answer(facts),
        *_deciding(facts),
        *_data(facts),
        *_comparison(facts, writer),
        "## The models",
        _MODELS,
    ]
    for model in facts.models:
        parts += _model(model, model.name == facts.chosen, writer)
    parts += [*_working(facts), *_reproduction(facts)]
    return "\n\n".join(parts) + "\n", writer.pictures


class _Writer:
    """Pictures, written once and shown by name."""

    def __init__(self, folder: str) -> None:
        self._folder, self.pictures = quote(folder), dict[str, bytes]()

    def show(self, picture: Picture, level: int) -> list[str]:
        """A picture with its title, what it shows in words, and its data."""
        data = picture.png()
        name = picture_file(picture.name, data)
        self.pictures[name] = data
        alt = faces.marked(picture.alt)
        parts = [
            f"{'#' * level} {faces.marked(picture.title)}",
            f"![{alt}]({self._folder}/{name})",
        ]
        if picture.note:
            parts.append(faces.marked(picture.note))
        if picture.table is not None:
            parts.append(_folded(picture.table.to_markdown(level + 1), "The data of this picture"))
        if picture.code:
            parts.append(_folded(_code(picture.code, "python"), "The code that draws it"))
        return parts


def _folded(text: str, title: str) -> str:
    return f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


def _answer(facts: ReportFacts) -> list[str]:
    told = facts.answer
    asked = {
        "Which model?": told.which,
        "Why this one?": told.why,
        "How sure is it?": told.how_sure,
        "What does it do with a new row?": told.new_row,
    }
    return ["## In short", *(f"**{ask}** {_paragraphs(say)}" for ask, say in asked.items())]


def _paragraphs(words: str) -> str:
    return "\n\n".join(faces.marked(part) for part in words.split("\n\n"))


def _deciding(facts: ReportFacts) -> Iterator[str]:
    """What stands here for the form of the page."""
    if facts.chosen is None:
        return
    yield "## Try a row"
    if has_form(facts.decide):
        yield "In the page of this report (HTML) one types in a row. In Python:"
    yield _code(
        'import sortal\n\nmodel = sortal.load("model.sortal")  # see “The same again”\n'
        "print(model.explain(new_rows))",
        "python",
    )


def _data(facts: ReportFacts) -> Iterator[str]:
    yield "## The data"
    if facts.left_out:
        yield faces.marked(facts.left_out)
    yield facts.data.columns.to_markdown(3)
    if facts.data.classes is not None:
        yield facts.data.classes.to_markdown(3)
    yield "### Findings"
    yield _listed([str(finding) for finding in facts.data.findings] or ["none"])
    if facts.data.notes:
        yield "### How the file was read"
        yield _listed(facts.data.notes)


def _listed(lines: list[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {faces.marked(line)}" for line in lines)


def _comparison(facts: ReportFacts, writer: _Writer) -> Iterator[str]:
    found = facts.comparison
    yield "## The comparison"
    yield faces.marked(found.sentence)
    yield found.table.to_markdown(3)
    for picture in facts.pictures:
        yield from writer.show(picture, 3)
    if found.notes:
        yield _listed(found.notes)


def _model(model: ModelFacts, is_chosen: bool, writer: _Writer) -> Iterator[str]:
    title = model.title[:1].upper() + model.title[1:]
    yield f"### {faces.marked(title)}{' (chosen)' if is_chosen else ''}"
    for words in (model.reads, model.note):
        if words:
            yield faces.marked(words)
    for picture in model.pictures:
        yield from writer.show(picture, 4)
    yield from _read(model)
    if model.judged:
        yield "#### How often it is right"
        yield faces.marked(model.judged)
    for picture in model.judged_pictures:
        yield from writer.show(picture, 4)
    if model.errors is not None:
        yield model.errors.to_markdown(4)
    if model.facts is not None:
        yield model.facts.to_markdown(4)


def _read(model: ModelFacts) -> Iterator[str]:
    if model.rules is not None:
        yield "#### Its rules"
        yield model.rules.to_markdown()
    for table in model.tables:
        yield table.to_markdown(4)
    if model.more:
        yield faces.marked(model.more)


def _working(facts: ReportFacts) -> Iterator[str]:
    if facts.working is None:
        return
    yield "## The working"
    yield (
        "The numbers of the chosen model in the order in which one would work them out, each with "
        "the tag of its equation."
    )
    if facts.working_note:
        yield faces.marked(facts.working_note)
    for table in facts.working:
        yield table.to_markdown(3)


def _reproduction(facts: ReportFacts) -> Iterator[str]:
    how = facts.reproduction
    yield "## The same again"
    yield f"The folds follow from the seed {how.seed}."
    for language, code in (("sh", how.command), ("python", how.report_code)):
        if code:
            yield _code(code, language)
    if how.model_code:
        yield "The chosen model:"
        yield _code(how.model_code, "python")
    for what, value in (("File", how.file), ("Fingerprint of the rows", how.fingerprint)):
        if value:
            yield f"{what}: {faces.marked(value)}"
    yield how.versions.to_markdown(3)


def _code(code: str, language: str) -> str:
    """A block of code, with a fence longer than any in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code}\n{fence}"
