"""NKRR on linear kernels of single features beside the dense stack; its memory; paths of lambda."""

from __future__ import annotations

from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.output import publish, table_of
from benchmarks.problems import first_split
from benchmarks.processes import Send, limited, peak_megabytes
from benchmarks.timing import FIGURES, Result, alternate
from mklbench.algorithms import krr, nkrr
from mklbench.errors import DataError
from mklbench.kernels import linear_features
from mklbench.optim.ridge import coefficients

Array = NDArray[np.float64]

_LIMIT_SECONDS = 600.0
_LEAST_RATIO = 20.0
_MOST_MEGABYTES = 500.0
_REPEATS = 15
# Dense Gram matrices at once: all thousand would take 2 GB.
_STACKED = 50
# Samples and features of one training part: of Sonar, and of the reviews with 2000 terms.
_PATHS = ((94, 60), (450, 2000), (900, 2000))
_LAMBDAS = tuple(10.0**power for power in range(-1, 6))


def run() -> list[Result]:
    """Measure, print and write the figures."""
    results = [
        *limited(gradient, 500, 1000, seconds=_LIMIT_SECONDS),
        *limited(reviews, seconds=_LIMIT_SECONDS),
        *(result for n, p in _PATHS for result in limited(path, n, p, seconds=_LIMIT_SECONDS)),
    ]
    shown = table_of(results, FIGURES, n_labels=3)
    publish("nkrr.md", "NKRR and ridge regression", "Times are of the processor.", shown)
    return results


def gradient(send: Send, n: int, p: int) -> None:
    """Send the time of a gradient of the quadratic combination, beside that from the dense stack.

    Both start from W = (alpha alpha') o S. The time of a part of the stack is taken in proportion
    to the number of kernels.
    """
    X, y = _problem(n, p)
    bank = linear_features(X)
    S = bank.combine(np.ones(p))
    alpha = coefficients(S**2, y, lam=1.0)
    W = np.outer(alpha, alpha) * S
    stack = X.T[:_STACKED, :, None] * X.T[:_STACKED, None, :]
    share = p / _STACKED

    def dense() -> Array:
        return -2.0 * (stack.reshape(_STACKED, -1) @ W.ravel())

    def operator() -> Array:
        return -2.0 * bank.inner_products_with(W)

    np.testing.assert_allclose(operator()[:_STACKED], dense(), rtol=1e-8)
    fast, slow, ratio = alternate(operator, dense, repeats=_REPEATS, clock=process_time)
    send(
        Result(
            f"gradient of quadratic NKRR / dense stack, n = {n}, p = {p}",
            f"1/{share / ratio:.0f} ({fast * 1e3:.1f} ms / {slow * share * 1e3:.0f} ms, that of "
            f"{_STACKED} kernels times {share:g}; the stack takes {p * n**2 * 8e-9:.0f} GB)",
            f"<= 1/{_LEAST_RATIO:g}",
            share / ratio >= _LEAST_RATIO,
        )
    )


def reviews(send: Send) -> None:
    """Send the largest memory of this process, which reads the reviews, learns and predicts."""
    try:
        split = first_split("electronics", "split.test_fraction=0.1", "split.scaling=none")
    except DataError:
        return
    bank = linear_features(split.X)
    solution = nkrr.solve(bank, split.y, lam=1e5, degree=2)
    decision = bank.cross(solution.weights, split.X_test) ** 2 @ solution.dual_coef
    accuracy = float(np.mean((decision > 0) == (split.y_test > 0)))
    megabytes = peak_megabytes()
    send(
        Result(
            f"peak memory of quadratic NKRR on reviews, n = {bank.n_samples}, p = {bank.n_kernels}",
            f"{megabytes:.0f} MB ({solution.n_iter} steps to a residual of {solution.gap:.0e}, "
            f"accuracy {accuracy:.1%})",
            f"< {_MOST_MEGABYTES:g} MB",
            solution.converged and megabytes < _MOST_MEGABYTES,
        )
    )


def path(send: Send, n: int, p: int) -> None:
    """Send the time of a path over lambda beside that of solving for each, quadratic kernels."""
    X, y = _problem(n, p)
    bank = linear_features(X)

    def at_once() -> Array:
        path = krr.solve_path(bank, y, _LAMBDAS, degree=2)
        return np.array([solution.dual_coef for solution in path])

    def one_by_one() -> Array:
        return np.array([krr.solve(bank, y, lam, degree=2).dual_coef for lam in _LAMBDAS])

    np.testing.assert_allclose(at_once(), one_by_one(), rtol=1e-5)
    fast, slow, ratio = alternate(at_once, one_by_one, repeats=_REPEATS, clock=process_time)
    send(
        Result(
            f"KRR for {len(_LAMBDAS)} lambdas from one Gram matrix / one by one, n = {n}, p = {p}",
            f"{ratio:.2f} ({fast * 1e3:.1f} ms / {slow * 1e3:.1f} ms)",
            "",
            None,
        )
    )


def _problem(n: int, p: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(n)
