"""Factors of kernels on one feature: interpolated between nodes, or decomposed, in few columns."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mklbench.kernels import Gaussian, Polynomial, factored
from mklbench.kernels.builders.named import simplemkl_functions
from mklbench.kernels.factored import FeatureFactors
from mklbench.kernels.functions import KernelFunction

FUNCTIONS = simplemkl_functions()


def values(n: int, spread: float = 1.0) -> np.ndarray:
    return spread * np.random.default_rng(n).standard_normal((n, 1))


def largest_error(X: np.ndarray, functions: list[KernelFunction]) -> float:
    factors = FeatureFactors.of(X, functions)
    grams = [function(X, X) for function in functions]
    return max(
        float(np.abs(factors.gram(k) - gram).max() / gram.max()) for k, gram in enumerate(grams)
    )


class Laplacian:
    """exp(-|x - z|), of full rank."""

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return np.exp(-np.abs(X - Z.T))

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.ones(len(X))


@pytest.mark.parametrize("n", [3, 40, 300])
@pytest.mark.parametrize("spread", [0.01, 1.0, 10.0, 1000.0])
def test_the_factors_give_every_kernel(n: int, spread: float) -> None:
    assert largest_error(values(n, spread), FUNCTIONS) < 1e-11


def test_a_kernel_that_is_not_smooth_is_decomposed() -> None:
    X = values(80)
    assert largest_error(X, [*FUNCTIONS, Laplacian()]) < 1e-11
    assert FeatureFactors.of(X, [*FUNCTIONS, Laplacian()]).ranks[0] == 80


@pytest.mark.parametrize("gamma", [0.01, 1.0, 20.0])
def test_as_many_nodes_as_counted_interpolate_a_gaussian(gamma: float) -> None:
    X = np.linspace(-1.5, 2.0, 401)
    n_nodes = factored.n_nodes(X, [Gaussian(gamma)])
    basis, (core,) = factored._on_nodes(X, int(n_nodes), [Gaussian(gamma)])
    assert n_nodes < 100
    assert_allclose(basis @ core @ basis.T, Gaussian(gamma)(X[:, None], X[:, None]), atol=2e-13)


@pytest.mark.parametrize("degree", [1, 2, 3, 7])
def test_one_node_more_than_its_degree_gives_a_polynomial(degree: int) -> None:
    X = np.linspace(-1.5, 2.0, 50)
    n_nodes = factored.n_nodes(X, [Polynomial(degree)])
    basis, (core,) = factored._on_nodes(X, degree + 1, [Polynomial(degree)])
    assert n_nodes >= degree + 1
    expected = Polynomial(degree)(X[:, None], X[:, None])
    assert_allclose(basis @ core @ basis.T, expected, rtol=0, atol=1e-13 * expected.max())


def test_a_value_on_a_node_is_that_of_the_node() -> None:
    angles = np.pi * (np.arange(9) + 0.5) / 9
    nodes = np.cos(angles)
    basis = factored.interpolation(np.array([nodes[3], 0.1, nodes[8]]), angles)
    assert_allclose(basis[0], np.eye(9)[3])
    assert_allclose(basis[2], np.eye(9)[8])
    assert_allclose(basis @ nodes**5, [nodes[3] ** 5, 0.1**5, nodes[8] ** 5], atol=1e-15)


def test_both_ways_give_the_same_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    X = values(400)
    interpolated = FeatureFactors.of(X, FUNCTIONS)
    monkeypatch.delattr(factored, "_on_nodes")  # is not asked for
    decomposed = FeatureFactors.of(X, FUNCTIONS, decomposed=True)
    with pytest.raises(NameError):
        FeatureFactors.of(X, FUNCTIONS)
    for k in range(len(FUNCTIONS)):
        expected = decomposed.gram(k)
        assert_allclose(interpolated.gram(k), expected, rtol=0, atol=1e-12 * expected.max())


@pytest.mark.parametrize("degree", [1, 2, 3, 10])
def test_powers_by_products(degree: int) -> None:
    X = values(20)
    assert_allclose(Polynomial(degree)(X, X), (X @ X.T + 1.0) ** degree, rtol=1e-14 * degree)
