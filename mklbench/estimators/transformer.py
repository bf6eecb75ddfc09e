"""The combined kernel as a step of a pipeline: ``KernelTransformer(MKL(C=10))``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mklbench.estimators.base import KernelEstimator

Array = NDArray[np.float64]


class KernelTransformer(MetaEstimatorMixin, TransformerMixin, BaseEstimator):
    """Learns the combination of kernels, and turns samples into its values with the training ones.

    What follows takes a kernel, such as ``SVC(kernel="precomputed")`` or KernelPCA. It keeps all
    training samples, also when it is saved.

    Parameters
    ----------
    estimator : KernelEstimator
        The estimator that learns the combination.

    Attributes
    ----------
    estimator_ : KernelEstimator
        The one that was fitted.
    """

    def __init__(self, estimator: KernelEstimator) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: ArrayLike | None = None, **options: Any) -> Self:
        """Learn the combination.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Training samples, as the estimator takes them.
        y : array_like of shape (n,) or None, default=None
            Class labels or real targets.
        **options : object
            Keywords of the `fit` of the estimator.
        """
        self.estimator_ = clone(self.estimator).fit(X, y, **options)
        self.estimator_.keep_training_samples()
        return self

    def transform(self, X: Any) -> Array:
        """Return the combined kernel (n_new, n) between samples and the training samples.

        Parameters
        ----------
        X : array_like of shape (n_new, d)
            Samples, as the estimator takes them.
        """
        check_is_fitted(self)
        return self.estimator_.combined_kernel(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = self.estimator.__sklearn_tags__().input_tags
        return tags
