"""What banks made of banks keep for predictions: the same change of what those keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels.cross import Array, CrossKernels
from mklbench.kernels.samples import Columns, columns_of
from mklbench.validation import check_choice, check_count, check_features, check_not_negative

Indices = NDArray[np.intp]

# A diagonal entry of which centring leaves no more than this share is 0 up to rounding.
_ROUNDING = 1e-12
# Below this numbers lose digits.
_SMALLEST = float(np.finfo(np.float64).tiny)
_FURTHEST = float(np.finfo(np.float64).max)

_HOW = ("sum", "product", "polynomial")


class ScaledCross(CrossKernels):
    """The kernels s_m k_m.

    Parameters
    ----------
    kernels : CrossKernels
        The M kernels k_m.
    scales : ndarray of shape (M,)
        Factors s_m.
    """

    def __init__(self, kernels: CrossKernels, scales: Array) -> None:
        self._kernels, self._scales = kernels, scales
        self.n_samples, self.n_kernels = kernels.n_samples, kernels.n_kernels

    @property
    def n_values(self) -> int:
        return self._kernels.n_values

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        return self._kernels.cross(self._scales * self._check_weights(weights), Z)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return self._scales[:, None] * self._kernels.diagonals(Z)


class StandardisedCross(CrossKernels):
    """Kernels of features of which means are subtracted and that are then scaled.

    Parameters
    ----------
    kernels : CrossKernels
        The kernels of standardised features.
    means : ndarray of shape (d,)
        What is subtracted.
    factors : ndarray of shape (d,)
        The scale.
    """

    def __init__(self, kernels: CrossKernels, means: Array, factors: Array) -> None:
        self._kernels, self._means, self._factors = kernels, means, factors
        self.n_samples, self.n_kernels = kernels.n_samples, kernels.n_kernels

    @property
    def n_values(self) -> int:
        return self._kernels.n_values

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        return self._kernels.cross(weights, standardised(Z, self._means, self._factors))

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        new = None if Z is None else standardised(Z, self._means, self._factors)
        return self._kernels.diagonals(new)


def standardised(Z: ArrayLike, means: Array, factors: Array) -> Array:
    """Return (Z - means) * factors (n_z, d) for new samples, as far as doubles reach."""
    samples = check_features("Z", Z, len(means))
    with np.errstate(over="ignore"):  # whatever the kernel makes of it
        scaled = (samples - means) * factors
    return np.clip(scaled, -_FURTHEST, _FURTHEST, out=scaled)


class ConcatenatedCross(CrossKernels):
    """The kernels of several parts, one after the other.

    Parameters
    ----------
    parts : sequence of CrossKernels
        The parts, on the same training samples.
    columns : sequence of Columns or None, default=None
        For each part the columns of new samples that it looks at; all of them if not given.
    """

    def __init__(
        self, parts: Sequence[CrossKernels], columns: Sequence[Columns] | None = None
    ) -> None:
        self._parts, self._columns = tuple(parts), columns
        self.n_samples = self._parts[0].n_samples
        self.n_kernels = sum(part.n_kernels for part in self._parts)
        self._ends = np.cumsum([part.n_kernels for part in self._parts])[:-1]

    @property
    def n_values(self) -> int:
        return max(part.n_values for part in self._parts)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        combined: Array | None = None
        shares = np.split(self._check_weights(weights), self._ends)
        samples = self._samples(Z)
        for part, share, own in zip(self._parts, shares, samples, strict=True):
            if not share.any():
                continue
            if combined is None:
                combined = part.cross(share, own)
            else:
                combined += part.cross(share, own)
        if combined is None:
            return np.zeros((np.shape(samples[0])[0], self.n_samples))
        return combined

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        samples = [None] * len(self._parts) if Z is None else self._samples(Z)
        return np.concatenate(
            [part.diagonals(own) for part, own in zip(self._parts, samples, strict=True)]
        )

    def _samples(self, Z: ArrayLike) -> list[Any]:
        """Return for each part what it has to know of new samples."""
        if self._columns is None:
            return [Z] * len(self._parts)
        return [columns_of(Z, columns) for columns in self._columns]


class NodesOfBanksCross(CrossKernels):
    """The kernels of several parts, each with training samples of its own, one after the other.

    A kernel is 0 at the training samples of the other parts.

    Parameters
    ----------
    parts : sequence of CrossKernels
        The parts, all on the features of a new sample as they are.
    """

    def __init__(self, parts: Sequence[CrossKernels]) -> None:
        self._parts = tuple(parts)
        self.n_samples = sum(part.n_samples for part in self._parts)
        self.n_kernels = sum(part.n_kernels for part in self._parts)
        self._ends = np.cumsum([part.n_kernels for part in self._parts])[:-1]

    def cross(self, weights: ArrayLike, Z: Any) -> Array:
        shares = np.split(self._check_weights(weights), self._ends)
        kernel = np.zeros((len(Z), self.n_samples))
        start = 0
        for v, (part, share) in enumerate(zip(self._parts, shares, strict=True)):
            if share.any():  # a view whose kernels have no weight may have been left empty
                own = slice(start, start + part.n_samples)
                kernel[:, own] = part.cross(share, self._samples_of(Z, v))
            start += part.n_samples
        return kernel

    def _samples_of(self, Z: Any, part: int) -> Any:
        return Z


class SideBySideCross(NodesOfBanksCross):
    """The same where new samples are `Views`, one a part."""

    def _samples_of(self, Z: Any, part: int) -> Any:
        return columns_of(Z, part)


class CentredCross(CrossKernels):
    """The kernels around the mean of training samples in their feature spaces (`CentredBank`).

    Parameters
    ----------
    centre : CrossKernels
        Kernels between new samples and the samples whose mean is the centre, all of them.
    means : ndarray of shape (M, n)
        h_m of the training samples.
    offsets : ndarray of shape (M,)
        The means of h_m over the samples of the centre.
    kernels : CrossKernels, ndarray of int of shape (n,) or slice
        The training samples: the kernels between new samples and these, or which of the samples
        of the centre they are.
    """

    def __init__(
        self,
        centre: CrossKernels,
        means: Array,
        offsets: Array,
        kernels: CrossKernels | Indices | slice,
    ) -> None:
        self._centre, self._kernels = centre, kernels
        self._means, self._offsets = means, offsets
        self.n_kernels, self.n_samples = means.shape

    @property
    def n_values(self) -> int:
        return self._centre.n_values

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d, training = self._check_weights(weights), self._kernels
        with_centre = self._centre.cross(d, Z)
        if isinstance(training, CrossKernels):
            block = training.cross(d, Z)
        else:
            block = with_centre[:, training]
        constants = d @ self._offsets - d @ self._means
        return block - with_centre.mean(axis=1)[:, None] + constants

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        if Z is None:
            return super().diagonals()
        plain, units = self._centre.diagonals(Z), np.eye(self.n_kernels)
        means = np.array([self._centre.cross(unit, Z).mean(axis=1) for unit in units])
        return without_rounding(plain - 2.0 * means + self._offsets[:, None], plain)


def without_rounding(centred: Array, plain: Array) -> Array:
    """Return centred diagonals (M, n), 0 where nothing but rounding is left of the plain ones."""
    return np.where(centred > _ROUNDING * np.abs(plain), centred, 0.0)


class CosineCross(CrossKernels):
    """The kernels k_m(x, z) / sqrt(k_m(x, x) k_m(z, z)) (`CosineBank`).

    Parameters
    ----------
    kernels : CrossKernels
        The M kernels k_m, with the diagonals of new samples.
    scales : ndarray of shape (M, n)
        `inverse_roots` of the diagonals of the training samples.
    """

    def __init__(self, kernels: CrossKernels, scales: Array) -> None:
        self._kernels, self._scales = kernels, scales
        self.n_kernels, self.n_samples = scales.shape

    @property
    def n_values(self) -> int:
        return self._kernels.n_values

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        new = inverse_roots(self._kernels.diagonals(Z))
        combined = np.zeros((new.shape[1], self.n_samples))
        for m in np.flatnonzero(d):
            only = np.where(np.arange(self.n_kernels) == m, d, 0.0)
            combined += new[m][:, None] * self._kernels.cross(only, Z) * self._scales[m]
        return combined

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return (inverse_roots(self._kernels.diagonals(Z)) > 0).astype(np.float64)


def inverse_roots(diagonals: Array) -> Array:
    """Return 1 / sqrt of the entries of `diagonals` (M, n), 0 where they are not positive.

    Positive means that they have all digits; those that have overflowed have no root: NaN.
    """
    positive = diagonals > _SMALLEST
    roots = np.sqrt(np.where(positive, diagonals, 1.0))
    roots[np.isinf(roots)] = np.nan
    return np.divide(1.0, roots, out=np.zeros_like(diagonals), where=positive)


class CombinedCross(CrossKernels):
    """One kernel made of M kernels (`CombinedKernel`).

    Parameters
    ----------
    kernels : CrossKernels
        The M kernels.
    rule : CombinationRule
        How they are combined.
    """

    def __init__(self, kernels: CrossKernels, rule: CombinationRule) -> None:
        self._kernels, self._rule = kernels, rule
        self.n_kernels, self.n_samples = 1, kernels.n_samples

    @property
    def n_values(self) -> int:
        return self._kernels.n_values

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        (weight,) = self._check_weights(weights)
        inner = self._kernels
        return weight * self._rule(inner.n_kernels, lambda d: inner.cross(d, Z))

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        each = self._kernels.diagonals(Z)
        return self._rule(len(each), lambda d: d @ each)[None]


class CombinationRule:
    """How the values of M kernels, a function of weights (M,), are combined (`CombinedKernel`).

    Parameters
    ----------
    how : str
        "sum", "product" or "polynomial".
    degree : int
        Of a polynomial, >= 1.
    offset : float
        Of a polynomial, >= 0.

    Raises
    ------
    InputError
        If an argument is out of range.
    """

    def __init__(self, how: str, degree: int, offset: float) -> None:
        check_choice("how", how, _HOW)
        self._how = how
        self._degree = check_count("degree", degree)
        self._offset = check_not_negative("offset", offset)

    def __str__(self) -> str:
        return f"{self._how} {self._degree}" if self._how == "polynomial" else self._how

    def __call__(self, n_kernels: int, values: Callable[[Array], Array]) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            if self._how == "product":
                return reduce(np.multiply, (values(unit) for unit in np.eye(n_kernels)))
            total = values(np.ones(n_kernels))
            return total if self._how == "sum" else (total + self._offset) ** self._degree
