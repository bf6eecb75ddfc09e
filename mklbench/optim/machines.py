"""Machines on one kernel whose weights are given: SVM, SVR or ridge regression, certified.

They are the second stage of two-stage learning, in which a first stage has learned the kernel.
First stages that try each kernel of a bank alone do so on samples that it was not learned from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.certify import Loss, Squares, Tube
from mklbench.errors import InputError
from mklbench.iterations import History
from mklbench.kernels.base import Array, Bank, Indices, KernelOperator
from mklbench.libsvm import SVM, SVR
from mklbench.libsvm.options import check_box, check_tol
from mklbench.optim.problem import ClassWeight as ClassWeight
from mklbench.optim.problem import Problem
from mklbench.optim.ridge import coefficients, hadamard_power, ridges
from mklbench.optim.svm_value import bounds_alone, check_bank, check_samples, fixed_weights
from mklbench.solution import KernelMachine, Solution
from mklbench.validation import check_choice, check_not_negative, check_sample_weight, check_targets

KINDS = ("svm", "krr", "svr")

# A ridge regression is solved at this relative gap, which is rounding and nothing else.
_SOLVED = 1e-6


def train_svm(
    operator: KernelOperator, problem: Problem, weights: ArrayLike | None = None
) -> Solution:
    """Train one SVM on the kernel of a bank or a family at fixed weights.

    Parameters
    ----------
    operator : KernelOperator
        The bank or the family on the n training samples.
    problem : Problem
        The labels of these samples.
    weights : array_like of shape (M,) or None, default=None
        Kernel weights or parameters theta, >= 0; 1/M each if not given.

    Raises
    ------
    InputError
        If the operator has another number of samples, or the weights have the wrong shape or range.
    """
    return _train(problem.machine(), problem.loss, operator, weights)


def train_svr(
    operator: KernelOperator,
    y: ArrayLike,
    C: float,
    epsilon: float,
    svm_tol: float,
    sample_weight: ArrayLike | None,
    weights: ArrayLike | None = None,
) -> Solution:
    """Do so for one epsilon-SVR, on targets `y` (n,), as `mklbench.libsvm.SVR` takes them."""
    machine = SVR(y, C, epsilon=epsilon, tol=svm_tol, sample_weight=sample_weight)
    return _train(machine, Tube(machine.y, machine.upper, float(epsilon)), operator, weights)


def train_ridges(
    operator: KernelOperator,
    targets: Array,
    lams: Sequence[float],
    sample_weight: ArrayLike | None,
    weights: float | ArrayLike | None = None,
    degree: int = 1,
) -> list[Solution]:
    """Do so for a kernel ridge regression at each lambda, on K entry by entry to a power."""
    check_samples(operator, len(targets))
    mu = fixed_weights(operator, weights)
    K = hadamard_power(operator.gram(mu), degree)
    found = []
    for lam in lams:
        ridge = ridges(lam, sample_weight, len(targets))
        alpha = coefficients(K, targets, ridge)
        solution = certified(Squares(targets, ridge), K @ alpha, mu, alpha, 0.0, _SOLVED)
        found.append(replace(reported(solution, 2.0 * solution.objective), degree=degree))
    return found


def _train(
    machine: SVM | SVR, loss: Loss, operator: KernelOperator, weights: ArrayLike | None
) -> Solution:
    """Solve a machine of n targets, with its loss, on the Gram matrix."""
    check_samples(operator, len(machine.y))
    fixed = fixed_weights(operator, weights)
    K = operator.gram(fixed)
    trained = machine.solve(K)
    a, outputs = trained.dual_coef, K @ trained.dual_coef
    found = certified(loss, outputs, fixed, a, trained.intercept, _SOLVED)
    counted = reported(found, found.objective, calls=1, svm_seconds=machine.seconds)
    return replace(counted, converged=machine.is_done(outputs, a))


def certified(
    loss: Loss, outputs: Array, weights: Array, a: Array, intercept: float, tol: float
) -> Solution:
    """Return the machine with coefficients a (n,) and outputs K a (n,), and the gap of both.

    The weights (M,) are those of the kernels in K. It has converged where the gap is at most `tol`.
    """
    bounds = bounds_alone(loss, outputs, a, intercept)
    machine = KernelMachine(weights, a, intercept)
    return at_once(machine, bounds.lower, bounds.relative_gap, tol)


def at_once(machine: KernelMachine, objective: float, gap: float, tol: float) -> Solution:
    """Return a solution that took one step and no SVM; it has converged at a gap of `tol`."""
    return Solution(
        **vars(machine),
        objective=objective,
        gap=gap,
        n_svm_calls=0,
        n_iter=1,
        converged=gap <= tol,
        history=[{"objective": objective, "n_svm_calls": 0.0}],
    )


@dataclass(frozen=True)
class Learner:
    """A kind of machine and its hyperparameters, of which each kind takes its own.

    Attributes
    ----------
    kind : str
        "svm" for a support vector machine (`mklbench.algorithms.svm`), "krr" for kernel ridge
        regression (`krr`), "svr" for support vector regression (`svr`).
    C : float
        Box constraint of "svm" and "svr".
    lam : float
        The ridge lambda of "krr".
    epsilon : float
        Half the width of the tube of "svr".
    svm_tol : float
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None
        Factors on C by class of "svm".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample; of "krr" on its squared errors.
    """

    kind: str
    C: float
    lam: float
    epsilon: float
    svm_tol: float
    class_weight: ClassWeight
    sample_weight: ArrayLike | None = None

    def check(self, algorithm: str, operator: KernelOperator, y: ArrayLike) -> tuple[Bank, Array]:
        """Return the bank that an algorithm needs, and `y` (n,) as targets of this machine.

        Raises
        ------
        InputError
            If the kind is not known, or does not take such targets or class weights, a
            hyperparameter is out of range, there are no kernels of a bank, or on other samples.
        """
        check_choice("learner", self.kind, KINDS)
        targets, weights = check_targets(y), self.sample_weight
        if self.kind == "svm":
            others = targets[~are_labels(targets)]
            if len(others):
                raise InputError(
                    f"y has the value {others[0]:g}, but learner=svm takes labels -1 and +1 only: "
                    "choose learner=krr or learner=svr for real targets."
                )
            targets = Problem.of(targets, self.C, self.class_weight, weights, self.svm_tol).y
        elif self.class_weight is not None:
            raise InputError(
                f"class_weight={self.class_weight} is not accepted with "
                f"learner={self.kind}, which knows no classes: choose learner=svm."
            )
        elif self.kind == "krr":
            ridges(self.lam, weights, len(targets))
        else:
            check_box("C", self.C)
            check_tol(self.svm_tol)
            check_not_negative("epsilon", self.epsilon)
            if weights is not None:
                check_sample_weight(weights, len(targets))
        return check_bank(algorithm, operator, len(targets)), targets

    def learn(
        self, bank: Bank, y: Array, weights: Array, rows: NDArray[np.intp] | None = None
    ) -> Solution:
        """Return the machine on sum_m weights_m K_m, for targets that `check` has returned.

        Where the samples of the bank are some `rows` of all, their sample weights are meant.
        """
        own = self.sample_weight
        if own is not None and rows is not None:
            own = np.asarray(own, dtype=np.float64)[rows]
        if self.kind == "krr":
            return train_ridges(bank, y, [self.lam], own, weights)[0]
        if self.kind == "svr":
            return train_svr(bank, y, self.C, self.epsilon, self.svm_tol, own, weights)
        problem = Problem.of(y, self.C, self.class_weight, own, self.svm_tol)
        return train_svm(bank, problem, weights)


def reported(
    solution: Solution, objective: float, calls: int = 0, svm_seconds: float = 0.0, **more: float
) -> Solution:
    """Return the machine of a second stage with one entry of history on both stages.

    Parameters
    ----------
    solution : Solution
        The machine.
    objective : float
        What the entry and the solution have as theirs.
    calls : int, default=0
        SVM problems that the first stage solved.
    svm_seconds : float, default=0.0
        Seconds that it spent in them.
    **more : float
        What else the entry says.
    """
    calls += solution.n_svm_calls
    return replace(
        solution,
        objective=objective,
        n_svm_calls=calls,
        svm_seconds=svm_seconds + solution.svm_seconds,
        history=[{"objective": objective, "n_svm_calls": float(calls), **more}],
    )


def after_first_stage(
    solution: Solution,
    objective: float,
    gap: float,
    tol: float,
    history: History,
    calls: int = 0,
    svm_seconds: float = 0.0,
) -> Solution:
    """Return the machine of a second stage as the solution of both.

    Parameters
    ----------
    solution : Solution
        The machine, whose gap counts, too.
    objective, gap : float
        Of the first stage, converged where the gap is at most `tol`.
    tol : float
        The gap asked for.
    history : list of dict
        Of the first stage, which stays as it is.
    calls : int, default=0
        SVM problems that the first stage solved.
    svm_seconds : float, default=0.0
        Seconds that it spent in them.
    """
    both = reported(solution, objective, calls, svm_seconds)
    return replace(
        both,
        gap=max(gap, solution.gap),
        n_iter=len(history),
        converged=bool(solution.converged and gap <= tol),
        history=[*history[:-1], {**history[-1], "n_svm_calls": float(both.n_svm_calls)}],
    )


def are_labels(y: Array) -> NDArray[np.bool_]:
    """Tell of each target (n,) whether it is -1 or +1."""
    return np.isin(y, (-1.0, 1.0))


def losses_of_each(
    name: str, bank: Bank, targets: Array, machine: Learner, folds: int, seed: int
) -> tuple[Array, int, float]:
    """Return the loss of each kernel on held-out samples, all folds together.

    That is the share of wrong labels, or the mean squared error of real targets, (M,); with it come
    the number of SVM problems solved and the seconds spent inside LIBSVM.

    Parameters
    ----------
    name : str
        Of the algorithm that asks.
    bank : Bank
        The M kernels on n training samples.
    targets : ndarray of shape (n,)
        As `machine` has checked them.
    machine : Learner
        What is learned on each kernel.
    folds : int
        Number of folds, >= 2; fewer where the smaller class has fewer samples, as each class has
        its share of a fold.
    seed : int
        Of the shuffle before samples are dealt to folds.

    Raises
    ------
    InputError
        If the smaller class has one sample.
    """
    parts = folds_of(name, targets, folds, seed)
    restricted = [bank.take(fit) for fit, _ in parts]
    has_labels = are_labels(targets).all()
    losses = np.zeros(bank.n_kernels)
    given = machine.sample_weight
    importance = np.ones(len(targets)) if given is None else np.array(given, dtype=np.float64)
    total = importance.sum()
    calls, seconds = 0, 0.0
    for m, unit in enumerate(np.eye(bank.n_kernels)):
        K = bank.combine(unit)
        for part, (fit, held_out) in zip(restricted, parts, strict=True):
            trained = machine.learn(part, targets[fit], unit, fit)
            decision = K[np.ix_(held_out, fit)] @ trained.dual_coef + trained.intercept
            y, counts = targets[held_out], importance[held_out]
            loss = counts[(decision > 0) != (y > 0)] if has_labels else counts * (decision - y) ** 2
            losses[m] += float(loss.sum()) / total
            calls, seconds = calls + trained.n_svm_calls, seconds + trained.svm_seconds
    return losses, calls, seconds


def folds_of(name: str, y: Array, k: int, seed: int) -> list[tuple[Indices, Indices]]:
    """Return for each of at most `k` folds the samples to fit and those held out.

    Labels are stratified.
    """
    # Imported here, as it takes a second and the other algorithms do without.
    from sklearn.model_selection import KFold, StratifiedKFold

    has_labels = are_labels(y).all()
    n = int(min((y > 0).sum(), (y < 0).sum())) if has_labels else len(y)
    if n < 2:
        raise InputError(
            f"{name} holds samples out to compare kernels, but there is 1 sample in "
            f"{'the smaller class' if has_labels else 'all'}: use more data."
        )
    kind = StratifiedKFold if has_labels else KFold
    return list(kind(min(k, n), shuffle=True, random_state=seed).split(y, y))
