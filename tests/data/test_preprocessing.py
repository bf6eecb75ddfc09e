"""Scaling is fitted on the training part, and constant features do no harm."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from mklbench.data.preprocessing import fit_scaling
from mklbench.errors import InputError


@pytest.fixture
def X_train() -> np.ndarray:
    return np.random.default_rng(0).normal(3.0, [0.1, 1.0, 50.0], size=(40, 3))


@pytest.fixture
def X_test() -> np.ndarray:
    return np.random.default_rng(1).normal(3.0, [0.1, 1.0, 50.0], size=(15, 3))


def test_standard_gives_mean_0_and_variance_1_on_the_training_part(X_train: np.ndarray) -> None:
    scaled = fit_scaling("standard", X_train).transform(X_train)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.var(axis=0), 1, rtol=1e-12)


def test_minmax_fills_minus_1_to_1_on_the_training_part(X_train: np.ndarray) -> None:
    scaled = fit_scaling("minmax", X_train).transform(X_train)
    np.testing.assert_allclose(scaled.min(axis=0), -1, rtol=1e-12)
    np.testing.assert_allclose(scaled.max(axis=0), 1, rtol=1e-12)
    assert abs(scaled).max() <= 1


def test_unit_fills_0_to_1_on_the_training_part(X_train: np.ndarray) -> None:
    scaled = fit_scaling("unit", X_train).transform(X_train)
    np.testing.assert_array_equal(scaled.min(axis=0), 0)
    np.testing.assert_array_equal(scaled.max(axis=0), 1)


def test_none_changes_nothing_and_copies(X_train: np.ndarray) -> None:
    scaled = fit_scaling("none", X_train).transform(X_train)
    np.testing.assert_array_equal(scaled, X_train)
    assert not np.shares_memory(scaled, X_train)


@pytest.mark.parametrize("name", ["standard", "minmax", "unit"])
def test_the_test_part_has_no_say(name: str, X_train: np.ndarray, X_test: np.ndarray) -> None:
    scaling = fit_scaling(name, X_train)
    together = np.vstack([X_test, 1e6 * X_test])
    np.testing.assert_array_equal(scaling.transform(together)[:15], scaling.transform(X_test))
    # The map is affine and the same for every row.
    slope = np.diff(scaling.transform(together[[0, 1]]), axis=0) / np.diff(together[[0, 1]], axis=0)
    train_slope = np.diff(scaling.transform(X_train[:2]), axis=0) / np.diff(X_train[:2], axis=0)
    np.testing.assert_allclose(slope, train_slope)


@pytest.mark.parametrize("name", ["standard", "minmax", "unit"])
@pytest.mark.parametrize("value", [0.0, 0.1, -7e8, 1e300, 5e-324])
def test_a_constant_feature_becomes_0_without_a_warning(name: str, value: float) -> None:
    X = np.column_stack([np.full(30, value), np.arange(30.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaling = fit_scaling(name, X)
        scaled = scaling.transform(X)
        unseen = scaling.transform(np.array([[value + 1.0, 3.0]]))
    np.testing.assert_array_equal(scaled[:, 0], 0)
    assert unseen[0, 0] == 0
    assert np.ptp(scaled[:, 1]) >= 1


def test_minmax_stands_the_widest_range() -> None:
    largest = np.finfo(float).max
    X = np.array([[-largest], [largest], [0.0]])
    np.testing.assert_array_equal(fit_scaling("minmax", X).transform(X), [[-1], [1], [0]])


@pytest.mark.parametrize(
    ("name", "value"), [("unit", 1.7e308), ("standard", 1.7e308), ("standard", 1e-200)]
)
def test_a_spread_beyond_doubles_is_refused(name: str, value: float) -> None:
    X = np.array([[-value], [value], [0.0]])
    with pytest.raises(InputError, match="beyond the range of doubles"):
        fit_scaling(name, X).transform(X)


@pytest.mark.parametrize("name", ["standard", "minmax", "unit"])
@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_any_scale_comes_to_the_same(name: str, scale: float, X_train: np.ndarray) -> None:
    expected = fit_scaling(name, X_train).transform(X_train)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = fit_scaling(name, X_train * scale).transform(X_train * scale)
    np.testing.assert_allclose(scaled, expected, rtol=0, atol=1e-13)


def test_ordinary_features_are_standardised_as_by_their_means_and_deviations() -> None:
    """To the last digit, so that what has been recorded stands."""
    X = np.random.default_rng(2).normal(3.0, [1e-8, 0.1, 1.0, 50.0, 1e7], size=(200, 5))
    scaling = fit_scaling("standard", X)
    np.testing.assert_array_equal(scaling.shift, X.mean(axis=0))
    np.testing.assert_array_equal(scaling.divisor, X.std(axis=0))


def test_a_new_value_beyond_doubles_is_named(X_train: np.ndarray) -> None:
    scaling = fit_scaling("standard", X_train * 1e-10)
    rows = np.array([[0.0, 0.0, 0.0], [0.0, 1e300, 0.0]])
    with pytest.raises(InputError, match="X has a value that is beyond the range of doubles"):
        scaling.transform(rows)
