"""A model file taken apart, to be changed and put together again with right checksums.

The numbers of each array are a part of their own, under arrays/ and its name.
"""

import io
import json
import math
from contextlib import suppress
from hashlib import sha256
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from sortal.modelfile.arrays import TYPES

Members = dict[str, bytes]
Path = tuple[Any, ...]


class Draft:
    """The parts of a file. `raw` are texts to put into the JSON that no JSON writer would write."""

    def __init__(self, members: Members) -> None:
        self.members = dict(members)
        self.members.pop("SHA256SUMS")
        self.manifest: Any = json.loads(self.members.pop("manifest.json"))
        numbers = io.BytesIO(self.members.pop("arrays"))
        for entry in self.manifest["arrays"]:
            size = math.prod(entry["shape"]) * TYPES[entry["type"]].itemsize
            self.members["arrays/" + entry["name"]] = numbers.read(size)
        self.raw: dict[str, str] = {}

    def get(self, path: Path) -> Any:
        item = self.manifest
        for step in path:
            item = item[step]
        return item

    def set(self, path: Path, value: Any) -> None:
        if isinstance(value, Raw):
            mark = f"raw text {len(self.raw)}"
            self.raw[json.dumps(mark)] = value.text
            value = mark
        if path:
            self.get(path[:-1])[path[-1]] = value
        else:
            self.manifest = value

    def delete(self, path: Path) -> None:
        del self.get(path[:-1])[path[-1]]

    def entries(self) -> list[dict[str, Any]]:
        return list(self.manifest["arrays"])

    def array(self, entry: dict[str, Any]) -> np.ndarray[Any, Any]:
        data = self.members["arrays/" + entry["name"]]
        return np.frombuffer(data, TYPES[entry["type"]]).reshape(entry["shape"]).copy()

    def put(self, entry: dict[str, Any], array: np.ndarray[Any, Any]) -> None:
        self.members["arrays/" + entry["name"]] = array.astype(TYPES[entry["type"]]).tobytes()
        entry["shape"] = list(array.shape)

    def text(self) -> bytes:
        text = json.dumps(self.manifest)
        for mark, raw in self.raw.items():
            text = text.replace(mark, raw)
        return text.encode()

    def renewed(self) -> list[tuple[str, bytes]]:
        odd = KeyError, TypeError, IndexError, ValueError, StopIteration
        with suppress(*odd):  # what is so odd has no fingerprint
            self.manifest["data"]["fingerprint"] = "sha256:" + self.fingerprint()
        others = {n: data for n, data in self.members.items() if not n.startswith("arrays/")}
        members = {"manifest.json": self.text(), "arrays": self.numbers(), **others}
        return [*members.items(), ("SHA256SUMS", sums(members))]

    def numbers(self) -> bytes:
        return b"".join(data for n, data in self.members.items() if n.startswith("arrays/"))

    def fingerprint(self) -> str:
        if self.manifest["data"]["of"] == "summary":
            return self.of_summary()
        model, schema = self.manifest["model"], self.manifest["schema"]
        if self.manifest["data"]["of"] == "root":
            name = model["units"]["array"]
            entry = next(e for e in self.entries() if e["name"] == name)
            root = self.array(entry)[0].tolist()
            ranges = model["ranges"]
            of: Any = [schema, [root, model["exponent"], ranges, model["missing_counts"]]]
        else:
            of = [schema, sha256(self.numbers()).hexdigest()]
        return sha256(json.dumps(of).encode()).hexdigest()

    def of_summary(self) -> str:
        """Of the summary as a record by itself."""
        summary = self.manifest["state"]["summary"]
        refs = [p for p in paths(summary) if p[-1:] == ("array",)]
        names = dict.fromkeys(self.get(("state", "summary", *path)) for path in refs)
        listed = {entry["name"]: entry for entry in self.entries()}
        own = {name: name.removeprefix("summary.") for name in names}
        entries = [{**listed[name], "name": short} for name, short in own.items()]
        digests = {
            short: sha256(self.members["arrays/" + name]).hexdigest() for name, short in own.items()
        }
        text = json.dumps([summary, entries, digests])
        return sha256(text.replace('{"array": "summary.', '{"array": "').encode()).hexdigest()


class Raw:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text[:20]


def sums(members: Members) -> bytes:
    lines = [f"{sha256(data).hexdigest()}  {name}\n" for name, data in members.items()]
    return "".join(lines).encode("utf-8", "replace")


def packed(members: list[tuple[str, bytes]], method: int = ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        for name, data in members:
            archive.writestr(ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, method)
    return file.getvalue()


def paths(item: Any, path: Path = ()) -> list[Path]:
    found = [path]
    if isinstance(item, dict):
        for name, part in item.items():
            found += paths(part, (*path, name))
    elif isinstance(item, list):
        for i, part in enumerate(item):
            found += paths(part, (*path, i))
    return found
