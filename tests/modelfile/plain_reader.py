"""A reader of model files that shares nothing with sortal: written from docs/model_file.md alone.

Trees, the linear discriminant on rows without missing values, the kernel discriminant, and discrete
Bayes. Rows are dictionaries from the name of a column to its cell: None, a number (a date is days
since 1970-01-01), text or a truth value.
"""

import json
import math
import struct
from hashlib import sha256
from typing import Any
from zipfile import ZIP_STORED, ZipFile

Row = dict[str, Any]
LETTERS = {"f8": "d", "i8": "q", "i4": "i", "i1": "b", "b1": "?"}
EPSILON = 2.0**-52
MISSING, UNKNOWN = None, "unknown"


class PlainReader:
    """A model file: classes, probabilities of a row, and the class that is said of it."""

    def __init__(self, path: Any) -> None:
        with ZipFile(path) as archive:
            if any(i.compress_type != ZIP_STORED for i in archive.infolist()):
                raise ValueError("compressed")
            self.members = {name: archive.read(name) for name in archive.namelist()}
        for line in self.members.pop("SHA256SUMS").decode().splitlines():
            digest, name = line.split("  ", 1)
            if sha256(self.members[name]).hexdigest() != digest:
                raise ValueError(name)
        manifest = json.loads(self.members["manifest.json"])
        if (manifest["format"], manifest["version"]) != ("sortal model", 2):
            raise ValueError("no model file of version 2")
        self.arrays: dict[str, list[Any]] = {}
        at = 0
        for entry in manifest["arrays"]:
            numbers = f"<{math.prod(entry['shape'])}{LETTERS[entry['type']]}"
            flat = struct.unpack_from(numbers, self.members["arrays"], at)
            self.arrays[entry["name"]] = nested(list(flat), entry["shape"])
            at += struct.calcsize(numbers)
        self.classes: list[Any] = manifest["schema"]["classes"]
        self.columns = manifest["schema"]["columns"]
        self.options = manifest["options"]
        self.fit = manifest["data"]["fit"]
        self.estimator = manifest["estimator"]
        self.model = self.resolved(manifest["model"])

    def resolved(self, item: Any) -> Any:
        """JSON with every reference to an array replaced by its numbers, as lists."""
        if isinstance(item, dict) and list(item) == ["array"]:
            return self.arrays[item["array"]]
        if isinstance(item, dict):
            return {name: self.resolved(part) for name, part in item.items()}
        return [self.resolved(part) for part in item] if isinstance(item, list) else item

    def cells(self, row: Row) -> list[Any]:
        """A number, a code, MISSING or UNKNOWN for each column."""
        return [self.cell(column, row.get(column["name"])) for column in self.columns]

    def cell(self, column: Any, value: Any) -> Any:
        if value is None or value != value:  # noqa: PLR0124  (NaN)
            return MISSING
        if column["kind"] in {"number", "date"}:
            return float(value)
        return column["values"].index(value) if value in column["values"] else UNKNOWN

    def probabilities(self, row: Row) -> list[float]:
        if self.estimator == "TreeClassifier":
            return self.tree_shares(self.cells(row))
        joint = self.joint(row)
        if max(joint) == -math.inf:
            return list(self.model["prior"])
        parts = [math.exp(x - max(joint)) for x in joint]
        return [part / math.fsum(parts) for part in parts]

    def predict(self, row: Row) -> Any:
        P, costs, good = self.probabilities(row), None, []
        if self.estimator == "TreeClassifier":
            costs = self.model["costs"]
            # counts and shares have the same order, but for rounding
            good = [p >= max(P) - (16 + len(P)) * EPSILON * max(P) for p in P]
        else:
            costs, joint = self.options.get("costs"), self.joint(row)
            best = max(joint)
            good = [best - x <= 16 * EPSILON * max(1, abs(best)) or x == best for x in joint]
        if costs is not None:
            risk = [
                math.fsum(p * c[j] for p, c in zip(P, costs, strict=True)) for j in range(len(P))
            ]
            good = [r <= min(risk) + (16 + len(P)) * EPSILON * max(risk) for r in risk]
        return self.classes[good.index(True)]

    def joint(self, row: Row) -> list[float]:
        """ln prior + ln P(x|k), up to what the classes have in common."""
        of = {"LinearDiscriminant": self.linear, "KernelDiscriminant": self.kernel}
        scores = of.get(self.estimator, self.bayes)(row)
        return [log(p) + s for p, s in zip(self.model["prior"], scores, strict=True)]

    def linear(self, row: Row) -> list[float]:
        """Scores of a row without missing values."""
        terms: list[float] = []
        for column, x in zip(self.columns, self.cells(row), strict=True):
            if column["kind"] in {"number", "date"}:
                terms.append(x)
            else:
                terms += [float(code == x) for code in range(len(column["values"]))]
        functions = self.model["scores"]
        gaps = [x - c for x, c in zip(terms, functions["center"], strict=True)]
        return [
            offset + math.fsum(g * w[k] for g, w in zip(gaps, functions["weights"], strict=True))
            for k, offset in enumerate(functions["offsets"])
        ]

    def kernel(self, row: Row) -> list[float]:
        """ln f_c, up to what the classes have in common."""
        m, inputs = self.model, self.model["inputs"]
        u: list[float] = []
        fill = iter(inputs["fill"])
        for column, x in zip(self.columns, self.cells(row), strict=True):
            one = column["kind"] in {"number", "date"}
            filled = [next(fill) for _ in range(1 if one else len(column["values"]))]
            known = [x] if one else [float(code == x) for code in range(len(filled))]
            u += filled if x in {MISSING, UNKNOWN} else known
        terms = zip(u, inputs["shift"], inputs["factor"], strict=True)
        u = [(x - shift) * factor for x, shift, factor in terms]
        values = [self.kernel_value(u, other) for other in m["basis"]]
        if m["kernel"]["name"] == "precomputed":
            values = [u[j] for j in m["ids"]]
        coefs = zip(*m["coefs"], strict=True)
        p = [math.fsum(k * a for k, a in zip(values, q, strict=True)) for q in coefs]
        return [
            -0.5
            * m["divisor"]
            * math.fsum(((x - c) / h) ** 2 for x, c, h in zip(p, mean, m["lengths"], strict=True))
            if weight > 0
            else -math.inf
            for mean, weight in zip(m["means"], m["weight"], strict=True)
        ]

    def kernel_value(self, u: list[float], other: list[float]) -> float:
        """k(u, u')."""
        kernel, gamma = self.model["kernel"], self.model["kernel"]["gamma"]
        pairs = list(zip(u, other, strict=False))  # given kernel values have no basis
        inner = math.fsum(a * b for a, b in pairs)
        if kernel["name"] == "rbf":
            return math.exp(-gamma * math.fsum((a - b) ** 2 for a, b in pairs))
        if kernel["name"] == "laplacian":
            return math.exp(-gamma * math.fsum(abs(a - b) for a, b in pairs))
        if kernel["name"] == "poly":
            return float((gamma * inner + kernel["coef0"]) ** kernel["degree"])
        return inner

    def bayes(self, row: Row) -> list[float]:
        """ln P(x|k)."""
        m, cells, K = self.model, self.cells(row), len(self.classes)
        known = [j for j, x in enumerate(cells) if x not in {MISSING, UNKNOWN}]
        tables = {j: m["tables"][place] for place, j in enumerate(m["categories"]) if j in known}
        sums = [sum(table[cells[j]][k] for j, table in tables.items()) for k in range(K)]
        if m["joint"] is not None:
            sums = self.joint_sums(cells, sums)
        for place, j in enumerate(m["numbers"]):
            if j in known and place not in m["constant"]:
                for k, v in enumerate(m["variance"][place]):
                    tail = m["tail"][place][k] if m.get("tail") else 0.0
                    gap = (cells[j] - m["mean"][place][k]) - tail
                    sums[k] -= (math.log(2 * math.pi * v) + gap * gap / v) / 2
        return sums

    def joint_sums(self, cells: list[Any], sums: list[float]) -> list[float]:
        """The part of the categories, where cells of several of them were counted."""
        joint = self.model["joint"]
        asked = [cells[self.model["categories"][place]] for place in joint["places"]]
        agree = [
            weight
            for codes, weight in zip(joint["codes"], joint["weight"], strict=True)
            if all(x in {MISSING, UNKNOWN, code} for x, code in zip(asked, codes, strict=True))
        ]
        n = [math.fsum(weight[k] for weight in agree) for k in range(len(sums))]
        alpha, N = joint["alpha"], joint["class_weight"]
        if alpha == 0 and not any(n):
            return sums
        return [
            L if alpha + N_k == 0 else log((n_k + alpha * math.exp(L)) / (N_k + alpha))
            for L, n_k, N_k in zip(sums, n, N, strict=True)
        ]

    def tree_shares(self, cells: list[Any]) -> list[float]:
        """The mean of the shares of the nodes where a row ends, by its parts."""
        total = [0.0] * len(self.classes)
        to_go = [(0, 1.0, self.shares(0, None, None))]
        while to_go:
            t, part, shares = to_go.pop()
            branches = self.ways(t, cells)
            weights = [self.weight(b) for b in branches]
            if not branches:
                total = [s + part * share for s, share in zip(total, shares, strict=True)]
            for b, w in zip(branches, weights, strict=True):
                share = w / math.fsum(weights) if len(branches) > 1 else 1.0
                to_go.append((b, part * share, self.shares(b, t, shares)))
        return total

    def ways(self, t: int, cells: list[Any]) -> list[int]:
        """The nodes to which a row goes on: none from a leaf."""
        m = self.model
        children = m["children"][m["child_start"][t] : m["child_start"][t + 1]]
        if m["kind"][t] == 0:
            return []
        j = m["attribute"][t]
        x = UNKNOWN if cells[j] in m["unseen"][j] else cells[j]
        branch = m["heavier"][t]
        if x is MISSING and m["missing"][t] == -2:
            return list(children)
        if x is MISSING and m["missing"][t] >= 0:
            branch = m["missing"][t]
        elif x not in {MISSING, UNKNOWN} and m["kind"][t] == 1:
            branch = 0 if x <= m["threshold"][t] else 1
        elif x not in {MISSING, UNKNOWN}:
            listed = range(m["value_start"][t], m["value_start"][t + 1])
            branch = next((m["branches"][i] for i in listed if m["values"][i] == x), branch)
        return [] if branch == -1 else [children[branch]]

    def counts(self, t: int) -> list[float]:
        factors = self.model["factors"] or [1.0] * len(self.classes)
        unit = 2.0 ** -self.model["exponent"]
        return [n * unit * f for n, f in zip(self.model["units"][t], factors, strict=True)]

    def weight(self, t: int) -> float:
        costs = self.model["costs"] or [[1.0]] * len(self.classes)
        return math.fsum(n * math.fsum(c) for n, c in zip(self.counts(t), costs, strict=True))

    def plain(self, t: int) -> list[float]:
        counts = self.counts(t)
        return [c / math.fsum(counts) for c in counts]

    def size(self, t: int) -> float:
        units, effective = self.model["units"][t], self.model["effective"]
        if effective is None:
            unit: float = 2.0 ** -self.model["exponent"]
            return math.fsum(units) * unit
        squares = math.fsum(u * u / n for u, n in zip(units, effective[t], strict=True) if n > 0)
        return math.fsum(units) ** 2 / squares

    def path(self, t: int) -> list[int]:
        m = self.model
        above = [
            i for i in range(t) if t in m["children"][m["child_start"][i] : m["child_start"][i + 1]]
        ]
        return [t, *(self.path(above[0]) if above else [])]

    def shares(self, t: int, above: int | None, drawn_to: list[float] | None) -> list[float]:
        smoothing, plain, root = self.model["smoothing"], self.plain(t), self.plain(0)
        n, K = self.size(t), len(plain)
        if smoothing is None or (smoothing["kind"] == "shrinkage" and above is None):
            return plain
        strength = smoothing["strength"]
        if smoothing["kind"] == "laplace":
            return [(n * p + 1) / (n + K) for p in plain]
        if smoothing["kind"] == "m_estimate":
            return [
                (n * p + strength * r) / (n + strength) for p, r in zip(plain, root, strict=True)
            ]
        kept = 1 / (1 + strength / min(map(self.size, self.path(above or 0))))
        moved = [(p - q) * kept for p, q in zip(plain, self.plain(above or 0), strict=True)]
        return [d + step for d, step in zip(drawn_to or plain, moved, strict=True)]


def nested(flat: list[Any], shape: list[int]) -> list[Any]:
    """Numbers in row-major order as lists of lists."""
    if len(shape) == 1:
        return flat
    size = math.prod(shape[1:])
    return [nested(flat[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


def log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf
