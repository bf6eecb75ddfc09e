"""What banks that change another bank have in common, and features standardised before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank, KernelOperator
from mklbench.kernels.functions import standardisation
from mklbench.kernels.memory import NUMBER, Memory, Shape
from mklbench.kernels.transforms.cross import Indices, StandardisedCross, standardised
from mklbench.validation import check_features


class WrappedBank(Bank):
    """A bank that leaves everything to another one, for subclasses that change some of it.

    Parameters
    ----------
    bank : Bank
        The bank of M kernels on n training samples.
    """

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self.n_samples = bank.n_samples
        self.n_kernels = bank.n_kernels
        self.features = bank.features
        self.groups = bank.groups

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        return self._bank.combine(d, out)

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        self._bank.accumulate(d, out)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return self._bank.quadratic_forms(a)

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        return self._bank.products(a, kernels)

    def dearest(self, prices: Array, count: int) -> Indices:
        return self._bank.dearest(prices, count)

    def traces(self) -> Array:
        return self._bank.traces()

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return self._bank.diagonals(Z)

    def inner_products_with(self, K: Array) -> Array:
        return self._bank.inner_products_with(K)

    def inner_products(self, *, centred: bool = False) -> Array:
        return self._bank.inner_products(centred=centred)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        return self._bank.cross(weights, Z)

    def kernel_names(self, columns: Sequence[str] | None = None) -> Sequence[str]:
        return self._bank.kernel_names(columns)


class StandardisedBank(WrappedBank):
    """A bank on features of mean 0 and variance 1; a constant feature becomes 0.

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
        super().__init__(
            check_base("standardised", build(standardised(samples, self._means, self._factors)))
        )

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

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return StandardisedCross(self._bank, self._means, self._factors).diagonals(Z)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        return StandardisedCross(self._bank, self._means, self._factors).cross(weights, Z)

    def for_prediction(self, rows: Indices, kernels: Indices) -> StandardisedCross:
        kept = self._bank.for_prediction(rows, kernels)
        return StandardisedCross(kept, self._means, self._factors)

    def take(self, rows: ArrayLike) -> StandardisedBank:
        """Keep the means and deviations of the samples the bank was made on: the same kernels.

        Parameters
        ----------
        rows : array_like of shape (k,) or (n,)
            Row numbers of training samples, from 0 to n - 1, or a mask of n truth values.
        """
        restricted = StandardisedBank.__new__(StandardisedBank)
        restricted._means, restricted._factors = self._means, self._factors
        WrappedBank.__init__(restricted, self._bank.take(rows))
        return restricted


def check_base(kernel: str, operator: KernelOperator) -> Bank:
    """Return `operator` if it is a bank, as the base of a kernel that is made from it."""
    if not isinstance(operator, Bank):
        raise InputError(
            f"kernel={kernel} is made from a bank of kernels, but {type(operator).__name__} is a "
            "family: choose a base such as feature_gaussians, simplemkl or precomputed."
        )
    return operator
