"""An SVM on one kernel function whose entries LIBSVM computes from features, when it needs them.

Between n samples there are n^2 kernel values, of which an SVM with few support vectors looks at a
share. scikit-learn's LIBSVM computes them from dense features by BLAS; the optimum is that on the
Gram matrix, up to the stopping tolerance. What certifies it needs the kernel between the samples
and the support vectors only, in blocks of rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.certify import Hinge
from mklbench.kernels.banks.on_demand import FunctionKernel
from mklbench.kernels.euclidean import distances_of_products
from mklbench.kernels.functions import Gaussian, Polynomial
from mklbench.libsvm import ClassWeight, check_svm_options, class_factors, fit_within_limit
from mklbench.optim.fixed_kernel import certified
from mklbench.solution import Solution
from mklbench.validation import check_labels

Array = NDArray[np.float64]

# Bytes of one block of kernel values.
_BLOCK = 2**21
# The rounding of LIBSVM's single precision, in units of its tolerance; that of the Gram matrices.
_ROUNDING = 2.0
# Coefficients are at their bound from this share below it.
_AT_BOUND = 1e-12


def solve(
    kernel: FunctionKernel,
    y: ArrayLike,
    weight: float,
    C: float,
    svm_tol: float,
    class_weight: ClassWeight = None,
) -> Solution:
    """Train one SVM on weight * k, for a Gaussian or a polynomial k.

    With beta = weight * alpha it is the SVM on k alone with the bound weight * C.

    Parameters
    ----------
    kernel : FunctionKernel
        The kernel function k, on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    weight : float
        The kernel weight, > 0.
    C : float
        Box constraint.
    svm_tol : float
        LIBSVM's stopping tolerance.
    class_weight : ClassWeight, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".

    Raises
    ------
    InputError
        If an argument has the wrong shape or range.
    """
    from sklearn.svm import SVC  # half a second, that a run does not need

    check_svm_options(C, svm_tol, class_weight)
    labels = check_labels(y)
    factors = class_factors(class_weight, labels)
    n = len(labels)
    machine = SVC(
        C=weight * C,
        tol=svm_tol,
        class_weight={float(label): factor for label, factor in factors.items()},
        **_options(kernel),
    )
    seconds = fit_within_limit(machine, kernel.samples, labels)
    upper = C * np.where(labels > 0, factors[1], factors[-1])
    dual_coef = np.zeros(n)
    dual_coef[machine.support_] = machine.dual_coef_[0] / weight
    at_bound = (
        np.abs(dual_coef) > (1.0 - _AT_BOUND) * upper
    )  # by all but the rounding of a division
    dual_coef[at_bound] = (labels * upper)[at_bound]
    intercept = float(machine.intercept_[0])
    outputs = weight * _outputs(kernel, dual_coef)

    def is_done(outputs: Array) -> bool:
        left = _violation(labels - outputs, dual_coef, labels > 0, upper)
        return left <= _ROUNDING * svm_tol

    return certified(
        np.array([weight]),
        Hinge(labels, upper),
        outputs,
        dual_coef,
        intercept,
        # In single precision, too: LIBSVM keeps kernel values so, and sees no others.
        converged=is_done(outputs) or is_done(weight * _outputs(kernel, dual_coef, single=True)),
        svm_seconds=seconds,
    )


def is_known(kernel: FunctionKernel) -> bool:
    """Tell whether LIBSVM has the kernel function."""
    return isinstance(kernel.function, Gaussian | Polynomial)


def _options(kernel: FunctionKernel) -> dict[str, object]:
    """Return what scikit-learn's SVC calls the kernel function."""
    function = kernel.function
    if isinstance(function, Gaussian):
        return {"kernel": "rbf", "gamma": function.gamma}
    assert isinstance(function, Polynomial)
    if function.degree == 1 and function.offset == 0.0:
        return {"kernel": "linear"}
    return {"kernel": "poly", "degree": function.degree, "coef0": function.offset, "gamma": 1.0}


def _outputs(kernel: FunctionKernel, a: Array, single: bool = False) -> Array:
    """Return K a (n,), for the kernel alone, from blocks of the columns with a_i != 0.

    With `single` kernel values are rounded to single precision.
    """
    support = np.flatnonzero(a)
    X, vectors, function = kernel.samples, kernel.samples[support], kernel.function
    outputs = np.empty(len(X))
    rows = max(1, _BLOCK // (8 * max(1, len(support))))
    for start in range(0, len(X), rows):
        few = slice(start, start + rows)
        if isinstance(function, Gaussian):
            # Products, as of training samples: what they lose is far below the tolerance.
            distances = distances_of_products(vectors, X[few])
            block = function.of_distances(distances, out=distances).T
        else:
            block = function(X[few], vectors)
        if single:
            block = block.astype(np.float32).astype(np.float64)
        outputs[few] = block @ a[support]
    return outputs


def _violation(slopes: Array, a: Array, positive: NDArray[np.bool_], upper: Array) -> float:
    """Return the maximal violation of the KKT conditions (`mklbench.libsvm`), 0 if there is none.

    `slopes` are those of the dual in each a_i: the largest of one that may grow, minus the smallest
    of one that may shrink.
    """
    may_grow = np.where(positive, a < upper, a < 0.0)
    may_shrink = np.where(positive, a > 0.0, a > -upper)
    steepest = float(slopes[may_grow].max(initial=-np.inf))
    return max(0.0, steepest - float(slopes[may_shrink].min(initial=np.inf)))
