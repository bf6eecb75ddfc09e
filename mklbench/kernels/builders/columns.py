"""Lists of kernels, each on columns of its own: ``[("age", Gaussian(), ["age"]), rbf_kernel]``.

An entry is a kernel on all columns, or ``(name, kernel, columns)``, or ``(name, kernel, columns,
transformer)`` where a transformer of scikit-learn, a pipeline of several for instance, is fitted to
these columns of the training samples and stands before the kernel. Columns are chosen as in
scikit-learn's ColumnTransformer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError, first_line, hint
from mklbench.kernels.banks.concatenated import ColumnBank, ViewNames
from mklbench.kernels.builders.forms import builder_from, checked_bank, shown
from mklbench.kernels.builders.named import KernelBuilder
from mklbench.kernels.contract import Builder, builder_of
from mklbench.kernels.samples import (
    SampleLayout,
    Views,
    are_views,
    csr,
    is_sparse,
    matrix_of,
    names_of_columns,
    numbers,
)
from mklbench.validation import check_finite, columns_called

_FORMS = "(name, kernel, columns) or (name, kernel, columns, transformer)"


@dataclass(frozen=True)
class _Entry:
    """An entry of a list of kernels.

    Attributes
    ----------
    name : str or None
        What the user calls it; None of a kernel on all columns.
    builder : KernelBuilder
        Of its kernels.
    columns : object
        What `_positions` accepts.
    transformer : object or None
        With ``fit`` and ``transform``; None for the columns as they are.
    """

    name: str | None
    builder: KernelBuilder
    columns: Any
    transformer: Any = None

    @classmethod
    def of(cls, given: Any) -> _Entry:
        """Return the entry that a user has written; an InputError if it is none."""
        if not isinstance(given, tuple):
            return cls(None, builder_from(given), None)
        if len(given) not in (3, 4) or not isinstance(given[0], str):
            raise InputError(f"kernel has the entry {given!r}: give a kernel, or {_FORMS}.")
        name, kernel, columns, transformer = (*given, None)[:4]
        if isinstance(transformer, str) and transformer == "passthrough":
            transformer = None
        return cls(name, builder_from(kernel), columns, transformer)

    @property
    def declared(self) -> Builder:
        """What the builder declares."""
        return builder_of(self.builder)

    @property
    def called(self) -> str:
        """The entry in messages."""
        return f"kernel {shown(self.builder)}" if self.name is None else f"view {self.name!r}"

    @property
    def takes_rows(self) -> bool:
        """Whether the kernels are on row numbers that no column holds."""
        return self.columns is None and self.declared.takes_rows


class KernelList:
    """Builder of kernels on columns of their own.

    Parameters
    ----------
    kernels : sequence or mapping
        The entries: kernels on all columns, ``(name, kernel, columns)`` or ``(name, kernel,
        columns, transformer)``. A kernel is a name of `BUILDERS`, a builder, a kernel function, a
        function of two sets of samples, or a list of these; columns are positions, names, a slice,
        a mask or a function, as in scikit-learn's ColumnTransformer. Where the samples are a list
        or dict of matrices, columns are the numbers or names of these, and a kernel without columns
        is one on each. A dict has a kernel for each view, by its name.

    Raises
    ------
    InputError
        If an entry is none of these.
    """

    def __init__(self, kernels: Sequence[Any] | Mapping[str, Any]) -> None:
        if isinstance(kernels, Mapping):
            kernels = [(name, kernel, None) for name, kernel in kernels.items()]
        if not isinstance(kernels, (list, tuple)) or not kernels:
            raise InputError(f"kernel={kernels!r} holds no kernel: give a list of {_FORMS}.")
        self._entries = [_Entry.of(given) for given in kernels]

    @property
    def takes_sparse(self) -> bool:
        """Whether each kernel takes a sparse matrix, or has a transformer that may."""
        return all(e.transformer is not None or e.declared.takes_sparse for e in self._entries)

    def fitted(self, X: Any, y: Any = None) -> FittedViews:
        """Find the columns in the training samples, and fit the transformers to them.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame or list of these
            Training samples (n, d), or several matrices with n rows, one a view.
        y : array_like of shape (n,) or None, default=None
            The responses, for transformers that need them.

        Raises
        ------
        InputError
            If a column does not exist, or a transformer fails.
        """
        samples = matrix_of(X)
        views = [
            _FittedView(one, samples, y)
            for each in self._entries
            for one in _by_view(each, samples)
        ]
        return FittedViews(views, SampleLayout(samples))

    def __call__(self, X: Any) -> ColumnBank:
        """Return the bank on training samples; its `cross` takes new ones in the same form."""
        fitted = self.fitted(X)
        return fitted(fitted.training_views(), own_samples=True)


def kernel_list(kernel: Any, X: Any = None) -> KernelList | None:
    """Return the list of kernels that a parameter ``kernel`` stands for, None if for one builder.

    Parameters
    ----------
    kernel : object
        A list, or a kernel on all columns.
    X : object, default=None
        The samples: where they are several matrices or sparse, one kernel is a list, too.
    """
    if isinstance(kernel, (list, tuple, Mapping)):
        return KernelList(kernel)
    named = isinstance(kernel, str)
    if kernel == "precomputed" if named else not callable(kernel):
        return None
    builder = builder_from(kernel)
    of_views = are_views(X) or (is_sparse(X) and builder_of(builder).takes_sparse)
    return KernelList([kernel]) if of_views or not (named or builder is kernel) else None


def takes_sparse(kernel: Any) -> bool:
    """Tell whether each kernel of a parameter ``kernel`` takes a sparse matrix as it is.

    Parameters
    ----------
    kernel : object
        A list, or a kernel on all columns.
    """
    try:
        several = isinstance(kernel, (list, tuple, Mapping))
        return KernelList(kernel if several else [kernel]).takes_sparse
    except InputError:  # which `fit` will say
        return False


class FittedViews:
    """The columns of a list of kernels, transformers fitted: makes views of samples, and the bank.

    Parameters
    ----------
    views : sequence of _FittedView or None
        Those of the entries; None of an entry whose view has no columns, as nobody asks for any.
    layout : SampleLayout
        Of the training samples.
    """

    def __init__(self, views: Sequence[_FittedView | None], layout: SampleLayout) -> None:
        self._layout, self._n_kernels = layout, list[int]()
        self._views: tuple[Any, ...] = tuple(views)  # all of them until `in_use` leaves some out

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
            If they have another form than the training samples, or a transformer refuses them.
        """
        samples = self._layout.ordered(matrix_of(X))
        nothing = np.empty((np.shape(samples)[0], 0))
        return Views([nothing if view is None else view.of(samples) for view in self._views])

    def in_use(self, kernels: NDArray[np.intp]) -> FittedViews:
        """Return what makes the views of some kernels of its bank; the others are left empty.

        Parameters
        ----------
        kernels : ndarray of int of shape (m,)
            Numbers of kernels of the bank that was made last.
        """
        owners = np.searchsorted(np.cumsum(self._n_kernels), kernels, side="right")
        kept = [view if v in owners else None for v, view in enumerate(self._views)]
        return FittedViews(kept, self._layout)

    @property
    def takes_few(self) -> bool:
        """Whether each builder does."""
        return all(view.entry.declared.takes_few for view in self._views)

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
        names = [view.names for view in self._views]
        return ColumnBank(banks, names, self.views if own_samples else None)


class _FittedView:
    """The columns of one entry, its transformer fitted.

    Parameters
    ----------
    entry : _Entry
        The entry.
    X : array, sparse matrix, DataFrame or Views
        Training samples.
    y : array_like of shape (n,) or None
        The responses.
    """

    def __init__(self, entry: _Entry, X: Any, y: Any) -> None:
        self.entry = entry
        self._positions: tuple[int, ...] = ()
        if not entry.takes_rows:
            self._positions = _positions(entry.columns, X, entry.called)
        part = self._part(X)
        labels = names_of_columns(part)
        if entry.transformer is not None:
            from sklearn.base import clone  # of those who have transformers

            self._transformer = self._called(clone, entry.transformer)
            part, labels = self._called(self._transformer.fit_transform, part, y), None
        self.feature_labels = labels
        self.samples = self._prepared(part)
        self.width, self._is_dense = int(np.shape(self.samples)[1]), not is_sparse(self.samples)
        are_columns = entry.transformer is None and self._positions and not isinstance(X, Views)
        positions = self._positions if are_columns else None
        numbered = [f"column {j}" for j in positions or range(self.width)]
        names = labels if are_columns and labels else numbered
        self.names = ViewNames(entry.name, positions, tuple(map(str, names)))

    def of(self, X: Any) -> Any:
        """Return the view (n_new, d_v) of new samples, an array or a sparse matrix.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or Views
            New samples, in the form of the training samples.

        Raises
        ------
        InputError
            If the transformer refuses them.
        """
        part = self._part(X)
        if self.entry.transformer is not None:
            part = self._called(self._transformer.transform, part)
        # What was dense at the fit is met by kernels on arrays.
        return self._prepared(part.toarray() if is_sparse(part) and self._is_dense else part)

    def _part(self, X: Any) -> Any:
        """Return the columns as they are in samples, or the row numbers."""
        entry = self.entry
        rows_of = entry.declared.rows_of
        if entry.takes_rows:
            index = X.index if hasattr(X, "iloc") else getattr(X, "row_names", None)
            rows = None if index is None else np.asarray(rows_of(index) if rows_of else index)
            if rows is None or rows.dtype.kind not in "iu":
                raise InputError(
                    f"{entry.called} takes row numbers of the whole data set: name the column of X "
                    "that holds them, as in (name, Precomputed(K), column), or pass a DataFrame "
                    "whose index they are."
                )
            return rows[:, None]
        if isinstance(X, Views):
            parts = [X.parts[v] for v in self._positions]
            part = parts[0] if len(parts) == 1 else _beside(parts)
        else:
            vector = entry.transformer is not None and _is_scalar(entry.columns)
            chosen: Any = self._positions[0] if vector else list(self._positions)
            part = X.iloc[:, chosen] if hasattr(X, "iloc") else X[:, chosen]
        if rows_of is None or entry.transformer is not None:
            return part
        return np.reshape(rows_of(part), (-1, 1))

    def _called(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a method of the transformer returns; an InputError names what it refuses."""
        try:
            return method(*arguments)
        except InputError:
            raise
        except (TypeError, ValueError) as error:
            reason = " ".join(str(error).split()).rstrip(".")
            name = type(self.entry.transformer).__name__
            raise InputError(
                f"{self.entry.called}: its transformer {name} says {reason!r}: mend the columns, "
                'or give another transformer, such as OneHotEncoder(handle_unknown="ignore").'
            ) from error

    def _prepared(self, part: Any) -> Any:
        """Return columns, transformed if they have to be, as the kernels take them."""
        name, declared = self.entry.called, self.entry.declared
        if is_sparse(part):
            if not declared.takes_sparse:
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
        array = numbers(part, name, needed=not declared.takes_text)
        # A builder of the user's own may take them.
        if array.dtype.kind == "f" and declared.takes_few and not declared.takes_missing:
            with columns_called(self.feature_labels):
                check_finite(name, array)
        return array


def _by_view(entry: _Entry, samples: Any) -> list[_Entry]:
    """Return an entry without columns as one on each view that it names; others as they are."""
    if not isinstance(samples, Views) or entry.columns is not None or entry.takes_rows:
        return [entry]
    names = samples.names or [f"view {v}" for v in range(len(samples.parts))]
    each = [
        _Entry(name, entry.builder, [v], entry.transformer)
        for v, name in enumerate(names)
        if entry.name in (None, name)
    ]
    if not each:
        raise InputError(
            f"{entry.called} names none of the views {', '.join(map(repr, names))} of X: call it "
            "as a view is called."
        )
    return each


def _positions(columns: Any, X: Any, view: str) -> tuple[int, ...]:
    """Return the positions of the columns that are chosen, or the numbers of the views.

    Parameters
    ----------
    columns : int, str, slice, list of int or of str, mask, callable or None
        As a ColumnTransformer takes them; a callable is called with `X`. All if None.
    X : array, sparse matrix, data frame or Views
        Training samples.
    view : str
        What the view is called in messages.

    Raises
    ------
    InputError
        If a column does not exist, or none is chosen.
    """
    from sklearn.compose import ColumnTransformer  # of those who choose columns

    names: Any = X.names if isinstance(X, Views) else names_of_columns(X)
    n = len(X.parts) if isinstance(X, Views) else np.shape(X)[1]
    if columns is None:
        return tuple(range(n))
    numbered: Any = np.arange(n)[None]
    if names is not None:
        import pandas as pd

        numbered = pd.DataFrame(numbered, columns=list(map(str, names)))
    given = columns(X) if callable(columns) else columns
    given = given.tolist() if hasattr(given, "tolist") else given
    given = [given] if _is_scalar(given) else given
    try:
        chosen = ColumnTransformer([("chosen", "passthrough", given)]).fit_transform(numbered)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        for column in given if names and isinstance(given, list) else ():
            if isinstance(column, str) and column not in names:
                raise InputError(
                    f"{view} has the column {column!r}, which X has not: {hint(column, names)}."
                ) from error
        raise InputError(
            f"{view} has columns={columns!r}, of which scikit-learn says {first_line(error)!r}: "
            "give positions, names of a DataFrame, a slice, a mask or a function."
        ) from error
    found = np.asarray(chosen).ravel()
    if not len(found):
        raise InputError(f"{view} has no columns: leave it out, or choose columns of X.")
    return tuple(found.tolist())


def _is_scalar(columns: Any) -> bool:
    """Tell whether a choice is one column, of which transformers are given a vector."""
    return isinstance(columns, (str, int, np.integer))


def _beside(parts: Sequence[Any]) -> Any:
    if any(is_sparse(part) for part in parts):
        from scipy.sparse import hstack

        return hstack([csr(part) if is_sparse(part) else np.asarray(part) for part in parts])
    return np.hstack([np.asarray(part) for part in parts])
