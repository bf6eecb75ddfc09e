"""Whether Gram matrices that come from elsewhere are positive semidefinite, and making them so.

The spectrum of an indefinite matrix is clipped at 0, shifted or flipped, and what belongs to new
samples is transformed alike (Chen et al. 2009, Similarity-based classification, JMLR 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, eigvalsh, lapack

from mklbench.errors import InputError
from mklbench.validation import kernel_called

Array = NDArray[np.float64]
MakePSD = Literal["clip", "shift", "flip"]
# What can be done about a matrix that an estimator is given with kernel="precomputed".
OF_PRECOMPUTED = 'or pass kernel=partial(precomputed, make_psd="clip"), "shift" or "flip"'

# An eigenvalue down to minus this share of the trace is of rounding, also in single precision.
_ROUNDING = 1e-7


def check_definite(
    grams: Iterable[Array],
    names: Sequence[str] | None = None,
    remedy: str = 'or set make_psd to "clip", "shift" or "flip"',
) -> None:
    """Raise an InputError unless each matrix is positive semidefinite, up to rounding.

    Parameters
    ----------
    grams : iterable of ndarray
        Symmetric matrices (n, n).
    names : sequence of str or None, default=None
        What they are called in the message; "kernel 0 of K" and so on if not given.
    remedy : str
        What the message says can be done.
    """
    for m, gram in enumerate(grams):
        if not is_definite(gram):
            eigenvalues = eigvalsh(gram)
            name = kernel_called(m) if names is None else names[m]
            raise InputError(
                f"{name} is not positive semidefinite, its smallest eigenvalue is "
                f"{eigenvalues[0]:.3g} and its largest {eigenvalues[-1]:.3g}: a Gram matrix must "
                f"be, mend it {remedy}."
            )


def made_definite(gram: Array, how: MakePSD) -> tuple[Array, Array | None]:
    """Return a positive semidefinite matrix in the place of a symmetric one, and what maps others.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        A symmetric matrix V diag(l) V' between training samples.
    how : {"clip", "shift", "flip"}
        "clip" makes 0 of negative eigenvalues l, "flip" |l|, and "shift" subtracts the smallest
        from all.

    Returns
    -------
    ndarray of shape (n, n)
        The matrix; `gram` itself if it is positive semidefinite up to rounding.
    ndarray of shape (n, n) or None
        P, so that Z P are the kernel values of new samples in the place of Z (n_new, n); None where
        they stay.
    """
    if is_definite(gram):
        return gram, None
    eigenvalues, vectors = eigh(gram)
    if how == "shift":
        return gram - eigenvalues[0] * np.eye(len(gram)), None
    mapping = (vectors * (eigenvalues > 0 if how == "clip" else np.sign(eigenvalues))) @ vectors.T
    mended = gram @ mapping
    return 0.5 * (mended + mended.T), mapping


def is_definite(gram: Array) -> bool:
    """Tell whether a symmetric matrix (n, n) is positive semidefinite, up to rounding.

    It takes one Cholesky factorisation, with the rounding added to the diagonal.
    """
    size = float(np.trace(gram)) or float(np.abs(gram).max()) or 1.0
    shifted = gram.copy()
    shifted.flat[:: len(gram) + 1] += _ROUNDING * abs(size)
    # The transpose is in the order of LAPACK, which then needs no copy of its own.
    return not lapack.dpotrf(shifted.T, lower=0, clean=0, overwrite_a=1)[1]
