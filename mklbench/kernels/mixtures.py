"""Mixtures of members of a family: the bank of some of them, and what a machine on it predicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels.banks.dense import StackedBank
from mklbench.kernels.base import Array, Indices
from mklbench.kernels.continuous import Family
from mklbench.kernels.contract import weighted_sum


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
