"""The suite for algorithms finds each mistake, and says it in one sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mklbench.algorithms import mkl, svm
from mklbench.errors import InputError
from mklbench.kernels import Bank, KernelOperator, feature_gaussians
from mklbench.optim.svm_value import check_bank
from mklbench.solution import Solution
from mklbench.testing import check_algorithm

Array = np.ndarray
DOCUMENT = "Solve: bank, operator, y, C, tol, start, class_weight, svm_tol, strength, max_iter."


def plain(operator: KernelOperator, y: Array, C: float = 1.0, *, svm_tol: float = 1e-3) -> Solution:
    """An SVM at equal weights: operator, y, C, svm_tol."""
    return svm.solve(operator, y, C, svm_tol=svm_tol)


def changing(change: Callable[[Solution], Solution]) -> Callable[..., Solution]:
    """Return an algorithm whose solution is spoilt."""

    def solve(operator: KernelOperator, y: Array, C: float = 1.0, *, svm_tol: float = 1e-3) -> Any:
        return change(svm.solve(operator, y, C, svm_tol=svm_tol))

    solve.__doc__ = DOCUMENT
    return solve


SPOILT: dict[str, tuple[Callable[[Solution], Any], str]] = {
    "no solution": (lambda s: s.weights, "must return a mklbench.solution.Solution"),
    "a weight too many": (lambda s: replace(s, weights=np.append(s.weights, 1.0)), "weights of"),
    "negative weights": (lambda s: replace(s, weights=-s.weights), "negative or all 0"),
    "no coefficients": (lambda s: replace(s, dual_coef=s.dual_coef[:-1]), "dual_coef of shape"),
    "negative gap": (lambda s: replace(s, gap=-0.1), "which is never negative"),
    "no history": (lambda s: replace(s, history=[]), "one an iteration"),
    "history without values": (lambda s: replace(s, history=[{"n_svm_calls": 1.0}]), "objective"),
    "unknown end": (lambda s: replace(s, converged=None), "converged=None"),  # type: ignore[arg-type]
    "no iteration": (lambda s: replace(s, n_iter=0), "n_iter=0"),
    "beyond the box": (lambda s: replace(s, dual_coef=1.1 * s.dual_coef), "the constraints 0 <="),
    "unbalanced": (
        lambda s: replace(s, dual_coef=np.where(s.dual_coef > 0, 0.9, 1.0) * s.dual_coef),
        "and sum 0 by",
    ),
    "not the SVM's": (
        lambda s: replace(s, dual_coef=0.9 * s.dual_coef, intercept=0.9 * s.intercept),
        "the KKT conditions are violated",
    ),
    "other weights": (
        lambda s: replace(s, weights=s.weights * np.linspace(0.5, 1.5, len(s.weights))),
        "the KKT conditions are violated",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_solution_is_found(name: str) -> None:
    spoil, message = SPOILT[name]
    with pytest.raises(AssertionError, match=message) as raised:
        check_algorithm(changing(spoil))
    assert "\n" not in str(raised.value)


def test_a_sound_one_passes() -> None:
    check_algorithm(plain)
    check_algorithm(plain, kernels=feature_gaussians)


class TestAlgorithms:
    def test_random_numbers(self) -> None:
        rng = np.random.default_rng()

        def solve(operator: KernelOperator, y: Array, C: float = 1.0) -> Solution:
            return svm.solve(operator, y, C, weights=rng.uniform(1.0, 2.0, operator.n_kernels))

        solve.__doc__ = DOCUMENT
        with pytest.raises(AssertionError, match="returns other weights when it is called again"):
            check_algorithm(solve)

    def test_order_of_the_samples(self) -> None:
        def solve(operator: KernelOperator, y: Array, C: float = 1.0) -> Solution:
            weights = np.full(operator.n_kernels, 0.1 + abs(float(y[:20].sum())))
            return svm.solve(operator, y, C, weights=weights)

        solve.__doc__ = DOCUMENT
        with pytest.raises(AssertionError, match=r"the objective of .* in another order"):
            check_algorithm(solve)

    def test_a_gap_that_is_too_small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def solve(bank: Bank, y: Array, C: float = 1.0, *, tol: float = 0.1) -> Solution:
            return replace(mkl.solve(bank, y, C, tol=tol), gap=0.0)

        solve.__doc__ = DOCUMENT
        for name, value in (("solve", solve), ("EXACT", True)):
            monkeypatch.setattr(sys.modules[__name__], name, value, raising=False)
        with pytest.raises(AssertionError, match=r"gap=0, but the dense Gram matrices say"):
            check_algorithm(solve)

    def test_an_option_that_the_docstring_lacks(self) -> None:
        solve = changing(lambda s: s)
        solve.__doc__ = "Solve: y, C, svm_tol."
        with pytest.raises(AssertionError, match="does not explain operator"):
            check_algorithm(solve)

    def test_signature(self) -> None:
        def no_default(operator: KernelOperator, y: Array, C: float) -> Solution:
            raise NotImplementedError

        def by_position(
            operator: KernelOperator, y: Array, C: float = 1.0, tol: float = 1.0
        ) -> Solution:
            raise NotImplementedError

        with pytest.raises(AssertionError, match="its option C without a default"):
            check_algorithm(no_default)
        with pytest.raises(AssertionError, match="or by position"):
            check_algorithm(by_position)

    def test_options_that_nothing_refuses(self) -> None:
        def solve(
            operator: KernelOperator, y: Array, C: float = 1.0, *, strength: float = 1.0
        ) -> Solution:
            return svm.solve(operator, y, C)

        solve.__doc__ = DOCUMENT
        with pytest.raises(
            AssertionError, match=r"strength='nonsense' must be refused .* accepted"
        ):
            check_algorithm(solve)

    def test_options_that_crash(self) -> None:
        def solve(
            operator: KernelOperator, y: Array, C: float = 1.0, *, strength: float = 1.0
        ) -> Solution:
            if strength < 0:
                raise InputError("it is negative")
            return svm.solve(operator, y, C)

        solve.__doc__ = DOCUMENT
        with pytest.raises(AssertionError, match="and raises TypeError"):
            check_algorithm(solve)

    def test_labels_that_nothing_refuses(self) -> None:
        def solve(operator: KernelOperator, y: Array, C: float = 1.0) -> Solution:
            return svm.solve(operator, np.where(np.asarray(y) > 0, 1.0, -1.0), C)

        solve.__doc__ = DOCUMENT
        with pytest.raises(AssertionError, match="with labels 0 and 1 must be refused"):
            check_algorithm(solve)

    def test_kernels_that_it_does_not_take(self) -> None:
        def solve(bank: Bank, y: Array, C: float = 1.0) -> Solution:
            return svm.solve(bank, y, C)

        def checked(bank: Bank, y: Array, C: float = 1.0) -> Solution:
            return svm.solve(check_bank("mine", bank), y, C)

        solve.__doc__ = checked.__doc__ = DOCUMENT
        with pytest.raises(AssertionError, match="which takes a Bank, with another operator"):
            check_algorithm(solve)
        check_algorithm(checked)

    def test_changed_arguments(self) -> None:
        def solve(operator: KernelOperator, y: Array, C: float = 1.0) -> Solution:
            solution = svm.solve(operator, y, C)
            np.asarray(y)[:] *= -1.0
            np.asarray(y)[:] *= 1.0 + 1e-9
            return solution

        solve.__doc__ = DOCUMENT
        with pytest.raises(AssertionError):
            check_algorithm(solve)
