"""Alignments of kernels with the targets as cosines, for kernels that are centred or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError

Array = NDArray[np.float64]


def cosines(products: Array, norms: Array, target_norm: float) -> Array:
    """Return <K_m, y y'>_F / (||K_m||_F ||y y'||_F) of each kernel, 0 where a norm is 0.

    Parameters
    ----------
    products : ndarray of shape (M,)
        <K_m, y y'>_F.
    norms : ndarray of shape (M,)
        ||K_m||_F.
    target_norm : float
        ||y y'||_F.
    """
    scale = norms * target_norm
    return np.divide(products, scale, out=np.zeros_like(scale), where=scale > 0)


def require_aligned(alignments: Array, other_than: str) -> None:
    """Raise an InputError unless a kernel has a positive alignment with the targets.

    Parameters
    ----------
    alignments : ndarray of shape (M,)
        Of the kernels, in any units.
    other_than : str
        What a kernel without alignment may be, "constant" where they are centred, else "zero".
    """
    if not (alignments > 0).any():
        raise InputError(
            f"none of the {len(alignments)} kernels has a positive alignment with y: choose "
            f"kernels that are positive semidefinite and not {other_than}."
        )
