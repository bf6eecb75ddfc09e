"""Each kernel of a bank alone, on samples that it was not learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError
from mklbench.kernels.base import Bank
from mklbench.optim.second_stage import Learner, are_labels

Array = NDArray[np.float64]
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
