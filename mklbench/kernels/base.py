"""Kernels as operators: what the algorithms may ask of a bank or a family.

A **bank** is a finite list of base kernels K_1 ... K_M on n training samples, combined with weights
d >= 0 into sum_m d_m K_m. A **family** is a continuous set of kernels K_theta, theta >= 0. Both are
bound to their training samples; neither needs to store its Gram matrices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError

Array = NDArray[np.float64]


class KernelOperator(ABC):
    """What banks and families have in common: a kernel for each vector of weights.

    Attributes
    ----------
    n_samples : number n of training samples.
    n_kernels : number M of base kernels of a bank, or of parameters of a family.
    features : (M,) for each kernel or parameter the index of the one feature it looks at, or -1
        where it looks at several.
    """

    n_samples: int
    n_kernels: int
    features: tuple[int, ...]

    @abstractmethod
    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        """Return the Gram matrix (n, n) at `weights` (M,), written into `out` where given."""

    @abstractmethod
    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        """Return the kernel at `weights` between new samples `Z` and the training samples.

        `Z` is a matrix (n_z, d) of features, unless the operator says otherwise; the result has
        shape (n_z, n).
        """

    @abstractmethod
    def restrict(self, rows: ArrayLike) -> KernelOperator:
        """Return the same kernels on the training samples `rows` (indices) only."""

    def uniform_weights(self) -> Array:
        """Return the weights (M,) that are all 1/M."""
        return np.full(self.n_kernels, 1.0 / self.n_kernels)

    def _check_weights(self, weights: ArrayLike) -> Array:
        checked = np.asarray(weights, dtype=np.float64)
        if checked.shape != (self.n_kernels,):
            raise InputError(
                f"weights have shape {checked.shape}, but there are {self.n_kernels} kernels: "
                f"pass one weight a kernel."
            )
        return checked


class Bank(KernelOperator):
    """A finite list of base kernels on n training samples.

    Attributes
    ----------
    groups : lists of kernel indices, one a group, where kernels come in groups; else None.
    """

    groups: Sequence[Sequence[int]] | None = None

    @abstractmethod
    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        """Return sum_m d_m K_m (n, n), written into `out` where given."""

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        """Add sum_m d_m K_m onto `out` (n, n)."""
        out += self.combine(d)

    @abstractmethod
    def quadratic_forms(self, a: ArrayLike) -> Array:
        """Return q (M,) with q_m = a' K_m a, for `a` of shape (n,)."""

    @abstractmethod
    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        """Return the rows K_m a (k, n) for the kernels m in `kernels` (k,), for `a` (n,).

        `kernels` are indices from 0 to M - 1 in any order, none included.
        """

    @abstractmethod
    def traces(self) -> Array:
        """Return the traces (M,) of the Gram matrices."""

    @abstractmethod
    def restrict(self, rows: ArrayLike) -> Bank: ...

    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        """Return `combine(weights)`: a bank at fixed weights is one kernel."""
        return self.combine(weights, out)

    def inner_products_with(self, K: Array) -> Array:
        """Return <K_m, K>_F (M,) for a symmetric matrix `K` (n, n)."""
        eigenvalues, vectors = np.linalg.eigh(K)
        return sum(
            value * self.quadratic_forms(vector)
            for value, vector in zip(eigenvalues, vectors.T, strict=True)
        )

    def inner_products(self) -> Array:
        """Return the matrix (M, M) of Frobenius inner products <K_m, K_l>_F."""
        columns = [self.inner_products_with(self.combine(unit)) for unit in np.eye(self.n_kernels)]
        products = np.array(columns)
        return 0.5 * (products + products.T)

    def target_alignments(self, y: ArrayLike) -> Array:
        """Return <K_m, y y'>_F (M,) for targets `y` (n,)."""
        return self.quadratic_forms(y)


class Family(KernelOperator):
    """A continuous set of kernels K_theta, theta in R^M with theta >= 0."""

    @abstractmethod
    def gradient(self, theta: ArrayLike, a: ArrayLike, K: Array | None = None) -> Array:
        """Return d(a' K_theta a) / d theta (M,), for `a` of shape (n,).

        `K` is ``gram(theta)`` where the caller has it, which spares the time to form it again.
        """
