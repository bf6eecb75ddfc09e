"""The columns that the entries of a list of kernels find in samples, their transformers fitted.

Fitted once, to the training samples, they make views of any samples; a bank is built on the views.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError
from mklbench.kernels.axis_names import is_mask, names_of_columns
from mklbench.kernels.builders.entries import Entry
from mklbench.kernels.builders.forms import checked_bank, refuses_missing, shown, takes
from mklbench.kernels.builders.selection import is_scalar, numbers, positions
from mklbench.kernels.contract import memory_of
from mklbench.kernels.memory import Memory, Shape
from mklbench.kernels.samples import Views, csr, is_sparse, matrix_of
from mklbench.kernels.transforms.columns import ColumnBank, ViewNames
from mklbench.kernels.transforms.composite import ConcatenatedBank
from mklbench.validation import check_finite, columns_called


class FittedView:
    """The columns of one entry, its transformer fitted.

    Parameters
    ----------
    entry : Entry
        The entry.
    X : array, sparse matrix, DataFrame or Views
        Training samples.
    y : array_like of shape (n,) or None
        The responses.
    """

    def __init__(self, entry: Entry, X: Any, y: Any) -> None:
        self.entry = entry
        self._rows = entry.columns is None and entry.takes_rows
        self._transformer: Any = None
        if self._rows:
            self._positions: tuple[int, ...] = ()
            self._labels: list[Any] = []
        else:
            columns = slice(None) if entry.columns is None else entry.columns
            self._positions = positions(columns, X, entry.called)
            names = names_of_columns(X)
            self._labels = [] if names is None else [names[j] for j in self._positions]
        self._of_columns = bool(self._positions) and not isinstance(X, Views)
        part = self._part(X)
        self._given = np.shape(part)[1:]
        self._part_labels = names_of_columns(part)
        if entry.transformer is not None:
            part = self._fit(part, y)
        self.samples = self._prepared(part)
        self._width = np.shape(self.samples)[1]

    def of(self, X: Any) -> Any:
        """Return the view (n_new, d_v) of new samples, an array or a sparse matrix.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or Views
            New samples.

        Raises
        ------
        InputError
            If they do not have the columns, or the transformer refuses them.
        """
        part = self._part(X)
        if np.shape(part)[1:] != self._given:
            raise InputError(
                f"{self.entry.called} has {np.shape(part)[1:]} columns in the new samples, but had "
                f"{self._given} in the training samples: pass the same ones in the same order."
            )
        if self._transformer is not None:
            part = self._called(self._transformer.transform, part)
        samples = self._prepared(part)
        if np.shape(samples)[1] != self._width:
            raise InputError(
                f"{self.entry.called} has {np.shape(samples)[1]} features in the new samples, but "
                f"had {self._width} in the training samples: pass the same columns."
            )
        return samples

    def names(self) -> ViewNames:
        """Return what the view and its features are called."""
        return ViewNames(
            self.entry.name,
            tuple(self._positions) if self._plain else None,
            tuple(map(str, self._labels)) if self._plain and self._labels else None,
            self._width,
        )

    @property
    def _plain(self) -> bool:
        """Whether the features are columns of the samples."""
        return self._transformer is None and self._of_columns

    @property
    def feature_labels(self) -> list[Any] | None:
        """The names (d_v,) of the features, where they are columns of a data frame."""
        return self._part_labels if self._transformer is None else None

    @property
    def width(self) -> int:
        """The number d_v of features."""
        return self._width

    def _part(self, X: Any) -> Any:
        """Return the columns as they are in samples."""
        if self._rows:
            return _row_numbers(X, self.entry)
        part = self._columns(X)
        rows_of = getattr(self.entry.builder, "rows_of", None)
        if rows_of is None or self.entry.transformer is not None:
            return part
        if is_mask(np.asarray(part).ravel()):
            raise InputError(
                f"{self.entry.called} takes row numbers, and X has truth values there: give the "
                "number of each sample."
            )
        return np.reshape(rows_of(part), (-1, 1))

    def _columns(self, X: Any) -> Any:
        if isinstance(X, Views):
            if max(self._positions) >= len(X.parts):
                raise InputError(
                    f"X has {len(X.parts)} views, but the kernels are on view "
                    f"{max(self._positions)}, too: pass those of the training samples."
                )
            parts = [X.parts[v] for v in self._positions]
            return parts[0] if len(parts) == 1 else _beside(parts)
        if max(self._positions) >= np.shape(X)[1]:
            raise InputError(
                f"{self.entry.called} has the column {max(self._positions)}, but the samples have "
                f"{np.shape(X)[1]} columns: pass those of the training samples."
            )
        vector = self.entry.transformer is not None and is_scalar(self.entry.columns)
        chosen: Any = self._positions[0] if vector else list(self._positions)
        return X.iloc[:, chosen] if hasattr(X, "iloc") else X[:, chosen]

    def _fit(self, part: Any, y: Any) -> Any:
        from sklearn.base import clone  # of those who have transformers

        transformer = self.entry.transformer
        if not (hasattr(transformer, "fit") and hasattr(transformer, "transform")):
            raise InputError(
                f"{self.entry.called} has transformer={transformer!r}, which has no fit and "
                "transform: give one such as StandardScaler()."
            )
        self._transformer = clone(transformer)
        if hasattr(self._transformer, "fit_transform"):
            return self._called(self._transformer.fit_transform, part, y)
        return self._called(self._called(self._transformer.fit, part, y).transform, part)

    def _called(self, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return method(*arguments)
        except InputError:
            raise
        except (TypeError, ValueError) as error:
            said = " ".join(str(error).split()).rstrip(".")
            remedy = "mend the columns, or choose another transformer"
            if "unknown categor" in said:
                remedy = 'remove the rows, or set handle_unknown="ignore"'
            name = type(self.entry.transformer).__name__
            raise InputError(
                f"{self.entry.called}: its transformer {name} says {said!r}: {remedy}."
            ) from error

    def _prepared(self, part: Any) -> Any:
        """Return columns, transformed if they have to be, as the kernels take them."""
        name = self.entry.called
        if is_sparse(part):
            if not takes(self.entry.builder, "sparse"):
                raise InputError(
                    f"{name} has a sparse matrix, which {shown(self.entry.builder)} does not take: "
                    "pass it dense, by .toarray() or sparse_output=False of the transformer."
                )
            return csr(part)
        shape = np.shape(part)
        if len(shape) != 2:
            raise InputError(
                f"{name} has columns of shape {shape} after its transformer: it must return a "
                "matrix (n, d)."
            )
        array = numbers(part, name, needed=not takes(self.entry.builder, "text"))
        if array.dtype.kind == "f" and refuses_missing(self.entry.builder):
            with columns_called(self.feature_labels):
                check_finite(name, array)
        return array


class FittedViews:
    """The columns of a list of kernels, transformers fitted: makes views of samples, and the bank.

    Parameters
    ----------
    views : sequence of FittedView or None
        Those of the entries; None of an entry whose view has no columns, as nobody asks for any.
    """

    def __init__(self, views: Sequence[FittedView | None]) -> None:
        self._all = tuple(views)
        self._n_kernels: list[int] = []

    @property
    def _views(self) -> list[FittedView]:
        """The views that are looked at, all of them until `in_use` has left some out."""
        return [view for view in self._all if view is not None]

    def training_views(self) -> Views:
        """Return the views of the training samples, once: they are not kept."""
        views = Views([view.samples for view in self._views])
        for view in self._views:
            del view.samples
        return views

    def views(self, X: Any) -> Views:
        """Return the views of new samples.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame or list of these
            New samples, in the form of the training samples.

        Raises
        ------
        InputError
            If they do not have the columns, or a transformer refuses them.
        """
        samples = matrix_of(X)
        nothing = np.empty((np.shape(samples)[0], 0))
        return Views([nothing if view is None else view.of(samples) for view in self._all])

    def in_use(self, kernels: NDArray[np.intp]) -> FittedViews:
        """Return what makes the views of some kernels of its bank; the others are left empty.

        Parameters
        ----------
        kernels : ndarray of int of shape (m,)
            Numbers of kernels of the bank that was made last.
        """
        owners = np.searchsorted(np.cumsum(self._n_kernels), kernels, side="right")
        return FittedViews([view if v in owners else None for v, view in enumerate(self._all)])

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs.

        Parameters
        ----------
        shape : Shape
            Size of the training samples, of which only their number counts.
        """
        return ConcatenatedBank.needs(
            [memory_of(view.entry.builder, Shape(shape.n, view.width)) for view in self._views]
        )

    def __call__(self, views: Views, *, own_samples: bool = False) -> ColumnBank:
        """Return the bank on views of the training samples.

        Parameters
        ----------
        views : Views
            Of the training samples.
        own_samples : bool, default=False
            Whether its `cross` takes samples as the user has them, beside views of them.
        """
        banks = []
        for view, part in zip(self._views, views.parts, strict=True):
            builder = view.entry.builder
            try:
                with columns_called(view.feature_labels):
                    banks.append(checked_bank(builder(part), builder))
            except InputError as error:
                if view.entry.name is None or repr(view.entry.name) in str(error):
                    raise
                raise type(error)(f"{view.entry.called}: {error}") from error
        self._n_kernels = [bank.n_kernels for bank in banks]
        names = [view.names() for view in self._views]
        return ColumnBank(banks, names, self.views if own_samples else None)


def _row_numbers(X: Any, entry: Entry) -> Any:
    """Return the row numbers (n, 1) that the index of a data frame holds."""
    index = X.index if hasattr(X, "iloc") else X.row_names if isinstance(X, Views) else None
    rows_of = getattr(entry.builder, "rows_of", None)
    rows = None if index is None else np.asarray(index if rows_of is None else rows_of(index))
    if rows is None or rows.dtype.kind not in "iu":
        raise InputError(
            f"{entry.called} takes row numbers of the whole data set: name the column of X that "
            "holds them, as in (name, Precomputed(K), column), or pass a DataFrame whose index "
            "they are."
        )
    return rows[:, None]


def _beside(parts: Sequence[Any]) -> Any:
    if any(is_sparse(part) for part in parts):
        from scipy.sparse import hstack

        return hstack([csr(part) if is_sparse(part) else np.asarray(part) for part in parts])
    return np.hstack([np.asarray(part) for part in parts])
