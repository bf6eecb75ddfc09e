"""Kernels on all features by the names, parameters and values that scikit-learn has for them.

``linear``, ``poly``, ``rbf`` (`gaussian`), ``laplacian``, ``cosine`` and ``chi2`` of
`sklearn.metrics.pairwise`, as builders from training samples to a bank of the one kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mklbench.errors import InputError
from mklbench.kernels.banks.function_bank import (
    FunctionBank,
    NamedFunction,
    needs_on_all_features,
    on_all_features,
    samples_of,
)
from mklbench.kernels.base import Bank
from mklbench.kernels.contract import declares
from mklbench.kernels.functions import Linear, check_values
from mklbench.kernels.memory import Memory, Shape
from mklbench.kernels.samples import is_sparse
from mklbench.validation import check_count, check_not_negative, check_positive, column_called


@dataclass(frozen=True)
class _Poly:
    degree: int
    gamma: float
    coef0: float

    def __str__(self) -> str:
        return f"poly {self.degree}"

    def __call__(self, X: Any, Z: Any) -> Any:
        return _pairwise("polynomial_kernel", vars(self))(X, Z)

    def diagonal(self, X: Any) -> Any:
        return (self.gamma * np.einsum("ij,ij->i", X, X) + self.coef0) ** self.degree


def _needs(shape: Shape, **options: object) -> Memory:
    return FunctionBank.needs(shape.n, 1, forming=3.0)


@declares(
    memory=lambda shape: needs_on_all_features(shape, [Linear()], forming=2.0), takes_sparse=True
)
def linear(X: Any) -> Bank:
    """Return the inner product x'z on all features.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples.
    """
    return on_all_features(samples_of(X), [Linear()])


@declares(memory=_needs, takes_sparse=True)
def poly(X: Any, degree: int = 3, gamma: float | None = None, coef0: float = 1.0) -> Bank:
    """Return (gamma x'z + coef0)^degree on all features.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples.
    degree : int, default=3
        The power, >= 1.
    gamma : float or None, default=None
        Factor of the inner product, > 0; 1/d if not given.
    coef0 : float, default=1.0
        Added to it, >= 0.
    """
    samples = samples_of(X)
    function = _Poly(
        check_count("degree", degree), _gamma(X, gamma), check_not_negative("coef0", coef0)
    )
    if not is_sparse(samples):
        check_values([function], samples)
    return FunctionBank(samples, [NamedFunction(function, str(function))])


@declares(memory=_needs, takes_sparse=True)
def laplacian(X: Any, gamma: float | None = None) -> Bank:
    """Return exp(-gamma ||x - z||_1) on all features.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples.
    gamma : float or None, default=None
        Factor of the distance, > 0; 1/d if not given.
    """
    factor = _gamma(X, gamma)
    return _bank(X, "laplacian_kernel", f"laplacian {factor:.3g}", {"gamma": factor})


@declares(memory=_needs, takes_sparse=True)
def cosine(X: Any) -> Bank:
    """Return x'z / (||x|| ||z||) on all features.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples.
    """
    return _bank(X, "cosine_similarity", "cosine", {})


@declares(memory=_needs)
def chi2(X: Any, gamma: float = 1.0) -> Bank:
    """Return exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j)) on all features, which are histograms.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples, no entry below 0.
    gamma : float, default=1.0
        Factor of the distance, > 0.
    """
    factor = check_positive("gamma", gamma)
    samples = samples_of(X)
    function = NamedFunction(partial(_chi2, gamma=factor), f"chi2 {factor:.3g}")
    return FunctionBank(samples, [function])


def _gamma(X: Any, gamma: float | None) -> float:
    return 1.0 / np.shape(X)[1] if gamma is None else check_positive("gamma", gamma)


def _bank(X: Any, function: str, name: str, options: dict[str, Any]) -> Bank:
    return FunctionBank(samples_of(X), [NamedFunction(_pairwise(function, options), name)])


def _pairwise(name: str, options: dict[str, Any]) -> Callable[[Any, Any], Any]:
    from sklearn.metrics import pairwise  # of those who ask for it: it takes a second to import

    return partial(getattr(pairwise, name), **options)


def _chi2(X: Any, Z: Any, gamma: float) -> Any:
    for samples in (X, Z):
        if np.min(samples) < 0:
            row, column = np.argwhere(np.asarray(samples) < 0)[0].tolist()
            raise InputError(
                f"X holds {samples[row, column]:g} at row {row}, {column_called(column)}: chi2 "
                "compares histograms, which have no values below 0."
            )
    return _pairwise("chi2_kernel", {"gamma": gamma})(X, Z)
