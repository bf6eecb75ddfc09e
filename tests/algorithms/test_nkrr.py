"""NKRR: the paper's propositions, the optimum against a conic solver, steps and bad input."""

from __future__ import annotations

import itertools

import conic_twins
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import differences, random_problem, random_stack

from mklbench.algorithms import krr, nkrr
from mklbench.kernels import PrecomputedBank, linear_features
from mklbench.kernels.base import Bank
from mklbench.penalties.norm_ball import NormBall

LAM = 0.5
DEGREES = (1, 2, 3)


def value(stack: np.ndarray, y: np.ndarray, weights: np.ndarray, degree: int) -> float:
    """F(mu) as it is defined."""
    K = np.tensordot(weights, stack, axes=1) ** degree
    return float(y @ np.linalg.solve(K + LAM * np.eye(len(y)), y))


def rank_one_stack(X: np.ndarray) -> np.ndarray:
    return X.T[:, :, None] * X.T[:, None, :]


@pytest.fixture(params=["stack", "rank one"])
def problem(request: pytest.FixtureRequest) -> tuple[Bank, np.ndarray, np.ndarray]:
    """A bank, the stack it stands for, and real targets."""
    X, y = random_problem(25, 5)
    targets = y + 0.3 * np.random.default_rng(2).standard_normal(25)
    if request.param == "stack":
        stack = random_stack(25)[0]
        return PrecomputedBank(stack), stack, targets
    return linear_features(X), rank_one_stack(X), targets


def point(bank: Bank, y: np.ndarray, weights: np.ndarray, degree: int) -> nkrr._Evaluation:
    ball = NormBall(np.zeros(bank.n_kernels), 1.0, 2)
    return nkrr._RidgeProblem(bank, y, LAM, degree, ball)(weights)


class TestPropositions:
    """Those of section 3.3, for any degree d."""

    @pytest.mark.parametrize("degree", DEGREES)
    def test_gradient(self, problem: tuple, degree: int) -> None:
        """Proposition 1: dF/dmu_k = -d alpha' (S^(d-1) o K_k) alpha, which is never positive."""
        bank, stack, y = problem
        weights = np.random.default_rng(3).uniform(0.1, 1.0, 5)
        gradient = point(bank, y, weights, degree).gradient
        numeric = differences(lambda at: value(stack, y, at, degree), weights, 1e-5)
        assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-7 * np.abs(numeric).max())
        assert (gradient <= 0).all()

    @pytest.mark.parametrize("degree", DEGREES)
    def test_stationary_points_are_maxima(self, problem: tuple, degree: int) -> None:
        """Proposition 2: F is ||y||^2 / lambda there, as at mu = 0 beyond d = 1, and less else."""
        bank, _, y = problem
        largest = y @ y / LAM
        origin = point(bank, y, np.zeros(5), degree)
        assert_allclose(origin.objective, largest)
        assert (np.abs(origin.gradient).max() == 0) == (degree > 1)
        for weights in np.random.default_rng(5).uniform(size=(20, 5)):
            assert point(bank, y, weights, degree).objective < largest

    @pytest.mark.parametrize("degree", DEGREES)
    @pytest.mark.parametrize(("norm", "mu0"), [(1, 0.0), (1, 1.0), (2, 0.0), (2, 1.0)])
    def test_the_optimum_is_on_the_boundary(
        self, problem: tuple, degree: int, norm: int, mu0: float
    ) -> None:
        bank, _, y = problem
        solution = nkrr.solve(bank, y, LAM, degree=degree, radius=0.8, norm=norm, mu0=mu0)
        assert_allclose(np.linalg.norm(solution.weights - mu0, norm), 0.8)
        assert (solution.weights >= mu0 - 1e-12).all()
        assert solution.converged
        assert solution.gap <= 1e-4


class TestLinearCombinations:
    @pytest.mark.parametrize("norm", [1, 2])
    @pytest.mark.parametrize("centre", [0.0, 1.0])
    def test_optimum_of_the_conic_solver(self, problem: tuple, norm: int, centre: float) -> None:
        bank, stack, y = problem
        mu0 = np.full(5, centre)
        optimum = conic_twins.linear_ridge(stack, y, LAM, mu0, 2.0, norm)
        solution = nkrr.solve(
            bank, y, LAM, degree=1, radius=2.0, norm=norm, mu0=mu0, tol=1e-8, max_iter=5000
        )
        assert_allclose(solution.objective, optimum.value, rtol=1e-6)
        assert solution.gap <= 1e-8
        assert_allclose(solution.weights, optimum.weights, atol=1e-2)


class TestSolve:
    def test_no_room_for_the_weights_is_the_uniform_baseline(self, problem: tuple) -> None:
        bank, _, y = problem
        solution = nkrr.solve(bank, y, LAM, radius=0.0, degree=3)
        baseline = krr.solve(bank, y, LAM, weights=1.0, degree=3)
        assert_array_equal(solution.weights, np.ones(5))
        assert_allclose(solution.dual_coef, baseline.dual_coef)
        assert_allclose(solution.objective, baseline.objective)
        assert solution.gap == pytest.approx(0.0, abs=1e-12)

    def test_the_descent_never_rises(self, problem: tuple) -> None:
        bank, _, y = problem
        history = nkrr.solve(bank, y, LAM, degree=3, radius=5.0, norm=1, tol=1e-7).history
        objectives = [entry["objective"] for entry in history]
        assert all(after <= before for before, after in itertools.pairwise(objectives))
