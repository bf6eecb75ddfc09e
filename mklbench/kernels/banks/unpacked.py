"""Gram matrices that are given and combined once: read where they are, and only their sum checked.

A machine at fixed weights learns from sum_m d_m K_m and from nothing else. To copy, pack and factor
M matrices for it takes far longer than the machine itself. Here one pass adds them up, and what is
checked is the sum; single matrices are looked at only if their diagonal or the sum is not that of
Gram matrices, so that a refusal names the kernel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.banks.cross import GivenCross
from mklbench.kernels.banks.dense import check_gram, gram_stack, is_in_range
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.definite import OF_PRECOMPUTED, check_definite, is_definite
from mklbench.kernels.memory import Memory, gram_bytes
from mklbench.kernels.storage.packed import is_symmetric, symmetric
from mklbench.validation import kernel_called


class UnpackedBank(GivenCross, Bank):
    """Gram matrices that the user brings, for algorithms that combine them at one set of weights.

    It refers to `K` and keeps the last combination. Algorithms that ask for more are served, too,
    but faster by a `PrecomputedBank`.

    Each matrix is held to what its diagonal tells: no entry of it is negative, where it is 0 the
    row is, and its largest entry is in the range of `PrecomputedBank`. The combinations are checked
    to be symmetric and positive semidefinite up to rounding: a combination that is neither is
    refused for the first matrix that is not. A matrix that is indefinite is accepted where the
    others make up for it, as the combination is a kernel.

    Parameters
    ----------
    K : array_like of shape (M, n, n)
        Gram matrices on the training samples.

    Raises
    ------
    InputError
        If `K` is no stack of matrices, or a diagonal is none of a Gram matrix.
    """

    def __init__(self, K: ArrayLike) -> None:
        self._stack = gram_stack(K)
        self.n_kernels, self.n_samples = self._stack.shape[:2]
        self.features = (-1,) * self.n_kernels
        self._last: tuple[Array, Array] | None = None
        self._check_diagonals()

    @classmethod
    def needs(cls, n: int, n_kernels: int) -> Memory:
        """Return the memory of the combination that it keeps, that of `K` not counted.

        Parameters
        ----------
        n : int
            Number of training samples.
        n_kernels : int
            Number M of kernels.
        """
        return Memory(
            n_kernels,
            gram_bytes(n),
            gram_bytes(n),
            combining=gram_bytes(n),  # what is factored
            restricting=gram_bytes(n, n_kernels),
        )

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        """Return sum_m d_m K_m (n, n).

        Parameters
        ----------
        d : array_like of shape (M,)
            Weights of the kernels.
        out : ndarray of shape (n, n) or None, default=None
            Where the matrix is written; a new array if not given.

        Raises
        ------
        InputError
            If it is not finite, symmetric and positive semidefinite, and a kernel is not.
        """
        weights = self._check_weights(d)
        if self._last is None or not np.array_equal(self._last[0], weights):
            combined = np.tensordot(weights, self._stack, axes=1)
            self._last = weights.copy(), self._checked(combined)
        if out is None:
            return self._last[1].copy()
        out[...] = self._last[1]
        return out

    def quadratic_forms(self, a: ArrayLike) -> Array:
        coef = self._check_coefficients(a)
        return (self._stack @ coef) @ coef

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        coef = self._check_coefficients(a)
        rows = [self._stack[m] @ coef for m in self._check_kernels(kernels)]
        return np.array(rows).reshape(len(rows), self.n_samples)

    def traces(self) -> Array:
        return self.diagonals().sum(axis=1)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return np.einsum("mii->mi", self._stack).copy() if Z is None else super().diagonals(Z)

    def inner_products_with(self, K: Array) -> Array:
        return np.tensordot(self._stack, K, axes=2)

    def take(self, rows: ArrayLike) -> UnpackedBank:
        chosen = self._check_rows(rows)
        return UnpackedBank(self._stack[:, chosen[:, None], chosen])

    def _check_diagonals(self) -> None:
        """Raise an InputError for a kernel that its diagonal gives away.

        The largest entry of a positive semidefinite matrix is on its diagonal, where no entry is
        negative, and a row with a 0 there is 0: unlike in a matrix of distances.
        """
        for m, diagonal in enumerate(self.diagonals()):
            gram, zero = self._stack[m], diagonal == 0.0
            if not (
                is_in_range(diagonal.max())
                and diagonal.min() >= 0.0
                and not (zero.any() and gram[zero].any())
            ):
                self._check_kernel(m)

    def _checked(self, combined: Array) -> Array:
        """Return a combination; raise an InputError for the first kernel that is none.

        Where rounding left it less than symmetric, it is made so, with a warning.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(combined.sum())
        if not (finite and is_symmetric(combined) and is_definite(combined)):
            for m in range(self.n_kernels):
                self._check_kernel(m)
            return combined
        return symmetric("the combination of K", combined)

    def _check_kernel(self, m: int) -> None:
        check_definite([check_gram(m, self._stack[m])], [kernel_called(m)], OF_PRECOMPUTED)
