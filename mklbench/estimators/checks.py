"""What an estimator checks before any work: class labels, names and order of samples."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from mklbench.errors import InputError
from mklbench.kernels import GramStack, Views
from mklbench.kernels.samples import Names, difference, first_named, is_dict, names_of_rows

# Numbers of which there are more than this, as many of them occurring once, look like real targets.
_MANY_CLASSES, _OCCURRING_ONCE = 20, 0.25


def check_column_names(X: Any) -> None:
    """Raise an InputError if two columns of a data frame have the same name."""
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        return
    name, count = Counter(X.columns).most_common(1)[0] if len(X.columns) else (None, 0)
    if count > 1:
        raise InputError(
            f"X has {count} columns with the name {name!r}: rename them, or pass X.to_numpy()."
        )


def check_none_missing(y: Any) -> None:
    """Raise an InputError for a label that is None, NaN or pandas' NA beside texts or objects."""
    values = np.ravel(y) if y is not None and np.asarray(y).dtype == object else ()
    for row, value in enumerate(values):
        is_nan = isinstance(value, float) and np.isnan(value)
        if value is None or is_nan or type(value).__name__ in ("NAType", "NaTType"):
            raise InputError(f"y has no label at row {row}: leave out the samples without one.")


def check_classes(y: NDArray[Any]) -> None:
    """Raise a ValueError if class labels (n,) are real targets, by all that they look like.

    Fractions are. Whole numbers are taken for real targets where they are of a floating type, more
    than 20, no codes without a gap, and a quarter of them occur once.
    """
    if y.dtype.kind == "f" and type_of_target(y, input_name="y") == "multiclass":
        values, counts = np.unique(y, return_counts=True)
        once, has_gap = int((counts == 1).sum()), np.ptp(values) + 1 > len(values)
        if len(values) > _MANY_CLASSES and has_gap and once >= _OCCURRING_ONCE * len(values):
            raise InputError(
                f"y has {len(values)} different values in {len(y)} rows, {once} of them once, like "
                "real targets: fit a regressor, or pass integers if they are classes."
            )
    check_classification_targets(y)


def check_same_rows(X: Any, name: str, values: Any) -> None:
    """Raise an InputError if a series names other samples than `X`, or in another order.

    Parameters
    ----------
    X : object
        Samples in any form.
    name : str
        What the series is called.
    values : object
        Something by sample: labels, weights.
    """
    differs = difference(_sample_names(X), names_of_rows(values))
    if differs is not None:
        raise InputError(
            f"{name} has its rows {differs}, compared with X, by the index of both: give "
            f"{name}.loc[X.index], or {name}.to_numpy() if they belong together as they are."
        )


def _sample_names(X: Any) -> Names | None:
    if isinstance(X, Views):
        return X.row_names
    if isinstance(X, GramStack):
        return X.rows
    several = X.values() if is_dict(X) else X if isinstance(X, (list, tuple)) else [X]
    return first_named(names_of_rows(part) for part in several)
