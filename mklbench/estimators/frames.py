"""What data frames and dicts call views, columns and samples, held to what they had at the fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklbench.errors import InputError
from mklbench.kernels import GramStack, Views
from mklbench.kernels.axis_names import (
    Names,
    check_same_names,
    difference,
    first_named,
    names_of_columns,
    names_of_rows,
    reordered,
)
from mklbench.kernels.samples import is_dict


class Frames:
    """The views and columns of training samples.

    Parameters
    ----------
    X : array_like, DataFrame, sparse matrix or Views
        Training samples.
    """

    def __init__(self, X: Any) -> None:
        self._are_views = isinstance(X, Views)
        self._names = X.names if isinstance(X, Views) else None
        parts = X.parts if isinstance(X, Views) else (X,)
        self._columns = [names_of_columns(part) for part in parts]
        self._widths = [np.shape(part)[1] for part in parts] if self._are_views else []

    def ordered(self, X: Any) -> Any:
        """Return new samples with their views in the order of the training samples.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Views
            New samples.

        Raises
        ------
        InputError
            If they have other views, or a view has another number or names of columns, or names in
            another order.
        """
        if isinstance(X, Views) != self._are_views:
            views, one = f"{len(self._widths)} views", "one matrix"
            had, has = (views, "none") if self._are_views else (one, "views")
            raise InputError(f"the training samples were {had}, and X is {has}: give the same.")
        if not isinstance(X, Views):
            return X
        if X.names != self._names:
            check_same_names("X", "views", X.names, self._names)
            parts = dict(zip(X.names or (), X.parts, strict=True))
            X = Views({name: parts[name] for name in self._names or ()})
        if len(X.parts) != len(self._widths):
            raise InputError(
                f"X has {len(X.parts)} views, but the training samples have {len(self._widths)}: "
                "give the same, in the same order."
            )
        for v, (part, width) in enumerate(zip(X.parts, self._widths, strict=True)):
            if np.shape(part)[1] != width:
                raise InputError(
                    f"{X.called(v)} has {np.shape(part)[1]} columns, but that of the training "
                    f"samples has {width}: give the same, in the same order."
                )
            self._check_columns(X.called(v), part, v)
        return X

    def check(self, X: Any) -> None:
        """Raise an InputError if columns of one data frame have other names, or another order.

        Parameters
        ----------
        X : object
            New samples, whose names scikit-learn has compared where they are text.
        """
        if not self._are_views:
            self._check_columns("X", X, 0)

    def _check_columns(self, called: str, part: Any, v: int) -> None:
        differs = difference(self._columns[v], names_of_columns(part))
        if differs is not None:
            raise InputError(
                f"{called} has its columns {differs}, compared with the training samples: give the "
                "same in the same order."
            )


def check_same_rows(X: Any, name: str, values: Any) -> None:
    """Raise an InputError if a series names the samples in another order than `X` does.

    Parameters
    ----------
    X : object
        Samples in any form.
    name : str
        What the series is called.
    values : object
        Something by sample: labels, weights.
    """
    if reordered(_sample_names(X), names_of_rows(values)):
        raise InputError(
            f"{name} has its rows in another order than X, by the index of both: give "
            f"{name}.loc[X.index], or {name}.to_numpy() if they belong together as they are."
        )


def _sample_names(X: Any) -> Names | None:
    if isinstance(X, Views):
        return X.row_names
    if isinstance(X, GramStack):
        return X.rows
    several = X.values() if is_dict(X) else X if isinstance(X, (list, tuple)) else [X]
    return first_named(names_of_rows(part) for part in several)
