"""Centring and cosine normalisation of the kernels of a bank, for training and new samples.

Both are done kernel by kernel, and keep what structure the bank has: no Gram matrix is stored.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.banks.wrapped import WrappedBank
from mklbench.kernels.base import Array, Bank, Indices
from mklbench.kernels.centring import centre
from mklbench.kernels.memory import NUMBER, Memory, gram_bytes
from mklbench.kernels.storage.packed import inner_products_of

# A diagonal entry of which centring leaves no more than this share is 0 up to rounding.
_ROUNDING = 1e-12
# Below this numbers lose digits.
_SMALLEST = float(np.finfo(np.float64).tiny)


class CentredBank(WrappedBank):
    """The kernels around the mean of n samples in their feature spaces.

    With phi_m the feature map of kernel m and x_j the training samples, kernel m becomes

        <phi_m(x) - mean_j phi_m(x_j), phi_m(z) - mean_j phi_m(x_j)>
        = k_m(x, z) - h_m(x) - h_m(z) + mean_j h_m(x_j),    h_m(x) = mean_j k_m(x, x_j),

    H K_m H on the training samples, H = I - 1 1'/n (Cortes et al. 2012), and the same
    centre for new ones. What is kept beside the bank are the h_m, M n numbers.

    Parameters
    ----------
    bank : Bank
        The bank on the samples whose mean is the centre.
    """

    def __init__(self, bank: Bank) -> None:
        n = bank.n_samples
        means = bank.products(np.full(n, 1.0 / n), np.arange(bank.n_kernels))
        self._bind(bank, bank, np.arange(n), means, means.mean(axis=1))

    @classmethod
    def needs(cls, bank: Memory, n: int) -> Memory:
        """Return the memory of the kernels of a bank, and of their means.

        Parameters
        ----------
        bank : Memory
            What the bank itself needs.
        n : int
            Number of training samples.
        """
        means = NUMBER * (bank.n_kernels or 0) * n
        return replace(
            bank,
            kept=bank.kept + means,
            building=max(bank.building, bank.kept + 2 * means),
            combining=max(bank.combining, gram_bytes(n, 2)),  # what centring adds
        )

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        weights = self._check_weights(d)
        combined = self._bank.combine(weights, out)
        combined += self._shift(weights)
        return combined

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        weights = self._check_weights(d)
        self._bank.accumulate(weights, out)
        out += self._shift(weights)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        vector = self._check_coefficients(a)
        total = vector.sum()
        shift = total * (total * self._offsets - 2.0 * (self._means @ vector))
        return self._bank.quadratic_forms(vector) + shift

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        vector, chosen = self._check_coefficients(a), self._check_kernels(kernels)
        total, means = vector.sum(), self._means[chosen]
        constants = total * self._offsets[chosen] - means @ vector
        return self._bank.products(vector, chosen) - total * means + constants[:, None]

    def traces(self) -> Array:
        shift = self.n_samples * self._offsets - 2.0 * self._means.sum(axis=1)
        return self._bank.traces() + shift

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        plain, means = self._centre.diagonals(Z), self._means
        if Z is None:
            plain = plain[:, self._rows]
        else:
            units = np.eye(self.n_kernels)
            means = np.array([self._centre.cross(unit, Z).mean(axis=1) for unit in units])
        centred = plain - 2.0 * means + self._offsets[:, None]
        # 0 where nothing but rounding is left of the plain ones.
        return np.where(centred > _ROUNDING * np.abs(plain), centred, 0.0)

    def inner_products_with(self, K: Array) -> Array:
        shift = self._offsets * K.sum() - 2.0 * (self._means @ K.sum(axis=0))
        return self._bank.inner_products_with(K) + shift

    def inner_products(self, *, centred: bool = False) -> Array:
        if centred or self._bank is self._centre:
            return self._bank.inner_products(centred=True)
        return Bank.inner_products(self)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        with_centre = self._centre.cross(d, Z)
        constants = d @ self._offsets - d @ self._means
        return with_centre[:, self._rows] - with_centre.mean(axis=1)[:, None] + constants

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> CentredBank:
        """Return the same kernels on some of the samples, around the centre of all of them.

        ``CentredBank(bank.take(rows))`` is centred on those rows instead.

        Parameters
        ----------
        rows : array_like of shape (k,) or (n,)
            Row numbers of training samples, from 0 to n - 1, or a mask of n truth values.
        kernels : ndarray of int of shape (m,) or None, default=None
            Indices of kernels, ascending; all if not given.
        """
        chosen, centre, kept = self._check_rows(rows), self._centre, np.arange(self.n_kernels)
        if kernels is not None:  # every new sample is compared with all samples of the centre
            centre, kept = centre.take(np.arange(centre.n_samples), kernels), kernels
        taken = CentredBank.__new__(CentredBank)
        taken._bind(
            self._bank.take(chosen, kernels),
            centre,
            self._rows[chosen],
            self._means[np.ix_(kept, chosen)],
            self._offsets[kept],
        )
        return taken

    def _bind(self, bank: Bank, centre: Bank, rows: Indices, means: Array, offsets: Array) -> None:
        super().__init__(bank)
        self._centre, self._rows = centre, rows
        self._means, self._offsets = means, offsets

    def _shift(self, weights: Array) -> Array:
        """Return what centring adds to the combination at `weights` (M,), symmetric (n, n)."""
        means = weights @ self._means
        return weights @ self._offsets - (means + means[:, None])


class CosineBank(WrappedBank):
    """The kernels k_m(x, z) / sqrt(k_m(x, x) k_m(z, z)): of images projected to the unit sphere.

    A sample whose image is the origin, k_m(x, x) = 0, stays there: its kernel values are 0. Kernels
    that are equal on all training samples, k_m(x, x) = const, as Gaussians are, are only rescaled;
    of the others one Gram matrix at a time is formed.

    Parameters
    ----------
    bank : Bank
        The bank, which has to know k_m(z, z) of new samples (`Bank.diagonals`).
    """

    def __init__(self, bank: Bank) -> None:
        self._bind(bank, _inverse_roots(bank.diagonals()))

    def _bind(self, bank: Bank, scales: Array) -> None:
        super().__init__(bank)
        self._scales = scales
        first = self._scales[:, 0]
        self._uniform = (self._scales == first[:, None]).all(axis=1)
        self._factors = np.where(self._uniform, first**2, 0.0)

    @classmethod
    def needs(cls, bank: Memory, n: int) -> Memory:
        """Return the memory of the kernels of a bank, and of their diagonals.

        Parameters
        ----------
        bank : Memory
            What the bank itself needs.
        n : int
            Number of training samples.
        """
        scales = NUMBER * (bank.n_kernels or 0) * n
        return replace(
            bank,
            kept=bank.kept + scales,
            building=max(bank.building, bank.kept + 4 * scales),
            # One kernel is formed on its own, scaled and added.
            combining=max(bank.combining + gram_bytes(n), gram_bytes(n, 3)),
        )

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        weights = self._check_weights(d)
        combined = self._bank.combine(self._factors * weights, out)
        self._add_others(weights, combined)
        return combined

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        weights = self._check_weights(d)
        self._bank.accumulate(self._factors * weights, out)
        self._add_others(weights, out)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        vector = self._check_coefficients(a)
        forms = self._factors * self._bank.quadratic_forms(vector)
        others = np.flatnonzero(~self._uniform)
        forms[others] = self.products(vector, others) @ vector
        return forms

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        vector, chosen = self._check_coefficients(a), self._check_kernels(kernels)
        rows = np.empty((len(chosen), self.n_samples))
        uniform = self._uniform[chosen]
        equal = chosen[uniform]
        rows[uniform] = self._factors[equal, None] * self._bank.products(vector, equal)
        for row in np.flatnonzero(~uniform):
            scales = self._scales[chosen[row]]
            rows[row] = scales * self._bank.products(scales * vector, chosen[row, None])[0]
        return rows

    def traces(self) -> Array:
        return self.diagonals().sum(axis=1)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        """Return 1 for every sample whose image is not the origin, 0 for the others.

        Parameters
        ----------
        Z : array_like or None, default=None
            New samples, as `cross` takes them; the training samples if not given.
        """
        scales = self._scales if Z is None else _inverse_roots(self._bank.diagonals(Z))
        return (scales > 0).astype(np.float64)

    def inner_products_with(self, K: Array) -> Array:
        products = self._factors * self._bank.inner_products_with(K)
        for m in np.flatnonzero(~self._uniform):
            products[m] = self._bank.inner_products_with(K * self._outer_product(m))[m]
        return products

    def inner_products(self, *, centred: bool = False) -> Array:
        if self._uniform.all():
            products = self._bank.inner_products(centred=centred)
            return self._factors[:, None] * products * self._factors

        def gram(m: int) -> Array:
            K = self.combine(self._only(m, np.ones(self.n_kernels)))
            return centre(K) if centred else K

        return inner_products_of(gram, self.n_kernels, self.n_samples)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        new = _inverse_roots(self._bank.diagonals(Z))
        combined = np.zeros((new.shape[1], self.n_samples))
        for m in np.flatnonzero(d):
            block = self._bank.cross(self._only(m, d), Z)
            combined += new[m][:, None] * block * self._scales[m]
        return combined

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> CosineBank:
        chosen = self._check_rows(rows)
        kept = np.arange(self.n_kernels) if kernels is None else kernels
        taken = CosineBank.__new__(CosineBank)
        taken._bind(self._bank.take(chosen, kernels), self._scales[np.ix_(kept, chosen)])
        return taken

    def _add_others(self, weights: Array, out: Array) -> None:
        for m in np.flatnonzero(np.where(self._uniform, 0.0, weights)):
            out += self._bank.combine(self._only(m, weights)) * self._outer_product(m)

    def _only(self, m: int | np.intp, weights: Array) -> Array:
        """Return `weights` (M,) with all but that of kernel `m` set to 0."""
        return np.where(np.arange(self.n_kernels) == m, weights, 0.0)

    def _outer_product(self, m: np.intp) -> Array:
        return np.outer(self._scales[m], self._scales[m])


def _inverse_roots(diagonals: Array) -> Array:
    """Return 1 / sqrt of the entries of `diagonals` (M, n), 0 where they are not positive.

    Positive means that they have all digits; those that have overflowed have no root: NaN.
    """
    positive = diagonals > _SMALLEST
    roots = np.sqrt(np.where(positive, diagonals, 1.0))
    roots[np.isinf(roots)] = np.nan
    return np.divide(1.0, roots, out=np.zeros_like(diagonals), where=positive)
