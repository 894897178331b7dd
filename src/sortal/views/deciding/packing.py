"""Arrays for JSON: short ones as lists, others as base64 of little-endian float64, bit for bit."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Up to so many numbers a list takes hardly more room, and can be read.
_SHORT: Final = 8


def pack(array: ArrayLike) -> Any:
    """An array of numbers; infinite ones, which JSON has not, are always packed."""
    numbers = np.asarray(array, dtype=np.float64)
    if numbers.size <= _SHORT and np.isfinite(numbers).all():
        return numbers.tolist()
    return _packed(numbers.ravel(), numbers.shape)


def pack_lower(matrices: ArrayLike, *, mirror: bool) -> dict[str, Any]:
    """Matrices (the last two axes) up to their diagonal; `mirror` says that they are symmetric."""
    numbers = np.asarray(matrices, dtype=np.float64)
    lower = np.tri(*numbers.shape[-2:]) > 0
    return _packed(numbers[..., lower].ravel(), numbers.shape) | {"lower": True, "mirror": mirror}


def _packed(flat: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    return {"f8": b64encode(flat.astype("<f8").tobytes()).decode(), "shape": list(shape)}


def packed_bytes(item: Any) -> int:
    """About how many bytes an item takes in JSON."""
    if isinstance(item, dict):
        return sum(len(key) + 4 + packed_bytes(value) for key, value in item.items())
    if isinstance(item, list | tuple):
        return sum(1 + packed_bytes(value) for value in item)
    return len(item) + 2 if isinstance(item, str) else len(repr(item))
