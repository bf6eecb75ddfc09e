"""Stacks of Gram matrices as samples, in the shape in which scikit-learn splits them.

Its splitters and searches take rows and columns of a precomputed kernel by
``X[np.ix_(test, train)]``, where ``X.shape[0] == X.shape[1] == len(y)``. A stack (M, n, n) has its
kernels in the first place and is refused before an estimator is asked. `GramStack` has them in the
last, and so may an array.
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels.base import Array
from mklbench.kernels.storage.packed import is_symmetric
from mklbench.validation import real_array


class GramStack:
    """Gram matrices of M kernels that scikit-learn's splitters and searches can split.

    Pass it as `X` to an estimator with ``kernel="precomputed"``, or to `cross_val_score`,
    `cross_validate` or `GridSearchCV` with one. Rows and columns are picked from all kernels at
    once; the matrices are not copied until then.

    Parameters
    ----------
    K : array_like of shape (M, n, n) or (M, n_new, n)
        Gram matrices on the samples, or cross Gram matrices between new samples and them.

    Attributes
    ----------
    matrices : ndarray of shape (M, n_rows, n_columns)
        The matrices.
    shape : tuple of int
        (n_rows, n_columns, M).

    Raises
    ------
    InputError
        If `K` is no array of three dimensions of real numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from mklbench.kernels import GramStack
    >>> stack = GramStack(np.ones((5, 100, 100)))
    >>> stack.shape
    (100, 100, 5)
    >>> stack[np.ix_([0, 1, 2], [3, 4])].shape
    (3, 2, 5)
    """

    ndim = 3

    def __init__(self, K: ArrayLike) -> None:
        matrices = real_array("K", K)
        if matrices.ndim != 3:
            raise InputError(
                f"K has shape {matrices.shape}: a GramStack is made of Gram matrices (M, n, n), "
                "one a kernel."
            )
        self.matrices = matrices

    @property
    def shape(self) -> tuple[int, int, int]:
        """(n_rows, n_columns, M)."""
        n_kernels, n_rows, n_columns = self.matrices.shape
        return n_rows, n_columns, n_kernels

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Of the entries."""
        return self.matrices.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> GramStack:
        """Return the stack of some rows, or of some rows and columns as ``np.ix_`` gives them."""
        keys = key if isinstance(key, tuple) else (key,)
        kept = tuple(part for part in keys if not isinstance(part, EllipsisType))
        picked = self.matrices[(slice(None), *kept)]
        if len(kept) > 2 or picked.ndim != 3:
            raise InputError(
                f"a GramStack of shape {self.shape} is indexed by rows, or by rows and columns as "
                "in stack[np.ix_(rows, columns)]: stack.matrices is an array."
            )
        return GramStack(picked)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the array (n_rows, n_columns, M)."""
        array = np.moveaxis(self.matrices, 0, -1)
        return array.astype(dtype or array.dtype, copy=bool(copy))

    def __repr__(self) -> str:
        n_rows, n_columns, n_kernels = self.shape
        return f"GramStack of {n_kernels} kernels on {n_rows} x {n_columns} samples"


def training_stack(X: GramStack | Array, n: int) -> Array:
    """Return a stack of Gram matrices of training samples as (M, n, n).

    Where the shape (n, n, n) leaves open which axis is that of the kernels, it is the one that
    leaves symmetric matrices, or the first.

    Parameters
    ----------
    X : GramStack or ndarray of shape (M, n, n) or (n, n, M)
        The stack.
    n : int
        Number of labels or targets.

    Raises
    ------
    InputError
        If the shape is another.
    """
    if isinstance(X, GramStack):
        if X.shape[:2] == (n, n):
            return X.matrices
    else:
        first, last = X.shape[1:] == (n, n), X.shape[:2] == (n, n)
        if first and last:
            first = _are_symmetric(X) or not _are_symmetric(np.moveaxis(X, -1, 0))
        if first or last:
            return X if first else np.moveaxis(X, -1, 0)
    if X.shape[0] == n:
        raise InputError(
            f"X has shape {X.shape}: {n} rows of Gram matrices without their columns, as "
            "CalibratedClassifierCV cuts them; take kernel=Precomputed(K) with row numbers as X."
        )
    raise InputError(
        f"X has shape {X.shape}, but y has {n} values: give the Gram matrices as (M, {n}, {n}), "
        f"one a kernel, or as ({n}, {n}, M)."
    )


def cross_stack(X: GramStack | Array, n_kernels: int, n: int, *, last: bool) -> Array:
    """Return a stack of cross Gram matrices as (M, n_new, n).

    Parameters
    ----------
    X : GramStack or ndarray of shape (M, n_new, n) or (n_new, n, M)
        The stack.
    n_kernels : int
        Number M of kernels.
    n : int
        Number of training samples.
    last : bool
        Whether the kernels stand last where either is possible, which takes M = n.

    Raises
    ------
    InputError
        If the shape is another.
    """
    shape = X.matrices.shape if isinstance(X, GramStack) else X.shape
    as_first = shape[::2] == (n_kernels, n)
    if isinstance(X, GramStack):
        if as_first:
            return X.matrices
    else:
        as_last = shape[1:] == (n, n_kernels)
        if as_first or as_last:
            return np.moveaxis(X, -1, 0) if as_last and (last or not as_first) else X
    raise InputError(
        f"X has shape {X.shape}, but there are {n_kernels} kernels on {n} training samples: give "
        f"the cross Gram matrices as ({n_kernels}, n_new, {n}) or (n_new, {n}, {n_kernels})."
    )


def _are_symmetric(stack: Array) -> bool:
    return all(is_symmetric(gram) for gram in stack)
