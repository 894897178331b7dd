"""A model, given as a fitted estimator or as the path of a model file."""

from __future__ import annotations

from typing import Any

from sortal.tasks.load import load


def as_model(model: Any) -> Any:
    """The fitted estimator."""
    return model if hasattr(model, "predict") else load(model)
