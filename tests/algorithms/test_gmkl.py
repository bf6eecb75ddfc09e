"""GMKL: sums against a conic solver, products against finite differences."""

from __future__ import annotations

from collections.abc import Callable

import conic_twins
import numpy as np
import pytest
from dense_twins import dense_gaussian, on_each_feature, product_kernel
from numpy.testing import assert_allclose
from problems import random_problem, random_stack

from mklbench.algorithms import gmkl
from mklbench.kernels import (
    KernelBuilder,
    PrecomputedBank,
    ScaledBank,
    feature_gaussians,
    product_gaussians,
)

C = 2.0

REGULARISERS: dict[str, Callable[[np.ndarray, float], float]] = {
    "l1": lambda d, strength: strength * d.sum(),
    "l2": lambda d, strength: strength * ((d - 1.0) ** 2).sum(),
}
TWINS = {"l1": conic_twins.gmkl_l1, "l2": conic_twins.gmkl_l2}


def sum_kernel(d: np.ndarray, X: np.ndarray) -> np.ndarray:
    return np.tensordot(d, on_each_feature([dense_gaussian(1.0)], X, X), axes=1)


COMBINATIONS: dict[str, tuple[KernelBuilder, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "sum": (feature_gaussians, sum_kernel),
    "product": (product_gaussians, lambda d, X: product_kernel(d, X, X)),
}


@pytest.mark.parametrize("regulariser", REGULARISERS)
@pytest.mark.parametrize("combination", COMBINATIONS)
class TestDescent:
    def test_ends_at_a_stationary_point(self, combination: str, regulariser: str) -> None:
        X, y = random_problem(40)
        build, kernel = COMBINATIONS[combination]
        solution = gmkl.solve(
            build(X), y, C=C, regulariser=regulariser, tol=1e-4, max_iter=2000, svm_tol=1e-6
        )
        assert solution.converged
        strength = {"l1": 1.0, "l2": 5.0}[regulariser]
        for m in range(4):
            for change in (0.05, -0.05):
                d = solution.weights.copy()
                d[m] = max(0.0, d[m] + change)
                nearby = conic_twins.svm(kernel(d, X), y, C).value
                nearby += REGULARISERS[regulariser](d, strength)
                assert nearby >= solution.objective * (1 - 1e-4)


class TestSumIsConvex:
    @pytest.mark.parametrize(("strength", "box"), [(0.5, 10.0), (5.0, 0.2)])
    @pytest.mark.parametrize("regulariser", TWINS)
    def test_optimum_equals_that_of_a_conic_solver(
        self, regulariser: str, strength: float, box: float
    ) -> None:
        stack, y = random_stack()
        value = TWINS[regulariser](stack, y, box, strength).value
        solution = gmkl.solve(
            PrecomputedBank(stack),
            y,
            C=box,
            regulariser=regulariser,
            strength=strength,
            tol=1e-3,
            max_iter=2000,
            svm_tol=1e-6,
        )
        assert solution.converged
        assert 0 <= solution.gap <= 1e-3
        assert_allclose(solution.objective, value, rtol=1e-3)

    def test_the_scale_of_the_kernels_does_not_matter(self) -> None:
        """Kernels and strength times s is the same problem with weights divided by s."""
        X, y = random_problem(40)
        bank = feature_gaussians(X)
        scaled_bank = ScaledBank(bank, np.full(bank.n_kernels, 1e5))
        plain = gmkl.solve(bank, y, C=C, max_iter=500)
        scaled = gmkl.solve(scaled_bank, y, C=C, strength=1e5, max_iter=500)
        assert scaled.weights.any()
        assert_allclose(scaled.objective, plain.objective, rtol=1e-2)
