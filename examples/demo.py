"""The main job on bundled data: fit, look, predict, explain."""

from __future__ import annotations

import sortal
from sortal import DiscreteBayes, datasets


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


def main() -> None:
    """Run every part."""
    print(f"sortal {sortal.__version__}\n")
    play_tennis()
    penguins()


if __name__ == "__main__":
    main()
