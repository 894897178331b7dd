"""Draw the pictures of the documentation: docs/pictures/*.svg, the same bytes each time.

    python tools/pictures.py                 draw all
    python tools/pictures.py --png FOLDER    and put copies to look at into a folder

A picture shows what its page has fitted: the python blocks of the page are run, and the picture
takes data and models from the names they leave.
"""

from __future__ import annotations

import argparse
import io
import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import matplotlib as mpl
import matplotlib.pyplot as plt

from sortal import displays

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Float = NDArray[np.float64]

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
DOCS = runpy.run_path(str(ROOT / "tools" / "docs.py"))

# The numbers in a picture, which hundredths of a point are exact enough for.
PLACES = re.compile(r' (?:d|x|y)="[^"]*"')
DIGITS = re.compile(r"-?\d+\.\d+")

Page: TypeAlias = dict[str, Any]


def run_page(name: str) -> Page:
    """The names that the python blocks of a page leave."""
    text = (ROOT / name).read_text(encoding="utf-8")
    namespace: Page = {"__name__": "page"}
    for language, code, _ in DOCS["FENCE"].findall(text):
        if language == "python":
            DOCS["run_python"](code, namespace)
    return namespace


def draw_any_projection(page: Page) -> Figure:
    """Zaki & Meira, Figure 20.1: a direction that mixes the classes."""
    show = displays.ProjectionDisplay.from_estimator
    return show(page["model"], page["X"], page["y"], w=[1, 1]).figure_


def draw_best_projection(page: Page) -> Figure:
    """Zaki & Meira, Figure 20.2: the best direction."""
    show = displays.ProjectionDisplay.from_estimator
    return show(page["model"], page["X"], page["y"]).figure_


def draw_densities(page: Page) -> Figure:
    """Both classes along the best direction."""
    show = displays.DensitiesDisplay.from_estimator
    return show(page["model"], page["X"], page["y"]).figure_


def draw_directions(page: Page) -> Figure:
    """First principal component, line of centroids, Fisher direction."""
    show = displays.DirectionsDisplay.from_estimator
    return show(page["model"], page["X"], page["y"]).figure_


def draw_gaussians(page: Page) -> Figure:
    """True parameters beside a fit to 30 rows a class."""
    figure, (left, right) = two_panels()
    show = displays.DecisionsDisplay.from_estimator
    X, y = page["X"], page["y"]
    true: dict[str, Any] = {"title": "The true Gaussians", "legend": False, "alpha": 0.3}
    show(page["true"], X, y, ax=left, pairwise=True, **true)
    title = "Fitted to 30 rows of each"
    show(page["model"], X, y, ax=right, pairwise=True, title=title, legend="beside")
    return figure


def draw_masking(page: Page) -> Figure:
    """Regression on indicators beside LDA."""
    figure, (left, right) = two_panels()
    show = displays.DecisionsDisplay.from_estimator
    X, y = page["row"], page["row_y"]
    show(page["regression"], X, y, ax=left, title="Indicator regression", legend=False)
    show(page["unmasked"], X, y, ax=right, title="LDA", legend="beside")
    return figure


def draw_expansion(page: Page) -> Figure:
    """LDA on two attributes beside LDA on their quadratic expansion."""
    figure, (left, right) = two_panels()
    X, y = page["around"], page["around_y"]
    show = displays.DecisionsDisplay.from_estimator
    show(page["plain"], X, y, ax=left, title="LDA on two attributes", legend=False)
    title = "LDA on the quadratic expansion"
    show(page["curved"], X, y, ax=right, title=title, legend="beside")
    return figure


def draw_quadratic_expansion(page: Page) -> Figure:
    """Barner's three classes: LDA on the quadratic expansion beside QDA."""
    return beside_quadratic(page["expanded"], page["model"], page["X"], page["y"])


def draw_quadratic_ring(page: Page) -> Figure:
    """The same for classes that are no Gaussians."""
    bent = page["bent"]
    return beside_quadratic(bent["expanded"], bent["QDA"], page["around"], page["around_y"])


def beside_quadratic(expanded: Any, quadratic: Any, X: Any, y: Any) -> Figure:
    """Two classifiers by their regions, with the ellipses of the second in both."""
    figure, (left, right) = two_panels()
    ellipses = {"means": quadratic.means_, "covariance": quadratic.covariances_}
    show = displays.DecisionsDisplay(
        X,
        y,
        lambda points: expanded.predict_log_proba(type(X)(points, columns=X.columns)),
        **ellipses,
    )
    show.plot(left, title="LDA on the quadratic expansion", legend=False, s=16)
    displays.DecisionsDisplay.from_estimator(
        quadratic, X, y, ax=right, title="QDA", legend="beside", s=16
    )
    return figure


def draw_quadratic_priors(page: Page) -> Figure:
    """Boundaries of a fit, and where other priors move them."""
    show = displays.DecisionsDisplay.from_estimator
    return show(page["birds"], page["bills"], "species", priors=page["mostly_chinstrap"]).figure_


def draw_canonical(page: Page) -> Figure:
    """Penguins in the two directions that part them best."""
    show = displays.CanonicalDisplay.from_estimator
    return show(page["canonical"], page["sizes"], "species", arrows=True).figure_


def draw_neighbors(page: Page) -> Figure:
    """Regions for 1, 5 and 15 neighbors, beside the leave-one-out curve."""
    show = displays.NeighborsDisplay.from_estimator
    return show(page["whole"], page["iris"], "species", features=(0, 1)).figure_


def draw_loo_curve(page: Page) -> Figure:
    """The curve by which k and the weighting were chosen."""
    return displays.LooCurveDisplay.from_estimator(page["chosen"]).figure_


def draw_contours(page: Page) -> Figure:
    """Zaki & Meira, Figure 20.3a: curves of constant projection."""
    show = displays.KernelContoursDisplay.from_estimator
    return show(page["book"], page["X"], page["y"]).figure_


def draw_kernel_projection(page: Page) -> Figure:
    """Zaki & Meira, Figure 20.3b: the rows on one axis."""
    show = displays.KernelProjectionDisplay.from_estimator
    return show(page["book"], page["X"], page["y"]).figure_


def draw_feature_space(page: Page) -> Figure:
    """Zaki & Meira, Figure 20.4: the space of the quadratic kernel."""
    show = displays.FeatureSpaceDisplay.from_estimator
    return show(page["book"], page["X"], page["y"]).figure_


def draw_tree(page: Page) -> str:
    """Zaki & Meira, Figure 19.1b, with the path of the test point."""
    return str(page["model"].to_svg(row=page["z"], title="The tree of Figure 19.1b"))


def draw_partition(page: Page) -> Figure:
    """Zaki & Meira, Figure 19.1a: regions, hyperplanes and the test point."""
    show = displays.PartitionDisplay.from_estimator
    return show(page["model"], page["X"], page["y"], z=[(6.75, 4.25)]).figure_


def draw_frequencies(page: Page) -> Figure:
    """Zaki & Meira, Figure 19.2: N_vi of sepal length."""
    show = displays.FrequenciesDisplay.from_estimator
    return show(page["model"], page["X"], page["y"], features=["X1"]).figure_


def draw_scores(page: Page) -> Figure:
    """Zaki & Meira, Figure 19.3: the gain of every cut."""
    show = displays.ScoresDisplay.from_estimator
    return show(page["model"], page["X"], page["y"]).figure_


def draw_penguins(page: Page) -> str:
    """The tree of the README."""
    return str(page["tree"].to_svg(title="The tree of penguins"))


def draw_complexity(page: Page) -> Figure:
    """The nested trees of the penguins, and the one chosen."""
    return displays.ComplexityDisplay.from_estimator(page["model"]).figure_


def two_panels() -> tuple[Figure, Any]:
    """A figure with two axes side by side."""
    return plt.subplots(1, 2, figsize=(11.0, 4.6), layout="constrained")


def as_svg(figure: Figure) -> str:
    """The picture as text, the same on each run."""
    written = io.StringIO()
    figure.savefig(written, format="svg", metadata={"Date": None})
    shorter: Callable[[re.Match[str]], str] = lambda found: f"{float(found[0]):.2f}"
    text = PLACES.sub(lambda found: DIGITS.sub(shorter, found[0]), written.getvalue())
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


DRAWINGS: dict[str, dict[str, Callable[[Page], Figure | str]]] = {
    "README.md": {"tree_penguins": draw_penguins},
    "docs/worked/fisher.md": {
        "projection_any": draw_any_projection,
        "projection_best": draw_best_projection,
        "densities": draw_densities,
        "directions": draw_directions,
    },
    "docs/worked/kernel.md": {
        "kernel_contours": draw_contours,
        "kernel_projection": draw_kernel_projection,
        "kernel_space": draw_feature_space,
    },
    "docs/worked/linear.md": {
        "gaussians": draw_gaussians,
        "masking": draw_masking,
        "expansion": draw_expansion,
    },
    "docs/worked/neighbors.md": {
        "neighbors_regions": draw_neighbors,
        "neighbors_loo": draw_loo_curve,
    },
    "docs/worked/quadratic.md": {
        "quadratic_expansion": draw_quadratic_expansion,
        "quadratic_ring": draw_quadratic_ring,
        "quadratic_priors": draw_quadratic_priors,
        "canonical_penguins": draw_canonical,
    },
    "docs/worked/tree_pruning.md": {"tree_complexity": draw_complexity},
    "docs/worked/tree_reading.md": {
        "tree_iris": draw_tree,
        "tree_partition": draw_partition,
        "tree_frequencies": draw_frequencies,
        "tree_scores": draw_scores,
    },
}


def main() -> None:
    """Draw every picture of every page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--png", type=Path, metavar="FOLDER", help="where to put copies as PNG")
    folder: Path | None = parser.parse_args().png
    mpl.rcdefaults()
    mpl.use("svg")
    # letters as outlines, so that a picture looks the same wherever it is seen
    mpl.rcParams.update({"svg.hashsalt": "sortal", "svg.fonttype": "path"})
    PICTURES.mkdir(exist_ok=True)
    for name, drawings in DRAWINGS.items():
        page = run_page(name)
        for title, draw in drawings.items():
            keep(title, draw(page), folder)


def keep(title: str, drawn: Figure | str, folder: Path | None) -> None:
    """Write a picture, and a copy as PNG into a folder; what is SVG already has none."""
    text = drawn if isinstance(drawn, str) else as_svg(drawn)
    (PICTURES / f"{title}.svg").write_text(text, encoding="utf-8")
    if isinstance(drawn, str):
        return
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        drawn.savefig(folder / f"{title}.png", dpi=80)
    plt.close(drawn)


if __name__ == "__main__":
    main()
