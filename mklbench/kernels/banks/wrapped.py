"""What banks that change another bank have in common, and those that change little of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank, Indices, KernelOperator
from mklbench.kernels.functions import standardisation
from mklbench.kernels.memory import NUMBER, Memory, Shape
from mklbench.kernels.row_factors import RowFactors
from mklbench.validation import check_features

_FURTHEST = float(np.finfo(np.float64).max)


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

    @property
    def n_values(self) -> int:
        return self._bank.n_values

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        return self._bank.combine(self._inner(d), out)

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        self._bank.accumulate(self._inner(d), out)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return self._outer(self._bank.quadratic_forms(a))

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        return self._bank.products(a, kernels)

    def dearest(self, prices: Array, count: int) -> Indices:
        return self._bank.dearest(prices, count)

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

    def row_factors(self) -> RowFactors | None:
        factors = self._bank.row_factors()
        return None if factors is None else factors.scaled(self._scales)

    def combinations(self, weights: Array, out: Array) -> Iterator[Array]:
        return self._bank.combinations(self._scales * weights, out)

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
    if (traces < 0).any():
        m = int(np.argmin(traces))
        raise InputError(f"kernel {m} has trace {traces[m]:g} < 0: it is no Gram matrix.")
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

    def dearest(self, prices: Array, count: int) -> Indices:
        return Bank.dearest(self, prices, count)

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
        If `X` is no finite matrix, or `build` makes no bank.
    """

    def __init__(self, build: Callable[[Array], KernelOperator], X: ArrayLike) -> None:
        samples = check_features("X", X)
        self._means, self._factors = standardisation(samples)
        super().__init__(check_base("standardised", build(self._new(samples))))

    @classmethod
    def needs(cls, bank: Memory, shape: Shape) -> Memory:
        """Return the memory of a bank on samples that are standardised, and so copied.

        Parameters
        ----------
        bank : Memory
            What the bank on the standardised samples needs.
        shape : Shape
            Size of the training samples.
        """
        return replace(bank, building=bank.building + 2 * NUMBER * shape.n * shape.d)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> StandardisedBank:
        taken = StandardisedBank.__new__(StandardisedBank)
        taken._means, taken._factors = self._means, self._factors
        WrappedBank.__init__(taken, self._bank.take(rows, kernels))
        return taken

    def _new(self, Z: Any) -> Array:
        samples = check_features("Z", Z, len(self._means))
        with np.errstate(over="ignore"):  # whatever the kernel makes of it
            scaled = (samples - self._means) * self._factors
        return np.clip(scaled, -_FURTHEST, _FURTHEST, out=scaled)


def check_base(kernel: str, operator: KernelOperator) -> Bank:
    """Return `operator` if it is a bank, as the base of a kernel that is made from it."""
    if not isinstance(operator, Bank):
        raise InputError(
            f"kernel={kernel} is made from a bank of kernels, but {type(operator).__name__} is a "
            "family: choose a base such as feature_gaussians, simplemkl or precomputed."
        )
    return operator
