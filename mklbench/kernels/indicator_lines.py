"""Quadratic forms of products of Gaussians on indicators, from one set of features to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mklbench.kernels.base import Array
from mklbench.kernels.continuous import Lines, RoughFamily

# Where a feature has its largest parameter, samples that differ in it have a kernel below exp(-20),
# which is less than single precision adds to 1.
_PARTED = 20.0
# What grows by less than this share has not grown: sums are rounded.
_ROUNDING = 1e-12


def are_indicators(X: NDArray[np.float32], lower: Array, upper: Array) -> bool:
    """Tell whether the best kernels are those of `IndicatorLines`.

    Parameters
    ----------
    X : ndarray of shape (n, M)
        The samples.
    lower, upper : ndarray of shape (M,)
        The box of the parameters.
    """
    least, most = X.min(axis=0), X.max(axis=0)
    reach = (most - least).astype(np.float64)
    parted = (reach == 0.0) | (upper * reach**2 >= _PARTED)
    return bool(parted.all() and not lower.any() and ((least == X) | (most == X)).all())


class IndicatorLines(Lines):
    """a' K_theta a along one parameter of a product of Gaussians, all of whose features are binary.

    With u_m the distance of the two values of feature m, the kernel is a product over the features
    in which two samples differ of e_m = exp(-theta_m u_m^2). So the form is linear in each e_m, and
    along a parameter it is largest at an end of the box: at theta_m = 0 (e_m = 1) or at the upper
    end, where e_m is 0 to single precision. What is left are kernels of a set S of features,

        K_ij = 1 where samples i and j are equal in all features of S, else 0,
        a' K a = sum over the cells of samples that are equal in S of (sum of a in the cell)^2.

    To try a feature more or less takes time linear in n, where other products take n^2, and all
    that are not in S are tried at once.

    Parameters
    ----------
    rough : RoughFamily
        The kernels.
    X : ndarray of shape (n, M)
        The samples, of single precision, for which `are_indicators` holds.
    a : ndarray of shape (n,)
        The vector of the form.
    upper : ndarray of shape (M,)
        Upper ends of the parameters.
    """

    def __init__(self, rough: RoughFamily, X: NDArray[np.float32], a: Array, upper: Array) -> None:
        super().__init__(rough, X.shape[1], a)
        least, most = X.min(axis=0), X.max(axis=0)
        self._upper = upper
        self._squares = (most - least).astype(np.float64) ** 2
        has = (least < most) & (most == X)
        self._has = has.astype(np.float64)
        # A cell is known by the sum of random numbers of the features that its samples have, modulo
        # 2^64. That two cells share one is less likely than a fault of the memory.
        random = np.random.default_rng(0)
        keys = random.integers(2**64, size=(X.shape[1], 1), dtype=np.uint64)
        self._keys = np.where(has.T, keys, np.uint64(0))
        self.begin(self.theta)

    def begin(self, theta: Array) -> None:
        """Set each parameter to the end of the box at which e_m is nearer to that of `theta`."""
        is_used = theta * self._squares > np.log(2.0)
        self.theta[:] = np.where(is_used, self._upper, 0.0)
        self._place(self._keys[is_used].sum(axis=0, dtype=np.uint64))

    def along(self, m: int, values: Array) -> Array:
        if self.theta[m]:
            used, unused = self._form, self._without(m)
        else:
            used, unused = float(self._with_each()[m]), self._form
        shares = np.exp(-self._squares[m] * values)
        return shares * unused + (1.0 - shares) * used

    def move(self, m: int, value: float) -> None:
        """Set parameter `m` to the end of the box that is nearer to `value`, as `begin` does."""
        if (value * self._squares[m] > np.log(2.0)) != bool(self.theta[m]):
            self._flip(m)

    def sweep(self, order: NDArray[np.intp], grid: Array) -> float:
        """Do as `Lines.sweep`, at the ends of the box alone: the best of `grid` are there."""
        while (flipped := self._first_to_grow(order)) is not None:
            self._flip(int(order[flipped]))
            order = order[flipped + 1 :]
        return self._form

    def _first_to_grow(self, order: NDArray[np.intp]) -> int | None:
        """Return the place in `order` of the first feature with whose flip the form grows."""
        least = self._form * (1.0 + _ROUNDING)
        is_used, grows = self.theta[order] > 0, self._with_each()[order] > least
        for place in np.flatnonzero(is_used | grows).tolist():
            if not is_used[place] or self._without(int(order[place])) > least:
                return int(place)
        return None

    def _flip(self, m: int) -> None:
        """Put feature `m` into the set, or take it out."""
        codes = self._codes
        self._place(codes - self._keys[m] if self.theta[m] else codes + self._keys[m])
        self.theta[m] = 0.0 if self.theta[m] else self._upper[m]

    def _place(self, codes: NDArray[np.uint64]) -> None:
        """Sort the samples into the cells of `codes` (n,)."""
        self._codes = codes
        self._order, self._firsts = _cells(codes)
        self._sums = np.add.reduceat(self._a[self._order], self._firsts)
        self._form = float(self._sums @ self._sums)

    def _with_each(self) -> Array:
        """Return the forms (M,) with each feature in the set as well: a cell parts in two."""
        ends = np.append(self._firsts, len(self._order))
        shape = len(self._firsts), len(self._order)
        in_cells = csr_array((self._a[self._order], self._order, ends), shape=shape)
        parts = in_cells @ self._has
        others = self._sums[:, None] - parts
        forms: Array = np.einsum("cm,cm->m", parts, parts)
        forms += np.einsum("cm,cm->m", others, others)
        return forms

    def _without(self, m: int) -> float:
        """Return the form without feature `m` of the set: cells join."""
        order, firsts = _cells(self._codes - self._keys[m])
        sums = np.add.reduceat(self._a[order], firsts)
        return float(sums @ sums)


def _cells(codes: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return an order of the samples (n,) that has equal codes together, and where each begins."""
    order = np.argsort(codes, kind="stable")
    in_order = codes[order]
    is_first = np.append(True, in_order[1:] != in_order[:-1])
    return order, np.flatnonzero(is_first)
