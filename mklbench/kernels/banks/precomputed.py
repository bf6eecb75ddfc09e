"""Banks of Gram matrices that are given: on the training samples, or of a whole data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.dense import StackedBank
from mklbench.kernels.base import Array, Indices
from mklbench.kernels.cross import weighted_sum
from mklbench.kernels.functions import LARGEST_VALUE, SMALLEST_VALUE
from mklbench.kernels.gram_matrices import (
    MakePSD,
    PackedTriangles,
    made_definite,
    symmetric,
)
from mklbench.kernels.groups import GroupLists, check_groups
from mklbench.validation import check_choice, check_finite, kernel_called, real_array


class PrecomputedBank(StackedBank):
    """Gram matrices that the user brings.

    What is kept are copies of their packed lower triangles, half the memory of `K`; nothing refers
    to `K`. New samples come as cross Gram matrices between them and all samples that the bank was
    made on, of all kernels, also where some have been taken since.

    Parameters
    ----------
    K : array_like of shape (M, n, n)
        Gram matrices on the training samples, symmetric up to 1e-6 of their largest
        entry; from 1e-10 on they are made symmetric, with a warning.
    groups : GroupLists or None, default=None
        Lists of kernel indices, where the kernels come in groups.
    make_psd : {"clip", "shift", "flip"} or None, default=None
        How indefinite matrices are made positive semidefinite (`made_definite`), and what is
        between new and training samples with them; None leaves them as they are.

    Raises
    ------
    InputError
        If `K` is not a finite stack of symmetric matrices, or `groups` do not partition them.
    """

    def __init__(
        self,
        K: ArrayLike,
        groups: GroupLists | None = None,
        make_psd: MakePSD | None = None,
    ) -> None:
        grams, maps = pack_stack(K, make_psd)
        super().__init__(grams, groups)
        check_groups(groups, self.n_kernels)
        # How many kernels and samples there were, and which of them are left.
        self._given = self.n_kernels, self.n_samples
        self._kernels, self._rows = np.arange(self.n_kernels), np.arange(self.n_samples)
        # For each kernel P (n, n), by which its cross Gram matrix is multiplied, None for as it is.
        self._maps = maps if any(mapping is not None for mapping in maps) else None

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        """Return the combination (n_z, n) of cross Gram matrices.

        Parameters
        ----------
        weights : array_like of shape (M,)
            Weights of the kernels.
        Z : array_like of shape (M', n_z, n')
            Cross Gram matrices between new samples and the n' samples that the bank was made on,
            of all M' kernels that it was made of.
        """
        d = self._check_weights(weights)
        stack = _cross_grams(Z, *self._given)
        active = np.flatnonzero(d)
        used, maps = self._kernels[active], self._maps
        if maps is None:  # whole rows are added up: to pick columns first takes longer
            blocks = (stack[k] for k in used)
            combined = weighted_sum(d[active], blocks, stack.shape[1:])[:, self._rows]
        else:
            mapped = (
                stack[k][:, self._rows] if (P := maps[m]) is None else stack[k] @ P
                for m, k in zip(active.tolist(), used, strict=True)
            )
            combined = weighted_sum(d[active], mapped, (stack.shape[1], self.n_samples))
        if not np.isfinite(combined).all():
            check_finite("Z", stack)
        return combined

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> PrecomputedBank:
        indices = self._check_rows(rows)
        taken = self._copied(indices, kernels)
        kept = np.arange(self.n_kernels) if kernels is None else kernels
        taken._rows, taken._kernels = self._rows[indices], self._kernels[kept]
        if self._maps is not None:
            maps = [self._maps[m] for m in kept.tolist()]
            taken._maps = [None if P is None else P[:, indices] for P in maps]
        return taken


class IndexedBank(StackedBank):
    """Precomputed Gram matrices of a whole data set, bound to some of its rows.

    New samples are named by their row in the whole stack, so that splits and cross-validation work
    on Gram matrices as they do on features. What is kept are the packed lower triangles of the
    whole stack, shared by all that is taken of a bank, and those of the training samples; for
    predictions those of the whole stack, of the kernels that are taken.

    Parameters
    ----------
    K : array_like of shape (M, N, N) or PackedGrams
        Gram matrices of the whole data set, or what `pack_stack` made of them.
    rows : array_like
        Indices of the training samples.
    groups : GroupLists or None, default=None
        As in `PrecomputedBank`.
    names : sequence of str or None, default=None
        The names (M,) of the kernels; "kernel 0" and so on if not given.
    """

    def __init__(
        self,
        K: ArrayLike | PackedTriangles,
        rows: ArrayLike,
        groups: GroupLists | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self._whole = K if isinstance(K, PackedTriangles) else pack_stack(K)[0]
        check_groups(groups, len(self._whole))
        self._rows = check_rows(rows, self._whole.n_samples)
        self._names = names
        super().__init__(self._whole.take(self._rows), groups)

    @cached_property
    def _grams(self) -> PackedTriangles:
        return self._whole.take(self._rows)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        """Return the combined kernel (n_z, n) between rows of the stack and the training samples.

        Parameters
        ----------
        weights : array_like of shape (M,)
            Weights of the kernels.
        Z : array_like of int of shape (n_z,)
            Rows of the new samples in the whole stack.
        """
        d, new = self._check_weights(weights), check_rows(Z, self._whole.n_samples)
        return self._whole.block(d, new, self._rows)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        rows = self._rows if Z is None else check_rows(Z, self._whole.n_samples)
        return self._whole.diagonals()[:, rows]

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> IndexedBank:
        indices = self._check_rows(rows)
        taken = self._copied(indices, kernels)
        taken._rows = self._rows[indices]
        if kernels is not None:
            taken._whole = self._whole.keep(kernels)
            if self._names is not None:
                taken._names = [self._names[m] for m in kernels]
        return taken

    def kernel_names(self, columns: Sequence[str] | None = None) -> Sequence[str]:
        return super().kernel_names(columns) if self._names is None else tuple(self._names)


def pack_stack(
    K: ArrayLike, make_psd: MakePSD | None = None
) -> tuple[PackedTriangles, list[Array | None]]:
    """Return what `pack_grams` does of a stack (M, n, n).

    Raises
    ------
    InputError
        If `K` is not a finite stack of symmetric matrices.
    """
    stack = gram_stack(K)
    return pack_grams(stack.shape[1], stack, len(stack), make_psd)


def gram_stack(K: ArrayLike) -> Array:
    """Return `K` as an array (M, n, n) if it is one, its entries not looked at."""
    stack = real_array("K", K)
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2] or 0 in stack.shape:
        raise InputError(
            f"K has shape {stack.shape}: pass the Gram matrices as one array (n_kernels, n, n)."
        )
    return stack


def pack_grams(
    n_samples: int, grams: Iterable[Array], n_grams: int, make_psd: MakePSD | None = None
) -> tuple[PackedTriangles, list[Array | None]]:
    """Return Gram matrices (n, n) packed and checked, of which one at a time need exist.

    With `make_psd` they are made positive semidefinite; beside them is what maps cross Gram
    matrices then (`mklbench.kernels.gram_matrices.made_definite`).

    Raises
    ------
    InputError
        If one is not finite or not symmetric.
    """
    if make_psd is not None:
        check_choice("make_psd", make_psd, get_args(MakePSD))
    packed, maps = PackedTriangles(n_samples, n_grams), []
    for m, gram in enumerate(grams):
        checked, mapping = check_gram(m, gram), None
        if make_psd is not None:
            checked, mapping = made_definite(checked, make_psd)
        packed.append(checked)
        maps.append(mapping)
    return packed, maps


def check_gram(m: int, gram: Array) -> Array:
    """Return the Gram matrix of kernel `m` if it is finite and symmetric up to rounding."""
    largest = np.maximum(gram.max(), -gram.min())  # NaN if one entry is
    if not np.isfinite(largest):
        raise InputError(
            f"{kernel_called(m)} holds NaN or infinite values: remove or mend the samples."
        )
    if not is_in_range(largest):
        raise InputError(
            f"the largest entry of {kernel_called(m)} is {largest:g}: it must be "
            f"from {SMALLEST_VALUE:g} to {LARGEST_VALUE:g}, rescale it."
        )
    return symmetric(kernel_called(m), gram)


def is_in_range(largest: float) -> bool:
    """Tell whether matrices with this largest entry can be computed with."""
    return largest == 0.0 or SMALLEST_VALUE <= largest <= LARGEST_VALUE


def _cross_grams(Z: ArrayLike, n_kernels: int, n_samples: int) -> Array:
    """Return `Z` as cross Gram matrices (n_kernels, n_z, n_samples), unread."""
    stack = real_array("Z", Z)
    if stack.ndim != 3 or stack.shape[::2] != (n_kernels, n_samples):
        raise InputError(
            f"the cross Gram matrices have shape {stack.shape}: "
            f"pass ({n_kernels}, n_new, {n_samples}), one matrix a kernel."
        )
    return stack


def check_rows(rows: ArrayLike, n: int) -> Indices:
    """Return `rows` as indices (k,) if they are row numbers from 0 to n - 1."""
    indices = np.asarray(rows)
    if indices.ndim == 2 and indices.shape[1] == 1:
        indices = indices[:, 0]
    # Scikit-learn passes the row numbers of a sample matrix as floats.
    numeric = indices.ndim == 1 and indices.dtype.kind in "iuf"
    if not numeric or not np.isin(indices, np.arange(n)).all():
        raise InputError(
            f"precomputed kernels take row indices from 0 to {n - 1} in place of features."
        )
    return indices.astype(np.intp)
