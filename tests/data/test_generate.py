"""Generated sets against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from data_fakes import shipped_configs
from scipy.stats import norm

from mklbench.data import load
from mklbench.data.generate import GENERATORS, generate
from mklbench.errors import InputError

N = 40_000
# Five standard errors of a mean of N / 2 values of unit variance; variances get twice that.
TOLERANCE = 5 / np.sqrt(N / 2)
CONFIGS = shipped_configs()
OWN_OPTIONS = {"sparsenorm": {"dimension": 40, "informative_percent": 10}}


@pytest.mark.parametrize("name", GENERATORS)
def test_a_set_is_a_function_of_its_seed_and_name(name: str) -> None:
    X, y = generate(name, 50, 3, OWN_OPTIONS.get(name, {}))
    again, _ = generate(name, 50, 3, OWN_OPTIONS.get(name, {}))
    other, _ = generate(name, 50, 4, OWN_OPTIONS.get(name, {}))
    np.testing.assert_array_equal(X, again)
    varied = np.ptp(X, axis=0) > 0  # the arm has a constant
    assert not np.isin(other[:, varied], X).any()
    assert set(y.tolist()) == {0, 1} or len(set(y.tolist())) == 50


@pytest.mark.parametrize(
    ("dimension", "percent", "n_informative"), [(40, 100, 40), (40, 5, 2), (8, 50, 4), (8, 1, 1)]
)
def test_the_means_of_sparsenorm_differ_in_the_informative_features_alone(
    dimension: int, percent: int, n_informative: int
) -> None:
    options = {"dimension": dimension, "informative_percent": percent}
    X, y = generate("sparsenorm", N, 0, options)
    shift = np.zeros(dimension)
    shift[:n_informative] = 1.75 / np.sqrt(n_informative)
    for code, sign in ((0, -1), (1, 1)):
        part = X[y == code]
        np.testing.assert_allclose(part.mean(axis=0), sign * shift, atol=TOLERANCE)
        np.testing.assert_allclose(part.var(axis=0), 1.0, atol=2 * TOLERANCE)
    # Along the means lies all that tells the classes apart: the best rule errs at Phi(-1.75).
    error = ((X @ shift > 0) != (y == 1)).mean()
    assert abs(error - norm.cdf(-1.75)) < TOLERANCE


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("twonorm", {"dimension": 3}, "data.generator=twonorm takes the options"),
        ("sparsenorm", {"dimension": 3}, "and has ..dimension"),
    ],
)
def test_options_are_those_of_the_definition(
    name: str, options: dict[str, int], expected: str
) -> None:
    with pytest.raises(InputError, match=expected):
        generate(name, 50, 0, options)


def test_two_sets_of_one_seed_share_no_noise() -> None:
    _, y_twonorm = generate("twonorm", 1000, seed=0)
    _, y_ringnorm = generate("ringnorm", 1000, seed=0)
    assert abs((y_twonorm == y_ringnorm).mean() - 0.5) < 0.1


@pytest.mark.parametrize(
    ("name", "means", "variances"),
    [
        ("twonorm", (-2 / np.sqrt(20), 2 / np.sqrt(20)), (1.0, 1.0)),
        ("ringnorm", (2 / np.sqrt(20), 0.0), (1.0, 4.0)),
    ],
)
def test_the_normal_sets_have_their_moments(
    name: str, means: tuple[float, float], variances: tuple[float, float]
) -> None:
    X, y = generate(name, N, seed=0)
    assert X.shape == (N, 20)
    assert abs(y.mean() - 0.5) < TOLERANCE
    for code in (0, 1):
        part = X[y == code]
        spread = np.sqrt(variances[code])
        np.testing.assert_allclose(part.mean(axis=0), means[code], atol=TOLERANCE * spread)
        covariance = np.cov(part, rowvar=False)
        np.testing.assert_allclose(
            covariance, variances[code] * np.eye(20), atol=2 * TOLERANCE * variances[code]
        )


def test_the_bayes_rule_errs_as_often_as_published() -> None:
    a = 2 / np.sqrt(20)
    X, y = generate("twonorm", N, seed=1)
    assert abs(((X.sum(axis=1) > 0) != (y == 1)).mean() - 0.0228) < 0.004
    X, y = generate("ringnorm", N, seed=1)
    narrow = -((X - a) ** 2).sum(axis=1) / 2
    wide = -(X**2).sum(axis=1) / 8 - 20 * np.log(2)
    assert abs(((wide > narrow) != (y == 1)).mean() - 0.0124) < 0.003


def test_the_waveforms_are_mixtures_of_their_triangles() -> None:
    X, y = generate("waveform", N, seed=0)
    assert X.shape == (N, 21)
    assert abs(y.mean() - 1 / 3) < TOLERANCE
    point = np.arange(1, 22)
    waves = {peak: np.clip(6 - abs(point - peak), 0, None) for peak in (7, 11, 15)}
    # E[u] = 1/2 in u h + (1 - u) h', Var[u] = 1/12; the noise adds 1 to every variance.
    positive = X[y == 1]
    np.testing.assert_allclose(positive.mean(axis=0), (waves[7] + waves[11]) / 2, atol=0.1)
    np.testing.assert_allclose(
        positive.var(axis=0), 1 + (waves[7] - waves[11]) ** 2 / 12, atol=0.25
    )
    negative = (waves[7] + 2 * waves[15] + waves[11]) / 4
    np.testing.assert_allclose(X[y == 0].mean(axis=0), negative, atol=0.1)


def rotation(axis: int, angle: float) -> np.ndarray:
    """Return the matrix of a rotation that turns the first axis towards `axis`."""
    turn = np.eye(3)
    turn[0, 0] = turn[axis, axis] = np.cos(angle)
    turn[axis, 0], turn[0, axis] = np.sin(angle), -np.sin(angle)
    return turn


def test_the_arm_is_a_chain_of_rotations() -> None:
    X, y = generate("arm", 2000, seed=0)
    assert X.shape == (2000, 9)
    assert (X[:, -1] == 1).all()
    assert (abs(X[:, :-1]) <= np.pi / 2).all()
    distances = np.empty(len(y))
    for row, angles in enumerate(X[:, :-1]):
        frame, end = np.eye(3), np.zeros(3)
        for joint, angle in enumerate(angles):
            frame = frame @ rotation(1 + joint % 2, angle)
            end += frame @ [1 / 8, 0, 0]
        distances[row] = np.sqrt(((end - 0.5) ** 2).sum())
    noise = y - distances
    assert abs(noise.mean()) < 5 * 0.03 / np.sqrt(2000)
    assert abs(noise.std() - 0.03) < 0.003
    assert abs(noise).max() < 0.03 * 5


def test_the_arm_is_a_regression_set() -> None:
    dataset = load(CONFIGS["arm"] | {"n_samples": 100})
    assert dataset.targets is not None
    assert dataset.targets.shape == (100,)
    assert (dataset.classes, dataset.class_counts, set(dataset.y)) == ((), {}, {0})


def test_the_configuration_chooses_size_and_seed() -> None:
    small = load(CONFIGS["twonorm"] | {"n_samples": 100, "seed": 7})
    assert small.X.shape == (100, 20)
    assert small.source == "generated"
    assert small.notes == ("generated with seed 7",)
    assert small.classes == ("-1", "+1")
    assert small.digest != load(CONFIGS["twonorm"] | {"n_samples": 100}).digest
