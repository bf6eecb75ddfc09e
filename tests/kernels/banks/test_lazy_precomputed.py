"""Gram matrices of which one combination is asked for: what is refused, for which kernel."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mklbench import KRR, MKL, KernelSVC, KernelSVR, KRRClassifier, UniformMKL
from mklbench.errors import InputError
from mklbench.kernels import LazyPrecomputedBank, PrecomputedBank
from mklbench.kernels.base import Array

N, M = 12, 4
Y = np.repeat([-1.0, 1.0], N // 2)
AT_FIXED_WEIGHTS = (KRR, KernelSVC, KernelSVR, KRRClassifier, UniformMKL)


@pytest.fixture
def K() -> Array:
    roots = np.random.default_rng(0).standard_normal((M, N, N))
    return roots @ roots.transpose(0, 2, 1)


def asymmetric(K: Array) -> None:
    K[2, 7, 1] += 0.5


def negative(K: Array) -> None:
    K[2] = -np.eye(N)


def distances(K: Array) -> None:
    places = np.arange(N) * 1e-3  # so small that the sum of all stays positive definite
    K[2] = np.abs(places[:, None] - places)


def indefinite(K: Array) -> None:
    K[2] -= 100.0 * np.ones((N, N))
    K[2].flat[:: N + 1] += 100.0


def not_finite(K: Array) -> None:
    K[2, 0, 5] = K[2, 5, 0] = np.nan


def infinite(K: Array) -> None:
    K[2, 0, 5] = K[2, 5, 0] = np.inf


def huge(K: Array) -> None:
    K[2] *= 1e150


def tiny(K: Array) -> None:
    K[2] *= 1e-150


SPOILED: dict[Callable[[Array], None], str] = {
    asymmetric: "kernel 2 of K is not symmetric",
    negative: r"kernel 2 of K is not positive semidefinite, its smallest eigenvalue is -1 ",
    distances: "kernel 2 of K is not positive semidefinite",
    indefinite: "kernel 2 of K is not positive semidefinite",
    not_finite: "kernel 2 of K holds NaN or infinite values",
    infinite: "kernel 2 of K holds NaN or infinite values",
    huge: "the largest entry of kernel 2 of K is .*e.1[45]",
    tiny: "the largest entry of kernel 2 of K is .*e-1[45]",
}


@pytest.mark.parametrize("spoil", SPOILED, ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("last", [False, True])
def test_a_kernel_that_spoils_the_combination_is_named(
    K: Array, spoil: Callable[[Array], None], last: bool
) -> None:
    spoil(K)
    given = np.moveaxis(np.ascontiguousarray(np.moveaxis(K, 0, -1)), -1, 0) if last else K
    with pytest.raises(InputError, match=SPOILED[spoil]):
        LazyPrecomputedBank(given).combine(np.full(M, 1 / M))


@pytest.mark.parametrize("spoil", [asymmetric, negative, distances, indefinite])
@pytest.mark.parametrize("estimator", AT_FIXED_WEIGHTS, ids=lambda kind: kind.__name__)
def test_estimators_at_fixed_weights_refuse_it_in_fit(
    K: Array, estimator: type, spoil: Callable[[Array], None]
) -> None:
    spoil(K)
    with pytest.raises(InputError, match=SPOILED[spoil]):
        estimator(kernel="precomputed").fit(K, Y)


def test_an_indefinite_kernel_is_accepted_where_the_others_make_up_for_it(K: Array) -> None:
    """At fixed weights the machine knows the sum only; where weights are learned, each kernel."""
    K[2] -= 0.5 * np.ones((N, N))
    assert np.linalg.eigvalsh(K[2])[0] < -0.1 < 0.1 < np.linalg.eigvalsh(K.mean(axis=0))[0]
    model = UniformMKL(kernel="precomputed", C=10.0).fit(K, Y)
    summed = KernelSVC(kernel="precomputed", C=10.0).fit(K.mean(axis=0), Y)
    assert_allclose(model.dual_coef_, summed.dual_coef_, rtol=1e-6, atol=1e-8)
    assert model.gap_ < 1e-2
    with pytest.raises(InputError, match="kernel 2 of K is not positive semidefinite"):
        MKL(kernel="precomputed").fit(K, Y)


@pytest.mark.parametrize("weights", [[1.0, 0.0, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4], [0.0] * 4])
def test_it_learns_what_a_packed_bank_learns(K: Array, weights: list[float]) -> None:
    combined = LazyPrecomputedBank(K).combine(weights)
    assert_allclose(combined, PrecomputedBank(K).combine(weights), rtol=1e-13, atol=1e-13)
    by_estimator = KernelSVC(kernel="precomputed", weights=weights).fit(K, Y)
    assert_array_equal(by_estimator.weights_, weights)
    assert by_estimator.decision_function(K).shape == (N,)


def test_a_kernel_without_weight_may_be_indefinite(K: Array) -> None:
    indefinite(K)
    KernelSVC(kernel="precomputed", weights=[1.0, 1.0, 0.0, 1.0]).fit(K, Y)


def test_asymmetry_of_rounding_is_accepted(K: Array) -> None:
    K[0, 1, 2] *= 1 + 1e-12
    assert LazyPrecomputedBank(K).combine(np.ones(M)).shape == (N, N)


def test_a_row_of_zeros_is_that_of_a_gram_matrix(K: Array) -> None:
    K[1, 3], K[1, :, 3] = 0.0, 0.0
    K[2] = 0.0
    assert LazyPrecomputedBank(K).combine(np.ones(M))[3, 3] > 0


def test_it_holds_combinations_and_no_stack() -> None:
    roots = np.random.default_rng(0).standard_normal((40, 150, 2))
    K = roots @ roots.transpose(0, 2, 1)
    tracemalloc.start()
    try:
        bank = LazyPrecomputedBank(K)
        bank.combine(np.ones(40))
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1.2 * K[0].nbytes
    assert peak < 3.2 * K[0].nbytes
