"""The Hessian in gamma of the SVM's dual objective with a product of Gaussians (QN-PKL)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def product_hessian(X: Array, gamma: Array, a: Array) -> Array:
    """Return -1/2 a' (D_k o D_l o K_gamma) a for every two features: Picard et al. 2012, eq. 9.

    Parameters
    ----------
    X : ndarray of shape (n, M)
        Samples; D_m are the squared distances in feature m.
    gamma : ndarray of shape (M,)
        Parameters of the kernel exp(-sum_m gamma_m D_m).
    a : ndarray of shape (n,)
        alpha o y.

    Returns
    -------
    ndarray of shape (M, M)
    """
    D = ((X[:, None] - X) ** 2).reshape(-1, X.shape[1])
    K = np.exp(-(D @ gamma))
    return -0.5 * (D * (np.outer(a, a).ravel() * K)[:, None]).T @ D
