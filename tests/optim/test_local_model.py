"""The minimiser of the local model, and which rows it moves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import conic_twins
import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import random_stack

from mklbench.optim import local_model, svm_dual
from mklbench.optim.local_model import Expansion
from mklbench.solution import KernelMachine

# The conic solver says so where it misses its 1e-9.
pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

Array = np.ndarray

N_KERNELS = 5
TOL = 1e-10


@dataclass(frozen=True)
class Problem:
    """Kernels (M, n, n), labels (n,), bounds of alpha (n,) and the weights (M,) of the model."""

    stack: Array
    y: Array
    upper: Array
    weights: Array

    def expansion(self) -> Expansion:
        """Return the expansion at the SVM's solution by a conic solver."""
        K = np.tensordot(self.weights, self.stack, 1)
        solution = conic_twins.svm(K, self.y, self.upper)
        a = self.y * np.clip(self.y * solution.dual_coef, 0.0, self.upper)
        bound = np.minimum(np.abs(a), self.upper - np.abs(a)) < 1e-6 * self.upper
        a[bound] = (self.y * self.upper * np.round(np.abs(a) / self.upper))[bound]
        a = with_active_set(K, self.y, a, ~bound)
        products = self.stack @ a
        return Expansion(
            K=K,
            dual=svm_dual.of_classes(self.y, self.upper),
            dual_coef=a,
            intercept=solution.intercept,
            weights=self.weights,
            products=products,
            norms=np.sqrt(products @ a),
        )


def with_active_set(K: Array, y: Array, a: Array, free: Array) -> Array:
    """Return the SVM's a = alpha o y for which all but the `free` are at the bounds they are at.

    It is the solution of linear equations, and so accurate to rounding.
    """
    n_free = int(free.sum())
    system = np.ones((n_free + 1, n_free + 1))
    system[:-1, :-1] = K[np.ix_(free, free)]
    system[-1, -1] = 0.0
    right = np.append(y[free] - K[np.ix_(free, ~free)] @ a[~free], -a[~free].sum())
    moved = a.copy()
    moved[free] = np.linalg.solve(system, right)[:-1]
    return moved


def problem(C: float = 1.0, seed: int = 0) -> Problem:
    stack, y = random_stack(n=30, n_kernels=N_KERNELS, seed=seed)
    weights = np.random.default_rng(seed).dirichlet(np.ones(N_KERNELS))
    return Problem(stack, y, np.full(30, C), weights)


PROBLEMS = {
    "C=0.3": problem(0.3),
    "C=1": problem(1.0, seed=1),
    "C=100": problem(100.0, seed=2),
    "bounds of classes": replace(problem(), upper=np.where(problem().y > 0, 0.5, 3.0)),
    "a kernel with weight zero": replace(problem(), weights=np.array([0.4, 0.0, 0.6, 0.0, 0.0])),
    "one kernel with weight": replace(problem(3.0), weights=np.eye(N_KERNELS)[2]),
}


@pytest.fixture(params=PROBLEMS)
def case(request: pytest.FixtureRequest) -> Problem:
    return PROBLEMS[request.param]


def rank_one_parts(at: Expansion) -> Array:
    """Return the rows g_m (w, n)."""
    return at.products / at.norms[:, None]


def free_alpha(at: Expansion) -> Array:
    alpha = np.abs(at.dual_coef)
    return (alpha > 0) & (alpha < at.dual.upper)


def model_programme(at: Expansion, rows: Array | None = None) -> conic_twins.ProgrammeSolution:
    """Solve the model's dual as the module prints it; alpha stays where it is but in `rows`."""
    g = rank_one_parts(at)
    B = at.K - (g.T * at.weights) @ g
    alpha = np.abs(at.dual_coef)
    moving = np.ones(len(alpha), dtype=bool) if rows is None else rows
    return conic_twins.programme(
        Q=B * at.dual.signs * at.dual.signs[:, None],
        X=(g * at.dual.signs).T,
        p=np.ones(len(alpha)),
        y=at.dual.signs,
        lower=np.where(moving, 0.0, alpha),
        upper=np.where(moving, at.dual.upper, alpha),
    )


def dual_value(at: Expansion, a: Array) -> float:
    """Return the model's dual value at a = alpha o y: the minimum over its weights at alpha."""
    g = rank_one_parts(at)
    B = at.K - (g.T * at.weights) @ g
    return float(np.abs(a).sum() - 0.5 * a @ B @ a - 0.5 * max(0.0, (g @ a).max()) ** 2)


def all_rows(at: Expansion) -> Array:
    return np.ones(len(at.dual.signs), dtype=bool)


def check_feasible(at: Expansion, prediction: KernelMachine) -> None:
    alpha = at.dual.signs * prediction.dual_coef
    assert (alpha >= 0).all()
    assert (alpha <= at.dual.upper).all()
    assert abs(prediction.dual_coef.sum()) <= 1e-12 * alpha.sum()
    assert (prediction.weights >= 0).all()
    assert prediction.weights.sum() == pytest.approx(1.0, abs=1e-14)


class TestMinimiser:
    def test_equals_a_conic_solver(self, case: Problem) -> None:
        at = case.expansion()
        prediction = local_model.minimise(at, all_rows(at), TOL)
        check_feasible(at, prediction)
        best = model_programme(at)
        assert dual_value(at, prediction.dual_coef) == pytest.approx(best.value, rel=1e-7)
        assert_allclose(
            prediction.dual_coef, at.dual.signs * best.alpha, atol=1e-3 * best.alpha.max()
        )
        assert_allclose(prediction.weights, best.multipliers / best.tau, atol=1e-3)

    def test_weights_of_kernels_that_are_not_wanted_are_exactly_zero(self) -> None:
        at = PROBLEMS["C=0.3"].expansion()
        weights = local_model.minimise(at, all_rows(at), TOL).weights
        unwanted = model_programme(at).multipliers < 1e-6
        assert unwanted.any()
        assert (weights[unwanted] == 0).all()
        assert (weights[~unwanted] > 0).all()

    def test_alpha_at_its_bounds_is_exactly_there(self) -> None:
        at = PROBLEMS["C=0.3"].expansion()
        alpha = np.abs(local_model.minimise(at, all_rows(at), TOL).dual_coef)
        best = model_programme(at).alpha
        assert (best > 0.3 - 1e-6).any()
        assert (best < 1e-6).any()
        assert (alpha[best > 0.3 - 1e-6] == 0.3).all()
        assert (alpha[best < 1e-6] == 0.0).all()

    def test_steps_near_the_optimum_converge_quadratically(self) -> None:
        """A tenth of the distance leaves about a hundredth of the error."""
        start = PROBLEMS["C=1"]
        best = conic_twins.mkl(start.stack, start.y, start.upper)
        used = best.weights > 1e-3
        assert used.sum() > 1
        start = replace(start, stack=start.stack[used])
        optimum = best.weights[used] / best.weights[used].sum()
        for _ in range(5):  # to the accuracy of the linear equations
            at = replace(start, weights=optimum).expansion()
            optimum = local_model.minimise(at, all_rows(at), 1e-13).weights
        away = np.random.default_rng(0).standard_normal(len(optimum))
        away -= away.mean()
        errors = []
        for distance in (1e-2, 1e-3):
            weights = optimum + distance * away / np.abs(away).max()
            at = replace(start, weights=weights).expansion()
            found = local_model.minimise(at, all_rows(at), 1e-13).weights
            errors.append(float(np.abs(found - optimum).max()))
        assert errors[0] < 0.3 * 1e-2
        assert errors[1] < 0.03 * errors[0]


class TestRows:
    @pytest.mark.parametrize("more", [0, 3, 10])
    def test_the_rest_of_alpha_stays(self, case: Problem, more: int) -> None:
        at = case.expansion()
        rows = free_alpha(at)
        rows[np.flatnonzero(~rows)[:more]] = True
        prediction = local_model.minimise(at, rows, TOL)
        check_feasible(at, prediction)
        kept = prediction.dual_coef[~rows] == at.dual_coef[~rows]
        assert kept.all()
        best = model_programme(at, rows)
        assert dual_value(at, prediction.dual_coef) == pytest.approx(best.value, rel=1e-6)
