"""The second stage of two-stage learning: a machine on a kernel that a first stage has learned.

First stages that try each kernel of a bank alone do so on samples that it was not learned from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.iterations import History
from mklbench.kernels.base import Bank, KernelOperator
from mklbench.libsvm import check_box, check_tol, check_tol_of_classes, class_factors
from mklbench.optim.fixed_kernel import train_ridges, train_svm, train_svr
from mklbench.optim.problem import Problem
from mklbench.optim.svm_value import check_bank, check_samples
from mklbench.solution import Solution
from mklbench.validation import (
    check_choice,
    check_labels,
    check_not_negative,
    check_positive,
    check_sample_weight,
    check_targets,
)

Array = NDArray[np.float64]

KINDS = ("svm", "krr", "svr")


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
    class_weight: Mapping[int, float] | str | None
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
        self._check_options()
        targets = check_targets(y)
        if self.sample_weight is not None:
            check_sample_weight(self.sample_weight, len(targets))
        if self.kind == "svm":
            others = targets[~are_labels(targets)]
            if len(others):
                raise InputError(
                    f"y has the value {others[0]:g}, but learner=svm takes labels -1 and +1 only: "
                    "choose learner=krr or learner=svr for real targets."
                )
            targets = check_labels(targets)
            class_factors(self.class_weight, targets)
        elif self.class_weight is not None:
            raise InputError(
                f"class_weight={self.class_weight} is not accepted with "
                f"learner={self.kind}, which knows no classes: choose learner=svm."
            )
        bank = check_bank(algorithm, operator)
        check_samples(bank, len(targets))
        return bank, targets

    def _check_options(self) -> None:
        """Raise an InputError for a number out of range, before a first stage takes its time."""
        if self.kind == "krr":
            check_positive("lam", self.lam)
            return
        check_box("C", self.C)
        if self.kind == "svr":
            check_tol(self.svm_tol)
            check_not_negative("epsilon", self.epsilon)
        else:
            check_tol_of_classes(self.svm_tol)

    def learn(
        self, bank: Bank, y: Array, weights: Array, rows: NDArray[np.intp] | None = None
    ) -> Solution:
        """Return the machine on sum_m weights_m K_m, for targets that `check` has returned.

        Where the samples of the bank are some `rows` of all, their sample weights are meant.
        """
        own = None
        if self.sample_weight is not None:
            by_row = np.asarray(self.sample_weight, dtype=np.float64)
            own = by_row[slice(None) if rows is None else rows]
        if self.kind == "krr":
            return train_ridges(bank, y, [self.lam], own, weights)[0]
        if self.kind == "svr":
            return train_svr(bank, y, self.C, self.epsilon, self.svm_tol, own, weights)
        problem = Problem.of(y, self.C, self.class_weight, own, self.svm_tol)
        return train_svm(bank, problem, weights)

    def importance(self, n: int) -> Array:
        """Return the sample weights (n,), ones where there are none."""
        return np.ones(n) if self.sample_weight is None else np.array(self.sample_weight, float)


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
    calls += solution.n_svm_calls
    return replace(
        solution,
        objective=objective,
        gap=max(gap, solution.gap),
        n_svm_calls=calls,
        n_iter=len(history),
        converged=bool(solution.converged and gap <= tol),
        history=[*history[:-1], {**history[-1], "n_svm_calls": float(calls)}],
        svm_seconds=svm_seconds + solution.svm_seconds,
    )


def are_labels(y: Array) -> NDArray[np.bool_]:
    """Tell of each target (n,) whether it is -1 or +1."""
    return np.isin(y, (-1.0, 1.0))


Rows = NDArray[np.intp]


@dataclass(frozen=True)
class HeldOut:
    """What the kernels are worth alone, and what it took to know it.

    Attributes
    ----------
    losses : ndarray of shape (M,)
        The share of wrong labels, or the mean squared error of real targets.
    n_svm_calls : int
        Number of SVM problems solved.
    svm_seconds : float
        Wall-clock seconds spent inside LIBSVM.
    """

    losses: Array
    n_svm_calls: int
    svm_seconds: float

    def and_then(self, solution: Solution, loss: float) -> Solution:
        """Return the machine that was learned afterwards, with what both have taken.

        Parameters
        ----------
        solution : Solution
            The machine.
        loss : float
            What its history has as "held_out_loss".
        """
        calls = self.n_svm_calls + solution.n_svm_calls
        entry = {
            "objective": solution.objective,
            "n_svm_calls": float(calls),
            "held_out_loss": loss,
        }
        return replace(
            solution,
            n_svm_calls=calls,
            svm_seconds=self.svm_seconds + solution.svm_seconds,
            history=[entry],
        )


def losses_of_each(
    name: str, bank: Bank, targets: Array, machine: Learner, folds: int, seed: int
) -> HeldOut:
    """Return the loss of each kernel on held-out samples, all folds together.

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
    parts = _stratified_folds(name, targets, folds, seed)
    restricted = [bank.take(fit) for fit, _ in parts]
    loss = _wrong_labels if are_labels(targets).all() else _squared_errors
    losses = np.zeros(bank.n_kernels)
    importance = machine.importance(len(targets))
    total = importance.sum()
    calls, seconds = 0, 0.0
    for m, unit in enumerate(np.eye(bank.n_kernels)):
        K = bank.combine(unit)
        for part, (fit, held_out) in zip(restricted, parts, strict=True):
            trained = machine.learn(part, targets[fit], unit, fit)
            decision = K[np.ix_(held_out, fit)] @ trained.dual_coef + trained.intercept
            losses[m] += loss(decision, targets[held_out], importance[held_out]) / total
            calls, seconds = calls + trained.n_svm_calls, seconds + trained.svm_seconds
    return HeldOut(losses, calls, seconds)


def _wrong_labels(decision: Array, y: Array, importance: Array) -> float:
    return float(importance[(decision > 0) != (y > 0)].sum())


def _squared_errors(decision: Array, y: Array, importance: Array) -> float:
    return float((importance * np.square(decision - y)).sum())


def _stratified_folds(name: str, y: Array, k: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Return for each of at most `k` folds the samples to fit and those held out.

    Real targets are not stratified.
    """
    # Imported here, as it takes a second and the other algorithms do without.
    from sklearn.model_selection import KFold, StratifiedKFold

    if not are_labels(y).all():
        _check_enough(name, len(y), "sample in all")
        return list(KFold(min(k, len(y)), shuffle=True, random_state=seed).split(y))
    smaller = int(min((y > 0).sum(), (y < 0).sum()))
    _check_enough(name, smaller, "sample in the smaller class")
    return list(StratifiedKFold(min(k, smaller), shuffle=True, random_state=seed).split(y, y))


def _check_enough(name: str, n: int, of_what: str) -> None:
    if n < 2:
        raise InputError(
            f"{name} holds samples out to compare kernels, but there is 1 {of_what}: use more data."
        )
