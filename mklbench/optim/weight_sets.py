"""Where the kernel weights of the joint method may be: its system in them, one class a set.

Weights are functions d(x) of variables x > 0 (k,), some rows of which sum to 1: A x = 1 for a
matrix A (c, k) of zeros and ones. The problem is the saddle point

    min over some x, max over the others and over alpha  of  loss's dual(alpha) - 1/2 d(x)'q,

q_m the quadratic forms of the kernels at alpha. It is convex in the first x, for which s = 1, and
concave in alpha and the others together, for which s = -1. With multipliers z of x >= 0 and lam of
A x = 1 the central path at mu > 0 is, J = dd/dx,

    A'lam - s o J'q / 2 - z = 0,    z o x = mu,    A x = 1.

Linear constraints are kept by every step, whatever d(x) is: that is why the l_p ball is written in
x = d^p, and VSKL's gamma in gamma^q*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from mklbench.kernels.groups import Groups
from mklbench.penalties.base import Array, Penalty
from mklbench.penalties.elastic_net import ElasticNet
from mklbench.penalties.mixed_norm import MixedNorm
from mklbench.penalties.simple import Fixed, Simplex

# A kernel with less than this share of the largest weight is left out if the gap allows.
_NEGLIGIBLE = 1e-2


class WeightSet(ABC):
    """A set of kernel weights, or a price on them.

    Attributes
    ----------
    penalty : Penalty
        The same in certificates.
    start : ndarray of shape (k,)
        x of weights that are all alike.
    signs : ndarray of shape (k,)
        s: 1 where the least is sought, -1 where the largest.
    sums : ndarray of shape (c, k)
        A.
    """

    penalty: Penalty
    start: Array
    signs: Array
    sums: Array

    @abstractmethod
    def weights(self, x: Array) -> Array:
        """Return d(x) (M,)."""

    @abstractmethod
    def times_slopes(self, x: Array, columns: Array) -> Array:
        """Return `columns` (..., M) times J (M, k)."""

    @abstractmethod
    def curvature(self, x: Array, halves: Array) -> Array:
        """Return the derivative (k, k) of -`slopes` in x, for `halves` q / 2 (M,)."""

    def candidates(self, x: Array) -> tuple[Array, ...]:
        """Return weights (M,) of the set near d(x), those with most zeros first."""
        return (self.weights(self.on_set(x)),)

    def slopes(self, x: Array, halves: Array) -> Array:
        """Return s o J'q / 2, less the slopes of a price (k,), for `halves` q / 2 (M,)."""
        return self.signs * self.times_slopes(x, halves)

    def on_set(self, x: Array) -> Array:
        """Return x (k,) > 0, each of the sums A x brought to 1."""
        return x / ((self.sums @ x) @ self.sums) if len(x) else x


class Given(WeightSet):
    """Weights that are given: there is no x.

    Parameters
    ----------
    weights : ndarray of shape (M,)
        d >= 0, not all 0.
    """

    def __init__(self, weights: Array) -> None:
        self._weights, self.penalty = weights, Fixed(weights)
        self.start = self.signs = np.ones(0)
        self.sums = np.ones((0, 0))

    def weights(self, x: Array) -> Array:
        return self._weights

    def times_slopes(self, x: Array, columns: Array) -> Array:
        return columns[..., :0]

    def curvature(self, x: Array, halves: Array) -> Array:
        return np.zeros((0, 0))


class Ball(WeightSet):
    """The ball of the l_p norm, sum_m d_m^p <= 1 (Kloft et al. 2011, problem 9): d = x^(1/p).

    1/2 d(x)'q is concave in x.

    Parameters
    ----------
    n_kernels : int
        M.
    p : float
        1 < p < infinity.
    """

    def __init__(self, n_kernels: int, p: float) -> None:
        self._power = 1.0 / p
        self.penalty = MixedNorm(Groups([[m] for m in range(n_kernels)], n_kernels), p / (p + 1.0))
        self.start = np.full(n_kernels, 1.0 / n_kernels)
        self.signs = np.ones(n_kernels)
        self.sums = np.ones((1, n_kernels))

    def weights(self, x: Array) -> Array:
        return x**self._power

    def times_slopes(self, x: Array, columns: Array) -> Array:
        return columns * (self._power * x ** (self._power - 1.0))

    def curvature(self, x: Array, halves: Array) -> Array:
        bends = self._power * (1.0 - self._power) * x ** (self._power - 2.0)
        return np.diag(bends * np.maximum(halves, 0.0))


class ElasticBox(WeightSet):
    """The price of the elastic net (`mklbench.penalties.elastic_net`): d_m = u_m / mix.

    x is u and the room left to each bound, u_m + w_m = 1. The price is c sum_m (1 / w_m - 1), c =
    (1 - mix)^2 / (2 mix), which is convex in x.

    Parameters
    ----------
    n_kernels : int
        M.
    mix : float
        0 < mix < 1.
    """

    def __init__(self, n_kernels: int, mix: float) -> None:
        self._mix, self._price = mix, 0.5 * (1.0 - mix) ** 2 / mix
        self.penalty = ElasticNet(mix)
        self.start = np.full(2 * n_kernels, 0.5)
        self.signs = np.ones(2 * n_kernels)
        self.sums = np.tile(np.eye(n_kernels), 2)

    def weights(self, x: Array) -> Array:
        return x[: len(x) // 2] / self._mix

    def times_slopes(self, x: Array, columns: Array) -> Array:
        return np.concatenate([columns / self._mix, np.zeros_like(columns)], axis=-1)

    def slopes(self, x: Array, halves: Array) -> Array:
        return super().slopes(x, halves) + self._of_room(x, self._price * x**-2.0)

    def curvature(self, x: Array, halves: Array) -> Array:
        return np.diag(self._of_room(x, 2.0 * self._price * x**-3.0))

    def candidates(self, x: Array) -> tuple[Array, ...]:
        dense = self.weights(self.on_set(x))
        return np.where(dense < _NEGLIGIBLE * dense.max(), 0.0, dense), dense

    def _of_room(self, x: Array, values: Array) -> Array:
        """Return `values` (2 M,) with 0 for all that is not w."""
        return np.where(np.arange(len(x)) < len(x) // 2, 0.0, values)


class Grouped(WeightSet):
    """That of VSKL (Aflalo et al. 2011, Theorem 2.4): d_jk = lambda_jk / gamma_j.

    The lambda of a group sum to 1, and are sought at their best; gamma_j^q* sum to 1 over the
    groups, q* = q / (q - 1), and are sought at their worst. x is lambda and w = gamma^q*: 1/gamma =
    w^-(1 - 1/q), and q_jk / gamma_j is convex in alpha and w together. At q = 1 gamma is 1.

    Parameters
    ----------
    groups : Groups
        The groups j of the M kernels.
    q : float
        >= 1, infinity included.
    """

    def __init__(self, groups: Groups, q: float) -> None:
        self._groups, self._power = groups, 1.0 - 1.0 / q
        self.penalty = MixedNorm(groups, q)
        m, n_groups = len(groups.owner), len(groups)
        self._n_kernels = m
        members = (groups.owner == np.arange(n_groups)[:, None]).astype(np.float64)
        self.start = 1.0 / groups.spread(groups.sizes.astype(np.float64))
        self.signs, self.sums = np.ones(m), members
        if self._power > 0:
            self.start = np.append(self.start, np.full(n_groups, 1.0 / n_groups))
            self.signs = np.append(self.signs, -np.ones(n_groups))
            self.sums = np.zeros((n_groups + 1, m + n_groups))
            self.sums[:-1, :m], self.sums[-1, m:] = members, 1.0

    def weights(self, x: Array) -> Array:
        shares, w = self._split(x)
        return shares * self._groups.spread(w**-self._power)

    def times_slopes(self, x: Array, columns: Array) -> Array:
        shares, w = self._split(x)
        of_shares = columns * self._groups.spread(w**-self._power)
        if self._power == 0:
            return of_shares
        each = columns * shares * self._groups.spread(-self._power * w ** (-self._power - 1.0))
        return np.concatenate([of_shares, each @ self._members.T], axis=-1)

    def curvature(self, x: Array, halves: Array) -> Array:
        m, power = self._n_kernels, self._power
        matrix = np.zeros((len(x),) * 2)
        if power == 0:
            return matrix
        shares, w = self._split(x)
        halves = np.maximum(halves, 0.0)
        mixed = self._members * halves * (-power * w ** (-power - 1.0))[:, None]
        matrix[:m, m:], matrix[m:, :m] = -mixed.T, mixed
        bends = power * (power + 1.0) * w ** (-power - 2.0)
        matrix[m:, m:] = np.diag(bends * self._groups.sums(shares * halves))
        return matrix

    def candidates(self, x: Array) -> tuple[Array, ...]:
        dense = self.on_set(x)
        shares = dense[: self._n_kernels]
        largest = self._groups.spread(self._groups.maxima(shares))
        sparse = dense.copy()
        sparse[: self._n_kernels] = np.where(shares < _NEGLIGIBLE * largest, 0.0, shares)
        return self.weights(self.on_set(sparse)), self.weights(dense)

    @property
    def _members(self) -> Array:
        return self.sums[: len(self._groups), : self._n_kernels]

    def _split(self, x: Array) -> tuple[Array, Array]:
        """Return lambda (M,) and w (number of groups,), the latter 1 where there is none."""
        m = self._n_kernels
        return x[:m], x[m:] if self._power > 0 else np.ones(len(self._groups))


def one_sum(n_kernels: int) -> Grouped:
    """Return the simplex of the weights of so many kernels: one group, q = 1."""
    found = Grouped(Groups([range(n_kernels)], n_kernels), 1.0)
    found.penalty = Simplex()  # the same set, certified at the weights that it has
    return found
