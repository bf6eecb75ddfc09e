"""Continuous families of kernels, and banks and machines of some of their members."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels.banks.dense import StackedBank
from mklbench.kernels.base import Array, Indices
from mklbench.kernels.continuous import (
    CoordinateSearch,
    Family,
    IndicatorLines,
    ProductLines,
    RoughFamily,
    are_indicators,
)
from mklbench.kernels.contract import NUMBER, Memory, gram_bytes, weighted_sum
from mklbench.kernels.functions import (
    Gaussian,
    Single,
    distances_of_differences,
    distances_of_products,
    exp_in_place,
    squared_distances,
)
from mklbench.kernels.naming import (
    ALL_COLUMNS,
    column_names,
    gaussian_names,
    named,
    product_names,
)
from mklbench.validation import check_count, check_features, check_training_features

# Samples are that far from their centre at most where matrix products and single precision serve:
# what is lost to rounding, in units of a squared feature, would be as large as a gradient.
_FAR = 1e6
# Many kernels are priced together, so many pairs of samples and so many kernels at once.
_PAIRS_AT_ONCE, _KERNELS_AT_ONCE = 2000, 64
# exp(-distances): the gammas are in the distances.
_EXP = Gaussian(1.0).of_distances


class _Gaussians(Family):
    """What families of Gaussians share: a box [gamma_min, gamma_max] for every parameter.

    Raises
    ------
    InputError
        If the box is empty or not within the numbers >= 0.
    """

    def __init__(self, X: ArrayLike, n_parameters: int, gamma_min: float, gamma_max: float) -> None:
        if not 0 <= gamma_min <= gamma_max or gamma_min == np.inf or gamma_max == 0:
            raise InputError(
                f"gamma_min={gamma_min:g} and gamma_max={gamma_max:g} leave no kernel to choose: "
                "give 0 <= gamma_min <= gamma_max with gamma_max > 0."
            )
        self.n_kernels = n_parameters
        self._box = float(gamma_min), float(gamma_max)
        self.lower, self.upper = (np.full(n_parameters, end) for end in self._box)
        samples = np.asarray(X, dtype=np.float64)
        self._centre = np.median(samples, axis=0)
        self._place(samples)
        # The differences themselves are squared where samples lie too far out for products.
        self._by_differences = bool(np.abs(self._X).max() > _FAR)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> Self:
        taken = copy(self)
        taken._place(self.samples[self._check_rows(rows)])
        return taken

    def _place(self, samples: Array) -> None:
        """Stand on `samples` (n, d), shifted to the origin: there products lose few digits."""
        self.samples, self.n_samples = samples, len(samples)
        self._X = samples - self._centre

    def _distances(self, X: Array, Z: Array) -> Array:
        """Return the squared distances (k, n) of shifted training samples, scaled or not."""
        return (distances_of_differences if self._by_differences else distances_of_products)(X, Z)

    @abstractmethod
    def _by_feature(self, theta: ArrayLike) -> Array:
        """Return the gamma (d,) of each feature at some parameters."""

    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        X = self._X * np.sqrt(self._by_feature(weights))
        distances = self._distances(X, X)
        return _EXP(distances, out=distances if out is None else out)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        root = np.sqrt(self._by_feature(weights))
        samples, used = check_features("Z", Z, len(root)), np.flatnonzero(root)
        with np.errstate(over="ignore"):  # to an infinite distance, where the kernel is 0
            scaled = (samples - self._centre)[:, used] * root[used]
        distances = squared_distances(scaled, self._X[:, used] * root[used])
        return _EXP(distances, out=distances)

    def between(self, theta: ArrayLike, samples: Array) -> Array:
        root = np.sqrt(self._by_feature(theta))
        distances = self._distances((samples - self._centre) * root, self._X * root)
        return _EXP(distances, out=distances)

    def gradient(self, theta: ArrayLike, a: ArrayLike, K: Array | None = None) -> Array:
        vector = self._check_coefficients(a)
        rows = np.flatnonzero(vector)
        X = self._X[rows]
        W = self.take(rows).gram(theta) if K is None else K[rows[:, None], rows]
        W *= vector[rows, None]
        W *= vector[rows]
        if self._by_differences:
            return np.array([-np.vdot(W, squared_distances(x, x)) for x in X.T[:, :, None]])
        return 2.0 * (np.einsum("im,im->m", X, W @ X) - W.sum(axis=1) @ (X * X))

    def memory(self, n: int) -> Memory:
        return Memory(NUMBER * 4 * n * self.samples.shape[1])

    def median_parameters(self) -> Array:
        distances = self._distances(self._X, self._X)
        median = float(np.median(distances[np.triu_indices(self.n_samples, 1)]))
        if median <= 0:
            raise InputError(
                "start=median needs samples that differ, and half of all pairs are equal: choose "
                "start=uniform."
            )
        return np.full(self.n_kernels, 1.0 / median)


class ProductGaussians(_Gaussians):
    """Products of Gaussians, one a feature: K_theta = exp(-sum_m theta_m (x_m - z_m)^2).

    This is the major kernel of Picard et al. 2012 with d_m(x, z) = (x_m - z_m)^2 and
    gamma_m = theta_m, the product kernel of Varma & Babu 2009 and eq. 5 of Gehler & Nowozin 2008.
    No distance matrix is stored: with W = (a a') o K and r = W 1,

        sum_ij W_ij (x_im - x_jm)^2 = 2 (r' (x_m o x_m) - x_m' W x_m),

    so the gradient for all m costs one matrix product W X on the rows with a_i != 0.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples; the family has M = d parameters.
    gamma_min : float, default=0.0
        Lower end of the box in which kernels are searched for, >= 0.
    gamma_max : float, default=inf
        Upper end of the box, > 0, at least `gamma_min`.

    Raises
    ------
    InputError
        If `X` is no finite matrix, or the box is empty or not within the numbers >= 0.
    """

    def __init__(self, X: ArrayLike, gamma_min: float = 0.0, gamma_max: float = np.inf) -> None:
        features = check_training_features("X", X)
        super().__init__(features, features.shape[1], gamma_min, gamma_max)
        self.features = tuple(range(self.n_kernels))

    def _by_feature(self, theta: ArrayLike) -> Array:
        return self._check_theta(theta)

    def single_precision(self) -> RoughFamily:
        if self._by_differences:
            return super().single_precision()
        return _RoughProducts(self, self._X)

    def starts(self) -> Array:
        """Return `scales` and, for each feature, the Gaussians of the same widths on it alone."""
        scales = self.scales()
        alone = [
            np.where(np.arange(self.n_kernels) == m, self.n_kernels * scale, 0.0)
            for m in range(self.n_kernels)
            for scale in scales
        ]
        return np.concatenate([scales, np.clip(alone, self.lower, self.upper)])

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return a name (M,) for each parameter, the gamma of one column.

        Parameters
        ----------
        columns : sequence of str or None, default=None
            The names (d,) of the columns of the samples; if not given, they go by their numbers.
        """
        where = column_names(self.n_kernels, columns)
        return tuple(named("gaussian", column) for column in where)

    def member_names(
        self, thetas: ArrayLike, columns: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        where = column_names(self.n_kernels, columns)
        return tuple(product_names(thetas, where))

    def in_own_order(self) -> tuple[ProductGaussians, NDArray[np.intp]]:
        order = _own_order(self.samples)
        return ProductGaussians(self.samples[:, order], *self._box), order


class IsotropicGaussians(_Gaussians):
    """Gaussians on all features together: K_gamma = exp(-gamma ||x - z||^2).

    The family "single" of Gehler & Nowozin 2008, with one parameter.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    gamma_min : float, default=0.0
        Lower end of the interval in which kernels are searched for, >= 0.
    gamma_max : float, default=inf
        Upper end of the interval, > 0, at least `gamma_min`.

    Raises
    ------
    InputError
        If `X` is no finite matrix, or the interval is empty or not within the numbers >= 0.
    """

    def __init__(self, X: ArrayLike, gamma_min: float = 0.0, gamma_max: float = np.inf) -> None:
        super().__init__(check_training_features("X", X), 1, gamma_min, gamma_max)
        self.features = (-1,)

    def _by_feature(self, theta: ArrayLike) -> Array:
        return np.full(self.samples.shape[1], self._check_theta(theta)[0])

    def gradient(self, theta: ArrayLike, a: ArrayLike, K: Array | None = None) -> Array:
        return super().gradient(theta, a, K).sum(keepdims=True)

    def starts(self) -> Array:
        """Return a fine logarithmic grid: one parameter can be searched all over."""
        grid = np.geomspace(1e-6, 1.0, 25)[:, None] * self.upper
        every = np.clip(np.concatenate([self.scales(), grid]), self.lower, self.upper)
        return np.unique(every)[:, None]

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return the name (1,) of the parameter, the gamma of all columns.

        Parameters
        ----------
        columns : sequence of str or None, default=None
            Not used: the kernel is on all of them.
        """
        return (named("gaussian", ALL_COLUMNS),)

    def member_names(
        self, thetas: ArrayLike, columns: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        gammas = np.asarray(thetas, dtype=np.float64)[:, 0].tolist()
        return tuple(named(each, ALL_COLUMNS) for each in gaussian_names(gammas))

    def in_own_order(self) -> tuple[IsotropicGaussians, NDArray[np.intp]]:
        samples = self.samples[:, _own_order(self.samples)]
        return IsotropicGaussians(samples, *self._box), np.zeros(1, dtype=np.intp)


class GaussianPolynomials(_Gaussians):
    """Products of an isotropic Gaussian and a polynomial of diagonal 1.

    K_theta = exp(-theta_0 ||x - z||^2) q^degree, where

        q = (1 + theta_1 x'z) / sqrt((1 + theta_1 x'x) (1 + theta_1 z'z)).

    With theta_1 = 0 it is a Gaussian and with theta_0 = 0 a polynomial, so that a mixture of
    kernels of both types (Gehler & Nowozin 2008, section 1) is one of members of this family. The
    diagonal is 1, or the polynomial with the largest values would win by its scale.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    gamma_min, gamma_max : float, default=0.0, inf
        The box of both parameters, as of `IsotropicGaussians`.
    degree : int, default=2
        Degree of the polynomial, >= 1.
    """

    features = (-1, -1)
    # As every family has them: a polynomial has no exponent, and new samples are no other ones.
    between, median_parameters = Family.between, Family.median_parameters

    def __init__(
        self, X: ArrayLike, gamma_min: float = 0.0, gamma_max: float = np.inf, degree: int = 2
    ) -> None:
        self._degree = check_count("degree", degree)
        super().__init__(check_training_features("X", X), 2, gamma_min, gamma_max)

    def _by_feature(self, theta: ArrayLike) -> Array:
        return np.full(self.samples.shape[1], self._check_theta(theta)[0])

    def memory(self, n: int) -> Memory:
        return Memory(super().memory(n).kept + gram_bytes(n, 4))

    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        theta = self._check_theta(weights)
        K = super().gram(theta, out)
        K *= self._cosines(theta[1], self.samples) ** self._degree
        np.fill_diagonal(K, 1.0)
        return K

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        theta, new = self._check_theta(weights), check_features("Z", Z, self.samples.shape[1])
        K = super().cross(theta, new)
        K *= self._cosines(theta[1], new) ** self._degree
        return K

    def gradient(self, theta: ArrayLike, a: ArrayLike, K: Array | None = None) -> Array:
        parameters, vector = self._check_theta(theta), np.asarray(a, dtype=np.float64)
        rows = np.flatnonzero(vector)
        if not len(rows):
            return np.zeros(2)
        part, vector = self.take(rows), vector[rows]
        X, gaussian = part.samples, _Gaussians.gram(part, parameters)
        cosines, inner = part._cosines(parameters[1], X), X @ X.T
        whole = gaussian * cosines**self._degree
        of_gaussian = _Gaussians.gradient(part, parameters, vector, whole).sum()
        squares = 1.0 + parameters[1] * inner.diagonal()
        shares = 0.5 * inner.diagonal() / squares
        slopes = inner / np.sqrt(np.outer(squares, squares))
        slopes -= cosines * (shares[:, None] + shares)
        slopes *= self._degree * cosines ** (self._degree - 1) * gaussian
        return np.array([of_gaussian, vector @ slopes @ vector])

    def starts(self) -> Array:
        """Return `scales` and, for each parameter, kernels with the other at the lower end."""
        scales = self.scales()
        alone = np.concatenate([scales * [2.0, 0.0], scales * [0.0, 2.0]])
        return np.concatenate([scales, np.clip(alone, self.lower, self.upper)])

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        each = ("gaussian", f"polynomial {self._degree}")
        return tuple(named(factor, ALL_COLUMNS) for factor in each)

    def member_names(
        self, thetas: ArrayLike, columns: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        words = f"gaussian at {{:.3g}} times polynomial {self._degree} at {{:.3g}}"
        rows = np.asarray(thetas, dtype=np.float64).tolist()
        return tuple(named(words.format(*theta), ALL_COLUMNS) for theta in rows)

    def _cosines(self, gamma: float, Z: Array) -> Array:
        """Return q (k, n) between `Z` and the training samples."""
        lengths = [1.0 + gamma * np.einsum("im,im->i", S, S) for S in (Z, self.samples)]
        cosines: Array = (1.0 + gamma * (Z @ self.samples.T)) / np.sqrt(np.outer(*lengths))
        return cosines


def _own_order(X: Array) -> NDArray[np.intp]:
    """Return the order of the features (d,) that sorts them by their values, sample by sample."""
    return np.lexsort(X[::-1])


class _RoughProducts(RoughFamily):
    """Products of Gaussians in single precision."""

    def __init__(self, family: Family, X: Array) -> None:
        super().__init__(family)
        self._X = X.astype(np.float32)
        self._squares = self._X * self._X
        self._with_ones = np.hstack((np.ones((len(X), 1), np.float32), self._X))

    def gram(self, theta: Array) -> Single:
        used = np.flatnonzero(theta)  # often few: many parameters end at the bound 0
        return _gaussian(self._X[:, used] * np.sqrt(theta[used]).astype(np.float32))

    def quadratic_form(
        self, theta: Array, a: Array, K: NDArray[np.floating]
    ) -> tuple[float, Array]:
        coefficients = a.astype(np.float32)
        # Columns K a and K (a o x_m): both sums in the docstring of the family in one product.
        weighted = coefficients[:, None] * self._with_ones
        products = K @ weighted
        r = coefficients * products[:, 0]
        quadratic = np.einsum("im,im->m", weighted[:, 1:], products[:, 1:])
        return float(r.sum()), 2.0 * (quadratic - r @ self._squares).astype(np.float64)

    def value(self, theta: Array, a: Array) -> float:
        used = np.flatnonzero(theta)
        if len(used) != 1:
            return super().value(theta, a.astype(np.float32))
        # Samples of the same value are one sample to a kernel on one feature; of indicators and
        # counts there are few different ones.
        values, inverse = np.unique(self._X[:, used[0]], return_inverse=True)
        sums = np.bincount(inverse, a).astype(np.float32)
        scaled = values[:, None] * np.sqrt(theta[used]).astype(np.float32)
        return float(sums @ _gaussian(scaled) @ sums)

    def values(self, thetas: Array, a: Array) -> Array:
        # The exponents of all pairs of samples and all kernels are one product. Pairs i < j count
        # twice, and the diagonal is 1.
        factors = np.negative(thetas).astype(np.float32)
        twice = 2.0 * a.astype(np.float32)
        found = np.full(len(thetas), float(a @ a))
        step = max(1, _PAIRS_AT_ONCE // len(a))
        for first in range(0, len(a), step):
            i, j = np.triu_indices(min(step, len(a) - first), 1, len(a) - first)
            i, j = i + first, j + first
            differences = self._X[i] - self._X[j]
            differences *= differences
            for some in range(0, len(thetas), _KERNELS_AT_ONCE):
                part = slice(some, some + _KERNELS_AT_ONCE)
                products = exp_in_place(factors[part] @ differences.T)
                found[part] += products @ (twice[i] * a[j]).astype(np.float32)
        return found

    @property
    def has_quick_lines(self) -> bool:
        return are_indicators(self._X, self._family.lower, self._family.upper)

    def lines(self, a: Array) -> CoordinateSearch:
        if self.has_quick_lines:
            return IndicatorLines(self, self._X, a, self._family.upper)
        return ProductLines(self, self._X, a)


def _gaussian(X: Single) -> Single:
    """Return exp(-||x_i - x_j||^2) (n, n) for the rows of `X` (n, d), around the origin."""
    norms = np.einsum("im,im->i", X, X)[:, None]
    ones = np.ones_like(norms)
    # The exponents 2 x_i'x_j - |x_i|^2 - |x_j|^2 come from one product.
    return exp_in_place(np.hstack((2.0 * X, -norms, ones)) @ np.hstack((X, ones, -norms)).T)


class FamilyBank(StackedBank):
    """Finitely many members of a family, the lower triangles of their Gram matrices stored.

    Parameters
    ----------
    family : Family
        On n training samples, with M parameters.
    thetas : array_like of shape (k, M)
        Parameters, one row a kernel of the bank.

    Raises
    ------
    InputError
        If `thetas` are not rows of M parameters.
    """

    def __init__(self, family: Family, thetas: ArrayLike) -> None:
        self._family = family
        self.thetas = check_thetas(family, thetas)
        self.n_samples, self.n_kernels = family.n_samples, len(self.thetas)
        self.features, self.groups = (-1,) * self.n_kernels, None

    def _blocks(self, kernels: Indices, Z: Any = None) -> Iterator[Array]:
        for theta in self.thetas[kernels]:
            yield self._family.gram(theta) if Z is None else self._family.cross(theta, Z)

    def update(self, thetas: ArrayLike) -> None:
        """Become the bank of other members; only kernels that change are computed.

        Parameters
        ----------
        thetas : array_like of shape (k', M)
            Parameters, one row a kernel.
        """
        wanted = check_thetas(self._family, thetas)
        self._grams.truncate(len(wanted))
        for k, theta in enumerate(wanted):
            if k >= len(self._grams):
                self._grams.append(self._family.gram(theta))
            elif not np.array_equal(theta, self.thetas[k]):
                self._grams.replace(k, self._family.gram(theta))
        self._kernels_changed()
        self.thetas = wanted.copy()
        self.n_kernels = len(wanted)
        self.features = (-1,) * self.n_kernels

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        return self._family.member_names(self.thetas, columns)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> FamilyBank:
        thetas = self.thetas if kernels is None else self.thetas[kernels]
        return FamilyBank(self._family.take(rows, kernels), thetas)


def check_thetas(family: Family, thetas: ArrayLike) -> Array:
    """Return parameters of members of a family as an array (k, M).

    Parameters
    ----------
    family : Family
        The family, with M parameters.
    thetas : array_like of shape (k, M)
        Parameters, one row a kernel.

    Raises
    ------
    InputError
        If they are not rows of as many parameters as the family has.
    """
    checked = np.asarray(thetas, dtype=np.float64)
    if checked.ndim != 2 or checked.shape[1] != family.n_kernels:
        raise InputError(
            f"thetas have shape {checked.shape}, but the family has {family.n_kernels} parameters: "
            "give one row of so many for each kernel."
        )
    return checked


def mixture_outputs(
    family: Family, weights: Array, thetas: Array, dual_coef: Array, Z: ArrayLike
) -> Array:
    """Return f(z) (n_z,) without the intercept at `Z`, of a machine on members of a family.

    Parameters
    ----------
    family : Family
        On the n training samples.
    weights : ndarray of shape (k,)
        Kernel weights.
    thetas : ndarray of shape (k, M)
        Parameters of the kernels, one row a kernel.
    dual_coef : ndarray of shape (n,)
        alpha o y; samples where it is 0 cost nothing.
    Z : array_like of shape (n_z, d)
        New samples.
    """
    support = np.flatnonzero(dual_coef)
    machine = FamilyBank(family.take(support), thetas)
    return machine.cross(weights, Z) @ dual_coef[support]


def training_outputs(
    family: Family,
    weights: Array,
    thetas: Array,
    dual_coef: Array,
    rows: NDArray[np.intp] | slice = slice(None),
) -> Array:
    """Return f(x) (r,) without the intercept at training samples, by `Family.between`.

    Parameters
    ----------
    family : Family
        On the n training samples.
    weights, thetas, dual_coef : ndarray
        As of `mixture_outputs`.
    rows : ndarray of int of shape (r,) or slice, default=slice(None)
        The training samples that are asked for; all n if not given.
    """
    support, used = np.flatnonzero(dual_coef), np.flatnonzero(weights)
    machine, samples = family.take(support), family.samples[rows]
    blocks = (machine.between(thetas[k], samples) for k in used)
    kernel = weighted_sum(weights[used], blocks, (len(samples), len(support)))
    return kernel @ dual_coef[support]
