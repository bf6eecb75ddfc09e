"""The family of Gaussians, polynomials and products of the two."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.base import Array, Indices
from mklbench.kernels.continuous import Family, RoughFamily
from mklbench.kernels.contract import Memory, Shape, gram_bytes
from mklbench.kernels.euclidean import Single, centred_squared_distances, exp_in_place
from mklbench.kernels.families import IsotropicGaussians
from mklbench.kernels.naming import ALL_COLUMNS, named
from mklbench.validation import check_count, check_features


class GaussianPolynomials(Family):
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

    n_kernels = 2
    features = (-1, -1)

    def __init__(
        self, X: ArrayLike, gamma_min: float = 0.0, gamma_max: float = np.inf, degree: int = 2
    ) -> None:
        self._degree = check_count("degree", degree)
        self._place(IsotropicGaussians(X, gamma_min, gamma_max))
        self.lower, self.upper = (
            np.repeat(end, 2) for end in (self._gaussians.lower, self._gaussians.upper)
        )

    def _place(self, gaussians: IsotropicGaussians) -> None:
        self._gaussians = gaussians
        self.samples, self.n_samples = gaussians.samples, gaussians.n_samples

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> Self:
        taken = copy(self)
        taken._place(self._gaussians.take(rows, kernels))
        return taken

    @staticmethod
    def memory(shape: Shape, **options: object) -> Memory:
        """Return the memory of the family.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        **options : object
            Of the family; they do not matter.
        """
        alone = IsotropicGaussians.memory(shape)
        return replace(alone, n_kernels=2, combining=gram_bytes(shape.n, 4))

    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        theta = self._check_theta(weights)
        K = self._gaussians.gram(theta[:1], out)
        K *= self._cosines(theta[1], self.samples) ** self._degree
        np.fill_diagonal(K, 1.0)
        return K

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        theta, new = self._check_theta(weights), check_features("Z", Z, self.samples.shape[1])
        K = self._gaussians.cross(theta[:1], new)
        K *= self._cosines(theta[1], new) ** self._degree
        return K

    def gradient(self, theta: ArrayLike, a: ArrayLike, K: Array | None = None) -> Array:
        parameters, vector = self._check_theta(theta), np.asarray(a, dtype=np.float64)
        rows = np.flatnonzero(vector)
        if not len(rows):
            return np.zeros(2)
        part, vector = self.take(rows), vector[rows]
        X, gaussian = part.samples, part._gaussians.gram(parameters[:1])
        cosines, inner = part._cosines(parameters[1], X), X @ X.T
        whole = gaussian * cosines**self._degree
        of_gaussian = part._gaussians.gradient(parameters[:1], vector, whole)[0]
        squares = 1.0 + parameters[1] * inner.diagonal()
        shares = 0.5 * inner.diagonal() / squares
        slopes = inner / np.sqrt(np.outer(squares, squares))
        slopes -= cosines * (shares[:, None] + shares)
        slopes *= self._degree * cosines ** (self._degree - 1) * gaussian
        return np.array([of_gaussian, vector @ slopes @ vector])

    def single_precision(self) -> RoughFamily:
        return _Rough(self, self.samples, self._degree)

    def starts(self) -> Array:
        """Return `scales` and, for each parameter, kernels with the other at the lower end."""
        scales = self.scales()
        alone = np.concatenate([scales * [2.0, 0.0], scales * [0.0, 2.0]])
        return np.concatenate([scales, np.clip(alone, self.lower, self.upper)])

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        return tuple(named(each, ALL_COLUMNS) for each in ("gaussian", self._polynomial))

    def member_names(
        self, thetas: ArrayLike, columns: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        factors = ("gaussian", self._polynomial)
        return tuple(
            named(
                " times ".join(f"{factors[m]} at {theta[m]:.3g}" for m in np.flatnonzero(theta))
                or "constant",
                ALL_COLUMNS,
            )
            for theta in np.asarray(thetas, dtype=np.float64)
        )

    @property
    def _polynomial(self) -> str:
        return f"polynomial {self._degree}"

    def _cosines(self, gamma: float, Z: Array) -> Array:
        """Return q (k, n) between `Z` and the training samples."""
        lengths = [1.0 + gamma * np.einsum("im,im->i", S, S) for S in (Z, self.samples)]
        cosines: Array = (1.0 + gamma * (Z @ self.samples.T)) / np.sqrt(np.outer(*lengths))
        return cosines


class _Rough(RoughFamily):
    """Kernels in single precision, from the distances and inner products of all pairs."""

    def __init__(self, family: Family, X: Array, degree: int) -> None:
        super().__init__(family)
        self._degree = degree
        self._distances = centred_squared_distances(X - X.mean(axis=0)).astype(np.float32)
        self._inner = (X @ X.T).astype(np.float32)

    def values(self, thetas: Array, a: Array) -> Array:
        coefficients, values = a.astype(np.float32), np.empty(len(thetas))
        # Along one parameter the factor of the other stays.
        makers = [lru_cache(maxsize=1)(make) for make in (self._gaussian, self._polynomial)]
        for k, theta in enumerate(thetas):
            made = [make(value) for make, value in zip(makers, theta, strict=True)]
            values[k] = coefficients @ (made[0] * made[1]) @ coefficients
        return values

    def _gaussian(self, gamma: float) -> Single:
        return exp_in_place(self._distances * np.float32(-gamma))

    def _polynomial(self, gamma: float) -> Single:
        products = 1 + np.float32(gamma) * self._inner
        root = np.sqrt(products.diagonal())
        products /= root[:, None]
        products /= root
        return products**self._degree
