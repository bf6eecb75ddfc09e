"""Kernels on single features: factors on nodes, in few columns, and how much memory they take."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mklbench.kernels import FeatureBank, Gaussian, Polynomial
from mklbench.kernels.builders.named import simplemkl_functions
from mklbench.kernels.functions import KernelFunction
from mklbench.kernels.row_factors import between, interpolation, n_nodes
from mklbench.libsvm import SVM

GAUSSIANS = [Gaussian(gamma) for gamma in (0.1, 1.0)]
FUNCTIONS = simplemkl_functions()


def samples(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(n).standard_normal((n, d))


@pytest.mark.parametrize("function", [Gaussian(0.7), Polynomial(3), Polynomial(1, offset=0.0)])
@pytest.mark.parametrize("d", [1, 4])
def test_the_diagonal_of_a_kernel_function(function: KernelFunction, d: int) -> None:
    X = samples(9, d)
    assert_allclose(function.diagonal(X), function(X, X).diagonal(), rtol=1e-12)


def largest_error(X: np.ndarray, functions: list[KernelFunction]) -> float:
    bank, worst = FeatureBank(X, functions), 0.0
    for unit, function in zip(np.eye(len(functions)), functions, strict=True):
        gram = function(X, X)
        worst = max(worst, float(np.abs(bank.combine(unit) - gram).max() / gram.max()))
    return worst


class Laplacian:
    """exp(-|x - z|), of full rank."""

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return np.exp(-np.abs(X - Z.T))

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.ones(len(X))


@pytest.mark.parametrize("n", [3, 40, 300])
@pytest.mark.parametrize("spread", [0.01, 1.0, 10.0, 1000.0])
def test_the_factors_give_every_kernel(n: int, spread: float) -> None:
    assert largest_error(spread * samples(n, 1), FUNCTIONS) < 1e-11


def test_a_kernel_that_is_not_smooth_has_a_node_for_each_value() -> None:
    assert largest_error(samples(500, 1), [*FUNCTIONS, Laplacian()]) < 1e-11


def test_the_factors_have_few_columns() -> None:
    X = samples(400, 3)
    X[:, 1] = np.round(X[:, 1] > 0)
    ranks = [cores.shape[1] for cores in FeatureBank(X, GAUSSIANS)._factors[1]]
    assert ranks[1] == 2
    assert max(ranks) < 40


@pytest.mark.parametrize("function", [*map(Gaussian, (0.01, 1.0, 20.0)), *map(Polynomial, (1, 7))])
def test_as_many_nodes_as_counted_interpolate(function: KernelFunction) -> None:
    X = np.linspace(-1.5, 2.0, 401)[:, None]
    count = n_nodes(3.5, [function])
    assert count < 100
    basis = between(-1.5, 2.0, int(count))
    nodes, expected = basis.nodes, function(X, X)
    K = basis(X) @ function(nodes, nodes) @ basis(X).T
    assert_allclose(K, expected, rtol=0, atol=2e-13 * expected.max())


def test_a_value_on_a_node_is_that_of_the_node() -> None:
    angles = np.pi * (np.arange(9) + 0.5) / 9
    nodes = np.cos(angles)
    basis = interpolation(np.array([nodes[3], 0.1, nodes[8]]), angles)
    assert_allclose(basis[0], np.eye(9)[3])
    assert_allclose(basis @ nodes**5, [nodes[3] ** 5, 0.1**5, nodes[8] ** 5], atol=1e-15)


def test_a_feature_on_which_every_kernel_is_zero() -> None:
    X = np.column_stack([np.zeros(6), np.arange(6.0)])
    bank = FeatureBank(X, [Polynomial(1, offset=0.0)])
    assert_allclose(bank.combine([1.0, 0.0]), np.zeros((6, 6)))
    assert_allclose(bank.combine([1.0, 2.0]), 2.0 * np.outer(X[:, 1], X[:, 1]), atol=1e-13)
    assert_allclose(bank.quadratic_forms(np.ones(6)), [0.0, 225.0])


def test_factors_take_a_small_part_of_the_stack() -> None:
    n, d = 400, 20
    X = samples(n, d)
    functions = [Gaussian(gamma) for gamma in np.geomspace(0.01, 1.0, 8)]
    gram = SVM(np.resize([-1.0, 1.0], n)).gram
    tracemalloc.start()
    try:
        bank = FeatureBank(X, functions)
        bank.combine(np.ones(bank.n_kernels), out=gram)
        bank.quadratic_forms(X[:, 0])
        bank.products(X[:, 0], np.arange(10))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * d * len(functions) * n**2 / 6


def test_travels_before_and_after_it_was_asked_for_anything() -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    bank = FeatureBank(X, [Gaussian(0.5), Gaussian(2.0)])
    fresh = pickle.loads(pickle.dumps(bank))
    part = pickle.loads(pickle.dumps(bank.take([1, 5, 6])))
    K = bank.combine([1.0, 0.0, 0.5, 0.2])
    used = pickle.loads(pickle.dumps(bank))
    for other in (fresh, used):
        assert np.array_equal(other.combine([1.0, 0.0, 0.5, 0.2]), K)
    assert_allclose(part.combine([1.0, 0.0, 0.5, 0.2]), K[np.ix_([1, 5, 6], [1, 5, 6])], atol=1e-12)
