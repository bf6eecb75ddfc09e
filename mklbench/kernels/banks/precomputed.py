"""Banks of Gram matrices that are given: on the training samples, or of a whole data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.dense import StackedBank, picked
from mklbench.kernels.base import Array, Indices
from mklbench.kernels.gram_matrices import MakePSD, PackedTriangles, made_definite, symmetric
from mklbench.kernels.groups import GroupLists
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
        self, K: ArrayLike, groups: GroupLists | None = None, make_psd: MakePSD | None = None
    ) -> None:
        grams, maps = pack_stack(K, make_psd)
        super().__init__(grams, groups)
        # How many kernels and samples there were, and which of them are left.
        self._given = self.n_kernels, self.n_samples
        self._kernels = tuple(range(self.n_kernels))
        self._rows: Indices | slice = slice(None)
        # For each kernel P (n, n), by which its cross Gram matrix is multiplied, None for as it is.
        self._maps = tuple(maps)

    def _new(self, Z: ArrayLike) -> Array:
        """Return cross Gram matrices (n_z, M', n'), which are not read."""
        stack, (n_kernels, n_samples) = real_array("Z", Z), self._given
        if stack.ndim != 3 or stack.shape[::2] != self._given:
            raise InputError(
                f"the cross Gram matrices have shape {stack.shape}: "
                f"pass ({n_kernels}, n_new, {n_samples}), one matrix a kernel."
            )
        return stack.swapaxes(0, 1)

    def _blocks(self, kernels: Indices, Z: Any = None) -> Iterator[Array]:
        for m in kernels.tolist():
            K, mapping = Z[:, self._kernels[m]], self._maps[m]
            yield K[:, self._rows] if mapping is None else K @ mapping

    def _pick(self, rows: Indices, kernels: Indices | None) -> None:
        self._rows = np.arange(self._given[1])[self._rows][rows]
        self._kernels = picked(self._kernels, kernels)
        maps = picked(self._maps, kernels)
        self._maps = tuple(None if mapping is None else mapping[:, rows] for mapping in maps)


class IndexedBank(StackedBank):
    """Precomputed Gram matrices of a whole data set, bound to some of its rows.

    New samples are named by their row in the whole stack, so that splits and cross-validation work
    on Gram matrices as they do on features. What is kept are the packed lower triangles of the
    whole stack, shared by all that is taken of a bank, and those of the training samples; for
    predictions those of the whole stack, of the kernels that are taken.

    Parameters
    ----------
    whole : PackedTriangles
        Gram matrices (N, N) of the whole data set, as `pack_stack` checks them.
    rows : array_like
        Indices of the training samples.
    groups : GroupLists or None, default=None
        As in `PrecomputedBank`.
    names : sequence of str or None, default=None
        The names (M,) of the kernels; "kernel 0" and so on if not given.
    """

    def __init__(
        self,
        whole: PackedTriangles,
        rows: ArrayLike,
        groups: GroupLists | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self._whole, self._names = whole, names
        self._rows = check_rows(rows, whole.n_samples)
        super().__init__(whole.take(self._rows), groups)

    @cached_property
    def _grams(self) -> PackedTriangles:
        return self._whole.take(self._rows)

    def _new(self, Z: ArrayLike) -> Indices:
        """Return the row numbers (n_z,) of new samples in the whole stack."""
        return check_rows(Z, self._whole.n_samples)

    def _blocks(self, kernels: Indices, Z: Any = None) -> Iterator[Array]:
        return self._whole.blocks(kernels, self._rows if Z is None else Z, self._rows)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        rows = self._rows if Z is None else self._new(Z)
        return self._whole.diagonals()[:, rows]

    def _pick(self, rows: Indices, kernels: Indices | None) -> None:
        self._rows = self._rows[rows]
        if kernels is not None:
            self._whole = self._whole.keep(kernels)
        if self._names is not None:
            self._names = picked(self._names, kernels)

    def kernel_names(self, columns: Sequence[str] | None = None) -> Sequence[str]:
        return super().kernel_names(columns) if self._names is None else tuple(self._names)


def pack_stack(
    K: ArrayLike, make_psd: MakePSD | None = None
) -> tuple[PackedTriangles, list[Array | None]]:
    """Return Gram matrices (M, n, n) packed and checked.

    With `make_psd` they are made positive semidefinite; beside them is what maps cross Gram
    matrices then (`mklbench.kernels.gram_matrices.made_definite`).

    Raises
    ------
    InputError
        If `K` is not a finite stack of symmetric matrices.
    """
    stack = real_array("K", K)
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2] or 0 in stack.shape:
        raise InputError(
            f"K has shape {stack.shape}: pass the Gram matrices as one array (n_kernels, n, n)."
        )
    if make_psd is not None:
        check_choice("make_psd", make_psd, get_args(MakePSD))
    packed, maps = PackedTriangles.of(stack.shape[1], (), len(stack)), []
    for m, gram in enumerate(stack):
        name, mapping = kernel_called(m), None
        check_finite(name, gram)
        checked = symmetric(name, gram)
        if make_psd is not None:
            checked, mapping = made_definite(checked, make_psd)
        packed.append(checked)
        maps.append(mapping)
    return packed, maps


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
