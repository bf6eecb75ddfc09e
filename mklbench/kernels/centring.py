"""Centring a Gram matrix: the kernel of the samples' images around their mean.

With H = I - 1 1'/n the centred matrix is H K H (Cortes et al. 2012).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def centre(K: Array) -> Array:
    """Return H K H (n, n) for a symmetric `K` (n, n), symmetric to the last digit."""
    means = K.mean(axis=0)
    return K - (means + means[:, None] - means.mean())
