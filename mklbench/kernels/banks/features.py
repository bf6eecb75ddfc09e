"""A bank of kernels on single features: low-rank factors, and Gram matrices where these are few."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels.banks.dense import DenseBank
from mklbench.kernels.base import Array, Bank, Indices
from mklbench.kernels.contract import NUMBER, Memory, Shape
from mklbench.kernels.factored import ROWS, FeatureFactors
from mklbench.kernels.functions import Gaussian, KernelFunction, check_values
from mklbench.kernels.gram_matrices import PackedTriangles, triangle_size, unpack
from mklbench.kernels.naming import column_names, function_names, named
from mklbench.kernels.row_factors import MANY, RowFactors, feature_parts
from mklbench.validation import check_features, check_not_empty, check_training_features

# Gram matrices of all kernels are stored where they hold no more numbers than this, of features
# whose ranks are more than this share of n: factors then save little. Elsewhere those of active
# kernels are, in no more bytes than this.
_FEW_NUMBERS, _LARGE_RANK = 200_000, 0.2
_MEMORY_LIMIT = 2**29
# A number is read from memory in the time of so many multiplications of a matrix product.
_READING = 9.6
# Combinations in which storing a Gram matrix must pay, once its kernel has been active twice in a
# row, and kernels that are active near a sparse optimum.
_REUSES, _FEW = 20, 20

# The rank of Gaussians on one feature with many values, about; for the memory that they will need.
_RANK = 32
# That of factors which leave a share of 1e-5 out: of one function, what each one more adds to it
# as a share, and of very many.
_REDUCED, _MORE, _MOST_REDUCED = 16, 0.3, 60
# Kernels whose triangles are kept at the same time, if the limit allows; for the same.
_ACTIVE = 40


class FeatureBank(Bank):
    """Every kernel function on every single feature.

    Kernels are ordered by feature first: kernel m = j * len(functions) + k is function k on
    feature j.

    The bank holds low-rank factors (`mklbench.kernels.factored`), and packed Gram matrices:
    of all kernels, where these are few and small; else of kernels that are active in combination
    after combination, so that a sparse combination of the same kernels is a short sum. Combining
    therefore changes what the bank keeps: a bank is not for several threads.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    functions : sequence of KernelFunction
        Kernel functions, applied to each feature on its own.
    memory_limit : float, default=_MEMORY_LIMIT
        Bytes that the Gram matrices of active kernels may take.
    decomposed : bool, default=False
        Whether to find each factor by a decomposition, in place of interpolation.

    Raises
    ------
    InputError
        If `X` is no finite matrix.
    """

    def __init__(
        self,
        X: ArrayLike,
        functions: Sequence[KernelFunction],
        *,
        memory_limit: float = _MEMORY_LIMIT,
        decomposed: bool = False,
    ) -> None:
        check_not_empty("functions", functions)
        samples = check_training_features("X", X)
        self._functions = tuple(functions)
        if not all(isinstance(function, Gaussian) for function in self._functions):
            for j in range(samples.shape[1]):
                check_values(self._functions, samples[:, [j]], j)
        self._decomposed = decomposed
        self._bind(samples, memory_limit)

    @classmethod
    def needs(cls, shape: Shape, n_functions: int) -> Memory:
        """Return the memory of k functions on each of d features with many values.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        n_functions : int
            Number k of kernel functions on each feature.
        """
        n, d, k = shape.n, shape.d, n_functions
        rank = min(n, _RANK)
        reduced = d * min(n, round(_REDUCED * (1.0 + _MORE * (k - 1))), _MOST_REDUCED)
        samples, factors = NUMBER * n * d, NUMBER * d * (n * rank + k * triangle_size(rank))
        stored = min(NUMBER * triangle_size(n) * min(d * k, _ACTIVE), _MEMORY_LIMIT)
        # Combined are the bases times the cores, or a triangle of those stored, and unpacked.
        combining = max(factors + NUMBER * ROWS * n, 3 * NUMBER * triangle_size(n))
        return Memory(d * k, samples + factors + 1.5 * stored, combining, rank=reduced)

    def row_factors(self) -> RowFactors:
        return RowFactors(self._X, feature_parts(self._X, self._functions))

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        self._combine(self._check_weights(d), combined, add=False)
        return combined

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        self._combine(self._check_weights(d), out, add=True)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        vector = self._check_coefficients(a)
        stored = self._all_grams if self._stores_all else self._factors
        return stored.quadratic_forms(vector)

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        vector, chosen = self._check_coefficients(a), self._check_kernels(kernels)
        stored = self._all_grams if self._stores_all else self._factors
        return stored.products(vector, chosen)

    def traces(self) -> Array:
        # Of many samples these factors would take more than rows of others do.
        if self.n_samples >= MANY and "_factors" not in vars(self):
            columns = (self._X[:, [j]] for j in range(self._X.shape[1]))
            doubles = (np.asarray(column, dtype=np.float64) for column in columns)
            return np.array([f.diagonal(each).sum() for each in doubles for f in self._functions])
        return self._factors.traces()

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        samples = self._samples if Z is None else check_features("Z", Z, self._X.shape[1])
        return np.array(
            [f.diagonal(column[:, None]) for column in samples.T for f in self._functions]
        )

    def inner_products_with(self, K: Array) -> Array:
        return self._factors.inner_products_with(K)

    def inner_products(self, *, centred: bool = False) -> Array:
        return (self._factors.centred() if centred else self._factors).inner_products()

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        active = np.flatnonzero(d)
        return self._between(self._samples, active).cross(d[active], Z)

    def _between(self, X: Array, kernels: Indices) -> DenseBank:
        """Return some of the kernels on samples (n, d), each on its feature alone."""
        features, functions = np.divmod(kernels, len(self._functions))
        chosen = [self._functions[k] for k in functions]
        return DenseBank.on_columns(X, chosen, [(j,) for j in features.tolist()])

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        functions = function_names(self._functions)
        where = column_names(self._X.shape[1], columns)
        return tuple(named(function, column) for column in where for function in functions)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> Bank:
        indices = self._check_rows(rows)
        if kernels is not None:
            return self._between(np.asarray(self._X[indices], dtype=np.float64), kernels)
        taken = FeatureBank.__new__(FeatureBank)
        taken._functions, taken._decomposed = self._functions, self._decomposed
        taken._bind(self._X[indices], self._memory_limit)
        # Of few samples the cores are those of the whole bank, whatever it was asked before.
        if self.n_samples < MANY or "_factors" in vars(self):
            taken._factors = self._factors.take(indices)
        taken.groups = self.groups
        return taken

    @property
    def _samples(self) -> Array:
        """The training samples in memory, in double precision."""
        return np.asarray(self._X, dtype=np.float64)

    def _bind(self, X: NDArray[np.floating], memory_limit: float) -> None:
        self._X = X
        self._memory_limit, self.n_samples = memory_limit, len(X)
        self.n_kernels = X.shape[1] * len(self._functions)
        self.features = tuple(j for j in range(X.shape[1]) for _ in self._functions)
        # The Gram matrix of kernel m is the one in slot m of the stored ones; -1 if it is not.
        self._slots = np.full(self.n_kernels, -1)
        self._last = np.zeros(self.n_kernels, dtype=bool)  # active in the last combination
        self._grams = PackedTriangles(self.n_samples, 0)

    @cached_property
    def _factors(self) -> FeatureFactors:
        """The factors, made when first asked for: rows of others may be all that is needed."""
        return FeatureFactors.of(self._samples, self._functions, self._decomposed)

    @property
    def _stores_all(self) -> bool:
        """Whether the Gram matrices of all kernels are stored."""
        return _stores_all(self.n_samples, self.n_kernels, self._factors.ranks.mean())

    @property
    def _all_grams(self) -> PackedTriangles:
        """The Gram matrices of all kernels, formed when they are first asked for."""
        if len(self._grams) < self.n_kernels:
            self._store(np.arange(self.n_kernels))
        return self._grams

    @property
    def _room(self) -> int:
        """Number of Gram matrices that the memory limit allows."""
        return int(self._memory_limit // (NUMBER * triangle_size(self.n_samples)))

    def _combine(self, weights: Array, out: Array, add: bool) -> None:
        active = np.flatnonzero(weights)
        if self._stores_all:
            self._store(np.arange(self.n_kernels))
        elif self._storing_pays(active):
            self._store(active)
        else:
            self._factors.combine(weights, out, add)
            return
        by_slot = np.zeros(len(self._grams))
        by_slot[self._slots[active]] = weights[active]
        unpack(self._grams.combination(by_slot), out, add)

    def _storing_pays(self, active: Indices) -> bool:
        """Tell whether a combination is a sum of stored matrices, the missing ones formed first.

        It counts multiplications of matrix products: of the factors of the active features, and of
        the matrices that are missing, over several combinations if their kernels have been active
        in the last one, too. The matrices are read.
        """
        again = self._last[active]
        self._last[:] = False
        self._last[active] = True
        if len(active) > self._room:
            return False
        n, k = self.n_samples, len(self._functions)
        ranks = self._factors.ranks
        missing = self._slots[active] < 0
        r = ranks[active[missing] // k]
        forming = ((n**2 * r + n * r**2) / np.where(again[missing], _REUSES, 1)).sum()
        used = ranks[np.unique(active // k)]
        squares = (used**2).sum()
        by_factors = n * (n + ROWS) * used.sum() / 2 + n * squares + _READING * k * squares / 2
        return bool(_READING * len(active) * triangle_size(n) + forming < by_factors)

    def _store(self, active: Indices) -> None:
        """Make sure that the Gram matrices of the kernels `active` are stored."""
        missing = active[self._slots[active] < 0]
        if not self._stores_all and len(self._grams) + len(missing) > self._room:
            kept = active[self._slots[active] >= 0]
            self._grams = self._grams.keep(self._slots[kept])
            self._slots[:] = -1
            self._slots[kept] = np.arange(len(kept))
        elif not len(self._grams):  # room for those that will follow, as growing copies
            room = min(_FEW, self._room, self.n_kernels)
            self._grams = PackedTriangles(self.n_samples, max(len(missing), room))
        for m in missing.tolist():
            self._slots[m] = len(self._grams)
            self._grams.append(self._factors.gram(m))


def _stores_all(n: int, n_kernels: int, rank: float) -> bool:
    return n_kernels * triangle_size(n) <= _FEW_NUMBERS and rank > _LARGE_RANK * n
