"""The main job on bundled data: fit, look, predict, explain."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import sortal
from sortal import DiscreteBayes, FisherDiscriminant, LinearDiscriminant, TreeClassifier, datasets
from sortal.errors import MissingValueWarning


def play_tennis() -> None:
    """A textbook's table by discrete Bayes, with its working."""
    tennis = datasets.play_tennis()
    model = DiscreteBayes(alpha=0).fit(tennis, "PlayTennis")
    day = tennis.drop(columns="PlayTennis").iloc[[1]]
    print("== Play Tennis: shall we play when it is sunny, hot, humid and windy? ==\n")
    print(model.working(day), "\n")
    print(model.explain(day)[0], "\n")


def penguins() -> None:
    """Words, numbers and holes in one table: nothing to prepare."""
    table = datasets.penguins()
    model = DiscreteBayes().fit(table, "species")
    print("== Palmer penguins: words, numbers and holes ==\n")
    print(model.fit_report_)
    shares = model.loo_proba(table, "species")
    right = (model.classes_[shares.argmax(axis=1)] == table["species"].to_numpy()).mean()
    print(f"right when each penguin is left out of the fit: {right:.1%}\n")
    print(model.explain(table.iloc[[0]])[0], "\n")


def fisher() -> None:
    """A textbook's example of Fisher's discriminant, with its working."""
    iris = datasets.iris()
    X, y = iris[["sepal_length", "sepal_width"]], iris["species"] == "setosa"
    model = FisherDiscriminant().fit(X, y)
    print("== Iris: the direction that tells setosa from the others ==\n")
    print(model.working(), "\n")


def linear() -> None:
    """A mixed table by the linear discriminant; rows with holes are left out of the fit."""
    table = datasets.penguins()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)  # the report says it, too
        model = LinearDiscriminant().fit(table, "species")
        print("== Palmer penguins by the linear discriminant ==\n")
        print(model.fit_report_)
        print(f"right on all rows: {model.score(table, 'species'):.1%}\n")
        print(model.explain(table.iloc[[3]])[0], "\n")  # a row with holes


def tree() -> None:
    """A tree of words, numbers and holes."""
    table = datasets.penguins()
    model = TreeClassifier(min_samples_leaf=5, pruning=None).fit(table, "species")
    print("== Palmer penguins by a decision tree ==\n")
    print(model.fit_report_)
    print(f"right on all rows: {model.score(table, 'species'):.1%}\n")
    print(model.to_text(), "\n")
    print(model.rules(), "\n")
    print(model.explain(table.iloc[[3]])[0], "\n")  # a row with holes
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "tree.svg"
        picture.write_text(model.to_svg(), encoding="utf-8")
        print(f"a picture of {picture.stat().st_size} bytes: model.to_svg()\n")


def main() -> None:
    """Run every part."""
    print(f"sortal {sortal.__version__}\n")
    play_tennis()
    penguins()
    fisher()
    linear()
    tree()


if __name__ == "__main__":
    main()
