"""Templates, styles and scripts that lie beside the code."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

if TYPE_CHECKING:
    from collections.abc import Iterable


@cache
def environment(package: str, folder: str) -> Environment:
    """Templates of a folder: texts are escaped, what is not given is an error, JSON is short."""
    made = Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return made


@cache
def read_static(name: str, package: str = "sortal.views", folder: str = "static") -> str:
    """The text of a file."""
    return files(package).joinpath(folder, name).read_text(encoding="utf-8")


def joined(names: Iterable[str]) -> str:
    """Scripts of the views, each once."""
    return "\n".join(bare(read_static(name)) for name in dict.fromkeys(names))


def bare(script: str) -> str:
    """A script without what is there for its readers: indents, empty lines and comments."""
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))
