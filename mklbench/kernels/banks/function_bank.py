"""Kernels that are functions of two sets of samples, whatever the samples are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError
from mklbench.kernels.banks.dense import DenseBank, FunctionBank, has_factors
from mklbench.kernels.banks.features import FeatureBank
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.contract import Memory, Shape
from mklbench.kernels.functions import Gaussian, KernelFunction, Linear, Polynomial
from mklbench.kernels.gram_matrices import symmetric
from mklbench.kernels.naming import function_names
from mklbench.kernels.samples import csr, dense, is_sparse, rows_of
from mklbench.validation import check_features, real_array

# Called with n and m samples it returns their kernel (n, m).
PairFunction = Callable[[Any, Any], Any]

# Samples whose kernel with each other is formed for the sake of its diagonal.
_AT_ONCE = 64


@dataclass(frozen=True)
class NamedFunction:
    """A kernel function and the name that messages and weights have for it.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` returns the kernel (n, m) between n and m samples.
    name : str
        Such as "rbf_kernel(gamma=0.1)".
    trusted : bool, default=False
        Whether its values are known to be those of a kernel.
    """

    function: PairFunction
    name: str
    trusted: bool = False

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the kernel (n, n_z) between samples, two sets of them or one and itself.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, d)
            Samples.
        Z : array_like or sparse matrix of shape (n_z, d)
            Samples.

        Raises
        ------
        InputError
            If it has another shape, is not finite or, of the same samples, not symmetric.
        """
        shape = np.shape(X)[0], np.shape(Z)[0]
        returned = self.function(X, Z)
        values = returned.toarray() if is_sparse(returned) else returned
        try:
            kernel = real_array(self.name, values)
        except InputError as error:
            raise InputError(
                f"{self.name} returns a {type(values).__name__} that is no matrix of real numbers: "
                "a kernel function returns an array (n, m) for n and m samples."
            ) from error
        if kernel.shape != shape:
            raise InputError(
                f"{self.name} returns an array of shape {kernel.shape} for {shape[0]} and "
                f"{shape[1]} samples: a kernel function returns one of shape {shape}."
            )
        if not self.trusted and not np.isfinite(kernel).all():
            row, column = np.argwhere(~np.isfinite(kernel))[0]
            raise InputError(
                f"{self.name} is {kernel[row, column]} at samples {row} and {column}: a kernel "
                "must be finite, mend the samples or the function."
            )
        return symmetric(self.name, kernel) if Z is X and not self.trusted else kernel

    def diagonal(self, X: Any) -> Array:
        """Return k(x, x) (n,).

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, d)
            Samples.
        """
        blocks = (rows_of(X, slice(s, s + _AT_ONCE)) for s in range(0, np.shape(X)[0], _AT_ONCE))
        return np.concatenate([self(block, block).diagonal() for block in blocks])


@dataclass(frozen=True)
class OnSparse:
    """A kernel function of inner products on sparse samples, which are not made dense.

    Squared distances are |x|^2 + |z|^2 - 2 x'z, with the rounding of the largest of the three.

    Parameters
    ----------
    function : Gaussian, Linear or Polynomial
        The kernel function.
    """

    function: Gaussian | Linear | Polynomial

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the matrix (n, n_z) of k between the rows of `X` (n, d) and sparse `Z`."""
        if not is_sparse(X):  # new samples of a model that was fitted to sparse ones
            X = csr(X)
        products: Array = (X @ Z.T).toarray()
        if isinstance(self.function, Linear):
            return products
        if isinstance(self.function, Polynomial):
            return (products + self.function.offset) ** self.function.degree
        products *= -2.0
        products += _squares(X)[:, None]
        products += _squares(Z)
        distances = np.maximum(products, 0.0, out=products)
        if X is Z:
            np.fill_diagonal(distances, 0.0)
        return self.function.of_distances(distances, out=distances)


def _squares(X: Any) -> Array:
    """Return |x|^2 (n,) for the rows of a sparse matrix."""
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def samples_of(X: Any) -> NDArray[np.float64] | Any:
    """Return finite samples (n, d) of an array, or of a sparse matrix as such."""
    if not is_sparse(X):
        return check_features("X", X)
    samples = csr(X)
    if not np.isfinite(samples.data).all():
        raise InputError("X holds NaN or infinite values: remove or impute them.")
    if 0 in samples.shape:
        raise InputError(f"X has shape {samples.shape}: give at least one row and one column.")
    return samples


def on_all_features(X: Any, functions: Sequence[KernelFunction]) -> Bank:
    """Return the bank of kernel functions on all features of samples, dense or sparse (n, d)."""
    if is_sparse(X) and has_factors(np.shape(X)[0], np.shape(X)[1], functions):
        X = dense(X)
    if not is_sparse(X):
        return DenseBank(X, functions)
    fitted = [f.on(X) if isinstance(f, Gaussian) else f for f in functions]
    named = [
        NamedFunction(OnSparse(f), name, trusted=True)
        for f, name in zip(fitted, function_names(fitted), strict=True)
        if isinstance(f, Gaussian | Linear | Polynomial)
    ]
    return FunctionBank(samples_of(X), named)


def needs_on_all_features(shape: Shape, functions: Sequence[KernelFunction]) -> Memory:
    """Return what the bank of `on_all_features` needs.

    Parameters
    ----------
    shape : Shape
        Size of the training samples, dense.
    functions : sequence of KernelFunction
        The kernels.
    """
    needed = DenseBank.needs(shape.n, len(functions))
    if not has_factors(shape.n, shape.d, functions):
        return needed
    rank = FeatureBank.needs(shape, len(functions)).rank if shape.d == 1 else shape.d
    return replace(needed, rank=rank)
