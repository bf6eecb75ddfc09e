"""Banks made of another bank: scaled, subsets, standardised, centred, cosine, combined into one.

All is done kernel by kernel. What is scaled, chosen or standardised keeps the structure of a bank;
centred, cosine and combined kernels have Gram matrices of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.dense import StackedBank
from mklbench.kernels.base import Array, Bank, Indices
from mklbench.kernels.contract import Memory
from mklbench.kernels.functions import standardisation
from mklbench.kernels.gram_matrices import centre
from mklbench.kernels.row_factors import RowFactors
from mklbench.validation import (
    check_choice,
    check_count,
    check_features,
    check_not_negative,
    check_training_features,
)


class WrappedBank(Bank):
    """A bank whose kernels are those of another one, but for what subclasses change.

    A subclass whose kernels are linear in those of the bank says so in `_inner` and `_outer`, and
    one that changes new samples in `_new`.

    Parameters
    ----------
    bank : Bank
        The bank of kernels on n training samples.
    """

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self.n_samples = bank.n_samples
        self.n_kernels = bank.n_kernels
        self.features = bank.features
        self.groups = bank.groups

    def _inner(self, d: ArrayLike) -> Array:
        """Return the weights of the bank's kernels that make the combination at `d` (M,)."""
        return self._check_weights(d)

    def _outer(self, values: Array) -> Array:
        """Return the values (M, ...) of the kernels from those of the bank's kernels."""
        return values

    def _new(self, Z: Any) -> Any:
        """Return new samples as the bank takes them."""
        return Z

    def memory(self, n: int) -> Memory:
        return self._bank.memory(n)._replace(rank=None)

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        return self._bank.combine(self._inner(d), out)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return self._outer(self._bank.quadratic_forms(a))

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        return self._bank.products(a, kernels)

    def top_k(self, prices: Array, count: int) -> Indices:
        return self._bank.top_k(prices, count)

    def traces(self) -> Array:
        return self._outer(self._bank.traces())

    def diagonals(self, Z: Any = None) -> Array:
        return self._outer(self._bank.diagonals(None if Z is None else self._new(Z)))

    def inner_products_with(self, K: Array) -> Array:
        return self._outer(self._bank.inner_products_with(K))

    def inner_products(self, *, centred: bool = False) -> Array:
        return self._outer(self._outer(self._bank.inner_products(centred=centred)).T).T

    def cross(self, weights: ArrayLike, Z: Any) -> Array:
        return self._bank.cross(self._inner(weights), self._new(Z))

    def kernel_names(self, columns: Sequence[str] | None = None) -> Sequence[str]:
        return self._bank.kernel_names(columns)


class ScaledBank(WrappedBank):
    """The kernels s_m K_m of a bank, without touching its Gram matrices.

    What is taken of it keeps the scales of the samples it was normalised on, so that C keeps its
    scale.

    Parameters
    ----------
    bank : Bank
        The bank that is rescaled.
    scales : ndarray of shape (M,)
        Factors s_m > 0.
    """

    def __init__(self, bank: Bank, scales: Array) -> None:
        super().__init__(bank)
        self._scales = scales

    def _inner(self, d: ArrayLike) -> Array:
        return self._scales * self._check_weights(d)

    def _outer(self, values: Array) -> Array:
        return (self._scales * values.T).T

    def memory(self, n: int) -> Memory:
        return self._bank.memory(n)

    def row_factors(self) -> RowFactors | None:
        factors = self._bank.row_factors()
        return None if factors is None else factors.scaled(self._scales)

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        chosen = self._check_kernels(kernels)
        return self._scales[chosen, None] * self._bank.products(a, chosen)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> ScaledBank:
        scales = self._scales if kernels is None else self._scales[kernels]
        return ScaledBank(self._bank.take(rows, kernels), scales)


def unit_trace(bank: Bank) -> ScaledBank:
    """Return the kernels of a bank divided each by the trace of its training Gram matrix.

    A kernel whose trace is 0 (a linear kernel on a constant feature) stays as it is: zero.

    Parameters
    ----------
    bank : Bank
        The bank of M kernels on n training samples.
    """
    traces = bank.traces()
    return ScaledBank(bank, np.divide(1.0, traces, out=np.ones_like(traces), where=traces > 0))


class KernelSubset(WrappedBank):
    """Some of the kernels of a bank, without copying anything.

    Parameters
    ----------
    bank : Bank
        The bank of M kernels.
    kernels : array_like of shape (k,)
        Indices of those that are meant, in any order.
    """

    def __init__(self, bank: Bank, kernels: ArrayLike) -> None:
        super().__init__(bank)
        self._kernels: Indices = bank._check_kernels(kernels)
        self.n_kernels, self.groups = len(self._kernels), None
        self.features = tuple(bank.features[m] for m in self._kernels)

    def _inner(self, d: ArrayLike) -> Array:
        weights = np.zeros(self._bank.n_kernels)
        weights[self._kernels] = self._check_weights(d)
        return weights

    def _outer(self, values: Array) -> Array:
        return values[self._kernels]

    def quadratic_forms(self, a: ArrayLike) -> Array:  # without those of the others
        return Bank.quadratic_forms(self, a)

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        return self._bank.products(a, self._kernels[self._check_kernels(kernels)])

    def top_k(self, prices: Array, count: int) -> Indices:
        return Bank.top_k(self, prices, count)

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        names = self._bank.kernel_names(columns)
        return tuple(names[m] for m in self._kernels)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> KernelSubset:
        if kernels is None:
            return KernelSubset(self._bank.take(rows), self._kernels)
        chosen, places = np.unique(self._kernels[kernels], return_inverse=True)
        return KernelSubset(self._bank.take(rows, chosen), places)


class StandardisedBank(WrappedBank):
    """A bank on features of mean 0 and variance 1; a constant feature becomes 0.

    What is taken of it keeps the means and deviations of the samples it was made on.

    Parameters
    ----------
    build : callable
        Makes the bank from the standardised samples.
    X : array_like of shape (n, d)
        Training samples, whose means and standard deviations are used.

    Raises
    ------
    InputError
        If `X` is no finite matrix.
    """

    def __init__(self, build: Callable[[Array], Bank], X: ArrayLike) -> None:
        samples = check_training_features("X", X)
        self._means, self._factors = standardisation(samples)
        super().__init__(build(self._new(samples)))

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> StandardisedBank:
        taken = copy(self)
        WrappedBank.__init__(taken, self._bank.take(rows, kernels))
        return taken

    def _new(self, Z: Any) -> Array:
        return (check_features("Z", Z, len(self._means)) - self._means) * self._factors


# A diagonal entry of which centring leaves no more than this share is 0 up to rounding.
_ROUNDING = 1e-12


class _RemadeBank(StackedBank):
    """Kernels made each of one of a bank, whose Gram matrices are stored.

    Parameters
    ----------
    bank : Bank
        The bank.
    """

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self.n_samples, self.n_kernels = bank.n_samples, bank.n_kernels
        self.features, self.groups = bank.features, bank.groups

    def memory(self, n: int) -> Memory:
        return Memory(self._bank.memory(n).kept + super().memory(n).kept)

    def kernel_names(self, columns: Sequence[str] | None = None) -> Sequence[str]:
        return self._bank.kernel_names(columns)


class CentredBank(_RemadeBank):
    """The kernels around the mean of n samples in their feature spaces.

    With phi_m the feature map of kernel m and x_j the training samples, kernel m becomes

        <phi_m(x) - mean_j phi_m(x_j), phi_m(z) - mean_j phi_m(x_j)>
        = k_m(x, z) - h_m(x) - h_m(z) + mean_j h_m(x_j),    h_m(x) = mean_j k_m(x, x_j),

    H K_m H on the training samples, H = I - 1 1'/n (Cortes et al. 2012), and the same
    centre for new ones. What is taken of it keeps the centre of all samples;
    ``CentredBank(bank.take(rows))`` is centred on those rows instead.

    Parameters
    ----------
    bank : Bank
        The bank on the samples whose mean is the centre.
    """

    def __init__(self, bank: Bank) -> None:
        super().__init__(bank)
        n = bank.n_samples
        self._rows = np.arange(n)
        self._means = bank.products(np.full(n, 1.0 / n), np.arange(bank.n_kernels))
        self._offsets = self._means.mean(axis=1)

    def _blocks(self, kernels: Indices, Z: Any = None) -> Iterator[Array]:
        for unit in np.eye(self.n_kernels)[kernels]:
            yield centre(self._bank.combine(unit))[np.ix_(self._rows, self._rows)]

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        plain, means = self._bank.diagonals(Z), self._means
        if Z is None:
            plain, means = plain[:, self._rows], means[:, self._rows]
        else:
            units = np.eye(self.n_kernels)
            means = np.array([self._bank.cross(unit, Z).mean(axis=1) for unit in units])
        centred = plain - 2.0 * means + self._offsets[:, None]
        # 0 where nothing but rounding is left of the plain ones.
        return np.where(centred > _ROUNDING * np.abs(plain), centred, 0.0)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        with_centre = self._bank.cross(d, Z)
        constants = d @ self._offsets - d @ self._means[:, self._rows]
        return with_centre[:, self._rows] - with_centre.mean(axis=1)[:, None] + constants

    def _pick(self, rows: Indices, kernels: Indices | None) -> None:
        self._rows = self._rows[rows]
        if kernels is not None:  # every new sample is compared with all samples of the centre
            self._bank = self._bank.take(np.arange(self._bank.n_samples), kernels)
            self._means, self._offsets = self._means[kernels], self._offsets[kernels]


class CosineBank(_RemadeBank):
    """The kernels k_m(x, z) / sqrt(k_m(x, x) k_m(z, z)): of images projected to the unit sphere.

    A sample whose image is the origin, k_m(x, x) = 0, stays there: its kernel values are 0.

    Parameters
    ----------
    bank : Bank
        The bank, which has to know k_m(z, z) of new samples (`Bank.diagonals`).
    """

    def __init__(self, bank: Bank) -> None:
        super().__init__(bank)
        self._scales = _inverse_roots(bank.diagonals())

    def _blocks(self, kernels: Indices, Z: Any = None) -> Iterator[Array]:
        new = self._scales if Z is None else _inverse_roots(self._bank.diagonals(Z))
        for m, unit in zip(kernels.tolist(), np.eye(self.n_kernels)[kernels], strict=True):
            block = self._bank.combine(unit) if Z is None else self._bank.cross(unit, Z)
            yield block * np.outer(new[m], self._scales[m])

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        """Return 1 for every sample whose image is not the origin, 0 for the others.

        Parameters
        ----------
        Z : array_like or None, default=None
            New samples, as `cross` takes them; the training samples if not given.
        """
        scales = self._scales if Z is None else _inverse_roots(self._bank.diagonals(Z))
        return (scales > 0).astype(np.float64)

    def _pick(self, rows: Indices, kernels: Indices | None) -> None:
        self._bank = self._bank.take(rows, kernels)
        self._scales = (self._scales if kernels is None else self._scales[kernels])[:, rows]


def _inverse_roots(diagonals: Array) -> Array:
    """Return 1 / sqrt of the entries of `diagonals` (M, n), 0 where they are not positive."""
    return np.power(diagonals, -0.5, out=np.zeros_like(diagonals), where=diagonals > 0)


_HOW = ("sum", "product", "polynomial")


class CombinedKernel(_RemadeBank):
    """One kernel made of all kernels k_m of a bank by the closure properties of kernels.

    - "sum": sum_m k_m(x, z), the inner product of the features of all kernels side by side;
    - "product": prod_m k_m(x, z), that of all products of one feature a kernel;
    - "polynomial": (sum_m k_m(x, z) + offset)^degree, that of products of `degree` features of any
      kernels, and with an offset > 0 of fewer.

    The Gram matrix is stored as a packed triangle.

    Parameters
    ----------
    bank : Bank
        The bank of M kernels.
    how : str, default="sum"
        "sum", "product" or "polynomial".
    degree : int, default=2
        Of a polynomial, >= 1.
    offset : float, default=1.0
        Of a polynomial, >= 0.

    Raises
    ------
    InputError
        If an argument is out of range, or the kernel overflows.
    """

    def __init__(
        self, bank: Bank, how: str = "sum", *, degree: int = 2, offset: float = 1.0
    ) -> None:
        super().__init__(bank)
        self._how = check_choice("how", how, _HOW)
        self._degree = check_count("degree", degree)
        self._offset = check_not_negative("offset", offset)
        self.n_kernels, self.features, self.groups = 1, (-1,), None
        if not np.isfinite(self._grams.diagonals()).all():  # no other entry is larger
            raise InputError(
                f"the {self._how} of {bank.n_kernels} kernels overflows: choose fewer kernels, a "
                "lower degree, or kernels with a diagonal of ones."
            )

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        each = self._bank.diagonals(Z)
        return self._combined(len(each), lambda d: d @ each)[None]

    def cross(self, weights: ArrayLike, Z: Any) -> Array:
        (weight,) = self._check_weights(weights)
        (block,) = self._blocks(np.arange(1), Z)  # `Z` is what the bank takes, of any shape
        return weight * block

    def _blocks(self, kernels: Indices, Z: Any = None) -> Iterator[Array]:
        bank = self._bank
        values = bank.combine if Z is None else partial(bank.cross, Z=Z)
        for _ in kernels:
            yield self._combined(bank.n_kernels, values)

    def _combined(self, n_kernels: int, values: Callable[[Array], Array]) -> Array:
        """Return the values of the kernel from those of M kernels, a function of weights (M,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self._how == "product":
                return reduce(np.multiply, (values(unit) for unit in np.eye(n_kernels)))
            total = values(np.ones(n_kernels))
            return total if self._how == "sum" else (total + self._offset) ** self._degree

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        names = self._bank.kernel_names(columns)
        how = f"polynomial {self._degree}" if self._how == "polynomial" else self._how
        return (f"{how} of {names[0] if len(names) == 1 else f'{len(names)} kernels'}",)

    def _pick(self, rows: Indices, kernels: Indices | None) -> None:
        every = None if kernels is None else np.arange(self._bank.n_kernels)
        self._bank = self._bank.take(rows, every)
