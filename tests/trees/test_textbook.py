"""Chapter 19 of the textbook and the tree slides: every tree, every number, and the misprints.

What the books print wrong is said at the row that has it right. Iris is the UCI file.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.trees.tables import children_of

from sortal import TreeClassifier, datasets, score_split

if TYPE_CHECKING:
    from collections.abc import Callable

    from sortal.trees.learn import Criterion

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")

Sketch: TypeAlias = Any  # a leaf is its class counts; a node is (question, one sketch a branch)

PLANE: Final = ["sepal_length", "sepal_width"]
CRITERIA: Final = ("gain", "gain_ratio", "gini", "cart")
EACH: Final[dict[str, Any]] = {"categorical_split": "multiway"}
NUMERIC, SUBSET, MULTIWAY = 1, 2, 3


def plane() -> Any:
    """Ex. 19.1: sepal length (X1) and width (X2); c1 is setosa, c2 the other two species."""
    iris = datasets.iris()
    return iris[PLANE].assign(y=np.where(iris["species"] == "setosa", "c1", "c2"))


def fisher() -> Any:
    """Two setosa rows of the UCI file differ from Fisher's."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return pd.DataFrame(X[:, :2], columns=PLANE).assign(y=np.where(y == 0, "c1", "c2"))


def words(data: Any, name: str) -> Any:
    """With a column of numbers from 1 to 9, or of days, as words."""
    return data.assign(**{name: data[name].astype(str)})


TABLES: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    "plane": (plane, "y"),
    "fisher": (fisher, "y"),
    "bins": (lambda: datasets.discretized_iris()[["sepal_length", "species"]], "species"),
    "19.3": (datasets.table_19_3, "Risk"),
    "19.4": (datasets.table_19_4, "Class"),
    "instance": (lambda: datasets.table_19_4(instance=True), "Class"),
    "instance, last": (
        lambda: datasets.table_19_4(instance=True)[["a1", "a2", "a3", "Instance", "Class"]],
        "Class",
    ),
    "instance as words": (lambda: words(datasets.table_19_4(instance=True), "Instance"), "Class"),
    "19.5": (datasets.table_19_5, "Class"),
    "sports": (datasets.loves_sports, "LovesSports"),
    "tennis": (datasets.play_tennis, "PlayTennis"),
    "days": (lambda: words(datasets.play_tennis(day=True), "Day"), "PlayTennis"),
    "c45": (lambda: pd.DataFrame({"x": list("aabbc"), "y": list("nnyyn")}), "y"),
}


def close(found: Any, printed: str) -> None:
    """As printed, to so many decimals."""
    half = 0.5000001 * 10.0 ** -len(printed.partition(".")[2])
    assert abs(found - float(printed)) <= half, f"{found} is not {printed}"


GINIS: Final = ("9.5 0.429", "15 0.343", "26.5 0.476", "36.5 0.476", "44 0.343", "66.5 0.429")
# Table, rows of it, what parts them, and what is printed of the parts.
NUMBERS: Final[list[tuple[str, str, str, dict[str, str]]]] = [
    # Example 19.4
    ("plane", "", "sepal_length <= 5.45",
     {"entropy": "0.918", "split_entropy": "0.388", "gain": "0.5308"}),
    ("plane", "sepal_length <= 5.45", "", {"entropy": "0.570"}),  # printed: 0.571, from roundings
    ("plane", "sepal_length > 5.45", "", {"entropy": "0.291"}),
    # Example 19.5
    ("bins", "", "sepal_length in ['Very Short', 'Long']",
     {"split_entropy": "0.86", "gain": "0.058"}),
    ("bins", "sepal_length in ['Very Short', 'Long']", "", {"entropy": "0.991"}),
    ("bins", "sepal_length in ['Short', 'Very Long']", "", {"entropy": "0.674"}),  # printed: 0.673
    # Q2
    ("19.3", "", "Age <= 22.5", {"gain": "0.252"}),
    ("19.3", "", "Age <= 35", {"gain": "0.109"}),
    ("19.3", "", "Car == 'Sports'", {"gain": "0.459"}),
    ("19.3", "", "Car == 'SUV'", {"gain": "0.252"}),
    ("19.3", "", "Car == 'Vintage'", {"gain": "0.109"}),
    # Q4, worked by hand. a1: T has 3 Y and 1 N, F has 1 Y and 4 N; a2: 2 Y and 3 N, 2 Y and 2 N
    *(("19.4", "", test, {"gain": gain, "gini_decrease": gini, "cart": cart})
      for test, gain, gini, cart in (
        ("a1 == 'T'", "0.2294", "0.1494", "0.5432"),
        ("a2 == 'T'", "0.0072", "0.0049", "0.0988"),
        ("a3 <= 2.0", "0.1022", "0.0494", "0.1975"),
        ("a3 <= 3.5", "0.0026", "0.0018", "0.0494"),
        ("a3 <= 4.5", "0.0183", "0.0123", "0.1481"),
        ("a3 <= 5.5", "0.0072", "0.0049", "0.0988"),
        ("a3 <= 6.5", "0.0183", "0.0123", "0.1481"),
        ("a3 <= 7.5", "0.1022", "0.0494", "0.1975"))),
    ("19.4", "", "a1", {"gain_ratio": "0.2315"}),
    ("instance", "", "Instance", {"gain_ratio": "0.3126"}),
    # Q5: a curve
    ("19.5", "", "A * B - B ** 2 <= 0", {"entropy": "0.954", "gain": "0.159"}),
    # Loves Sports. The slide of opera's entropies is headed Gini impurity
    ("sports", "", "LovesOpera", {"split_gini": "0.405", "entropy": "0.985", "gain": "0.128"}),
    ("sports", "LovesOpera == 'Yes'", "", {"entropy": "0.811"}),
    ("sports", "LovesOpera == 'No'", "", {"entropy": "0.918"}),
    ("sports", "", "LovesMovies", {"split_gini": "0.214"}),
    ("sports", "LovesMovies == 'Yes'", "LovesOpera", {"split_gini": "0.25"}),
    *(("sports", "", f"Age <= {cut.split()[0]}", {"split_gini": cut.split()[1]}) for cut in GINIS),
    # Play Tennis by ID3
    ("tennis", "", "Outlook", {"entropy": "0.9403", "gain": "0.2467"}),
    ("tennis", "", "Humidity", {"gain": "0.1518"}),
    ("tennis", "", "Wind", {"gain": "0.0481"}),
    ("tennis", "", "Temperature", {"gain": "0.0292"}),
]  # fmt: skip


@pytest.mark.parametrize(("table", "rows", "parts", "printed"), NUMBERS)
def test_printed_numbers(table: str, rows: str, parts: str, printed: dict[str, str]) -> None:
    make, target = TABLES[table]
    data = make().query(rows) if rows else make()
    split = score_split(data.eval(parts) if parts else ["all"] * len(data), data[target])
    for name, number in printed.items():
        close(getattr(split, name), number)


BINS: Final = {1: "Very Short", 2: "Short", 3: "Long", 4: "Very Long"}
TABLE_19_1: Final = {1: (6, 39), 2: (39, 11), 3: (43, 0), 4: (12, 0)}  # other, setosa
TABLE_19_2: Final = {
    (1,): (0.509, 0.410),
    (2,): (0.897, 0.022),  # the book prints a gain of 0.217
    (3,): (0.711, 0.207),
    (4,): (0.869, 0.049),
    (1, 2): (0.632, 0.286),
    (1, 3): (0.860, 0.058),
    (1, 4): (0.667, 0.251),
    (2, 3): (0.667, 0.251),
    (2, 4): (0.860, 0.058),
    (3, 4): (0.632, 0.286),
}


def test_table_19_2() -> None:
    """Erratum: the gain of {a2} is 0.022, as its split entropy 0.897 says."""
    data = TABLES["bins"][0]()
    for V, (split_entropy, gain) in TABLE_19_2.items():
        inside = data["sepal_length"].isin([BINS[v] for v in V])
        split: Any = score_split(inside, data["species"])
        close(split.split_entropy, f"{split_entropy:.3f}")
        # Gains are differences of rounded entropies, hence one more in the last place.
        assert abs(split.gain - gain) <= 1e-3
        assert abs(0.918 - split_entropy - gain) <= 1.0001e-3


def sketch(model: Any, X: Any, node: int = 0) -> Sketch:
    """The tree below a node, in words; X tells the names of columns and of category codes."""
    tree = model._model
    if tree.kind[node] == 0:
        return tuple(int(n) for n in tree.units[node])
    name = model.feature_names_in_[tree.attribute[node]]
    below = [sketch(model, X, int(t)) for t in children_of(tree, node)]
    if tree.kind[node] == NUMERIC:
        return (f"{name} <= {float(tree.threshold[node])!r}", *below)
    here = slice(tree.value_start[node], tree.value_start[node + 1])
    codes, branches = tree.values[here].tolist(), tree.branches[here].tolist()
    named = [str(word) for word in sorted(set(X[name]))]
    if tree.kind[node] == SUBSET:
        inside = [named[code] for code, b in zip(codes, branches, strict=True) if b == 0]
        return (f"{name} in {{{', '.join(inside)}}}", *below)
    return (name, {named[code]: below[b] for code, b in zip(codes, branches, strict=True)})


def grown(table: str, **options: Any) -> tuple[Any, Any]:
    """The tree of a table, which is given by name; and the table."""
    make, target = TABLES[table]
    data = make()
    return TreeClassifier(**{"pruning": None, **options}).fit(data, target), data


FIGURE_19_1: Final[Sketch] = (
    "sepal_length <= 5.45",
    ("sepal_width <= 2.8", ("sepal_length <= 4.7", (1, 0), (0, 6)), (44, 1)),
    ("sepal_width <= 3.45", (0, 90), ("sepal_length <= 6.5", (5, 0), (0, 3))),
)
SPORTS_CARS: Final[Sketch] = ("Age <= 22.5", (1, 0), (0, 2))
A1: Final[Sketch] = ("a1 in {F}", (4, 1), (1, 3))
ID3: Final[Sketch] = (
    "Outlook",
    {
        "Overcast": (0, 4),
        "Rain": ("Wind", {"Strong": (2, 0), "Weak": (0, 3)}),
        "Sunny": ("Humidity", {"High": (3, 0), "Normal": (0, 2)}),
    },
)
EACH_ITS_OWN: Final[Sketch] = (
    "Instance",
    {str(i): (0, 1) if i in {1, 2, 4, 8} else (1, 0) for i in range(1, 10)},
)
BOOK: Final[dict[str, Any]] = {"purity": 0.95, "leaf_size": 5}
ROOT: Final[dict[str, Any]] = {"max_depth": 1}
TWO: Final[dict[str, Any]] = {**EACH, "min_samples_leaf": 2}  # C4.5: two branches with two rows

# Table, options, tree, and what is printed of the scores of its nodes.
TREES: Final[list[tuple[str, dict[str, Any], Sketch, dict[int, str]]]] = [
    # Examples 19.2 and 19.4. Algorithm 19.1 stops at n <= 5 and at purity >= 0.95; the prose says
    # below and above instead. The only node of 5 rows is pure, so both agree here.
    ("plane", BOOK, FIGURE_19_1, {0: "0.5308"}),
    ("fisher", BOOK, FIGURE_19_1, {}),
    # Example 19.5
    ("bins", ROOT | EACH, ("sepal_length", {BINS[v]: n for v, n in TABLE_19_1.items()}), {}),
    *(("bins", {"criterion": c} | ROOT, ("sepal_length in {Very Short}", (6, 39), (94, 11)), {})
      for c in CRITERIA),
    # Q2: an old car of age 27 is a high risk; ID3 asks the same
    ("19.3", {}, ("Car in {Sports}", SPORTS_CARS, (3, 0)), {0: "0.459", 1: "0.918"}),
    ("19.3", EACH, ("Car", {"SUV": (2, 0), "Sports": SPORTS_CARS, "Vintage": (1, 0)}),
     {0: "0.459"}),
    # Q4 a: of the two sides of a1 with one value each, V is the one that sorts first
    *(("19.4", {"criterion": c} | ROOT, A1, {0: score})
      for c, score in (("gain", "0.2294"), ("gini", "0.1494"), ("cart", "0.5432"))),
    # Q4 b: as a number Instance beats a1: two Y and no N on one side
    *(("instance", {"criterion": c} | ROOT, ("Instance <= 2.5", (0, 2), (5, 2)), {0: score})
      for c, score in (("gain", "0.3198"), ("gain_ratio", "0.4184"), ("gini", "0.1764"))),
    # CART likes halves: Instance <= 4.5 (three Y, one N) equals a1, and the earlier column is asked
    ("instance", {"criterion": "cart"} | ROOT, ("Instance <= 4.5", (1, 3), (4, 1)), {0: "0.5432"}),
    ("instance, last", {"criterion": "cart"} | ROOT, A1, {0: "0.5432"}),
    # As words 255 subsets stand to choose from, and one is pure: it says nothing about new rows
    *(("instance as words", {"criterion": c}, ("Instance in {1, 2, 4, 8}", (0, 4), (5, 0)),
       {0: score})
      for c, score in zip(CRITERIA, ("0.9911", "1.0000", "0.4938", "0.9877"), strict=True)),
    # By one branch a value all nine parts are pure; even the gain ratio prefers it on nine rows
    *(("instance as words", {"criterion": c} | EACH, EACH_ITS_OWN, {0: score})
      for c, score in (("gain", "0.9911"), ("gain_ratio", "0.3126"), ("gini", "0.4938"))),
    ("instance as words", {"categorical_split": {"Instance": "multiway"}}, EACH_ITS_OWN, {}),
    # C4.5's rule refuses Instance, and is content with two branches of two rows
    *(("instance as words", {"criterion": c} | TWO | ROOT, ("a1", {"F": (4, 1), "T": (1, 3)}), {})
      for c in CRITERIA[:3]),
    ("instance as words", TWO | {"categorical_split": {"Instance": "multiway"}} | ROOT, A1, {}),
    ("c45", TWO, ("x", {"a": (2, 0), "b": (0, 2), "c": (1, 0)}), {}),
    # Q5: the first cut of an axis gains more than the curve
    ("19.5", ROOT, ("A <= 7.5", (5, 1), (0, 2)), {0: "0.467"}),
    # Loves Sports, gain of Gini from 24/49 and 3/8 to 0.214 and 0. Erratum: inside Movies = Yes
    # there is one No (Age 7), where the slide says two
    ("sports", {"criterion": "gini"}, ("LovesMovies in {No}", (3, 0),
     ("Age <= 12.5", (1, 0), (0, 3))), {0: "0.2755", 2: "0.375"}),
    # Play Tennis by ID3: gain ratio and Gini agree with ID3's gain here
    ("tennis", EACH, ID3, {0: "0.2467", 2: "0.9710", 5: "0.9710"}),
    *(("tennis", {"criterion": c} | EACH, ID3, {}) for c in ("gain_ratio", "gini")),
    # Two branches only: Overcast is pure
    ("tennis", ROOT, ("Outlook in {Overcast}", (0, 4), (5, 5)), {0: "0.2260"}),
]  # fmt: skip


@pytest.mark.parametrize(("table", "options", "tree", "scores"), TREES)
def test_printed_trees(
    table: str, options: dict[str, Any], tree: Sketch, scores: dict[int, str]
) -> None:
    model, data = grown(table, **options)
    assert sketch(model, data) == tree
    assert model._model.exact.all()
    for node, score in scores.items():
        close(model._model.score[node], score)


@pytest.mark.parametrize(("leaf_size", "leaves"), [(7, 5), (6, 6), (5, 6), (8, 4)])
def test_algorithm_19_1_stops_at_the_leaf_size_itself(leaf_size: int, leaves: int) -> None:
    """n <= η is a leaf: seven rows are split at η = 6 and not at η = 7; eight not at η = 8."""
    assert grown("plane", purity=0.95, leaf_size=leaf_size)[0].get_n_leaves() == leaves


@pytest.mark.parametrize(("purity", "is_leaf"), [(44 / 45, True), (math.nextafter(44 / 45, 1), 0)])
def test_algorithm_19_1_stops_at_the_purity_itself(purity: float, is_leaf: bool) -> None:
    """purity >= π is a leaf: 44 of 45 stay together at π = 44/45, and not just above it."""
    tree = grown("plane", purity=purity, leaf_size=5)[0]._model
    node = tree.units.tolist().index([44, 1])
    assert (tree.kind[node] == 0) == bool(is_leaf)


@pytest.mark.parametrize(
    ("table", "column", "criterion", "cut", "score"),
    [
        # Fig. 19.3: the curve of X2 tells the two files of iris apart
        ("plane", "sepal_width", "gain", 3.35, "0.2531"),
        ("fisher", "sepal_width", "gain", 3.35, "0.2683"),
        ("19.3", "Age", "gain", 22.5, "0.252"),
        # of equal cuts the smaller: a3 <= 2 and a3 <= 7.5, Age <= 15 and Age <= 44
        ("19.4", "a3", "gain", 2.0, "0.1022"),
        ("19.4", "a3", "gini", 2.0, "0.0494"),
        ("19.4", "a3", "cart", 2.0, "0.1975"),
        ("sports", "Age", "gini", 15.0, "0.1469"),  # 24/49 - 0.343
    ],
)
def test_the_best_cut_of_one_column(
    table: str, column: str, criterion: Criterion, cut: float, score: str
) -> None:
    make, target = TABLES[table]
    tree = TreeClassifier(criterion, pruning=None, max_depth=1).fit(
        make()[[column]], make()[target]
    )
    assert tree._model.threshold[0] == cut
    close(tree._model.score[0], score)


def test_equation_19_17_m_values_have_so_many_partitions() -> None:
    """Erratum: 2^(m−1) − 1 partitions; the ten rows of Table 19.2 are seven of them.

    (19.17) counts V and its complement twice where m is even and both have m/2 values.
    """
    for m in (2, 3, 4, 5, 6, 7, 8):
        X = pd.DataFrame({"x": [f"v{i}" for i in range(m)] * 2})
        y = [str(i % 2) for i in range(m)] + ["0"] * m
        for bound in (None, *range(1, m)):
            sides = m // 2 if bound is None else min(bound, m // 2)
            book = sum(math.comb(m, i) for i in range(1, sides + 1))
            twice = math.comb(m, m // 2) // 2 if m % 2 == 0 and sides == m // 2 else 0
            assert root(X, y, max_subset=bound).candidates[0] == book - twice
        assert root(X, y).candidates[0] == 2 ** (m - 1) - 1
    assert len({frozenset({V, tuple(sorted(set(BINS) - set(V)))}) for V in TABLE_19_2}) == 7


def root(X: Any, y: Any, **options: Any) -> Any:
    """A tree of one question."""
    return TreeClassifier(**{"pruning": None, "max_depth": 1, **options}).fit(X, y)._model


def test_q2_an_old_car_of_age_27() -> None:
    model, _ = grown("19.3")
    asked = pd.DataFrame({"Age": [27], "Car": ["Vintage"]})
    assert model.predict(asked).tolist() == ["H"]
    # 4 of 6 are high risks, 3 of 3 here: 4/6 + (1 - 4/6) / (1 + 5/6)
    np.testing.assert_allclose(model.predict_proba(asked), [[28 / 33, 5 / 33]], rtol=1e-15)


def test_c45s_rule_needs_two_branches_of_two_rows() -> None:
    model, data = grown("c45")
    assert TreeClassifier(pruning=None, **TWO).fit(data[["x"]][1:], data["y"][1:]).get_depth() == 0
    alone = TABLES["instance as words"][0]()
    for criterion in CRITERIA[:3]:
        tree = TreeClassifier(criterion, pruning=None, **TWO)
        assert tree.fit(alone[["Instance"]], alone["Class"]).get_n_leaves() == 1
    assert model.get_n_leaves() == 2


def test_play_tennis_of_the_slides() -> None:
    """Sunny, hot, high, strong is sorted down to the leaf No; the day should not be given."""
    model, data = grown("tennis", **EACH)
    asked = pd.DataFrame(
        {"Outlook": ["Sunny"], "Temperature": ["Hot"], "Humidity": ["High"], "Wind": ["Strong"]}
    )
    assert model.predict(asked).tolist() == ["No"]
    assert model.decision_path(asked).toarray()[0].nonzero()[0].tolist() == [0, 5, 6]
    assert (model.predict(data) == data["PlayTennis"]).all()
    by_day, _ = grown("days", **EACH)  # an identifier wins every measure
    assert (by_day.get_n_leaves(), by_day._model.attribute[0]) == (14, 0)
    close(by_day._model.score[0], "0.9403")
    assert grown("days", **TWO, max_depth=1)[0]._model.attribute[0] == 1


parted_rows = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("xyz")), min_size=2, max_size=40
)


@given(parted_rows)
def test_q1_a_high_entropy_is_impure(rows: list[tuple[str, str]]) -> None:
    """False: entropy is 0 exactly for a pure part, and largest where all classes weigh alike."""
    labels = [label for _, label in rows]
    counts = [labels.count(c) for c in sorted(set(labels))]
    entropy = score_split(["all"] * len(rows), labels).entropy
    assert (entropy == 0) == (len(counts) == 1)
    assert entropy <= math.log2(len(counts)) + 1e-12
    assert (abs(entropy - math.log2(len(counts))) < 1e-9) == (len(set(counts)) == 1)


@given(parted_rows, st.sampled_from(["gain", "gini"]))
def test_q1_b_multiway_is_at_least_as_pure_as_the_best_subset(
    rows: list[tuple[str, str]], criterion: str
) -> None:
    """True: the gain of one branch a value is no less than that of any two branches."""
    X, y = pd.DataFrame({"v": [v for v, _ in rows]}), [label for _, label in rows]
    many = root(X, y, criterion=criterion, categorical_split="multiway").score[0]
    two = root(X, y, criterion=criterion, categorical_split="subset").score[0]
    assert many >= two - 1e-12
    assert (many > 0) == (two > 0)
    if X["v"].nunique() == 2:
        assert many == two


two_tables = st.integers(1, 4).flatmap(
    lambda K: st.tuples(
        *(st.lists(st.integers(0, 6), min_size=K, max_size=K).filter(any) for _ in range(2))
    )
)


@given(two_tables)
@example(([5, 0], [0, 5]))
@example(([3, 2, 0, 0], [0, 0, 1, 4]))  # more classes do not raise the most
@example(([2, 4], [1, 2]))
@example(([4, 0], [0, 1]))
def test_q3_cart_lies_between_0_and_1_and_when(tables: tuple[list[int], list[int]]) -> None:
    """0 exactly where both sides have the same shares; 1 exactly where halves share no class.

    In between, CART <= 4 (n_Y/n)(n_N/n), with equality exactly where no class is on both sides.
    (The prose of 19.2.2 says that lower is better for CART: by (19.7) higher is.)
    """
    yes, no = tables
    found = score_split(*rows_of(tables)).cart
    assert found is not None
    n_yes, n_no = sum(yes), sum(no)
    alike = all(a * n_no == b * n_yes for a, b in zip(yes, no, strict=True))
    apart = all(a == 0 or b == 0 for a, b in zip(yes, no, strict=True))
    most = 4 * n_yes * n_no / (n_yes + n_no) ** 2
    assert 0 <= found <= 1
    assert (found == 0) == alike
    assert found <= most + 1e-15
    assert (abs(found - most) < 1e-9) == apart
    assert (found == 1) == (apart and n_yes == n_no)
    self_made = root(pd.DataFrame({"x": rows_of(tables)[0]}), rows_of(tables)[1], criterion="cart")
    assert self_made.score[0] == pytest.approx(found, rel=1e-15)
    assert len(self_made.kind) == (1 if alike else 3)


def rows_of(tables: tuple[list[int], list[int]]) -> tuple[list[str], list[str]]:
    cells = [(side, k, n) for side, row in zip("YN", tables, strict=True) for k, n in
             enumerate(row)]  # fmt: skip
    sides = [side for side, _, n in cells for _ in range(n)]
    return sides, [f"c{k}" for _, k, n in cells for _ in range(n)]
