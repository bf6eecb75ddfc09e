"""Options of LIBSVM: factors on C by class, and how large a C and how small a tolerance may be."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.validation import check_number, check_positive, check_sample_weight

# Beyond, squares of alpha overflow, and no arithmetic has the digits.
_LARGEST_C, SMALLEST_TOL = 1e100, 1e-12
# At 2 the first point, alpha = 0, passes for the optimum of any C-SVC.
_LARGEST_TOL = 1.0

# Factors on C by class -1 and +1, or "balanced".
ClassWeight = Mapping[int, float] | str | None


def class_factors(class_weight: ClassWeight, y: NDArray[np.float64]) -> dict[int, float]:
    """Return the factors on C of both classes.

    Parameters
    ----------
    class_weight : ClassWeight
        Factors by class, keys -1 and +1 or their text; a class left out has factor 1.
        "balanced" makes both classes weigh the same: n / (2 n_c) for the n_c samples of a class.
    y : ndarray of shape (n,)
        Labels in {-1, +1}.

    Raises
    ------
    InputError
        If it is neither, or a factor is no finite number > 0.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        return {label: len(y) / (2.0 * np.count_nonzero(y == label)) for label in (-1, 1)}
    if not isinstance(class_weight, Mapping | None):
        raise InputError(
            f"class_weight={class_weight!r} is not accepted: give balanced, or factors by class as "
            "in {-1: 2, 1: 1}."
        )
    factors = {-1: 1.0, 1: 1.0}
    for label, factor in (class_weight or {}).items():
        known = {"-1": -1, "1": 1, "+1": 1}.get(str(label).removesuffix(".0"))
        if known is None:
            raise InputError(
                f"class_weight has the key {label!r}: the classes of a binary problem are -1 and 1."
            )
        factors[known] = check_positive(f"class_weight[{label}]", factor)
    return factors


def upper_bounds(
    y: NDArray[np.float64],
    C: float,
    factors: Mapping[int, float],
    sample_weight: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return the bounds C_i (n,) on alpha, if LIBSVM can do them.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels in {-1, +1}.
    C : float
        Box constraint.
    factors : mapping of int to float
        Factors on C by class, as `class_factors` returns them.
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class.

    Raises
    ------
    InputError
        If a factor or a bound is out of range.
    """
    for label, factor in factors.items():
        check_box(f"C * class_weight[{label}]", C * factor)
    upper = C * np.where(y > 0, factors[1], factors[-1])
    if sample_weight is None:
        return upper
    upper = upper * check_sample_weight(sample_weight, len(y))
    for extreme in (upper.min(), upper.max()):
        check_box("C * class_weight * sample_weight", float(extreme))
    return upper


def check_box(name: str, value: float) -> float:
    """Return a bound on alpha as a float if it is a number > 0 that LIBSVM can do."""
    kind = f"at most {_LARGEST_C:g}, beyond which LIBSVM's sums overflow"
    return check_number(name, check_positive(name, value), 0.0, _LARGEST_C, kind)


def check_tol(value: float) -> float:
    """Return LIBSVM's stopping tolerance as a float if it is a number > 0 that it can do."""
    kind = f"at least {SMALLEST_TOL:g}, as LIBSVM keeps kernel values in single precision"
    return check_number("svm_tol", check_positive("svm_tol", value), SMALLEST_TOL, math.inf, kind)


def check_tol_of_classes(value: float) -> float:
    """Return LIBSVM's stopping tolerance as a float if the optimum for labels can meet it."""
    kind = f"at most {_LARGEST_TOL:g}, as no weights at all would else pass for an optimum"
    return check_number("svm_tol", check_tol(value), 0.0, _LARGEST_TOL, kind)
