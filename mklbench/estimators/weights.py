"""How much each sample counts: weights of samples and of classes, as factors on C or on errors.

C_i = C * (factor of the class of sample i) * (weight of sample i). In one-versus-rest each sample
keeps the factor of its own class, also among the rest. A weight of 0 leaves the sample out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels import GramStack
from mklbench.solution import Solution
from mklbench.validation import check_positive, check_sample_weight

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Factors by class label, or "balanced".
ClassWeights = Mapping[Any, float] | str | None


def given_weights(sample_weight: ArrayLike | None, n: int) -> tuple[Array | None, Rows | None]:
    """Return the weights of samples, and the rows of those that count if some do not.

    Parameters
    ----------
    sample_weight : array_like of shape (n,) or None
        Weights >= 0.
    n : int
        Number of samples.

    Raises
    ------
    InputError
        If there is not one weight a sample, or one is negative or not finite, or all are 0.
    """
    if sample_weight is None:
        return None, None
    weights = check_sample_weight(sample_weight, n, zeros=True)
    counting = np.flatnonzero(weights)
    if not len(counting):
        raise InputError(
            "sample_weight is zero in every row: give the rows that count a weight > 0."
        )
    return (weights, None) if len(counting) == n else (weights[counting], counting)


def factors(
    class_weight: ClassWeights, labels: NDArray[Any], sample_weight: Array | None
) -> Array | None:
    """Return the factor (n,) of each sample, of its class and its own; None if all are 1.

    "balanced" lets all k classes weigh the same, by the factor W / (k W_c), with W the sum of all
    weights and W_c that of class c.

    Parameters
    ----------
    class_weight : ClassWeights
        Factors by class label, those left out being 1, or "balanced".
    labels : ndarray of shape (n,)
        Class labels.
    sample_weight : ndarray of shape (n,) or None
        Weights > 0.

    Raises
    ------
    InputError
        If a factor is no finite number > 0, or belongs to no class while a class has none.
    """
    own = np.ones(len(labels)) if sample_weight is None else sample_weight
    total: Array = own
    if class_weight is not None:
        classes, codes = np.unique(labels, return_inverse=True)
        sums = np.bincount(codes, weights=own).astype(np.float64)
        total = own * _by_class(class_weight, classes, sums)[codes]
    return None if (total == 1.0).all() else total


def _by_class(class_weight: ClassWeights, classes: NDArray[Any], sums: Array) -> Array:
    """Return the factors (k,) of the classes, whose weights have the `sums` (k,)."""
    if not isinstance(class_weight, Mapping):  # "balanced", as parameters are checked before
        return sums.sum() / (len(classes) * sums)
    names = classes.tolist()
    for label, factor in class_weight.items():
        check_positive(f"class_weight[{label!r}]", factor)
    unknown = [label for label in class_weight if label not in names]
    if unknown and any(label not in class_weight for label in names):
        shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
        raise InputError(
            f"class_weight has the key {unknown[0]!r}, but the classes are {shown}: give factors "
            "by the labels in y."
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in names])


def on_all_rows(solution: Solution, rows: Rows, n: int) -> Solution:
    """Return a solution on some of n samples as one on all, with coefficients 0 for the others."""
    dual_coef = np.zeros(n)
    dual_coef[rows] = solution.dual_coef
    with_parts = solution.with_parts(lambda part: on_all_rows(part, rows, n))
    return replace(with_parts, dual_coef=dual_coef)


class WithoutSampleWeight:
    """Of an algorithm that takes no factors by sample.

    Its `fit` has no parameter of that name, so that scikit-learn neither routes nor tests any.
    """

    def fit(self, X: ArrayLike | GramStack, y: ArrayLike) -> Self:
        """Learn the kernel and what predicts.

        Parameters
        ----------
        X : array_like of shape (n, d) or GramStack
            Training samples (or Gram matrices, see `mklbench.estimators`).
        y : array_like of shape (n,)
            Class labels or real targets.

        Raises
        ------
        ValueError
            If the data or a hyperparameter cannot be accepted; the message names it.
        """
        return super().fit(X, y)  # type: ignore[misc]
