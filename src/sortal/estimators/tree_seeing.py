"""Seeing a fitted tree: as a drawing, as SVG, and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from sortal.data.printing import counted
from sortal.errors import InputError
from sortal.estimators.tree_reading import ReadableTree
from sortal.views.tree_drawing import Drawing, draw_tree
from sortal.views.tree_svg import svg_of

if TYPE_CHECKING:
    from sortal.models.tree_blocks import Walked

# A text alternative says as many levels as have so many nodes, and one level in any case.
_LINES = 200


class SeenTree(ReadableTree):
    """What a fitted tree looks like."""

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
        check_is_fitted(self)
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
        row: Any = None,
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
            lit=lit,
        )

    def to_html(
        self, *, max_leaves: int | None = 200, title: str | None = None, row: Any = None
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
        from sortal.views.tree_html import html_of  # noqa: PLC0415  (jinja2 only where it is used)

        check_is_fitted(self)
        values = None
        if row is not None:
            cells = self._walk_one(row).given
            values = {name: own[0] for name, own in zip(self._schema.names, cells, strict=True)}
        return html_of(
            self._model,
            title=self._title() if title is None else str(title),
            max_leaves=max_leaves,
            values=values,
            text=self._alternative(),
        )

    def _walk_one(self, row: Any) -> Walked:
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
        return hasattr(self, "_model")

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
