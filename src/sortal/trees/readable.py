"""The reading methods of a tree: text, rules, explanations, workings, drawings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from sortal.base.classifier import TableClassifier
from sortal.data.sources import as_read, gather_blocks
from sortal.decision.options import choose, whole_number
from sortal.errors import InputError, counted
from sortal.records.tables import Explanations
from sortal.trees.branches import check_max_values, node_table
from sortal.trees.drawing.layout import Drawing, draw_tree
from sortal.trees.drawing.svg import svg_of
from sortal.trees.explain import ExplainTree, walk
from sortal.trees.learn import TreeOptions
from sortal.trees.prune import FittedTree
from sortal.trees.rows import TreeRows, read_again
from sortal.trees.rules import FORMS, ClassRules, Rules, rules_of, tree_text
from sortal.trees.working.node import read_node, show_node

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sortal._typing import LabelsLike, TableLike
    from sortal.base.learner import Training
    from sortal.data.sources import TableSource
    from sortal.records.tables import Working
    from sortal.trees.explain import Walked

# A text alternative says as many levels as have so many nodes, and one level in any case.
_LINES = 200


class ReadableTree(TableClassifier[TreeOptions, TreeRows, FittedTree]):
    """What a fitted tree shows of itself."""

    def get_depth(self) -> int:
        """The most tests from the root to a leaf."""
        return self._model.depth()

    def get_n_leaves(self) -> int:
        """How many leaves the tree has."""
        return self._model.n_leaves

    def to_text(self, *, max_depth: int | None = None, max_values: int | None = None) -> str:
        """The tree as indented text: one line a node, each before its branches.

        A line has the condition that leads to the node, the weight n of its rows, the weight of
        each class that it holds, purity and error rate, and for a leaf what it says. Thresholds
        read back to the last bit.

        Parameters
        ----------
        max_depth : int of at least 0, default=None
            Nodes below are left out, and their leaves counted.
        max_values : int of at least 1, default=None
            Of a longer set of values so many are named, and all counted.
        """
        model = self._model
        whole_number("max_depth", max_depth, 0, none="no bound")
        check_max_values(max_values)
        return tree_text(model, max_depth, max_values)

    @overload
    def rules(self, by: Literal["leaf"] = ..., form: str = ...) -> Rules: ...
    @overload
    def rules(self, by: Literal["class"], form: str = ...) -> ClassRules: ...
    def rules(self, by: str = "leaf", form: str = "merged") -> Rules | ClassRules:
        """The tree as rules: if these conditions hold, then the class is this.

        Parameters
        ----------
        by : {"leaf", "class"}, default="leaf"
            One rule a leaf, in the order of the leaves; or for each class the rules that say it,
            any of which is enough.
        form : {"merged", "path"}, default="merged"
            What is printed: one condition an attribute, or the conditions as the tree asks them.
            The records hold both.

        Returns
        -------
        Rules or ClassRules
            A sequence of frozen records, which prints well and has `to_text`, `to_markdown`,
            `to_frame` and `to_dict`. A rule has `leaf`, `label`, `n`, `size`, `share`, `purity`,
            `error`, `counts`, `probabilities`, `path`, `merged` and `box`.
        """
        model = self._model
        choose("by", by, ("leaf", "class"))
        choose("form", form, FORMS)
        rules = rules_of(model, form, self._backend)
        return rules if by == "leaf" else ClassRules(rules)

    def explain(self, X: TableLike) -> Explanations:
        """Why: the path of each row, its rule, the counts where it ends, and what each move added.

        The share of the class said among all rows of the fit and what each move adds to it add up
        to its probability where the row ends. A move is marked where the node did not know the
        value: no row of the fit had it ("unknown"), or none of this node ("absent"). Of a missing
        value the mark says where it went: as those of the fit did at this node ("missing"), with
        the larger branch ("majority"; "unseen" where the node met no missing value), or down every
        branch ("spread"): then the path is the heaviest, and a line has what the other ends add.

        Facts: the `node` where the row ends, its `counts` by class and their sum `n`; the
        `probabilities` of all ends together; the conditions of the `path` with the `values` that
        met them, and of the `rule`, one an attribute; `expected_costs` of predicting each class, of
        which the label has the least (None without costs); and `fallback`, whether a node on the
        way did not know the value, or where a missing one goes.
        """
        rows = self._walk(self._open(X))
        made = ExplainTree(self._model, rows)
        return self._framed(Explanations(made, range(len(rows.nodes))), X)

    def _walk(self, source: TableSource) -> Walked:
        return self._pass(source, walk(self._model))

    def working(
        self,
        node: int = 0,
        X: TableLike | None = None,
        y: LabelsLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Working:
        """The textbook's numbers of a node: every test that was possible there, and the one taken.

        Parameters
        ----------
        node : int, default=0
            The number of the node, as in `to_frame()`.
        X, y, sample_weight :
            The rows of the fit again. Without them only what the tree itself knows is shown: the
            classes in the node, its test, and the hyperplane of a cut.

        Returns
        -------
        Working
            Tables `node`, `impurity`, `test`, `hyperplane`, `tests` (the best test of each
            attribute, ranked) and, by the name of an attribute, all its tests with their counts
            N_vi, the shares of the classes on both sides, the score and its rank. Where the node
            has missing values, `missing` says where each test sends them, n(missing, class) counts
            them, and a row without a value or a threshold is theirs.
        """
        model = self._model
        t = read_node(model, node)
        rows = None if X is None else self._read_again(X, y, sample_weight)[0]
        return self._framed(show_node(model, rows, self._fitted.options, t))

    def _read_again(
        self, X: TableLike, y: LabelsLike | None, sample_weight: ArrayLike | None
    ) -> tuple[TreeRows, Training]:
        """Labeled rows in the terms of the tree, and as they were given."""
        if y is None:
            raise InputError(
                "X was given without y: give both, the rows of the fit and their labels."
            )
        model = self._model
        training = self._open_training(X, y, sample_weight, model.row_exponent)
        source = replace(training.source, block_rows=training.source.table.n_rows)
        batch = gather_blocks(list(training.engine.map(source, as_read)))
        rows = read_again(batch, model)
        self._report_columns(rows.encoded.missing, rows.encoded.unknown)
        return rows, training

    def to_frame(self, *, max_values: int | None = 10) -> Any:
        """The nodes as a data frame of the library that the rows came in, or pandas.

        One row a node, numbered in preorder: `parent` and the `branch` of the parent that leads
        here (-1 for the root; 0 is yes and 1 is no, values of a node with one branch per value
        follow their order in its test), `depth`, the `test` in words, where the fit had missing
        values the branch of these as `missing` (-1: the node met none; -2: they take every branch,
        by its weight), the weight `n`, the `size` in rows, the weight of each class as n(class),
        where weights are no copies of rows also their number as rows(class), the `prediction`,
        `purity` and `error` rate, the `score` of the test, whether it is the `exact` optimum, and
        the `candidates`: how many sets V it stood against.

        Parameters
        ----------
        max_values : int of at least 1, default=10
            Of a longer set of values so many are named, and all counted; None names all.
        """
        model = self._model
        check_max_values(max_values)
        return self._framed(node_table(model, max_values)).to_frame()

    # --- Seeing a fitted tree: as a drawing, as SVG, and in a notebook

    def to_drawing(
        self,
        *,
        max_depth: int | None = None,
        max_leaves: int | None = 40,
        orientation: str = "auto",
    ) -> Drawing:
        """The boxes and edges of a picture, for a painter of one's own; `to_svg` draws them.

        Parameters
        ----------
        max_depth : int of at least 0, default=None
            The levels of tests to draw; None draws as many as `max_leaves` allows.
        max_leaves : int of at least 1, default=40
            The most ends of the drawing: leaves, and nodes that say how many more are below them.
            None draws all. With `max_depth` it is not asked, and the branches of the root are
            drawn in any case.
        orientation : {"auto", "down", "right"}, default="auto"
            Which way the tree grows; "auto" is down for few ends, and to the right for many.
        """
        return draw_tree(
            self._model, max_depth=max_depth, max_leaves=max_leaves, orientation=orientation
        )

    def to_svg(
        self,
        *,
        max_depth: int | None = None,
        max_leaves: int | None = 40,
        orientation: str = "auto",
        theme: str = "auto",
        title: str | None = None,
        row: TableLike | None = None,
    ) -> str:
        """The tree as a picture: the text of an SVG file.

        A box has the attribute that is asked, or the class that a leaf says, the weight n, the
        share of the largest class, and a bar of all shares; a line has the condition that leads
        along it. What is shortened is written out when a pointer rests on it.

        Parameters
        ----------
        max_depth, max_leaves, orientation :
            As of `to_drawing`.
        theme : {"auto", "light", "dark"}, default="auto"
            The ground; "auto" follows whoever shows the file.
        title : str, default=None
            What the picture is called, for those who hear it, too.
        row : table of one row, default=None
            A row whose path is marked.
        """
        drawing = self.to_drawing(
            max_depth=max_depth, max_leaves=max_leaves, orientation=orientation
        )
        lit = [] if row is None else self._path(self._walk_one(row))
        marked = f"The marked path of a row: nodes {', '.join(map(str, lit))}.\n" if lit else ""
        return svg_of(
            drawing,
            theme=theme,
            title=self._title() if title is None else str(title),
            description=marked + self._alternative(),
            highlight=lit,
        )

    def to_html(
        self,
        *,
        max_leaves: int | None = 200,
        title: str | None = None,
        row: TableLike | None = None,
    ) -> str:
        """The tree as a piece of HTML that folds, is searched, zooms and follows a row.

        It needs nothing from elsewhere: style and script are in it. A notebook shows it when the
        fitted estimator is the last line of a cell.

        Parameters
        ----------
        max_leaves : int of at least 1, default=200
            As of `to_drawing`; what is left out is counted.
        title : str, default=None
            What stands above.
        row : table of one row, default=None
            What stands in the form at first: its path is lit.
        """
        from sortal.trees.drawing.html import html_of  # noqa: PLC0415  (jinja2 only where it is used)

        model, values = self._model, None
        if row is not None:
            cells = self._walk_one(row).given
            values = {name: own[0] for name, own in zip(self._schema.names, cells, strict=True)}
        return html_of(
            model,
            title=self._title() if title is None else str(title),
            max_leaves=max_leaves,
            values=values,
            text=self._alternative(),
        )

    def _walk_one(self, row: TableLike) -> Walked:
        walked = self._walk(self._open(row))
        if len(walked.nodes) != 1:
            raise InputError(
                f"row has {counted(len(walked.nodes), 'row')}: give a table of one, such as X[:1]."
            )
        return walked

    def _path(self, walked: Walked) -> list[int]:
        return [int(t) for t in self._model.paths(walked.nodes)[1]]

    def _title(self) -> str:
        n = self._model.n_leaves
        return f"{type(self).__name__}: {counted(n, 'leaf', 'leaves')}"

    def _alternative(self) -> str:
        """The tree in words, as many levels as stay short enough to be heard."""
        depths = sorted(self._model.depths().tolist())
        deepest = None if len(depths) <= _LINES else max(1, depths[_LINES] - 1)
        return self.to_text(max_depth=deepest, max_values=10)

    def _is_seen(self) -> bool:
        return hasattr(self, "_fitted")

    @property
    def _repr_html_(self) -> Any:
        """The tree, or scikit-learn's diagram before a fit; none where its display is "text"."""
        inherited = super()._repr_html_
        return self.to_html if self._is_seen() else inherited

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        if self._is_seen() and "text/html" in bundle:
            bundle["text/html"] = self.to_html()
        return bundle
