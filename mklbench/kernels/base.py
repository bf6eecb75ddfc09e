"""Kernels as operators: what the algorithms may ask of a bank or a family.

A **bank** is a finite list of base kernels K_1 ... K_M on n training samples, combined with weights
d >= 0 into sum_m d_m K_m. A **family** is a continuous set of kernels K_theta, theta >= 0, of which
algorithms use one (a product of kernels) or find several to combine. Both are bound to their
training samples; neither needs to store its Gram matrices.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels.contract import CrossKernels, Memory
from mklbench.kernels.gram_matrices import centre
from mklbench.kernels.row_factors import RowFactors
from mklbench.validation import check_indices

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class KernelOperator(CrossKernels):
    """What banks and families have in common: a kernel for each vector of weights.

    Attributes
    ----------
    n_samples : int
        Number n of training samples.
    n_kernels : int
        Number M of base kernels of a bank, or of parameters of a family.
    features : tuple of int
        (M,) for each kernel or parameter the index of the one feature it looks at, or -1
        where it looks at several.
    """

    features: tuple[int, ...]

    @abstractmethod
    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        """Return the Gram matrix (n, n) of the training samples at some weights.

        Parameters
        ----------
        weights : array_like of shape (M,)
            Weights of the kernels of a bank, or parameters theta of a family.
        out : ndarray of shape (n, n) or None, default=None
            Where the matrix is written; a new array if not given.
        """

    @abstractmethod
    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> KernelOperator:
        """Return the same kernels on some of the training samples only.

        With `kernels` it is what a prediction keeps: the samples `rows`, of these kernels only, and
        no Gram matrix that has been formed. `cross` is asked for the same new samples as before.

        Parameters
        ----------
        rows : array_like of shape (k,) or (n,)
            Row numbers of training samples, from 0 to n - 1, or a mask of n truth values.
        kernels : ndarray of int of shape (m,) or None, default=None
            Indices of kernels of a bank, ascending; all if not given. A family keeps all its
            parameters.
        """

    def kernel_names(self, columns: Sequence[str] | None = None) -> Sequence[str]:
        """Return a name (M,) for each kernel or parameter, such as "gaussian 0.5 on age".

        Parameters
        ----------
        columns : sequence of str or None, default=None
            The names (d,) of the columns of the samples; if not given, they go by their numbers.
        """
        return tuple(f"kernel {m}" for m in range(self.n_kernels))

    def memory(self, n: int) -> Memory:
        """Return what these kernels need on `n` samples, nothing where that is not known."""
        return Memory()

    def uniform_weights(self) -> Array:
        """Return the weights (M,) that are all 1/M."""
        return np.full(self.n_kernels, 1.0 / self.n_kernels)

    def _check_rows(self, rows: ArrayLike) -> Indices:
        """Return `rows` of the training samples as indices, for `take`."""
        return check_indices("rows", rows, self.n_samples)

    def _check_coefficients(self, a: ArrayLike) -> Array:
        """Return the coefficients `a` as a vector (n,)."""
        vector = np.asarray(a, dtype=np.float64)
        if vector.shape != (self.n_samples,):
            raise InputError(
                f"a has shape {vector.shape}, but there are {self.n_samples} samples: pass a "
                f"vector ({self.n_samples},) of one coefficient a sample."
            )
        return vector


class Bank(KernelOperator):
    """A finite list of base kernels on n training samples.

    Attributes
    ----------
    groups : sequence of sequence of int or None
        Lists of kernel indices, one a group, where kernels come in groups; else None.
    """

    groups: Sequence[Sequence[int]] | None = None

    def row_factors(self) -> RowFactors | None:
        """Return exact factors that are made in blocks of rows; None for kernels that have none.

        Raises
        ------
        InputError
            If factors of this kind would be too large.
        """
        return None

    @abstractmethod
    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        """Return sum_m d_m K_m (n, n).

        Parameters
        ----------
        d : array_like of shape (M,)
            Weights of the kernels.
        out : ndarray of shape (n, n) or None, default=None
            Where the matrix is written; a new array if not given.
        """

    def quadratic_forms(self, a: ArrayLike) -> Array:
        """Return q (M,) with q_m = a' K_m a.

        Parameters
        ----------
        a : array_like of shape (n,)
            Coefficients of the training samples.
        """
        return self.products(a, np.arange(self.n_kernels)) @ self._check_coefficients(a)

    @abstractmethod
    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        """Return the rows K_m a (k, n) for some kernels m.

        Parameters
        ----------
        a : array_like of shape (n,)
            Coefficients of the training samples.
        kernels : array_like of int of shape (k,)
            The indices m, from 0 to M - 1 in any order; there may be none.
        """

    def top_k(self, prices: Array, count: int) -> Indices:
        """Return indices of kernels of the largest prices, the first of equal ones first.

        A search adds these to the kernels that it works with. A bank in which very many kernels are
        nearly the same returns the best of these alone, and then fewer than `count`.

        Parameters
        ----------
        prices : ndarray of shape (M,)
            a' K_m a of all kernels at some a.
        count : int
            Maximum number of them.
        """
        return np.argsort(-prices, kind="stable")[:count]

    def traces(self) -> Array:
        """Return the traces (M,) of the Gram matrices."""
        return self.diagonals().sum(axis=1)

    @abstractmethod
    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> Bank: ...

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        """Return k_m(x, x) (M, n) of the training samples, or k_m(z, z) (M, n_z) of new ones.

        Parameters
        ----------
        Z : array_like or None, default=None
            New samples, as `cross` takes them; the training samples if not given.

        Raises
        ------
        InputError
            If the bank does not know k_m(z, z): that of new samples is not in `cross`.
        """
        if Z is not None:
            raise InputError(
                f"{type(self).__name__} does not know k(z, z) of new samples, which a cosine "
                "normalisation needs: normalise the Gram matrices before they are given."
            )
        return np.array([self.combine(unit).diagonal() for unit in np.eye(self.n_kernels)])

    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        """Return `combine(weights)`: a bank at fixed weights is one kernel.

        Parameters
        ----------
        weights : array_like of shape (M,)
            Weights of the kernels.
        out : ndarray of shape (n, n) or None, default=None
            Where the matrix is written; a new array if not given.
        """
        return self.combine(weights, out)

    def inner_products_with(self, K: Array) -> Array:
        """Return <K_m, K>_F (M,) for a symmetric matrix.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            A symmetric matrix on the training samples.
        """
        return np.array([np.vdot(self.combine(unit), K) for unit in np.eye(self.n_kernels)])

    def inner_products(self, *, centred: bool = False) -> Array:
        """Return the matrix (M, M) of Frobenius inner products <K_m, K_l>_F.

        Parameters
        ----------
        centred : bool, default=False
            Whether to take those of the centred matrices H K_m H, H = I - 1 1'/n; to centre one of
            the two is enough (Cortes et al. 2012).
        """
        grams = (self.combine(unit) for unit in np.eye(self.n_kernels))
        columns = [self.inner_products_with(centre(K) if centred else K) for K in grams]
        products = np.array(columns)
        return 0.5 * (products + products.T)

    @cached_property
    def centred_products(self) -> Array:
        """``inner_products(centred=True)``, kept: it serves every label vector and every C."""
        products = self.inner_products(centred=True)
        products.setflags(write=False)
        return products

    def _check_kernels(self, kernels: ArrayLike) -> Indices:
        """Return the numbers of kernels as indices (k,)."""
        return check_indices("kernels", kernels, self.n_kernels, "kernel")

    def _kernels_changed(self) -> None:
        """Forget what was computed of the kernels before, for banks whose kernels may change."""
        vars(self).pop("centred_products", None)

    def target_alignments(self, y: ArrayLike) -> Array:
        """Return <K_m, y y'>_F (M,).

        Parameters
        ----------
        y : array_like of shape (n,)
            Labels in {-1, +1}, or real targets.
        """
        return self.quadratic_forms(y)
