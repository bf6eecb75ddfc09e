"""Whether Gram matrices that come from elsewhere are positive semidefinite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh, lapack

from mklbench.errors import InputError

Array = NDArray[np.float64]

# An eigenvalue down to minus this share of the trace is of rounding, also in single precision.
_ROUNDING = 1e-7


def check_definite(grams: Iterable[Array], names: Sequence[str] | None = None) -> None:
    """Raise an InputError unless each matrix is positive semidefinite, up to rounding.

    Parameters
    ----------
    grams : iterable of ndarray
        Symmetric matrices (n, n).
    names : sequence of str or None, default=None
        What they are called in the message; "kernel 0 of K" and so on if not given.
    """
    for m, gram in enumerate(grams):
        if not is_definite(gram):
            smallest = float(eigvalsh(gram, subset_by_index=(0, 0))[0])
            name = f"kernel {m} of K" if names is None else names[m]
            raise InputError(
                f"{name} is not positive semidefinite, its smallest eigenvalue is {smallest:.3g}: "
                f"a Gram matrix must be."
            )


def is_definite(gram: Array) -> bool:
    """Tell whether a symmetric matrix (n, n) is positive semidefinite, up to rounding.

    It takes one Cholesky factorisation, with the rounding added to the diagonal.
    """
    size = float(np.trace(gram)) or float(np.abs(gram).max()) or 1.0
    shifted = gram.copy()
    shifted.flat[:: len(gram) + 1] += _ROUNDING * abs(size)
    # The transpose is in the order of LAPACK, which then needs no copy of its own.
    return not lapack.dpotrf(shifted.T, lower=0, clean=0, overwrite_a=1)[1]
