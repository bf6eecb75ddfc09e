"""Banks that hold their Gram matrices, for kernels without structure to exploit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.cross import (
    FunctionsCross,
    GivenCross,
    Indices,
    RowsCross,
    check_rows,
)
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.definite import MakePSD, made_definite
from mklbench.kernels.functions import (
    LARGEST_VALUE,
    SMALLEST_VALUE,
    Gaussian,
    KernelFunction,
    check_values,
    matrices,
)
from mklbench.kernels.groups import GroupLists, check_groups
from mklbench.kernels.landmarks import IN_USE, MOST, landmark_factors
from mklbench.kernels.memory import NUMBER, Memory, Shape, gram_bytes
from mklbench.kernels.naming import ALL_COLUMNS, function_names, named
from mklbench.kernels.row_factors import MANY, RowFactors
from mklbench.kernels.storage.packed import PackedGrams, half_size, symmetric, unpack
from mklbench.validation import (
    check_choice,
    check_not_empty,
    check_training_features,
    kernel_called,
    real_array,
)

# Where the entries of a restricted matrix stand in the halves of the whole: some arrays of indices.
_INDICES = 4.0


class StackedBank(Bank):
    """The operations on Gram matrices of which the lower halves are kept, M n (n + 1) / 2 numbers.

    All passes are bound by memory, and so take half the time they take on the stack (M, n, n).
    """

    def __init__(self, grams: PackedGrams, groups: GroupLists | None = None) -> None:
        self._grams = grams
        self.n_kernels, self.n_samples = len(grams), grams.n_samples
        self.features = (-1,) * self.n_kernels
        self.groups = groups

    @classmethod
    def needs(cls, n: int, n_kernels: int, forming: float = 1.0) -> Memory:
        """Return the memory of a bank that keeps its Gram matrices.

        Parameters
        ----------
        n : int
            Number of training samples.
        n_kernels : int
            Number M of kernels.
        forming : float, default=1.0
            The matrices (n, n) that there are at once while a kernel is computed.
        """
        kept = NUMBER * n_kernels * half_size(n)
        # The matrix before lives while the next one is formed; of the last, its half is copied.
        building = forming + (1.0 if n_kernels > 1 else 0.5)
        return Memory(
            n_kernels,
            kept,
            kept + gram_bytes(n, building),
            combining=gram_bytes(n, 1.5),  # a half, and its triangle
            restricting=gram_bytes(n, _INDICES),
        )

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        unpack(self._grams.combination(self._check_weights(d)), combined)
        return combined

    def combinations(self, weights: Array, out: Array) -> Iterator[Array]:
        if len(weights) == 1:  # then kernels of weight 0 need not be read
            yield self.combine(weights[0], out)
            return
        for start in range(0, len(weights), self.n_kernels):  # no more memory than the bank's own
            for half in weights[start : start + self.n_kernels] @ self._grams.halves:
                unpack(half, out)
                yield out

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        unpack(self._grams.combination(self._check_weights(d)), out, add=True)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return self._grams.quadratic_forms(self._check_coefficients(a))

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        chosen = self._check_kernels(kernels)
        return self._grams.products(self._check_coefficients(a), chosen)

    def traces(self) -> Array:
        return self._grams.traces()

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return self._grams.diagonals() if Z is None else super().diagonals(Z)

    def inner_products_with(self, K: Array) -> Array:
        return self._grams.inner_products_with(K)

    def inner_products(self, *, centred: bool = False) -> Array:
        return (self._grams.centred() if centred else self._grams).inner_products()


class DenseBank(StackedBank):
    """Kernel functions on all features, their Gram matrices stored as halves.

    Of many samples these are made when first asked for: factors on landmarks may be all that is
    needed.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    functions : sequence of KernelFunction
        The M kernel functions.
    """

    def __init__(self, X: ArrayLike, functions: Sequence[KernelFunction]) -> None:
        check_not_empty("functions", functions)
        samples = check_training_features("X", X)
        functions = [f.on(samples) if isinstance(f, Gaussian) else f for f in functions]
        check_values(functions, samples)
        self._bind(samples, functions)
        if len(samples) < MANY:
            _ = self._grams

    @classmethod
    def needs_on(cls, shape: Shape, n_kernels: int, forming: float = 1.0) -> Memory:
        """Return the memory as `needs` does, and that of factors on landmarks.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        n_kernels : int
            Number M of kernels.
        forming : float, default=1.0
            As in `needs`.
        """
        return on_landmarks(cls.needs(shape.n, n_kernels, forming), shape, n_kernels)

    @property
    def n_approximated(self) -> int:
        return self.n_kernels

    def row_factors(self, landmarks: int | None = None) -> RowFactors:
        if landmarks not in self._on_landmarks:
            found = landmark_factors(self._X, self._functions, landmarks)
            self._on_landmarks[landmarks] = found
        return self._on_landmarks[landmarks]

    def traces(self) -> Array:
        return super().traces() if "_grams" in vars(self) else self.diagonals().sum(axis=1)

    @cached_property
    def _grams(self) -> PackedGrams:  # type: ignore[override]
        grams = matrices(self._functions, self._X, self._X)
        return PackedGrams.of(self.n_samples, grams, self.n_kernels)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        return FunctionsCross(self._X, self._functions).cross(weights, Z)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        if Z is None and "_grams" in vars(self):
            return super().diagonals()
        return FunctionsCross(self._X, self._functions).diagonals(Z)

    def for_prediction(self, rows: Indices, kernels: Indices) -> FunctionsCross:
        return FunctionsCross(self._X[rows], [self._functions[m] for m in kernels])

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        return tuple(named(each, ALL_COLUMNS) for each in function_names(self._functions))

    def take(self, rows: ArrayLike) -> DenseBank:
        indices = self._check_rows(rows)
        restricted = DenseBank.__new__(DenseBank)
        restricted._bind(self._X[indices], self._functions)
        if "_grams" in vars(self):
            restricted._grams = self._grams.take(indices)
        restricted.groups = self.groups
        return restricted

    def _bind(self, X: Array, functions: Sequence[KernelFunction]) -> None:
        self._X = X
        self._functions = tuple(functions)
        self.n_kernels, self.n_samples = len(self._functions), len(X)
        self.features = (-1,) * self.n_kernels
        self.groups = None
        self._on_landmarks: dict[int | None, RowFactors] = {}


def on_landmarks(memory: Memory, shape: Shape, n_kernels: int) -> Memory:
    """Return the memory of a bank of features that makes Gram matrices only when asked for them.

    Parameters
    ----------
    memory : Memory
        What they need.
    shape : Shape
        Size of the training samples.
    n_kernels : int
        Number M of kernels, which have landmarks else.
    """
    most = min(shape.n, MOST)
    return replace(
        memory,
        rank=most * min(n_kernels, IN_USE),
        streamed=NUMBER * (2 * shape.n * shape.d + n_kernels * most**2),
        approximated=n_kernels,
    )


class PrecomputedBank(GivenCross, StackedBank):
    """Gram matrices that the user brings.

    What is kept are copies of their lower halves, half the memory of `K`; nothing refers to `K`.

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
        stack, maps = gram_stack(K), []
        if make_psd is not None:
            check_make_psd(make_psd)
            mended = [made_definite(check_gram(m, gram), make_psd) for m, gram in enumerate(stack)]
            stack, maps = np.array([gram for gram, _ in mended]), [mapping for _, mapping in mended]
        super().__init__(pack_stack(stack), groups)
        self._maps = maps if any(mapping is not None for mapping in maps) else None
        check_groups(groups, self.n_kernels)

    def take(self, rows: ArrayLike) -> PrecomputedBank:
        restricted = type(self).__new__(type(self))
        grams = self._grams.take(self._check_rows(rows))
        StackedBank.__init__(restricted, grams, self.groups)
        return restricted


class GrowingBank(PrecomputedBank):
    """Precomputed Gram matrices to which kernels are added one by one.

    The room for halves doubles when it is used up, so that adding a kernel costs a copy of that
    kernel, on average. The memory is at most twice that of a `PrecomputedBank`.

    Parameters
    ----------
    K : array_like of shape (M, n, n)
        Symmetric Gram matrices on the training samples, M >= 1, to begin with.
    """

    def __init__(self, K: ArrayLike) -> None:
        super().__init__(K)

    def append(self, gram: ArrayLike) -> None:
        """Add a Gram matrix as kernel M.

        Parameters
        ----------
        gram : array_like of shape (n, n)
            Symmetric Gram matrix on the training samples.

        Raises
        ------
        InputError
            If it is not a finite symmetric matrix on the same samples.
        """
        matrix = real_array("gram", gram)
        if matrix.shape != (self.n_samples, self.n_samples):
            raise InputError(
                f"gram has shape {matrix.shape}, but the bank has {self.n_samples} samples: "
                f"pass a Gram matrix of shape {(self.n_samples, self.n_samples)}."
            )
        self._grams.append(check_gram(self.n_kernels, matrix))
        self._kernels_changed()
        self.n_kernels += 1
        self.features = (*self.features, -1)


class IndexedBank(StackedBank):
    """Precomputed Gram matrices of a whole data set, bound to some of its rows.

    New samples are named by their row in the whole stack, so that splits and cross-validation work
    on Gram matrices as they do on features. What is kept are the lower halves of the whole stack,
    shared by all restrictions of a bank, and those of the training samples.

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
        K: ArrayLike | PackedGrams,
        rows: ArrayLike,
        groups: GroupLists | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self._whole = K if isinstance(K, PackedGrams) else pack_stack(K)
        check_groups(groups, len(self._whole))
        self._rows = check_rows(rows, self._whole.n_samples)
        self._names = names
        super().__init__(self._whole.take(self._rows), groups)

    @classmethod
    def of_rows(cls, n: int, n_kernels: int) -> Memory:
        """Return the memory of the kernels on some rows, that of the whole stack not counted.

        Parameters
        ----------
        n : int
            Number of training samples, rows of the whole stack.
        n_kernels : int
            Number M of kernels.
        """
        own = cls.needs(n, n_kernels)
        return replace(own, building=own.kept + own.restricting)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        """Return the combined kernel (n_z, n) between rows of the stack and the training samples.

        Parameters
        ----------
        weights : array_like of shape (M,)
            Weights of the kernels.
        Z : array_like of int of shape (n_z,)
            Rows of the new samples in the whole stack.
        """
        new = check_rows(Z, self._whole.n_samples)
        return self._whole.block(self._check_weights(weights), new, self._rows)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        rows = self._rows if Z is None else check_rows(Z, self._whole.n_samples)
        return self._whole.diagonals()[:, rows]

    def for_prediction(self, rows: Indices, kernels: Indices) -> RowsCross:
        whole, chosen = self._whole.keep(kernels), self._rows[rows]
        return RowsCross(whole.columns(chosen), whole.diagonals())

    def take(self, rows: ArrayLike) -> IndexedBank:
        kept = self._rows[self._check_rows(rows)]
        return IndexedBank(self._whole, kept, self.groups, self._names)

    def kernel_names(self, columns: Sequence[str] | None = None) -> Sequence[str]:
        return super().kernel_names(columns) if self._names is None else tuple(self._names)


def pack_stack(K: ArrayLike, make_psd: MakePSD | None = None) -> PackedGrams:
    """Return the lower halves of a stack (M, n, n), checked and packed in one pass.

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
) -> PackedGrams:
    """Return the lower halves of Gram matrices (n, n), checked, of which one at a time need exist.

    With `make_psd` they are made positive semidefinite (`mklbench.kernels.definite`).

    Raises
    ------
    InputError
        If one is not finite or not symmetric.
    """
    checked = (check_gram(m, gram) for m, gram in enumerate(grams))
    if make_psd is not None:
        how = check_make_psd(make_psd)
        checked = (made_definite(gram, how)[0] for gram in checked)
    return PackedGrams.of(n_samples, checked, n_grams)


def check_make_psd(make_psd: MakePSD) -> MakePSD:
    """Return `make_psd` if it is known."""
    check_choice("make_psd", make_psd, get_args(MakePSD))
    return make_psd


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
