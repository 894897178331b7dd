"""Reading a fitted tree: as text, as rules, row by row and number by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sortal.data.checks import choose, whole_number
from sortal.data.gathering import as_read, gather_blocks
from sortal.errors import InputError
from sortal.estimators.base import TableClassifier
from sortal.learners.tree import read_again
from sortal.learners.tree_working import read_node, show_node
from sortal.models.class_rules import ClassRules
from sortal.models.conditions import check_max_values
from sortal.models.records import Explanations
from sortal.models.tree_blocks import WalkBlock, gather_walked
from sortal.models.tree_explain import ExplainTree, TreeExplanation
from sortal.models.tree_nodes import node_table
from sortal.models.tree_rules import FORMS, Rules, rules_of
from sortal.models.tree_text import tree_text

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sortal.data.sources import TableSource
    from sortal.learners.tree import TreeOptions, TreeRows
    from sortal.models.records import Working
    from sortal.models.tree import TreeModel
    from sortal.models.tree_blocks import Walked


class ReadableTree(TableClassifier):
    """What a fitted tree shows of itself."""

    _model: TreeModel
    _grown_by: TreeOptions

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
        check_is_fitted(self)
        whole_number("max_depth", max_depth, 0, none="no bound")
        check_max_values(max_values)
        return tree_text(self._model, max_depth, max_values)

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
        check_is_fitted(self)
        choose("by", by, ("leaf", "class"))
        choose("form", form, FORMS)
        rules = rules_of(self._model, form, self._backend)
        if by == "leaf":
            return rules
        return ClassRules(rules, self._model.classes, form, self._backend)

    def explain(self, X: Any) -> Explanations[TreeExplanation]:
        """Why: the path of each row, its rule, the counts where it ends, and what each move added.

        The share of the class said among all rows of the fit and the amounts of the moves add up
        to its share where the row ends. A move is marked where the node did not know the value, and
        where the value is missing; the mark says how the row went on.
        """
        source = self._open(X)
        rows = self._walk(source)
        backend = source.table.backend or self._backend
        return Explanations(ExplainTree(self._model, rows), range(len(rows.nodes)), backend)

    def _report_columns(
        self, holes: NDArray[np.int64], unknown: NDArray[np.int64], words: str | None = None
    ) -> None:
        """Holes of columns that had some at fit are nothing to be told of, unless refused."""
        if self.missing != "error" and self._model.holes:
            holes = np.where(np.array(self._model.holes) > 0, 0, holes)
        spread = "they go down every branch, by its weight"
        told = spread if self._model.policy == "fractional" else words
        super()._report_columns(holes, np.zeros_like(unknown), told)
        super()._report_columns(np.zeros_like(holes), unknown, words)

    def _walk(self, source: TableSource) -> Walked:
        rows = gather_walked(list(self._engine().map(source, WalkBlock(self._model))))
        self._report_columns(rows.holes, rows.unknown)
        return rows

    def working(
        self, node: int = 0, X: Any = None, y: Any = None, sample_weight: ArrayLike | None = None
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
        check_is_fitted(self)
        t = read_node(self._model, node)
        rows = None if X is None else self._read_again(X, y, sample_weight)
        return show_node(self._model, rows, self._grown_by, t, self._backend)

    def _read_again(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> TreeRows:
        if y is None:
            raise InputError(
                "X was given without y: give both, the rows of the fit and their labels."
            )
        source = self._open_training(X, y, sample_weight, self._model.row_exponent).source
        batch = gather_blocks(list(self._engine().map(source, as_read)))
        rows = read_again(batch, self._model)
        self._report_columns(rows.encoded.holes, rows.encoded.unknown)
        return rows

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
        check_is_fitted(self)
        check_max_values(max_values)
        return node_table(self._model, self._backend, max_values).to_frame()
