"""Data sets drawn from their definitions: twonorm, ringnorm, waveform, sparsenorm, a robot arm.

L. Breiman, "Bias, variance, and arcing classifiers", Technical Report 460, Statistics Department,
University of California, Berkeley, 1996; the waveforms are from L. Breiman, J. Friedman,
R. Olshen and C. Stone, "Classification and Regression Trees", 1984, pages 49-55. `sparsenorm` is
the experiment of M. Kloft, U. Brefeld, S. Sonnenburg and A. Zien, "lp-norm multiple kernel
learning", JMLR 12, 2011, section 6.1; the arm is ours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError, check_known

Sample = tuple[NDArray[np.float64], NDArray[np.int64] | NDArray[np.float64]]

N_JOINTS = 8
ARM_TARGET = np.full(3, 0.5)
ARM_NOISE = 0.03
N_NORMAL_FEATURES = 20
N_WAVE_FEATURES = 21
# Both sets take the mean 2/sqrt(20) of DELVE, from which the Rätsch benchmarks were made: there,
# ringnorm's Bayes error is 1.2%, and its data show this mean (with 1/sqrt(20), as some later
# descriptions have it, it would be 1.5%).
NORMAL_MEAN = 2.0 / np.sqrt(N_NORMAL_FEATURES)


# Half the distance of the means of sparsenorm.
SPARSE_LENGTH = 1.75


def twonorm(n_samples: int, generator: np.random.Generator) -> Sample:
    """Two unit normal distributions in 20 dimensions, with means (a, ..., a) and (-a, ..., -a).

    a = 2 / sqrt(20); both classes are equally likely; the Bayes error is Phi(-2) = 2.3%.

    Returns
    -------
    X (n_samples, 20), y (n_samples,): code 1 has the mean +a.
    """
    y = generator.integers(0, 2, size=n_samples)
    noise = generator.standard_normal((n_samples, N_NORMAL_FEATURES))
    return noise + np.where(y == 1, NORMAL_MEAN, -NORMAL_MEAN)[:, None], y


def sparsenorm(
    n_samples: int, generator: np.random.Generator, dimension: int, informative_percent: int
) -> Sample:
    """Two unit normal distributions whose means differ in some of their features only.

    The means are +m and -m, where m has the length 1.75 whatever the number of features, as in
    the paper: so the Bayes error is Phi(-1.75) = 4.0% in all of these sets, and they differ in how
    many features tell the classes apart, and how well each of them does.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    generator : numpy.random.Generator
        Of the draws.
    dimension : int
        Number of features d.
    informative_percent : int
        Of the features, from 1 to 100, that tell the classes apart: the first ones, at least one.

    Returns
    -------
    X (n_samples, d), y (n_samples,): code 1 has the mean +m.
    """
    n_informative = max(1, round(dimension * informative_percent / 100))
    y = generator.integers(0, 2, size=n_samples)
    X = generator.standard_normal((n_samples, dimension))
    shift = SPARSE_LENGTH / np.sqrt(n_informative)
    X[:, :n_informative] += np.where(y == 1, shift, -shift)[:, None]
    return X, y


def ringnorm(n_samples: int, generator: np.random.Generator) -> Sample:
    """One normal distribution inside another, in 20 dimensions.

    Code 1 has mean zero and covariance 4 I, code 0 has mean (a, ..., a), a = 2 / sqrt(20), and
    covariance I; both are equally likely.

    Returns
    -------
    X (n_samples, 20), y (n_samples,).
    """
    y = generator.integers(0, 2, size=n_samples)
    noise = generator.standard_normal((n_samples, N_NORMAL_FEATURES))
    wide = (y == 1)[:, None]
    return np.where(wide, 2.0 * noise, noise + NORMAL_MEAN), y


def waveform(n_samples: int, generator: np.random.Generator) -> Sample:
    """Random mixtures of two of three triangular waves at 21 points, plus unit normal noise.

    The waves have height 6, half-width 6 and peaks at points 7, 11 and 15. Of the three equally
    likely classes - mixtures of the waves at 7 and 15, 7 and 11, 11 and 15 - the second is code
    1 and the other two are code 0. This is the two-class form of the Rätsch benchmarks: all the
    rows they label +1 are of that class in the UCI set, where it is class 1.

    Returns
    -------
    X (n_samples, 21), y (n_samples,).
    """
    points = np.arange(1, N_WAVE_FEATURES + 1)
    left, centre, right = (np.maximum(6.0 - np.abs(points - peak), 0.0) for peak in (7, 11, 15))
    first = np.array([left, left, centre])
    second = np.array([right, centre, right])
    mixture = generator.integers(0, 3, size=n_samples)
    share = generator.random(n_samples)[:, None]
    noise = generator.standard_normal((n_samples, N_WAVE_FEATURES))
    X = share * first[mixture] + (1.0 - share) * second[mixture] + noise
    return X, (mixture == 1).astype(np.int64)


def arm(n_samples: int, generator: np.random.Generator) -> Sample:
    """How far the end of an arm of eight links is from a point, given the angles of its joints.

    A task like the kin-8 sets of DELVE, whose geometry is not published; this one is ours. Eight
    links of length 1/8 lie along the first axis from the origin when all angles are 0. Joint i
    turns all that follows it by its angle: about the arm's own third axis for i = 1, 3, 5, 7, about
    its own second for i = 2, 4, 6, 8. The angles are uniform in [-pi/2, pi/2]; the target is the
    distance of the end of the last link from the point (1/2, 1/2, 1/2), whose standard deviation is
    0.32, plus normal noise of standard deviation 0.03.

    The ninth input is 1 in every row: with it polynomials of one degree in the inputs are those of
    all lower degrees in the angles, too, which kernels without an intercept need here.

    Returns
    -------
    X (n_samples, 9) the angles in radians and 1, y (n_samples,) the measured distances.
    """
    angles = generator.uniform(-np.pi / 2, np.pi / 2, (n_samples, N_JOINTS))
    frame = np.broadcast_to(np.eye(3), (n_samples, 3, 3))  # columns: the axes of the last link
    end = np.zeros((n_samples, 3))
    for joint, angle in enumerate(angles.T):
        sideways = 1 + joint % 2  # the first axis is turned towards this one
        turned, other = np.cos(angle)[:, None], np.sin(angle)[:, None]
        first, second = frame[:, :, 0], frame[:, :, sideways]
        frame = frame.copy()
        frame[:, :, 0] = turned * first + other * second
        frame[:, :, sideways] = turned * second - other * first
        end += frame[:, :, 0] / N_JOINTS
    noise = ARM_NOISE * generator.standard_normal(n_samples)
    distance = np.linalg.norm(end - ARM_TARGET, axis=1)
    return np.hstack([angles, np.ones((n_samples, 1))]), distance + noise


GENERATORS: dict[str, Callable[..., Sample]] = {
    function.__name__: function for function in (twonorm, ringnorm, waveform, arm, sparsenorm)
}
# The options that a definition has of its own.
OPTIONS = {"sparsenorm": ("dimension", "informative_percent")}


def generate(
    name: str, n_samples: int, seed: int, options: Mapping[str, int] = MappingProxyType({})
) -> Sample:
    """Draw a data set by the name of its definition.

    Parameters
    ----------
    name : str
        A key of `GENERATORS`.
    n_samples : int
        Number of rows.
    seed : int
        Any whole number; the same one gives the same rows. The name is mixed in, so that two
        sets drawn with one seed have nothing in common.
    options : mapping of str to int, optional
        Those of the definition's own (`OPTIONS`), all of them.

    Returns
    -------
    X (n_samples, d), y (n_samples,) codes 0 and 1 or, of a regression set, real targets.

    Raises
    ------
    InputError
        The name is not known, or an option is not one of its own or is missing.
    """
    check_known("data.generator", [name], GENERATORS)
    if set(options) != set(OPTIONS.get(name, ())):
        raise InputError(
            f"data.generator={name} takes the options {list(OPTIONS.get(name, ()))}, and has "
            f"{list(options)}."
        )
    text = " ".join([f"{name} {seed}", *(f"{key}={options[key]}" for key in sorted(options))])
    return GENERATORS[name](n_samples, generator_of(text), **options)


def generator_of(text: str) -> np.random.Generator:
    """Return the random numbers that belong to a text, on every machine."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
    return np.random.Generator(np.random.PCG64(seed))
