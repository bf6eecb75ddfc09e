"""Lists of kernels, each on columns of its own: ``[("age", Gaussian(), ["age"]), rbf_kernel]``.

An entry is a kernel on all columns, or ``(name, kernel, columns)``, or ``(name, kernel, columns,
transformer)`` where a transformer of scikit-learn, a pipeline of several for instance, is fitted to
these columns of the training samples and stands before the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mklbench.errors import InputError
from mklbench.kernels.base import KernelOperator
from mklbench.kernels.builders.entries import FORMS, Entry, entry_of
from mklbench.kernels.builders.fitted_views import FittedView, FittedViews
from mklbench.kernels.builders.forms import builder_from, is_of_pairs, takes
from mklbench.kernels.contract import memory_of
from mklbench.kernels.functions import Gaussian, Linear, Polynomial
from mklbench.kernels.memory import Memory, Shape
from mklbench.kernels.samples import Views, are_views, is_sparse, matrix_of
from mklbench.kernels.transforms.columns import ColumnBank
from mklbench.kernels.transforms.composite import ConcatenatedBank


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
        if not isinstance(kernels, (list, tuple)):
            raise InputError(f"kernel={kernels!r} is no list: give a list of {FORMS}.")
        if not kernels:
            raise InputError(f"kernel=[] holds no kernel: give a list of {FORMS}.")
        self._entries = [entry_of(given) for given in kernels]

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
            if isinstance(samples, Views) and entry.columns is None and not entry.takes_rows:
                names = samples.names or [f"view {v}" for v in range(len(samples.parts))]
                each = [
                    Entry(name, entry.builder, [v], entry.transformer)
                    for v, name in enumerate(names)
                    if entry.name in (None, name)
                ]
                if not each:
                    raise InputError(
                        f"{entry.called} names none of the views {', '.join(map(repr, names))} of "
                        "X: call it as a view is called."
                    )
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
        if isinstance(kernel, Mapping):
            kernel = [(name, each, None) for name, each in kernel.items()]
        if isinstance(kernel, (list, tuple)):
            entries = [entry_of(given) for given in kernel]
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
