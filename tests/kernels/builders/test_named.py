"""The named kernels of the papers, and what their builders refuse."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from dense_twins import awkward_features, dense_distances, dense_gaussian, toolbox_stack
from numpy.testing import assert_allclose

from mklbench import kernels
from mklbench.errors import InputError
from mklbench.kernels import Bank, unit_trace


def stack_of(bank: Bank) -> np.ndarray:
    return np.array([bank.combine(unit) for unit in np.eye(bank.n_kernels)])


class TestNamedKernels:
    def test_gaussian_has_width_one_over_the_features_by_default(self) -> None:
        X, _ = awkward_features(12)
        expected = np.exp(-dense_distances(X, X) / X.shape[1])
        assert_allclose(kernels.gaussian(X).gram([1.0]), expected, atol=1e-10)

    def test_feature_widths_end_where_the_toolbox_s_do(self) -> None:
        X, _ = awkward_features(20)
        bank = kernels.feature_widths(X, n_widths=3)
        assert bank.features == tuple(np.repeat(range(6), 3))
        column = X[:, [1]]
        expected = [dense_gaussian(0.5 / width**2)(column, column) for width in (0.5, 10**0.5, 20)]
        assert_allclose(stack_of(bank)[3:6], np.array(expected) / 20, atol=1e-10)

    def test_simplemkl_has_thirteen_kernels_on_all_and_on_each_feature(self) -> None:
        X, _ = awkward_features(20)
        bank = kernels.simplemkl_bank(X)
        assert bank.n_kernels == 13 * (X.shape[1] + 1)
        assert bank.features == tuple(np.repeat([-1, 0, 1, 2, 3, 4, 5], 13))

    def test_precomputed_takes_one_matrix_or_a_stack(self) -> None:
        K = dense_gaussian(0.1)(*awkward_features(9))
        K = K @ K.T
        assert_allclose(kernels.precomputed(K).gram([2.0]), 2 * K)
        assert_allclose(kernels.precomputed([K, 3 * K]).gram([1.0, 1.0]), 4 * K)


class TestUnitTrace:
    def test_a_kernel_of_trace_zero_stays_zero(self) -> None:
        K = np.stack([np.zeros((4, 4)), 5.0 * np.eye(4)])
        bank = unit_trace(kernels.PrecomputedBank(K))
        assert_allclose(stack_of(bank), [np.zeros((4, 4)), np.eye(4) / 4])


class TestResolve:
    def test_parameters_are_handed_on(self) -> None:
        X, _ = awkward_features(8)
        assert kernels.resolve("feature_gaussians", gammas=[1, 2, 3])(X).n_kernels == 18


BUILDERS_ON_FEATURES: dict[str, Callable[..., object]] = {
    "gaussian": kernels.gaussian,
    "feature_gaussians": kernels.feature_gaussians,
    "product_gaussians": kernels.product_gaussians,
}


@pytest.mark.parametrize("build", BUILDERS_ON_FEATURES.values(), ids=BUILDERS_ON_FEATURES)
class TestBadFeatures:
    @pytest.mark.parametrize("bad", [np.nan, -np.inf])
    def test_not_finite(self, build: Callable[..., object], bad: float) -> None:
        X = np.zeros((4, 3))
        X[2, 1] = bad
        with pytest.raises(InputError, match="at row 2, column 1: remove or impute"):
            build(X)

    @pytest.mark.parametrize("shape", [(5,), (3, 0)])
    def test_not_a_matrix(self, build: Callable[..., object], shape: tuple[int, ...]) -> None:
        with pytest.raises(InputError, match=re.escape(f"X has shape {shape}")):
            build(np.zeros(shape))

    def test_one_sample_is_enough(self, build: Callable[..., Bank]) -> None:
        operator = build(np.array([[0.5, -1.0]]))
        assert operator.gram(operator.uniform_weights()).shape == (1, 1)


class TestBadParameters:
    @pytest.mark.parametrize("gamma", [0.0, np.nan, "wide", True])
    def test_gamma(self, gamma: object) -> None:
        with pytest.raises(InputError, match=r"gamma=.*must be a finite number > 0"):
            kernels.feature_gaussians(np.eye(3), gammas=[gamma])  # type: ignore[list-item]

    @pytest.mark.parametrize("degree", [0, 1.5])
    def test_degree(self, degree: float) -> None:
        with pytest.raises(InputError, match=r"degree=.*must be an integer >= 1"):
            kernels.simplemkl_bank(np.eye(3), degrees=[degree])  # type: ignore[list-item]


def test_a_feature_that_is_all_zero() -> None:
    X = np.random.default_rng(0).standard_normal((12, 3))
    X[:, 1] = 0.0
    bank = kernels.simplemkl_bank(X)
    d = np.random.default_rng(1).uniform(size=bank.n_kernels)
    with np.errstate(invalid="ignore"):
        stack = np.nan_to_num(toolbox_stack(X, X))
    assert_allclose(bank.gram(d), np.tensordot(d, stack, axes=1), atol=1e-10)
    assert bank.traces()[13 * 2 + 10] == 0.0


def test_new_samples_with_another_number_of_features() -> None:
    for bank in (kernels.feature_gaussians(np.eye(4)), kernels.linear_features(np.eye(4))):
        for width in (3, 5):
            with pytest.raises(InputError, match=rf"{width}.*the kernels were built on 4"):
                bank.cross(np.ones(4), np.ones((2, width)))


def test_features_belong_to_the_bank() -> None:
    X = np.random.default_rng(0).standard_normal((6, 2))
    for build in (
        kernels.gaussian,
        kernels.feature_gaussians,
        kernels.linear_features,
        kernels.product_gaussians,
    ):
        mine = X.copy()
        operator = build(mine)
        d = operator.uniform_weights()
        before = operator.cross(d, X)
        mine[:] = 0.0
        assert_allclose(operator.cross(d, X), before)
