"""The reference problems of exact MKL: fixed kernels and labels, nine of them with known optima.

A problem is called ``SET-C<C>``. The set `synthetic` has 60 Gaussians on single features at 145
generated samples; `liver`, `wpbc` and `ionosphere` have the 13 (d + 1) kernels of the SimpleMKL
toolbox (Rakotomamonjy et al. 2008), each of unit trace, on 70 % of a real set, drawn by
``numpy.random.default_rng(0)`` and standardised.

The optima in ``reference_optima.csv`` are of the problem in `mklbench.algorithms.simplemkl`. They
were computed with a conic interior-point solver on the dense kernels; the lower bounds are dual
values of feasible points, and the two agree to 3e-5 or better.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mklbench import data, resources
from mklbench.data import catalogue
from mklbench.kernels import Gaussian
from mklbench.kernels.builders.named import simplemkl_functions

Array = NDArray[np.float64]

OPTIMA = Path(__file__).with_name("reference_optima.csv")
SETS = ("synthetic", "liver", "wpbc", "ionosphere")


@dataclass(frozen=True)
class Optimum:
    """What is known of the optimal value of a problem.

    Attributes
    ----------
    value : by the conic solver.
    lower_bound : the dual value of a feasible point; the optimum is not below it.
    """

    value: float
    lower_bound: float


@dataclass(frozen=True)
class Problem:
    """A reference problem.

    Attributes
    ----------
    name : ``SET-C<C>``.
    K : (M, n, n) Gram matrices, read-only.
    y : (n,) labels -1/+1, read-only.
    C : box constraint.
    optimum : None where it is not known.
    """

    name: str
    K: Array
    y: Array
    C: float
    optimum: Optimum | None


def _read_optima() -> dict[str, Optimum]:
    with open(OPTIMA, encoding="utf-8", newline="") as handle:
        rows = csv.DictReader(line for line in handle if not line.startswith("#"))
        return {
            row["problem"]: Optimum(float(row["optimum"]), float(row["lower_bound"]))
            for row in rows
        }


_OPTIMA = _read_optima()

# The nine problems whose optima are known.
NAMES = tuple(_OPTIMA)

# Every set at every C that an exact solver has to hold.
GRID = tuple(f"{name}-C{C}" for name in SETS for C in (1, 10, 100, 1000))


def load(name: str) -> Problem:
    """Return the problem `name`, such as ``liver-C100``; any C will do.

    The kernels of the set asked for last are kept, so ask for all C of one set in a row.

    Raises
    ------
    DataError
        If the real data cannot be had.
    """
    base, C = name.rsplit("-C", 1)
    K, y = kernels_and_labels(base)
    return Problem(name, K, y, float(C), optimum(name))


def optimum(name: str) -> Optimum | None:
    """Return the optimum of the problem `name` where it is known."""
    return _OPTIMA.get(name)


@lru_cache(maxsize=1)
def kernels_and_labels(name: str) -> tuple[Array, Array]:
    """Return the Gram matrices (M, n, n) and labels (n,) of one of `SETS`, read-only.

    Raises
    ------
    DataError
        If the real data cannot be had.
    """
    if name == "synthetic":
        X, y = synthetic_samples()
        K = np.array([Gaussian(1.0)(column, column) for column in X.T[:, :, None]])
    else:
        X, y = real_samples(name)
        K = toolbox_kernels(X)
    K.setflags(write=False)
    y.setflags(write=False)
    return K, y


def synthetic_samples(n: int = 145, d: int = 60) -> tuple[Array, Array]:
    """Return `n` standardised samples of `d` >= 6 features, of which six matter, and labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    score = (
        np.sin(1.5 * X[:, 0])
        + X[:, 1] ** 2
        + X[:, 2] * X[:, 3]
        + 0.8 * X[:, 4]
        + np.abs(X[:, 5])
        + 0.3 * rng.standard_normal(n)
    )
    return _standardised(X), np.where(score > np.median(score), 1.0, -1.0)


def real_samples(name: str) -> tuple[Array, Array]:
    """Return the standardised 70 % of a real set without its constant features, and the labels.

    Raises
    ------
    DataError
        If the data cannot be had.
    """
    X, y = real_set(name)
    part = np.random.default_rng(0).permutation(len(y))[: int(0.7 * len(y))]
    X = X[part]
    return _standardised(X[:, X.std(axis=0) > 1e-9]), y[part]


def real_set(name: str) -> tuple[Array, Array]:
    """Return the features (n, d) of a real set without the constant ones, and the labels (n,).

    Raises
    ------
    DataError
        If the data cannot be had.
    """
    dataset = data.load(catalogue.read_files([resources.choices("data")[name]])[name])
    X = dataset.X[:, dataset.X.std(axis=0) > 1e-9]
    return X, np.where(dataset.y == 1, 1.0, -1.0)


def toolbox_kernels(X: Array) -> Array:
    """Return SimpleMKL's 13 (d + 1) Gram matrices on all features and on each, of unit trace.

    They are those of `mklbench.kernels.simplemkl_bank`, stored one by one.
    """
    functions = simplemkl_functions()
    columns = [X, *(X[:, [j]] for j in range(X.shape[1]))]
    K = np.empty((len(columns) * len(functions), len(X), len(X)))
    for gram, (Z, function) in zip(
        K, ((Z, function) for Z in columns for function in functions), strict=True
    ):
        gram[...] = function(Z, Z)
        gram /= np.trace(gram)
    return K


def _standardised(X: Array) -> Array:
    return (X - X.mean(axis=0)) / X.std(axis=0)
