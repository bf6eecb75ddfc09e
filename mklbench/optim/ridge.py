"""The linear systems of kernel ridge regression: (K + lam I) alpha = y by Cholesky factors.

Here is also the shape of NKRR's objective F(mu) = y'(K_mu + lam I)^-1 y: its Hessian, and F on a
grid. With S = sum_k mu_k K_k, K_mu its Hadamard power d, V = (K_mu + lam I)^-1 and alpha = V y,

    d^2 F / dmu_k dmu_l = 2 (D_k alpha)' V (D_l alpha) - d (d - 1) alpha' E_kl alpha,
    D_k = d S^(d-1) o K_k,    E_kl = S^(d-2) o K_k o K_l.

Both terms are positive semidefinite matrices: for d = 1, without the second, F is convex, and
beyond it is not where the second prevails. For d = 2 that is condition 18 of Cortes et al. 2009: F
is convex where u' Hessian u >= 0 for all directions u.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from mklbench.errors import InputError, SingularError
from mklbench.kernels.base import Array, Bank
from mklbench.validation import check_positive, check_sample_weight, check_targets


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


def on_grid(
    bank: Bank, y: ArrayLike, axis: ArrayLike, lam: float = 1.0, *, degree: int = 2
) -> tuple[Array, Array]:
    """Return F, and the smallest eigenvalue of its Hessian, over the weights of two kernels.

    Parameters
    ----------
    bank : Bank
        Two base kernels on n training samples.
    y : array_like of shape (n,)
        Targets or labels.
    axis : array_like of shape (g,)
        The values that either weight takes.
    lam, degree : float or int
        As in `mklbench.algorithms.nkrr.solve`.

    Returns
    -------
    values, curvatures : ndarray of shape (g, g)
        The first weight along the rows. F is convex where the curvature is not negative.
    """
    grams = [bank.combine(unit) for unit in np.eye(bank.n_kernels)]
    targets = check_targets(y)
    grid = np.asarray(axis, dtype=np.float64)
    values, curvatures = np.empty((2, len(grid), len(grid)))
    for i, j in np.ndindex(values.shape):
        weights = np.array([grid[i], grid[j]])
        values[i, j], curvature = shape_at(grams, targets, weights, lam, degree)
        curvatures[i, j] = np.linalg.eigvalsh(curvature)[0]
    return values, curvatures


def shape_at(
    grams: Sequence[Array] | Array, y: Array, weights: Array, lam: float, degree: int
) -> tuple[float, Array]:
    """Return F and its Hessian (M, M) at `weights` (M,), of M Gram matrices and targets (n,)."""
    S = sum(weight * gram for weight, gram in zip(weights, grams, strict=True))
    factor = factorised(hadamard_power(S, degree), lam)
    alpha = solved(factor, y)
    slopes = np.column_stack([degree * (S ** (degree - 1) * gram) @ alpha for gram in grams])
    curvature = 2.0 * slopes.T @ solved(factor, slopes)
    if degree > 1:
        W = np.outer(alpha, alpha) * S ** (degree - 2)
        bends = np.array([[np.vdot(W * gram, other) for other in grams] for gram in grams])
        curvature -= degree * (degree - 1) * bends
    return float(alpha @ y), 0.5 * (curvature + curvature.T)
