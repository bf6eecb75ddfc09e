"""`converged` is earned: what LIBSVM has left unfinished does not pass for done."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import numpy as np
import pytest
from problems import no_line_separates, random_problem, random_stack
from sklearn.exceptions import ConvergenceWarning

import mklbench
from mklbench.algorithms import krr, svm
from mklbench.kernels import PrecomputedBank
from mklbench.libsvm import SVM, SVR, Machine, SVMSolution

ONE_MACHINE = ("svm", "uniform", "early_fusion", "best_kernel", "late_fusion", "align", "alignf")


@pytest.fixture
def unfinished(monkeypatch: pytest.MonkeyPatch) -> None:
    """LIBSVM as if at its limit: it ends far from what it was asked for."""
    solve: Callable[..., SVMSolution] = Machine.solve

    def early(self: Machine, *arguments: np.ndarray, tol: float | None = None) -> SVMSolution:
        return solve(self, *arguments, tol=1.0)

    monkeypatch.setattr(Machine, "solve", early)


def solved(name: str, **options: object) -> mklbench.solution.Solution:
    stack, y = random_stack(n=40)
    bank = PrecomputedBank(stack[:1] if name == "early_fusion" else stack)
    return importlib.import_module(f"mklbench.algorithms.{name}").solve(bank, y, **options)


class TestLimit:
    def test_the_real_one(self) -> None:
        """Ten points that no line separates: 10^7 iterations, a second, are not enough."""
        X, y = no_line_separates()
        solution = svm.solve(PrecomputedBank((X @ X.T)[None]), y, C=1e9)
        assert solution.gap > 0.5
        assert not solution.converged

    @pytest.mark.parametrize("name", ONE_MACHINE)
    @pytest.mark.parametrize("learner", ["svm", "svr"])
    def test_of_every_algorithm_that_trains_one_machine(
        self, name: str, learner: str, unfinished: None
    ) -> None:
        options: dict[str, object] = {} if name in ("svm", "uniform") else {"learner": learner}
        assert not solved(name, C=100.0, **options).converged

    def test_estimators_warn_with_a_remedy_they_have(self, unfinished: None) -> None:
        X, y = random_problem(40)
        remedy = "lower C, scale the features or the kernels down, or raise svm_tol"
        with pytest.warns(ConvergenceWarning, match=f"with a gap of up to .*: {remedy}"):
            mklbench.KernelSVC(C=100.0).fit(X, y)
        with pytest.warns(ConvergenceWarning, match=remedy):
            mklbench.Align(C=100.0).fit(X, y)

    def test_iterations_have_theirs(self) -> None:
        X, y = random_problem(40)
        with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
            mklbench.SimpleMKL(C=100.0, max_iter=1, tol=1e-6).fit(X, y)


@pytest.mark.parametrize("name", ["ckl", "hessianmkl", "simplemkl", "vskl"])
def test_a_small_change_of_the_objective_may_end_iterations(name: str) -> None:
    solution = solved(name, C=100.0, tol=1e-9, objective_tol=1e-2)
    objectives = np.array([entry["objective"] for entry in solution.history])
    changes = np.abs(np.diff(objectives)) / objectives[:-1]
    assert solution.converged
    assert changes[-1] < 1e-2
    assert (changes[:-1] >= 1e-2).all()
    assert solution.gap > 1e-9


def test_what_rounding_leaves_is_no_solution_of_a_ridge_and_its_estimator_says_what_helps() -> None:
    X, _ = random_problem(40, 2)
    K, y = np.exp(-0.01 * ((X[:, None] - X) ** 2).sum(axis=2)), np.sin(np.arange(40.0))
    bank = PrecomputedBank(K[None])
    assert krr.solve(bank, y, lam=1e-3).converged
    near_singular = krr.solve(bank, y, lam=5e-13)
    assert near_singular.gap > 1e-6
    assert not near_singular.converged
    with pytest.warns(ConvergenceWarning, match="raise lam"):
        mklbench.KRR(lam=5e-13, kernel="precomputed").fit(K, y)


class TestViolation:
    @pytest.mark.parametrize("tol", [1e-5, 1e-8])
    def test_what_single_precision_cannot_tell_is_no_failure(self, tol: float) -> None:
        X, y = random_problem(200)
        K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
        machine = SVM(y, 1e4, tol=tol)
        a = machine.solve(K).dual_coef
        assert machine.violation(K @ a, a) > 2.0 * tol
        assert machine.is_done(K @ a, a)
        asked_for_more = SVM(y, 1e4, tol=1e-12)
        asked_for_more.gram[...] = K
        assert not asked_for_more.is_done(K @ a, a)

    def test_unless_it_is_large(self) -> None:
        """LIBSVM meets its rule by kernel values in single precision, where f is off by 0.04."""
        X, y = random_problem(12, 2)[0], random_problem(12)[1]
        solution = svm.solve(PrecomputedBank((100.0 * X @ X.T + 1.0)[None] ** 3), y, C=1e6)
        assert solution.gap > 1e-3
        assert not solution.converged

    def test_by_hand(self) -> None:
        """The dual's slopes are y - K a; the first is at 0, the second at its bound."""
        machine = SVM([1.0, 1.0, -1.0], 2.0)
        a = np.array([0.0, 2.0, -2.0])
        outputs = np.array([0.3, 0.4, -0.5])
        # a_1 may grow with the slope 0.7 and a_3 with -0.5; a_2 may shrink with the slope 0.6.
        assert machine.violation(outputs, a) == pytest.approx(0.7 - 0.6)
        assert machine.violation(np.array([0.5, 0.4, -0.5]), a) == 0.0
        assert machine.violation(np.zeros(3), np.zeros(3)) == pytest.approx(2.0)

    def test_by_hand_of_a_regression(self) -> None:
        machine = SVR([1.0, 0.0, -1.0], 2.0, epsilon=0.25)
        # Slopes 1, 0, -1 minus epsilon where a coefficient grows, plus it where it shrinks.
        assert machine.violation(np.zeros(3), np.zeros(3)) == pytest.approx(0.75 + 0.75)
        a = np.array([2.0, 0.0, -2.0])  # both at their bounds: the second may do either
        assert machine.violation(np.zeros(3), a) == pytest.approx(0.0)
