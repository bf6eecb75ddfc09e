"""Whether Gram matrices that come from elsewhere are positive semidefinite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy.linalg import eigvalsh, lapack

from mklbench.errors import InputError
from mklbench.kernels.base import Array
from mklbench.kernels.storage.packed import PackedGrams, unpack

# An eigenvalue down to minus this share of the trace is of rounding, also in single precision.
_ROUNDING = 1e-7


def check_definite(grams: Iterable[Array], names: Sequence[str] | None = None) -> None:
    """Raise an InputError unless each matrix is positive semidefinite, up to rounding.

    It takes one Cholesky factorisation a matrix, with the rounding added to the diagonal.

    Parameters
    ----------
    grams : iterable of ndarray
        Symmetric matrices (n, n).
    names : sequence of str or None, default=None
        What they are called in the message; "kernel 0 of K" and so on if not given.
    """
    for m, gram in enumerate(grams):
        size = float(np.trace(gram)) or float(np.abs(gram).max()) or 1.0
        shifted = gram.copy()
        shifted.flat[:: len(gram) + 1] += _ROUNDING * abs(size)
        if lapack.dpotrf(shifted, lower=1, clean=0)[1]:
            smallest = float(eigvalsh(gram, subset_by_index=(0, 0))[0])
            name = f"kernel {m} of K" if names is None else names[m]
            raise InputError(
                f"{name} is not positive semidefinite, its smallest eigenvalue is {smallest:.3g}: "
                f"a Gram matrix must be."
            )


def unpacked(packed: PackedGrams) -> Iterator[Array]:
    """Yield the matrices of a list of halves, one at a time in the same array."""
    matrix = np.empty((packed.n_samples, packed.n_samples))
    for half in packed.halves:
        unpack(half, matrix)
        yield matrix
