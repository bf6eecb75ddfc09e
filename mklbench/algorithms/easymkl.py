"""EasyMKL (Aiolli & Donini 2015): the weights that a margin distribution gives, at once.

F. Aiolli, M. Donini, "EasyMKL: a scalable multiple kernel learning algorithm", Neurocomputing 169.
The machine is KOMD (Aiolli, Da San Martino & Sperduti 2008), which optimises the distribution of
the margins: with Gamma the gamma >= 0 whose sum over either class is 1,

    minimise over gamma in Gamma   (1 - lam) gamma' Y K Y gamma + lam ||gamma||^2,    Y = diag(y),

from the hard-margin SVM at lam = 0 to the centres of the classes at lam = 1. Weights eta of kernels
of unit trace (here, mean diagonal 1) that maximise that minimum over ||eta|| <= 1 have the length
of d(gamma), d_m = gamma' Y K_m Y gamma, in the place of gamma' Y K Y gamma. The paper replaces the
2-norm by the sum, so that gamma is that of KOMD on sum_m K_m, and no weights are looked for:

    eta = d(gamma) / sum_m d_m(gamma).

KOMD on sum_m eta_m K_m is the machine that predicts, half way between the two points that it finds
in the hulls of the classes. Both programmes are solved by `mklbench.optim.hulls`: with a ridge
added to the kernel they ask for the closest points of two hulls.

MKLpy 0.6 has the same weights of kernels of unit trace; it takes kernels as they are
(``unit_trace=False``). Its machine is KOMD at lambda = 0.1, whatever `lam` is, and with lambda
multiplied by c = n_+ n_- / n in the second term alone, which is KOMD at c lambda / (1 - lambda + c
lambda): ``final_lam="mklpy"``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.base import Bank
from mklbench.optim.hulls import Hulls, unit_diagonals
from mklbench.optim.machines import at_once, reported
from mklbench.optim.svm_value import check_bank
from mklbench.solution import KernelMachine, Solution
from mklbench.validation import check_flag, check_labels, check_share, check_tolerance

VERSION = 1
NEW_OPTIONS = {"unit_trace": True}


# LIBSVM's buffer, the kernel as it is, with its ridge and scaled, and the system of the active set.
MATRICES = 7.0
COMBINES_ONCE = True


def solve(
    bank: Bank,
    y: ArrayLike,
    lam: float = 0.1,
    *,
    final_lam: float | str | None = None,
    unit_trace: bool = True,
    tol: float = 1e-6,
) -> Solution:
    """Weight the kernels of a bank by the margins at their sum, and learn on the combination.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples, of whatever scale.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    lam : float, default=0.1
        lambda in [0, 1]: the share of the ridge beside the kernels of mean diagonal 1. At 0 the
        classes have to be separable by the sum of the kernels.
    final_lam : float, "mklpy" or None, default=None
        That of the machine on the combination, in [0, 1], or as MKLpy has it; `lam` if not given,
        as in the paper.
    unit_trace : bool, default=True
        Whether the kernels are divided by their mean diagonal first.
    tol : float, default=1e-06
        Relative gap to which both programmes are solved.

    Returns
    -------
    Solution
        `weights` are those of the kernels as they come in: with `unit_trace` eta_m divided by the
        mean diagonal of kernel m, with 0 for a kernel without one. `dual_coef` is y o gamma of the
        machine, `objective` the minimum of the first programme, and `gap` the larger of the
        relative gaps of the two.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or with lam=0 the classes are not
        separable.
    """
    check_share("lam", lam)
    final: Any = lam if final_lam is None else final_lam
    if final != "mklpy":
        check_share("final_lam", final)
    check_flag("unit_trace", unit_trace)
    tol = check_tolerance("tol", tol)
    labels = check_labels(y)
    bank = check_bank("easymkl", bank, len(labels))
    unit = unit_diagonals(bank)
    if not unit_trace:
        unit = np.sign(unit)
    hulls = Hulls(labels, tol)
    first = hulls.ridged((1.0 - lam) * bank.combine(unit), lam)
    # Of a positive semidefinite kernel none is negative, but for rounding.
    margins = np.maximum(unit * bank.quadratic_forms(first.coefficients), 0.0)
    total = float(margins.sum())
    if total <= 0:
        raise InputError(
            "the kernels tell no two classes apart: with every weight their mean samples are the "
            "same. Choose other kernels."
        )
    weights = margins / total * unit
    K = bank.combine(weights)
    if final == "mklpy":
        # The lambda at which KOMD is the machine of MKLpy's EasyMKL.
        n_positive = np.count_nonzero(labels > 0)
        scaled = 0.1 * n_positive * (len(labels) - n_positive) / len(labels)
        final = scaled / (0.9 + scaled)
    machine = hulls.ridged((1.0 - final) * K, final, "final_lam")
    gap = max(closest.bounds.relative_gap for closest in (first, machine))
    objective = first.squared_distance
    # Half way between the points without the ridge, which no new sample has.
    intercept = -0.5 * float(machine.shares @ K @ machine.coefficients)
    found = KernelMachine(weights, machine.coefficients, intercept)
    return reported(at_once(found, objective, gap, tol), objective, hulls.calls, hulls.seconds)
