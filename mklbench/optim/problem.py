"""What a classifier is to learn from, beside kernels: checked once, and carried through solvers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.certify import Hinge
from mklbench.kernels.base import Array
from mklbench.libsvm import SVM
from mklbench.libsvm.options import ClassWeight as ClassWeight
from mklbench.libsvm.options import check_box, check_tol_of_classes, class_factors, upper_bounds
from mklbench.validation import check_labels, check_sample_weight


@dataclass(frozen=True)
class Problem:
    """Labels of n samples, and how much the loss of each counts.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Labels in {-1, +1}, both present.
    C : float
        Box constraint, before factors.
    class_weight : mapping of int to float
        Factors on C by class, as numbers.
    sample_weight : ndarray of shape (n,) or None
        Factors on C by sample, if there are any.
    loss : Hinge
        The hinge loss with the bounds C_i on alpha.
    svm_tol : float
        LIBSVM's stopping tolerance, where nobody asks for another.
    """

    y: Array
    C: float
    class_weight: Mapping[int, float]
    sample_weight: Array | None
    loss: Hinge
    svm_tol: float

    @classmethod
    def of(
        cls,
        y: ArrayLike,
        C: float,
        class_weight: ClassWeight = None,
        sample_weight: ArrayLike | None = None,
        svm_tol: float = 1e-3,
    ) -> Problem:
        """Return the problem of what was given, as `mklbench.libsvm.SVM` takes it.

        Raises
        ------
        InputError
            If an argument has the wrong type, shape or range.
        """
        labels = check_labels(y)
        tol = check_tol_of_classes(svm_tol)
        check_box("C", C)
        factors = class_factors(class_weight, labels)
        upper = upper_bounds(labels, C, factors, sample_weight)
        weights = None if sample_weight is None else check_sample_weight(sample_weight, len(labels))
        return cls(labels, C, factors, weights, Hinge(labels, upper), tol)

    def machine(self) -> SVM:
        """Return LIBSVM on the labels, which has solved nothing yet."""
        return SVM(
            self.y,
            self.C,
            tol=self.svm_tol,
            class_weight=self.class_weight,
            sample_weight=self.sample_weight,
        )

    def take(self, rows: NDArray[np.intp]) -> Problem:
        """Return the problem of some of the samples, with the bounds that they have here."""
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return Problem.of(self.y[rows], self.C, self.class_weight, weights, self.svm_tol)
