"""Names of the types of arrays that signatures speak of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.intp]
LongArray = NDArray[np.int64]
IntArray = NDArray[np.int32]
ByteArray = NDArray[np.uint8]
WordArray = NDArray[np.uint64]
