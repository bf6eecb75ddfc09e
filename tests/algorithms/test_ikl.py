"""Infinite kernel learning: the optimum of MKL on a bank, and in a family no kernel left out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise

import conic_twins
import numpy as np
import pytest
from narrowing import present
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_problem, random_stack

from mklbench import multiclass
from mklbench.algorithms import ikl, mkl
from mklbench.errors import InputError
from mklbench.kernels import (
    Family,
    FamilyBank,
    PrecomputedBank,
    feature_gaussians,
    gaussian_polynomials,
    isotropic_gaussians,
    product_gaussians,
)
from mklbench.optim import kernel_search
from mklbench.optim.kernel_columns import FamilyMaster, MasterSolver
from mklbench.optim.problem import Problem
from mklbench.solution import Mixture, Solution

# Several tests ask of the same solutions.
pytestmark = pytest.mark.xdist_group("ikl")

products = partial(product_gaussians, gamma_max=30.0)
isotropic = partial(isotropic_gaussians, gamma_max=30.0)
FAMILIES: dict[str, Callable[..., Family]] = {
    "products": products,
    "isotropic": isotropic,
    "with polynomials": partial(gaussian_polynomials, gamma_max=30.0),
}


@cache
def solved(name: str) -> tuple[Family, np.ndarray, Solution]:
    """Return a family of 40 samples, the labels, and the solution at C = 5."""
    X, y = random_problem(40)
    family = FAMILIES[name](X)
    return family, y, ikl.solve(family, y, C=5.0)


def combined(family: Family, solution: Solution) -> np.ndarray:
    grams = np.array([family.gram(theta) for theta in present(solution.thetas)])
    return np.tensordot(solution.weights, grams, axes=1)


class TestBank:
    @pytest.mark.parametrize(("C", "master"), [(0.1, "mkl"), (100.0, "mkl"), (1.0, "simplemkl")])
    def test_reaches_the_optimum_of_a_conic_solver(self, C: float, master: str) -> None:
        stack, y = random_stack(n=40, n_kernels=8)
        solution = ikl.solve(PrecomputedBank(stack), y, C=C, tol=1e-4, master=master)
        optimum = conic_twins.mkl(stack, y, C)
        assert solution.converged
        assert solution.objective == pytest.approx(optimum.value, rel=1e-4)
        assert solution.thetas is None

    def test_one_kernel_at_a_time_is_algorithm_1(self) -> None:
        X, y = random_problem(60)
        bank = feature_gaussians(X, gammas=(0.1, 1.0, 10.0))
        solution = ikl.solve(bank, y, C=10.0, tol=1e-4, pricing=1)
        in_master = [entry["n_kernels"] for entry in solution.history]
        assert in_master[0] == 1
        assert (np.diff(in_master) <= 1).all()
        assert solution.objective == pytest.approx(mkl.solve(bank, y, C=10.0).objective, rel=2e-4)


class TestFamily:
    @pytest.mark.parametrize("name", FAMILIES)
    def test_is_a_kernel_machine_of_the_kernels_it_found(self, name: str) -> None:
        family, _, solution = solved(name)
        X = random_problem(40)[0]
        assert solution.converged
        thetas = present(solution.thetas)
        assert thetas.shape == (len(solution.weights), family.n_kernels)
        assert (thetas >= family.lower).all()
        assert (thetas <= family.upper).all()
        assert (solution.weights > 0).all()
        assert solution.weights.sum() == pytest.approx(1.0, abs=1e-12)
        K = combined(family, solution)
        a = solution.dual_coef
        assert solution.objective == pytest.approx(np.abs(a).sum() - 0.5 * a @ K @ a)
        decision = multiclass.decision_function(family, [solution], X)
        assert_allclose(decision, K @ a + solution.intercept, atol=1e-8)

    @pytest.mark.parametrize("name", FAMILIES)
    def test_the_kernels_it_found_have_the_weights_of_mkl(self, name: str) -> None:
        family, y, solution = solved(name)
        stack = np.array([family.gram(theta) for theta in present(solution.thetas)])
        assert solution.objective == pytest.approx(conic_twins.mkl(stack, y, 5.0).value, rel=1e-3)

    @pytest.mark.parametrize("name", FAMILIES)
    def test_no_finite_subset_is_better(self, name: str) -> None:
        family, y, solution = solved(name)
        rng = np.random.default_rng(1)
        for seed in range(3):
            widths = 10.0 ** rng.uniform(-3, np.log10(30), size=(12, 1))
            shape = (12, family.n_kernels)
            thetas = widths * rng.uniform(size=shape) * (rng.uniform(size=shape) < 0.7)
            if seed == 0:
                thetas = family.starts()
            finite = mkl.solve(FamilyBank(family, thetas), y, C=5.0)
            assert solution.objective <= finite.objective * (1 + 2e-3)

    def test_each_master_lowers_the_objective(self) -> None:
        X, y = random_problem(40)
        history = ikl.solve(products(X), y, C=5.0, pricing=2, tol=1e-2).history
        values = [entry["objective"] for entry in history]
        assert len(values) > 1
        # A master is exact to a share of the gap before it, at most 1%.
        assert all(after <= before * 1.01 for before, after in pairwise(values))
        assert values[-1] == min(values)

    def test_a_start_from_the_solution_ends_at_once(self) -> None:
        family, y, cold = solved("products")
        warm = ikl.solve(family, y, C=5.0, start=Mixture(cold.weights, present(cold.thetas)))
        assert warm.n_svm_calls < cold.n_svm_calls
        assert warm.objective <= cold.objective * (1 + 1e-3)

    def test_an_iteration_limit_is_reported(self) -> None:
        X, y = random_problem(40)
        solution = ikl.solve(products(X), y, C=5.0, tol=1e-5, max_iter=1)
        assert not solution.converged
        assert solution.gap > 1e-5
        assert len(solution.weights) == 1

    @pytest.mark.parametrize("name", FAMILIES)
    def test_a_box_of_one_kernel(self, name: str) -> None:
        X, y = random_problem(40)
        family = FAMILIES[name](X, gamma_min=0.3, gamma_max=0.3)
        solution = ikl.solve(family, y, C=5.0)
        assert solution.converged
        assert_array_equal(solution.thetas, np.full((1, family.n_kernels), 0.3))


@pytest.mark.slow
def test_kernels_of_low_rank_do_not_take_turns() -> None:
    """On indicators alpha is not unique: kernels that leave at once are found again and again."""
    rng = np.random.default_rng(2)
    X = (rng.uniform(size=(80, 40)) < 0.25).astype(float)
    scores = X[:, :4] @ [1.0, 1.0, -1.0, -1.0] + 0.3 * rng.standard_normal(80)
    y = np.where(scores > np.median(scores), 1.0, -1.0)
    solution = ikl.solve(products(X), y, C=0.1, samples=0)
    assert solution.converged
    assert solution.gap <= 1e-3


def test_small_parameters_are_told_apart() -> None:
    """Of many features the best scale is small, and 1e-3 a tenth of it."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 200)) * np.where(np.arange(200) < 100, 0.3, 1.7)
    radii = (X[:, :20] ** 2).sum(axis=1)
    y = np.where(radii > np.median(radii), 1.0, -1.0)
    solution = ikl.solve(isotropic(X), y, C=1.0, tol=1e-5)
    assert present(solution.thetas).max() < 0.02
    assert solution.converged


class TestWorkingSet:
    def test_the_samples_left_out_do_not_matter(self) -> None:
        """Classes far apart: a master on few of the samples, and the same solution."""
        rng = np.random.default_rng(0)
        y = np.repeat([-1.0, 1.0], 100)
        X = rng.standard_normal((200, 3)) + 1.5 * y[:, None]
        family = product_gaussians(X, gamma_max=30.0)
        thetas = family.scales()
        start = Mixture(np.full(len(thetas), 1.0 / len(thetas)), thetas)
        solver = MasterSolver(mkl.solve_master, Problem.of(y, 10.0))
        master = FamilyMaster(solver, family)
        whole = master.solve(start, 1e-5)
        assert len(master.working_set) < 150
        part = master.solve(start._replace(weights=whole.weights), 1e-5)
        assert part.objective == pytest.approx(whole.objective, rel=1e-4)
        optimum = conic_twins.mkl(np.array([family.gram(theta) for theta in thetas]), y, 10.0)
        assert part.objective == pytest.approx(optimum.value, rel=1e-4)
        assert part.upper >= optimum.value * (1 - 1e-9)


class TestSearch:
    def test_finds_the_best_of_a_fine_grid(self) -> None:
        X, y = random_problem(40, n_features=2)
        family = products(X)
        a = y * np.random.default_rng(0).uniform(size=40)
        known = Mixture(np.ones(1), family.scales()[:1])
        found = kernel_search.KernelSearch(family).run(a, known, thorough=True)
        axis = np.concatenate([[0.0], np.geomspace(1e-3, 30, 40)])
        values = [0.5 * a @ family.gram([s, t]) @ a for s in axis for t in axis]
        assert found[0].price >= max(values) * (1 - 1e-3)
        prices = [each.price for each in found]
        assert prices == sorted(prices, reverse=True)

    def test_prices_are_those_of_exact_kernels(self) -> None:
        X, y = random_problem(40)
        family = products(X)
        known = Mixture(np.ones(1), family.scales()[:1])
        for each in kernel_search.KernelSearch(family).run(y, known, thorough=False):
            assert each.price == pytest.approx(0.5 * y @ family.gram(each.theta) @ y, rel=1e-4)


class TestBadInput:
    def test_an_unbounded_box(self) -> None:
        X, y = random_problem(20)
        with pytest.raises(InputError, match=r"set kernel\.gamma_max"):
            ikl.solve(product_gaussians(X), y)

    def test_starts(self) -> None:
        X, y = random_problem(20)
        with pytest.raises(InputError, match="start is no Mixture"):
            ikl.solve(products(X), y, start=np.ones(3))
        with pytest.raises(InputError, match="the family has 4 parameters"):
            ikl.solve(products(X), y, start=Mixture(np.ones(1), np.ones((1, 3))))
        for bad in (np.ones(3), np.zeros(4), -np.ones(4)):
            with pytest.raises(InputError, match="start has"):
                ikl.solve(feature_gaussians(X), y, start=bad)
