"""Choices about columns: noise features, constant features, features by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from data_fakes import shipped_configs

from mklbench.data import Dataset, load
from mklbench.data.dataset import View
from mklbench.data.preprocessing import (
    constant_features,
    scaled,
    with_more_views,
    with_noise_features,
    without_features,
)
from mklbench.errors import InputError

CONFIGS = shipped_configs()


@pytest.fixture
def small() -> Dataset:
    return Dataset(
        name="small",
        X=np.array([[1.0, 5.0, 0.1], [2.0, 5.0, 0.1], [3.0, 5.0, 0.2]]),
        y=np.array([0, 1, 1]),
        classes=("no", "yes"),
        feature_names=("a", "b", "c"),
        digest="sha256:small",
        notes=(),
    )


def test_noise_is_standard_normal_and_comes_last() -> None:
    plain = load(CONFIGS["twonorm"])
    noisy = load(CONFIGS["twonorm"] | {"noise_features": 25})
    noise = noisy.X[:, -25:]
    np.testing.assert_array_equal(noisy.X[:, :-25], plain.X)
    assert noisy.n_noise_features == 25
    assert noisy.feature_names[-1] == "noise25"
    assert noisy.digest == plain.digest
    assert "25 noise features N(0, 1) appended" in noisy.notes
    tolerance = 5 / np.sqrt(len(plain.y))
    np.testing.assert_allclose(noise.mean(axis=0), 0, atol=tolerance)
    np.testing.assert_allclose(np.cov(noise, rowvar=False), np.eye(25), atol=2 * tolerance)
    # ... and has nothing to do with the label or the features.
    assert abs(np.corrcoef(noise.T, plain.y)[-1, :-1]).max() < tolerance
    assert abs(np.corrcoef(noise.T, plain.X.T)[:25, 25:]).max() < tolerance


def test_noise_depends_on_the_data_alone_and_fewer_columns_are_the_first(small: Dataset) -> None:
    ten, twenty_five = with_noise_features(small, 10), with_noise_features(small, 25)
    np.testing.assert_array_equal(ten.X, twenty_five.X[:, :13])
    np.testing.assert_array_equal(ten.X, with_noise_features(small, 10).X)
    other = Dataset(**{**vars(small), "digest": "sha256:other"})
    assert not np.isin(with_noise_features(other, 10).X[:, 3:], ten.X[:, 3:]).any()


def test_views_are_added_as_noise_copies_and_worse_copies(small: Dataset) -> None:
    twice = np.vstack([small.X] * 2000)
    twice[0, 0] = np.nan
    viewed = replace(small, X=twice, views=(View("a", 0, 1, "chi2"), View("rest", 1, 3)))
    made = with_more_views(viewed, ["noise", "a", "rest+2"])
    found = [(view.name, view.start, view.stop, view.distance) for view in made.views[2:]]
    assert found == [
        ("noise_1", 3, 4, "seuclidean"),
        ("a_2", 4, 5, "chi2"),
        ("rest+2_3", 5, 7, "euclidean"),
    ]
    np.testing.assert_array_equal(made.X[:, [0, 1, 2, 4]], twice[:, [0, 1, 2, 0]])
    spread = (made.X[:, 5:] - twice[:, 1:]).std(axis=0)
    np.testing.assert_allclose(spread, 2 * twice[:, 1:].std(axis=0), rtol=0.1)
    assert len(made.feature_names) == 7
    first = with_more_views(viewed, ["noise"])
    np.testing.assert_array_equal(first.X[:, 3], made.X[:, 3])
    with pytest.raises(InputError, match=r"data\.more_views=b is not known"):
        with_more_views(viewed, ["b"])


def test_constant_features_are_found_and_noted(small: Dataset) -> None:
    assert constant_features(small) == ("b",)
    left = without_features(small, ["b"])
    np.testing.assert_array_equal(left.X, small.X[:, [0, 2]])
    assert left.feature_names == ("a", "c")
    assert left.notes == ("left out: b",)
    assert left.digest == small.digest


def test_an_unknown_feature_is_named_with_the_nearest() -> None:
    options = {"drop_features": ["radius_men"]}
    with pytest.raises(InputError, match="drop_features=radius_men is not known: did you mean rad"):
        load(CONFIGS["wdbc"] | options)


def test_features_are_scaled_on_all_rows_and_noise_is_not(small: Dataset) -> None:
    unit = scaled(small, "unit")
    np.testing.assert_array_equal(unit.X[:, 0], [0.0, 0.5, 1.0])
    assert unit.notes == ("features scaled on all rows: unit",)
    assert scaled(small, None) is small
    noisy = load(CONFIGS["twonorm"] | {"noise_features": 2, "scaling": "unit"})
    assert noisy.X[:, :-2].max() == 1.0
    np.testing.assert_array_equal(
        noisy.X[:, -2:], load(CONFIGS["twonorm"] | {"noise_features": 2}).X[:, -2:]
    )
