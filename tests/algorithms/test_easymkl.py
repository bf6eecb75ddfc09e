"""EasyMKL: both of its programmes beside a conic solver, and MKLpy's numbers where it is there."""

from __future__ import annotations

import conic_twins
import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from problems import random_stack
from sklearn.metrics.pairwise import rbf_kernel

from mklbench.algorithms import easymkl
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank

Array = NDArray[np.float64]


def komd(K: Array, y: Array, lam: float) -> tuple[float, Array]:
    """Return the minimum of (1 - lam) gamma' Y K Y gamma + lam ||gamma||^2 and its gamma."""
    return conic_twins.closest_points((1 - lam) * K, y, lam)


def unit_trace(stack: Array) -> Array:
    return stack / np.trace(stack, axis1=1, axis2=2)[:, None, None] * stack.shape[1]


@pytest.mark.parametrize("lam", [0.001, 0.1, 0.5, 1.0])
def test_both_programmes_are_those_of_the_paper(lam: float) -> None:
    stack, y = random_stack(n=40)
    solution = easymkl.solve(PrecomputedBank(stack), y, lam, tol=1e-9)
    scaled = unit_trace(stack)
    value, gamma = komd(scaled.sum(axis=0), y, lam)
    assert_allclose(solution.objective, value, rtol=1e-6)
    margins = np.einsum("i,mij,j->m", y * gamma, scaled, y * gamma)
    eta = solution.weights * np.trace(stack, axis1=1, axis2=2) / len(y)
    assert_allclose(eta, margins / margins.sum(), rtol=1e-4)
    K = np.tensordot(eta, scaled, axes=1)
    _, final = komd(K, y, lam)
    assert_allclose(solution.dual_coef, y * final, atol=1e-5)
    points = [K @ np.where(y == side, final, 0.0) for side in (1, -1)]
    # The two points are as far from the plane.
    assert (final * (y > 0)) @ (points[0] - points[1]) + solution.intercept == pytest.approx(
        -((final * (y < 0)) @ (points[0] - points[1]) + solution.intercept), abs=1e-5
    )


def test_the_scale_of_a_kernel_does_not_matter() -> None:
    stack, y = random_stack(n=30)
    factors = np.logspace(-3, 3, len(stack))
    there = easymkl.solve(PrecomputedBank(stack), y)
    here = easymkl.solve(PrecomputedBank(stack * factors[:, None, None]), y)
    assert_allclose(here.weights * factors, there.weights, rtol=1e-6)
    assert_allclose(here.dual_coef, there.dual_coef, atol=1e-9)


def test_constant_kernels_tell_nothing_apart() -> None:
    y = np.resize([1.0, -1.0], 10)
    with pytest.raises(InputError, match="tell no two classes apart"):
        easymkl.solve(PrecomputedBank(np.ones((1, 10, 10))), y, 1.0)


def test_the_machine_and_the_weights_of_mklpy() -> None:
    """Its machine minimises 0.9 gamma' Y K Y gamma + 0.1 (n_+ n_- / n) ||gamma||^2."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1.0, -1.0)
    stack = np.array([X @ X.T, 7.0 * rbf_kernel(X, gamma=0.5)])
    solution = easymkl.solve(PrecomputedBank(stack), y, 0.3, final_lam="mklpy", unit_trace=False)
    _, gamma = komd(stack.sum(axis=0), y, 0.3)
    forms = np.array([(y * gamma) @ gram @ (y * gamma) for gram in stack])
    assert_allclose(solution.weights, forms / forms.sum(), rtol=1e-4)
    scale = (y > 0).sum() * (y < 0).sum() / len(y)
    K = np.tensordot(solution.weights, stack, axes=1)
    _, gamma = conic_twins.closest_points(0.9 * K, y, 0.1 * scale)
    assert_allclose(solution.dual_coef, y * gamma, atol=1e-4)
