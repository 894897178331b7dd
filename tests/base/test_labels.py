"""Labels: classes as an array of the type in which they came."""

from __future__ import annotations

import numpy as np

from sortal.base.tables import class_array


def test_classes_that_a_type_cannot_hold_stay_as_they_are() -> None:
    held = class_array((1, 2), np.dtype(np.int64))
    other = class_array((1, 2.5), np.dtype(np.int64))
    assert (held.dtype, held.tolist()) == (np.dtype(np.int64), [1, 2])
    assert (other.dtype, other.tolist()) == (np.dtype(object), [1, 2.5])
