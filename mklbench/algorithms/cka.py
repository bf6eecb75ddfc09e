"""CKA: the combination of largest alignment, with weights of either sign.

It is ALIGNF (`mklbench.algorithms.alignf`) without its constraint v >= 0, as MKLpy has it and
Bertsimas et al. 2025 compare with it. With Q and c of `mklbench.optim.alignment` it is

    maximise   v'c / sqrt(v'Qv)   over v.

The maximum is at the solution of Q v = c, here the one of least norm with kernels of unit norm, at
unit length. An SVM on the combination follows.

Negative weights can make a combination that is no kernel. LIBSVM then ends in a point where the
KKT conditions hold, and the gap of the SVM, which is that of a convex problem, says no more. Which
point it is depends on the class that LIBSVM has first. As in scikit-learn that is -1 here: the
machine is trained on -y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels import PrecomputedBank
from mklbench.kernels.base import Bank
from mklbench.optim.alignment import Alignment
from mklbench.optim.machines import ClassWeight, Learner, reported
from mklbench.solution import Solution

VERSION = 1

COMBINES_ONCE = True
SIGNED = True


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Combine the kernels of a bank to the largest alignment with the labels, and learn on that.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}`` or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class. Alignments have all samples alike.

    Returns
    -------
    Solution
        `weights` have unit 2-norm and either sign; `objective` is the alignment of their
        combination with the labels, and `gap` that of the SVM.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or no kernel a positive alignment.
    """
    machine = Learner("svm", C, 1.0, 0.1, svm_tol, class_weight, sample_weight)
    bank, labels = machine.check("cka", bank, y)
    alignment = Alignment.of(bank, labels)
    # At unit norm of the kernels, as theirs may differ by ten orders of magnitude.
    norms = np.where(alignment.norms > 0.0, alignment.norms, np.inf)
    cosines = alignment.products / np.outer(norms, norms)
    solved = np.linalg.lstsq(cosines, alignment.with_target / norms, rcond=None)[0] / norms
    weights = solved / np.linalg.norm(solved)
    # The machine takes weights >= 0; the combination is one kernel to it.
    combination = PrecomputedBank(bank.combine(weights)[None])
    flipped = (
        {-k: v for k, v in class_weight.items()} if isinstance(class_weight, Mapping) else None
    )
    solution = replace(machine, class_weight=flipped or class_weight).learn(
        combination, -labels, np.ones(1)
    )
    solution = replace(
        solution, weights=weights, dual_coef=-solution.dual_coef, intercept=-solution.intercept
    )
    return reported(solution, alignment.bounds(weights).lower)
