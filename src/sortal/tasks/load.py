"""load: a fitted estimator from its model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.errors import FormatError, SortalError
from sortal.estimators.keeping import Keeping, restore
from sortal.models.archive import read_archive
from sortal.tasks.registry import estimator_named

if TYPE_CHECKING:
    import os


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted estimator that `save` wrote into a model file.

    The file is data: nothing in it is executed, and the class that it names is looked up among the
    registered learners, never imported by that name. The estimator does all that it did before:
    predict, explain, show its working, and, where it could, be fitted further.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    A fitted estimator.

    Raises
    ------
    FormatError
        The file is no model file, is damaged, of a newer version, or of an unknown estimator.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sortal import TreeClassifier, datasets
    >>> from sortal.tasks.load import load
    >>> iris = datasets.iris()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "iris.sortal"
    ...     TreeClassifier().fit(iris, "species").save(path)
    ...     model = load(path)
    >>> model.predict(iris[:1]).tolist()
    ['setosa']
    """
    parts = read_archive(path)
    name = parts.manifest.get("estimator")
    if not isinstance(name, str):
        raise FormatError("The manifest names no estimator: damaged?")
    try:
        cls = estimator_named(name)
    except (SortalError, LookupError) as error:
        raise FormatError(
            f"The model is of an estimator that is not known here: {str(error)[:300]}"
        ) from None
    if not (isinstance(cls, type) and issubclass(cls, Keeping)):
        raise FormatError(f"{name} does not say how it is kept in a model file.")
    return restore(cls, parts)
