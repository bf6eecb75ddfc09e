"""Novelty detection with kernel weights on the simplex: ``OneClassMKL(nu=0.1).fit(X)``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils.validation import _num_samples

from mklbench.estimators.base import Array, KernelEstimator, estimator
from mklbench.estimators.weights import factors
from mklbench.kernels import GramStack, Kernel
from mklbench.kernels.samples import is_dict

__all__ = ["OneClassMKL"]


def _n_samples(X: Any) -> int:
    """Return the number of samples in any form, of a stack that of its columns."""
    if is_dict(X) and X:
        return _num_samples(next(iter(X.values())))
    several = isinstance(X, (list, tuple)) and len(X) > 0 and np.ndim(X[0]) == 2
    if several:
        return _num_samples(X[0])
    return X.shape[1] if len(getattr(X, "shape", ())) == 3 else _num_samples(X)


@estimator
class OneClassMKL(OutlierMixin, KernelEstimator):
    """One-class SVM on a learned sparse combination of kernels (`mklbench.one_class`).

    Its problem prefers kernels in which the samples are alike: see there which kernels to give it.

    Parameters
    ----------
    nu : float
        In (0, 1): at most this share of the samples is outside, and at least this share has a
        coefficient.
    max_iter : int
        Maximum number of SVM calls.

    Attributes
    ----------
    offset_ : float
        rho, by which the decision function differs from the scores; the others are in
        `mklbench.estimators.base.KernelEstimator`.
    """

    _algorithm = "mklbench.one_class"

    kernel: Kernel = "feature_gaussians"
    nu: float = 0.5
    tol: float = 1e-4
    max_iter: int = 100
    verbose: int = 0

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike | GramStack, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the kernel and where the samples are.

        Parameters
        ----------
        X : array_like of shape (n, d) or GramStack
            Training samples (or Gram matrices, see `mklbench.estimators`).
        y : object, default=None
            Not used.
        sample_weight : array_like of shape (n,) or None, default=None
            Bounds on the coefficients by sample, >= 0, in the place of 1; 0 leaves a sample out.
            `nu` is then a share of their sum.

        Raises
        ------
        ValueError
            If the data or a hyperparameter cannot be accepted; the message names it.
        """
        n_samples = _n_samples(X)
        known = self._validated(X, np.zeros(n_samples), sample_weight)
        solve = self._solver(factors(None, known.responses, known.weights))
        operator = self._built(known.samples)
        self._solved(operator, known.rows, lambda kernels: [solve(kernels)], n_samples)
        self.offset_ = -float(self.intercept_[0])
        return self

    def decision_function(self, X: ArrayLike | GramStack) -> Array:
        """Return the decision values (n_new,), >= 0 inside.

        Parameters
        ----------
        X : array_like of shape (n_new, d) or GramStack
            New samples (or cross Gram matrices, see `mklbench.estimators`).
        """
        return self._decision(X)

    def score_samples(self, X: ArrayLike | GramStack) -> Array:
        """Return the decision values without the offset, f (n_new,).

        Parameters
        ----------
        X : array_like of shape (n_new, d) or GramStack
            New samples (or cross Gram matrices, see `mklbench.estimators`).
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: ArrayLike | GramStack) -> NDArray[np.int64]:
        """Return +1 (n_new,) for new samples inside, -1 for those outside.

        Parameters
        ----------
        X : array_like of shape (n_new, d) or GramStack
            New samples (or cross Gram matrices, see `mklbench.estimators`).
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
