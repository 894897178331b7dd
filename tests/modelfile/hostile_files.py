"""Model files that someone, or a bad disk, has changed: one for every number, the same each time.

Half of them keep the checksums of the file they come from, so that most are stopped at the door;
the others have right checksums, so that all that stands behind is asked. See `hostile_run`.
"""

import json
import struct
from collections.abc import Callable, Collection
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from tests.modelfile.hostile_drafts import Draft, Members, Raw, packed, paths

Rng = np.random.Generator
Bases = dict[str, bytes]
SURROGATE, LONG = Raw('"\\ud800"'), "long " * 2000

# What may stand anywhere in JSON where something else should.
ODD_VALUES: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 3, 0.5, -0.0, 1e308, -1e308, 5e-324, 2**31, 2**63, -(2**63)),
    *(10**30, Raw("1" + "0" * 400), Raw("9" * 5000), Raw("1e999"), Raw("NaN"), Raw("-Infinity")),
    *("x", "", "\x00", "\u202e\x1b[31m", "../../x", LONG, SURROGATE, "1", "nan", "<U999999999"),
    *([], {}, [[]], [None], [1, 2, 3], ["a", "a"], [1e308, 1e308], [[0, 1], [1, 0]], {"x": 1}),
    *({"number": "nan"}, {"number": "inf"}, {"number": "x"}, {"number": 1}, {"array": "nowhere"}),
    *({"pairs": []}, {"pairs": [["a", 1]]}, {"pairs": [[[], 1]]}, {"pairs": [[1, 1], [True, 2]]}),
    *({"pairs": 3}, {"array": ["x"]}, {"is": "GaussianClasses"}),
    *(Raw("[" * 40 + "]" * 40), Raw("[" * 400 + "]" * 400), Raw("[" * 930 + "]" * 930)),
    *(Raw("[" * 90000 + "]" * 90000), Raw('{"a":' * 450 + "1" + "}" * 450)),
    *(Raw('{"pairs":[["a",' * 200 + "1" + "]]}" * 200), Raw('{"a":1,"a":2}'), Raw("")),
]
ODD_NUMBERS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e160, -1e-160, 5e-324, 0.0, -1.0, 1.0, 3.5]
ODD_SHAPES: list[Any] = [
    *([], [-1], [0], [1], [0, 2**40], [2**24, 0], [2**62, 4], [10**30], [1.0], [True], None, "x"),
    *([0, 0, 0], [1] * 4, [1] * 5, [1] * 70, [2**31, 2**31, 2**31], [-1, -1], [[1]], {"a": 1}),
]


@dataclass(frozen=True)
class Case:
    """A changed file: what was done to which model, and whether its checksums are right."""

    title: str
    base: str
    renewed: bool
    data: bytes


def make(number: int, bases: Bases) -> Case:
    """The file of a number."""
    rng = np.random.default_rng([20, number])
    base, turn = list(bases)[number // 2 % len(bases)], number // 2 // len(bases)
    if number % 2:
        damage = DAMAGES[turn % len(DAMAGES)]
        data = damage(rng, bases[base])
        return Case(f"{number} {base}: {damage.__name__}", base, renewed=False, data=data)
    forge = FORGERIES[turn % len(FORGERIES)]
    draft = Draft(members_of(bases[base]))
    done = forge(rng, draft, bases)
    data, said = (done, "") if isinstance(done, bytes) else (packed(draft.renewed()), done)
    return Case(f"{number} {base}: {forge.__name__} {said}", base, renewed=True, data=data)


def members_of(data: bytes) -> Members:
    """The members of a zip."""
    with ZipFile(BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pick(rng: Rng, items: Any) -> Any:
    """One of them."""
    listed = list(items)
    return listed[int(rng.integers(len(listed)))]


# --- Damage: bytes are changed, checksums are not


def flip_bytes(rng: Rng, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        changed[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def flip_structure(rng: Rng, data: bytes) -> bytes:
    changed = bytearray(data)
    start = data.rindex(b"PK\x05\x06")
    directory = struct.unpack_from("<I", data, start + 16)[0]
    for _ in range(int(rng.integers(1, 4))):
        changed[int(rng.integers(directory, len(data)))] = int(rng.integers(256))
    return bytes(changed)


def falsify_field(rng: Rng, data: bytes) -> bytes:
    changed = bytearray(data)
    mark, fields = pick(rng, HEADERS.items())
    places = [i for i in range(len(data) - 46) if data[i : i + 4] == mark]
    at, (offset, code) = pick(rng, places or [data.rindex(mark)]), pick(rng, fields)
    size = struct.calcsize(code)
    most = (1 << 8 * size) - 1
    numbers = [0, 1, most, most - 1, most // 2 + 1, len(data), len(data) - 1, 8, 12, 14, 99, 0x0801]
    struct.pack_into(code, changed, at + offset, min(pick(rng, numbers), most))
    return bytes(changed)


# Fields of local headers, of the directory and of its end: versions, flags, methods, sizes, places.
HEADERS = {
    b"PK\x03\x04": [*((at, "<H") for at in (4, 6, 8, 26, 28)), (18, "<I"), (22, "<I")],
    b"PK\x01\x02": [
        *((at, "<H") for at in (8, 10, 28, 30)),
        *((at, "<I") for at in (16, 20, 24, 42)),
    ],
    b"PK\x05\x06": [*((at, "<H") for at in (4, 8, 10, 20)), (12, "<I"), (16, "<I")],
}


def cut(rng: Rng, data: bytes) -> bytes:
    a, b = sorted(rng.integers(0, len(data), 2).tolist())
    return bytes(pick(rng, [data[:b], data[a:], data[:a] + data[b:], data[:1], b""]))


def join(rng: Rng, data: bytes) -> bytes:
    junk = rng.bytes(int(rng.integers(1, 5000)))
    return bytes(pick(rng, [data + data, junk + data, data + junk, data + bytes(70000), junk]))


def swap_members(rng: Rng, data: bytes) -> bytes:
    members = list(members_of(data).items())
    i, j = rng.integers(0, len(members), 2).tolist()
    (a, x), (b, y) = members[i], members[j]
    members[i], members[j] = pick(rng, [((a, y), (b, x)), ((b, y), (a, x)), ((a, x), (a, y))])
    return packed(members)


def spoil_member(rng: Rng, data: bytes) -> bytes:
    members = list(members_of(data).items())
    i = int(rng.integers(len(members)))
    name, held = members[i]
    half = held[: len(held) // 2]
    instead: list[Any] = [[(name, half)], [(name, b"")], [(name, held * 2)], [(name, held)] * 2, []]
    instead += [[(name, held), (pick(rng, ODD_NAMES), half)]]
    members[i : i + 1] = pick(rng, instead)
    return packed(members)


ODD_NAMES = [
    *("../../outside", "/etc/outside", "arrays/", "arrays/../x", "a\x00b", "n" * 60000, "SUMMARY"),
    *("arrays/model.x", "summary", "C:\\x", "\u202e", " ", "SHA256SUMS ", "arrays/model.kind/"),
]


def compress(rng: Rng, data: bytes) -> bytes:
    members = list(members_of(data).items())
    bomb = pick(rng, [("arrays", bytes(20_000_000)), ("manifest.json", b" " * 20_000_000)])
    return packed(pick(rng, [members, [*members, bomb], [bomb]]), ZIP_DEFLATED)


DAMAGES = [
    *(flip_bytes, flip_structure, falsify_field, cut, join, swap_members, spoil_member, compress)
]


# --- Forgeries: checksums are right


def odd_value(rng: Rng, draft: Draft, bases: Bases) -> str:
    return put_odd(rng, draft, paths(draft.manifest)[1:])


def odd_model(rng: Rng, draft: Draft, bases: Bases) -> str:
    """Where the list of arrays is not."""
    part = pick(rng, ["model", "state", "options", "options", "schema", "data"])
    return put_odd(rng, draft, [p for p in paths(draft.manifest) if p[:1] == (part,)])


def put_odd(rng: Rng, draft: Draft, places: list[Any]) -> str:
    place = pick(rng, places)
    value = pick(rng, ODD_VALUES)
    draft.set(place, value)
    return f"{place} = {str(value)[:30]}"


def other_number(rng: Rng, draft: Draft, bases: Bases) -> str:
    numbers = [p for p in paths(draft.manifest) if type(draft.get(p)) in (int, float)]
    place = pick(rng, [p for p in numbers if p[0] != "arrays"] or numbers)
    x = draft.get(place)
    value = pick(rng, [x + 1, x - 1, -x, 2 * x, x / 2, x // 2, x + 1e-9, x * 10**9, 10**9, 10**15])
    draft.set(place, value)
    return f"{place} = {value}"


def other_item(rng: Rng, draft: Draft, bases: Bases) -> str:
    place = pick(rng, paths(draft.manifest)[1:])
    other = pick(rng, paths(draft.manifest)[1:])
    parent, how = draft.get(place[:-1]), int(rng.integers(4))
    if how == 0:
        draft.delete(place)
    elif how == 1 and isinstance(parent, list):
        parent.insert(place[-1], draft.get(place))
    elif how == 2 and isinstance(parent, list):
        parent[place[-1]], parent[0] = parent[0], parent[place[-1]]
    elif how == 3 and isinstance(parent, dict):
        parent[pick(rng, ["x", "", "__class__", "self", "n_jobs"])] = parent.pop(place[-1])
    else:
        draft.set(place, json.loads(json.dumps(draft.get(other))))
    return f"{place} way {how}, {other}"


def other_reference(rng: Rng, draft: Draft, bases: Bases) -> str:
    refs = [p for p in paths(draft.manifest) if p[-1:] == ("array",)]
    a, b = pick(rng, refs), pick(rng, refs)
    x, y = draft.get(a), draft.get(b)
    draft.set(a, y)
    if rng.random() < 0.5:
        draft.set(b, x)
    return f"{a} and {b}"


def odd_numbers(rng: Rng, draft: Draft, bases: Bases) -> str:
    entry, array, flat = some_array(rng, draft)
    places = rng.integers(0, len(flat), int(rng.integers(1, 4))).tolist()
    for i in places:
        flat[i] = odd_like(rng, flat, i)
    draft.put(entry, array)
    return f"{entry['name']}{[(i, flat[i]) for i in places]}"


def some_array(rng: Rng, draft: Draft, names: Collection[str] = ()) -> tuple[Any, Any, Any]:
    """The entry of an array that is not empty, the array, and its numbers in a row."""
    entries = [e for e in draft.entries() if 0 not in e["shape"]]
    named = [e for e in entries if e["name"].split(".")[-1] in names]
    entry = pick(rng, named or entries)
    array = draft.array(entry)
    return entry, array, array.reshape(-1)


def odd_like(rng: Rng, flat: Any, i: int) -> Any:
    if flat.dtype.kind == "f":
        return pick(rng, [*ODD_NUMBERS, -flat[i], flat[i] * 1e-9, flat[i] * 1e9, flat[i] + 1])
    if flat.dtype.kind == "b":
        return not flat[i]
    info = np.iinfo(flat.dtype)
    near = [int(flat[i]) + 1, int(flat[i]) - 1, len(flat), len(flat) - 1, 0, 1, -1, -2, -3, 2]
    numbers = [*near, info.max, info.min, info.max // 2 + 1, int(pick(rng, flat))]
    return min(max(pick(rng, numbers), info.min), info.max)


def all_numbers(rng: Rng, draft: Draft, bases: Bases) -> str:
    entry, array, flat = some_array(rng, draft)
    how = int(rng.integers(3))
    flat[:] = [odd_like(rng, flat, 0), flat[::-1].copy(), rng.permutation(flat)][how]
    draft.put(entry, array)
    return f"{entry['name']} way {how}"


TREE = (
    *("children", "child_start", "values", "value_start", "branches", "heavier", "missing"),
    *("kind", "attribute", "threshold", "units", "rows", "sizes"),
)


def odd_tree(rng: Rng, draft: Draft, bases: Bases) -> str:
    """Nodes in circles, twice, before those above them; lists that descend; codes out of range."""
    entry, array, flat = some_array(rng, draft, TREE)
    i, j = sorted(rng.integers(0, len(flat), 2).tolist())
    how = int(rng.integers(4))
    if how == 0:
        flat[i], flat[j] = flat[j], flat[i]
    elif how == 1:
        flat[i] = flat[j]
    elif how == 2:
        flat[i : j + 1] = flat[i : j + 1][::-1].copy()
    else:
        flat[i] = odd_like(rng, flat, i)
    draft.put(entry, array)
    return f"{entry['name']} way {how} {i} {j}"


def odd_shape(rng: Rng, draft: Draft, bases: Bases) -> str:
    entry = pick(rng, draft.entries())
    shape, how = entry["shape"], int(rng.integers(5))
    if how == 0:
        entry["shape"] = pick(rng, ODD_SHAPES)
    elif how == 1:
        entry["shape"] = pick(rng, [shape[::-1], [*shape, 1], [1, *shape], [int(np.prod(shape))]])
    elif how == 2:
        entry["type"] = pick(rng, ["f8", "i8", "i4", "i1", "b1", "f4", "O", "u8", ">f8", "V8"])
    elif how == 3:
        entry["axes"] = pick(
            rng, [[], [0], [1, 0], [0, 0], [-1, 0], [2, 1, 0], [0, 2, 1], "x", [9]]
        )
    else:
        draft.members["arrays/" + entry["name"]] = b""
        entry["shape"] = [0] * len(shape)
    return f"{entry} way {how}"


def other_length(rng: Rng, draft: Draft, bases: Bases) -> str:
    entry, array, _ = some_array(rng, draft)
    axis = int(rng.integers(array.ndim))
    taken = pick(rng, [range(array.shape[axis] - 1), [*range(array.shape[axis]), 0]])
    draft.put(entry, np.take(array, list(taken), axis))
    return f"{entry['name']} {axis}"


def odd_member(rng: Rng, draft: Draft, bases: Bases) -> str:
    name, other = pick(rng, draft.members), pick(rng, draft.members)
    how, held = int(rng.integers(5)), draft.members[name]
    if how == 0:
        draft.members.pop(name)
    elif how == 1:
        draft.members[pick(rng, ODD_NAMES)] = held
    elif how == 2:
        draft.members[name] = pick(rng, [held[:-1], held + b"\0", b"", held * 2, held[8:]])
    elif how == 3:
        draft.members[name], draft.members[other] = draft.members[other], held
    else:
        rest = [item for item in draft.entries() if "arrays/" + item["name"] != name]
        draft.manifest["arrays"] = rest
        draft.members.pop(name)
    return f"{name} way {how}"


def odd_summary(rng: Rng, draft: Draft, bases: Bases) -> str:
    places = [p for p in paths(draft.manifest) if p[:2] == ("state", "summary")]
    names = [e["name"].split(".")[-1] for e in draft.entries() if e["name"].startswith("summary")]
    if not names or rng.random() < 0.5:
        return put_odd(rng, draft, places or paths(draft.manifest)[1:])
    entry, array, flat = some_array(rng, draft, names)
    i = int(rng.integers(len(flat)))
    flat[i] = odd_like(rng, flat, i)
    draft.put(entry, array)
    return f"{entry['name']}[{i}] = {flat[i]}"


def other_estimator(rng: Rng, draft: Draft, bases: Bases) -> str:
    name = pick(rng, bases)
    other = Draft(members_of(bases[name]))
    part = pick(rng, ["estimator", "schema", "state", "model", "options", "data", "arrays", "all"])
    if part == "all":
        kept, draft.manifest = draft.manifest["estimator"], other.manifest
        draft.members, draft.manifest["estimator"] = other.members, kept
    else:
        draft.manifest[part] = other.manifest[part]
        if part in {"model", "arrays"}:
            draft.members, draft.manifest["arrays"] = other.members, other.manifest["arrays"]
    return f"{part} of {name}"


def other_schema(rng: Rng, draft: Draft, bases: Bases) -> str:
    schema = draft.manifest["schema"]
    columns, classes, how = schema["columns"], schema["classes"], int(rng.integers(8))
    column = pick(rng, columns)
    if how == 0:
        columns.append({**column, "name": "another"})
    elif how == 1:
        columns.remove(column)
    elif how == 2:
        classes.append(pick(rng, ["zzz", classes[0], 5, True, None, 1.5]))
    elif how == 3:
        classes.pop()
    elif how == 4:
        column["kind"] = pick(rng, ["number", "date", "category", "empty", "x", []])
    elif how == 5:
        column["values"] = pick(rng, [column["values"][:-1], [*column["values"], "zz"], ["a", "a"]])
    elif how == 6:
        column["order"] = pick(rng, [column["values"][::-1], column["values"][:1], ["new"]])
    else:
        pick(rng, [columns, classes]).reverse()
    return f"way {how}"


def odd_option(rng: Rng, draft: Draft, bases: Bases) -> str:
    options = draft.manifest["options"]
    name = pick(rng, [*options, "not_an_option", "__init__"])
    words = ["error", "fractional", "joint", "balanced", "loo", "from_dtype", "skip", "gini", "all"]
    options[name] = pick(rng, [*words, 1, 0, -1, 7, 1e308, True, None, [], [0.5, 0.5], [1, 2, 3]])
    options[name] = pick(rng, [options[name], *[v for v in ODD_VALUES if not isinstance(v, Raw)]])
    return f"{name} = {str(options[name])[:30]}"


def falsified_zip(rng: Rng, draft: Draft, bases: Bases) -> bytes:
    members = draft.renewed()
    data = packed(members)
    name, held = pick(rng, members)
    ways = [
        packed([*members, (name, held)]),
        packed(members[::-1]),
        packed(members, ZIP_DEFLATED),
        b"#!/bin/sh\n" + data,
        as_stored(packed(members, ZIP_DEFLATED)),
        falsify_field(rng, data),
        falsify_field(rng, data),
    ]
    return bytes(pick(rng, ways))


def as_stored(data: bytes) -> bytes:
    changed = bytearray(data)
    for mark, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        for i in range(len(data) - 30):
            if data[i : i + 4] == mark:
                struct.pack_into("<H", changed, i + at, 0)
    return bytes(changed)


FORGERIES: list[Callable[[Rng, Draft, Bases], Any]] = [
    *(odd_value, odd_model, odd_numbers, odd_tree, other_number, other_item, odd_model, odd_option),
    *(odd_shape, odd_summary, other_reference, all_numbers, other_schema, odd_tree),
    *(other_estimator, other_length, odd_member, odd_numbers, falsified_zip, odd_summary),
]
