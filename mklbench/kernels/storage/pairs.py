"""Prices of Gaussians on all pairs of features: a'(K_i o K_j) a for the Gaussians of one width.

There are two ways, and both share the d Gaussians on single features among the d (d - 1) / 2 pairs:

- With V (d, N) their values at N pairs of samples and w (N,) what these are multiplied by, the sums
  are the entries of V diag(w) V': n (n + 1) / 2 times d exponentials and d^2 multiplications.
- With factors K_i = Z_i Z_i' of rho columns they are the squares of the norms of
  Z_i' diag(a) Z_j: n rho^2 d^2 multiplications. A Gaussian on one feature has a rank of 5 where it
  is wide and of 35 where it is narrow, to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mklbench.kernels.euclidean import squared_distances
from mklbench.kernels.functions import Gaussian
from mklbench.kernels.storage.nodes import Interpolation, Values
from mklbench.kernels.storage.packed import half_size
from mklbench.kernels.storage.widths import AT_ONCE, root

Array = NDArray[np.float64]

# Numbers in the factors of the widths that are made at once, about, and columns multiplied at once.
_HELD, _COLUMNS = 2**23, 512
# That many columns a factor has, about; for the same.
_RANK = 16


def of_samples(X: Array, gammas: Array, products: Array) -> Array:
    """Return sum_uv w_uv k_i(u, v) k_j(u, v) (p, d, d) for i < j; what else is there means nothing.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    gammas : ndarray of shape (p,)
        Factors of the squared differences.
    products : ndarray
        The half of a symmetric matrix w (n, n), with what is off its diagonal twice.
    """
    columns = np.ascontiguousarray(X.T)
    d = len(columns)
    found = np.zeros((len(gammas), d, d))
    for first, last in _row_blocks(len(X), max(1, 4 * AT_ONCE // d)):
        start, stop = half_size(first), half_size(last)
        i = np.repeat(np.arange(first, last), np.arange(first, last) + 1)
        j = np.arange(start, stop) - i * (i + 1) // 2
        with np.errstate(over="ignore"):  # to an infinite distance
            distances = columns[:, i]
            distances -= columns[:, j]
            distances *= distances
        own, values = products[start:stop], np.empty_like(distances)
        for gamma, at_gamma in zip(gammas.tolist(), found, strict=True):
            Gaussian(gamma).of_distances(distances, out=values)
            at_gamma += (values * own) @ values.T
    return found


def of_factors(bases: Sequence[Interpolation | Values], X: Array, gammas: Array, a: Array) -> Array:
    """Return a'(K_i o K_j) a (p, d, d) for i < j; what else is there means nothing.

    Parameters
    ----------
    bases : sequence of Interpolation or Values
        The nodes of each of the d features.
    X : ndarray of shape (n, d)
        Samples.
    gammas : ndarray of shape (p,)
        Factors of the squared differences.
    a : ndarray of shape (n,)
        Coefficients of the samples.
    """
    found = np.zeros((len(gammas), len(bases), len(bases)))
    at_once = max(1, _HELD // (_RANK * max(1, X.size)))
    for start in range(0, len(gammas), at_once):
        part = slice(start, start + at_once)
        factors: list[list[Array]] = [[] for _ in gammas[part]]
        for basis in bases:
            rows, nodes = basis(X), basis.nodes[:, None]
            distances = squared_distances(nodes, nodes)
            for own, gamma in zip(factors, gammas[part].tolist(), strict=True):
                own.append(rows @ root(Gaussian(gamma).of_distances(distances)))
        for own, at_gamma in zip(factors, found[part], strict=True):
            _square_norms(own, a, at_gamma)
    return found


def _square_norms(factors: Sequence[Array], a: Array, out: Array) -> None:
    """Write ||Z_i' diag(a) Z_j||^2 into `out` (d, d) for i < j."""
    ends = np.cumsum([factor.shape[1] for factor in factors])
    starts = ends - [factor.shape[1] for factor in factors]
    together = np.hstack(factors)
    weighted = together * a[:, None]
    first = 0
    while first < len(factors):
        last = int(np.searchsorted(ends, starts[first] + _COLUMNS, side="right"))
        last = max(last, first + 1)
        left = weighted[:, starts[first] : ends[last - 1]]
        block = left.T @ together[:, starts[first] :]
        np.square(block, out=block)
        by_feature = np.add.reduceat(block, starts[first:] - starts[first], axis=1)
        rows = starts[first:last] - starts[first]
        out[first:last, first:] = np.add.reduceat(by_feature, rows, axis=0)
        first = last


def _row_blocks(n: int, size: int) -> list[tuple[int, int]]:
    """Return where blocks of rows of a half start and stop, each of `size` entries or one row."""
    ends = np.cumsum(np.arange(1, n + 1))
    blocks, first = [], 0
    while first < n:
        last = int(np.searchsorted(ends, half_size(first) + size, side="right"))
        last = min(n, max(last, first + 1))
        blocks.append((first, last))
        first = last
    return blocks
