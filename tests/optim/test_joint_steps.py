"""Kernels in use descend together, and what is the same kernel in the end is one."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from problems import random_problem

from mklbench.algorithms import ikl
from mklbench.kernels import Family, isotropic_gaussians, product_gaussians
from mklbench.libsvm import SVM
from mklbench.optim import kernel_search
from mklbench.optim.kernel_search import descend_together, merged
from mklbench.solution import Mixture

Array = NDArray[np.float64]

products = partial(product_gaussians, gamma_max=30.0)
isotropic = partial(isotropic_gaussians, gamma_max=30.0)


def kernels_of(family: Family, count: int = 3) -> Mixture:
    rng = np.random.default_rng(0)
    thetas = rng.uniform(0.0, 2.0, (count, family.n_kernels))
    return Mixture(rng.dirichlet(np.ones(count)), thetas)


def value(family: Family, y: Array, C: float, known: Mixture) -> float:
    """Return J of a mixture by one SVM on exact Gram matrices."""
    grams = [family.gram(theta) for theta in known.thetas]
    K = np.tensordot(known.weights, grams, axes=1)
    return SVM(y, C, tol=1e-6).solve(K).dual_objective(K)


@pytest.mark.parametrize("build", [products, isotropic], ids=["products", "isotropic"])
class TestSlide:
    @pytest.mark.parametrize("C", [0.1, 5.0, 1000.0])
    def test_lowers_j_inside_the_box_at_the_same_sum_of_weights(
        self, build: partial[Family], C: float
    ) -> None:
        X, y = random_problem(80)
        family = build(X)
        known = kernels_of(family)
        found = descend_together(family, SVM(y, C), known, 8, 1e-6)
        assert value(family, y, C, found) < value(family, y, C, known)
        assert (found.thetas >= family.lower).all()
        assert (found.thetas <= family.upper).all()
        assert found.weights.sum() == pytest.approx(1.0)

    def test_ends_where_no_direction_leads_down(self, build: partial[Family]) -> None:
        """Each parameter by itself, a little more or less, leaves J as it is or higher."""
        X, y = random_problem(60)
        family = build(X)
        found = descend_together(family, SVM(y, 2.0), kernels_of(family, 2), 500, 1e-12)
        least = value(family, y, 2.0, found)
        for k, m in np.ndindex(found.thetas.shape):
            for step in (-0.05, 0.05):
                moved = found.thetas.copy()
                moved[k, m] = np.clip(moved[k, m] + step, family.lower[m], family.upper[m])
                beside = value(family, y, 2.0, found._replace(thetas=moved))
                assert beside >= least * (1.0 - 1e-4)

    def test_without_room_for_the_matrices_they_are_computed_again(
        self, build: partial[Family], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        X, y = random_problem(60)
        family = build(X)
        known = kernels_of(family)
        kept = descend_together(family, SVM(y, 2.0), known, 8, 1e-6)
        monkeypatch.setattr(kernel_search, "_BYTES_KEPT", 4 * 60**2)  # one of three
        again = descend_together(family, SVM(y, 2.0), known, 8, 1e-6)
        assert value(family, y, 2.0, again) == pytest.approx(value(family, y, 2.0, kept), rel=1e-3)


class TestMerged:
    def test_kernels_that_differ_by_less_than_a_thousandth_are_one_and_j_stays(self) -> None:
        X, y = random_problem(60)
        family = products(X)
        known = kernels_of(family, 3)
        twice = Mixture(
            np.concatenate([0.7 * known.weights, 0.3 * known.weights]),
            np.concatenate([known.thetas, known.thetas + 5e-4]),
        )
        one = merged(twice)
        assert len(one.weights) == 3
        assert one.weights.sum() == pytest.approx(1.0)
        assert {tuple(theta) for theta in one.thetas} == {tuple(theta) for theta in known.thetas}
        assert value(family, y, 5.0, one) == pytest.approx(value(family, y, 5.0, twice), rel=1e-3)

    def test_others_stay_apart(self) -> None:
        known = Mixture(np.array([0.5, 0.5]), np.array([[0.1, 0.0], [0.1, 0.01]]))
        assert len(merged(known).weights) == 2


@pytest.mark.slow
def test_moving_kernels_takes_fewer_rounds_to_an_optimum_as_low() -> None:
    X, y = random_problem(80, 6)
    still, found = (
        ikl.solve(products(X), y, C=20.0, n_joint_steps=iterations) for iterations in (0, 8)
    )
    assert found.converged
    assert found.objective <= still.objective * (1.0 + 2e-3)
    assert found.n_iter < 0.7 * still.n_iter


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_of_samples_and_classes_count(weighted: bool) -> None:
    """A sample of weight 2 is one that is there twice, also where kernels move."""
    X, y = random_problem(30)
    factors = np.random.default_rng(0).integers(1, 3, 30) if weighted else np.full(30, 2)
    once = ikl.solve(products(X), y, 1.0, sample_weight=factors.astype(float))
    rows = np.repeat(np.arange(30), factors)
    twice = ikl.solve(products(X[rows]), y[rows], 1.0)
    assert once.objective == pytest.approx(twice.objective, rel=3e-3)
