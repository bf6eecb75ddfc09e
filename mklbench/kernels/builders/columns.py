"""Lists of kernels, each on columns of its own: ``[("age", Gaussian(), ["age"]), rbf_kernel]``.

An entry is a kernel on all columns, or ``(name, kernel, columns)``, or ``(name, kernel, columns,
transformer)`` where a transformer of scikit-learn, a pipeline of several for instance, is fitted to
these columns of the training samples and stands before the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mklbench.errors import InputError
from mklbench.kernels.base import KernelOperator
from mklbench.kernels.builders.forms import builder_from, checked_bank, is_of_pairs, shown, takes
from mklbench.kernels.builders.named import KernelBuilder
from mklbench.kernels.builders.selection import column_names, is_scalar, numbers, positions
from mklbench.kernels.contract import builder_of, memory_of
from mklbench.kernels.functions import Gaussian, Linear, Polynomial
from mklbench.kernels.memory import Memory, Shape
from mklbench.kernels.samples import Views, csr, is_sparse
from mklbench.kernels.transforms.columns import ColumnBank, ViewNames
from mklbench.kernels.transforms.composite import ConcatenatedBank

_FORMS = "(name, kernel, columns) or (name, kernel, columns, transformer)"


@dataclass(frozen=True)
class Entry:
    """An entry of a list of kernels.

    Attributes
    ----------
    name : str or None
        What the user calls it; None of a kernel on all columns.
    builder : KernelBuilder
        Of its kernels.
    columns : object
        What `positions` accepts.
    transformer : object or None
        With ``fit`` and ``transform``; None for the columns as they are.
    """

    name: str | None
    builder: KernelBuilder
    columns: Any
    transformer: Any = None

    @property
    def called(self) -> str:
        """The entry in messages."""
        return f"kernel {shown(self.builder)}" if self.name is None else f"view {self.name!r}"


class KernelList:
    """Builder of kernels on columns of their own.

    Parameters
    ----------
    kernels : sequence
        The entries: kernels on all columns, ``(name, kernel, columns)`` or ``(name, kernel,
        columns, transformer)``. A kernel is a name of `BUILDERS`, a builder, a kernel function, a
        function of two sets of samples, or a list of these; columns are positions, names, a slice,
        a mask or a function, as in scikit-learn's ColumnTransformer. Where the samples are a list
        of matrices, columns are the numbers of these, and a kernel without columns is one on
        each.

    Raises
    ------
    InputError
        If an entry is none of these.
    """

    def __init__(self, kernels: Sequence[Any]) -> None:
        if not isinstance(kernels, (list, tuple)):
            raise InputError(f"kernel={kernels!r} is no list: give a list of {_FORMS}.")
        if not kernels:
            raise InputError(f"kernel=[] holds no kernel: give a list of {_FORMS}.")
        self._entries = [_entry(given) for given in kernels]

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
        views = []
        for entry in self._entries:
            each = [entry]
            if isinstance(samples, Views) and entry.columns is None and not _takes_rows(entry):
                each = [
                    Entry(f"view {v}", entry.builder, [v], entry.transformer)
                    for v in range(len(samples.parts))
                ]
            views += [FittedView(one, samples, y) for one in each]
        return FittedViews(views)

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs at most: as if each kernel looked at all columns.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        """
        most = ConcatenatedBank.needs([memory_of(each.builder, shape) for each in self._entries])
        return replace(most, n_kernels=None)

    def __call__(self, X: Any) -> ColumnBank:
        """Return the bank on training samples; its `cross` takes new ones in the same form."""
        fitted = self.fitted(X)
        return fitted(fitted.training_views(), own_samples=True)


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
        self._rows = entry.columns is None and _takes_rows(entry)
        self._transformer: Any = None
        if self._rows:
            self._positions: tuple[int, ...] = ()
            self._labels: list[Any] = []
        else:
            columns = slice(None) if entry.columns is None else entry.columns
            self._positions = positions(columns, X, entry.called)
            names = column_names(X)
            self._labels = [] if names is None else [names[j] for j in self._positions]
        self._of_columns = bool(self._positions) and not isinstance(X, Views)
        part = self._part(X)
        self._given = np.shape(part)[1:]
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
        plain = self._transformer is None and self._of_columns
        return ViewNames(
            self.entry.name,
            tuple(self._positions) if plain else None,
            tuple(map(str, self._labels)) if plain and self._labels else None,
            self._width,
        )

    @property
    def width(self) -> int:
        """The number d_v of features."""
        return self._width

    def _part(self, X: Any) -> Any:
        """Return the columns as they are in samples."""
        if self._rows:
            return _row_numbers(X, self.entry)
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
        return numbers(part, name, needed=not takes(self.entry.builder, "text"))


class FittedViews:
    """The columns of a list of kernels, transformers fitted: makes views of samples, and the bank.

    Parameters
    ----------
    views : sequence of FittedView
        Those of the entries.
    """

    def __init__(self, views: Sequence[FittedView]) -> None:
        self._views = tuple(views)

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
        return Views([view.of(samples) for view in self._views])

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
                banks.append(checked_bank(builder(part), builder))
            except InputError as error:
                if view.entry.name is None or repr(view.entry.name) in str(error):
                    raise
                raise type(error)(f"{view.entry.called}: {error}") from error
        names = [view.names() for view in self._views]
        return ColumnBank(banks, names, self.views if own_samples else None)


def kernel_list(kernel: Any, X: Any = None) -> KernelList | None:
    """Return the list of kernels that a parameter ``kernel`` stands for, None if for one builder.

    Parameters
    ----------
    kernel : object
        A list, or a kernel on all columns.
    X : object, default=None
        The samples: where they are several matrices or sparse, one kernel is a list, too.
    """
    if isinstance(kernel, (list, tuple)):
        return KernelList(kernel)
    named = isinstance(kernel, str)
    if kernel == "precomputed" if named else not callable(kernel):
        return None
    if not named and not _is_operator(kernel) and stands_alone(kernel):
        return KernelList([kernel])
    if are_views(X) or (is_sparse(X) and takes(builder_from(kernel), "sparse")):
        return KernelList([kernel])
    return None


def takes_sparse(kernel: Any) -> bool:
    """Tell whether each kernel of a parameter ``kernel`` takes a sparse matrix as it is.

    Parameters
    ----------
    kernel : object
        A list, or a kernel on all columns.
    """
    try:
        if isinstance(kernel, (list, tuple)):
            entries = [_entry(given) for given in kernel]
            return all(e.transformer is not None or takes(e.builder, "sparse") for e in entries)
        return takes(builder_from(kernel), "sparse")
    except InputError:  # which `fit` will say
        return False


def _is_operator(kernel: Any) -> bool:
    """Tell whether a kernel is a class of operators, and so a builder."""
    return isinstance(kernel, type) and issubclass(kernel, KernelOperator)


def stands_alone(kernel: Any) -> bool:
    """Tell whether a callable is a kernel, or a class by mistake, and no builder."""
    return isinstance(kernel, (type, Gaussian, Linear, Polynomial)) or is_of_pairs(kernel)


def matrix_of(X: Any) -> Any:
    """Return samples as a data frame, a sparse matrix, an array (n, d) or views.

    Parameters
    ----------
    X : array_like, sparse matrix, DataFrame or list of these
        Samples (n, d), or several matrices with n rows, one a view; a list of n texts is one column
        of them.

    Raises
    ------
    InputError
        If they are none of these.
    """
    if isinstance(X, Views) or hasattr(X, "iloc"):
        return X.to_frame() if hasattr(X, "to_frame") else X
    if is_sparse(X):
        return csr(X)
    if are_views(X):
        return Views(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InputError("X has rows of different lengths: give samples of equal length.") from (
            error
        )
    if array.ndim == 1 and array.dtype.kind in "OUST":
        array = array.astype(object)[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"X has shape {array.shape}: it must be a matrix (n_samples, n_features).")
    return array


def are_views(X: Any) -> bool:
    """Tell whether samples are views, or a list of matrices that become views."""
    if isinstance(X, Views):
        return True
    return (
        isinstance(X, (list, tuple))
        and len(X) > 0
        and all(hasattr(part, "shape") and len(part.shape) == 2 for part in X)
    )


def _entry(given: Any) -> Entry:
    if not isinstance(given, tuple):
        return Entry(None, builder_from(given), None)
    if len(given) not in (3, 4) or not isinstance(given[0], str):
        raise InputError(f"kernel has the entry {given!r}: give a kernel, or {_FORMS}.")
    name, kernel, columns, *transformer = given
    try:
        builder = builder_from(kernel)
    except InputError as error:
        raise InputError(f"view {name!r}: {error}") from error
    passing = transformer and isinstance(transformer[0], str) and transformer[0] == "passthrough"
    return Entry(name, builder, columns, None if passing or not transformer else transformer[0])


def _takes_rows(entry: Entry) -> bool:
    return builder_of(entry.builder).takes_rows


def _row_numbers(X: Any, entry: Entry) -> Any:
    """Return the row numbers (n, 1) that the index of a data frame holds."""
    index = X.index if hasattr(X, "iloc") else None
    if index is None or index.dtype.kind not in "iu":
        raise InputError(
            f"{entry.called} takes row numbers of the whole data set: name the column of X that "
            "holds them, as in (name, Precomputed(K), column), or pass a DataFrame whose index "
            "they are."
        )
    return index.to_numpy()[:, None]


def _beside(parts: Sequence[Any]) -> Any:
    if any(is_sparse(part) for part in parts):
        from scipy.sparse import hstack

        return hstack([csr(part) if is_sparse(part) else np.asarray(part) for part in parts])
    return np.hstack([np.asarray(part) for part in parts])
