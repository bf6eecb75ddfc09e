"""The linear systems of kernel ridge regression: (K + lam I) alpha = y by Cholesky factors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack

from mklbench.errors import InputError, SingularError
from mklbench.validation import check_positive, check_sample_weight

Array = NDArray[np.float64]


def coefficients(K: Array, y: Array, lam: float | Array, *, overwrite: bool = False) -> Array:
    """Return alpha = (K + lam I)^-1 y (n,) for a Gram matrix `K` (n, n), as by `factorised`."""
    return solved(factorised(K, lam, overwrite=overwrite), y)


def factorised(K: Array, lam: float | Array, *, overwrite: bool = False) -> Array:
    """Return the Cholesky factor of K + lam I (n, n), for `solved`, in the memory of K on request.

    `lam` is one number, or one (n,) for each sample.

    Raises
    ------
    InputError
        `SingularError` if K + lam I is singular to working precision.
    """
    system = (K if overwrite else K.copy()).T  # LAPACK's order; the matrix is symmetric
    norm = lapack.dlange("1", system) + float(np.max(lam))
    system[np.diag_indices_from(system)] += lam
    factor, failed = lapack.dpotrf(system, lower=True, overwrite_a=True, clean=False)
    if failed or lapack.dpocon(factor, norm, uplo="L")[0] < np.finfo(float).eps:
        raise singular(float(np.min(lam)), norm, len(K))
    return factor


def solved(factor: Array, B: Array) -> Array:
    """Return (K + lam I)^-1 B for `B` (n,) or (n, k), from the factor of K + lam I."""
    return lapack.dpotrs(factor, B, lower=True)[0]


def ridges(lam: float, sample_weight: ArrayLike | None, n: int) -> float | Array:
    """Return lambda, or with weights w of n samples lambda / w_i for each.

    The squared errors sum_i w_i (y_i - f(x_i))^2 / lambda of f = sum_i alpha_i k(x_i, .) are least,
    with its norm, at alpha = (K + diag(lambda / w))^-1 y.

    Raises
    ------
    InputError
        If lambda or a weight is no finite number > 0, or there is not one weight a sample.
    """
    check_positive("lam", lam)
    return lam if sample_weight is None else lam / check_sample_weight(sample_weight, n)


def hadamard_power(K: Array, degree: int) -> Array:
    """Return the entries of a Gram matrix `K` (n, n) to the power `degree`; `K` itself for 1.

    Raises
    ------
    InputError
        If they overflow.
    """
    with np.errstate(over="ignore"):
        power = K if degree == 1 else K**degree
    if not np.isfinite(power.diagonal()).all():  # no other entry of a Gram matrix is larger
        raise InputError(
            f"degree={degree} makes the kernel overflow: scale the features down, or the weights."
        )
    return power


def singular(lam: float, norm: float, n: int) -> SingularError:
    """Return the error of a system K + lam I (n, n) of this norm that is singular."""
    least = n * np.finfo(float).eps * norm
    return SingularError(
        f"lam={lam:g} is too small: K + lam I is singular to working precision, take lam above "
        f"{least:.0e}."
    )
