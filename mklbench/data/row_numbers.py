"""Columns that number the rows, such as the index that pandas writes: no features of a sample.

A file is often ordered by class, so that the number of a row tells its class. Such a column is
never learned from, nor left out, unless the user says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# As pandas writes a name that is not there, and reads it back.
_UNNAMED = re.compile(r"|Unnamed: \d+(?:\.\d+)*")
# Of fewer rows a column may have these numbers by chance.
_FEWEST = 8


def is_unnamed(name: str) -> bool:
    """Tell whether a header leaves a column without a name, as that of an index."""
    return _UNNAMED.fullmatch(name) is not None


def row_numbers(X: NDArray[np.float64], n_rows: int) -> list[int]:
    """Return the columns that hold the numbers of the rows, from 0 or 1, in any order.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The numbers of the file.
    n_rows : int
        Rows of the file, of which some may have been dropped.
    """
    if len(X) < _FEWEST:
        return []
    return [column for column in range(X.shape[1]) if _numbers_rows(X[:, column], n_rows)]


def _numbers_rows(values: NDArray[np.float64], n_rows: int) -> bool:
    least, largest = values.min(), values.max()
    if least < 0 or largest > n_rows or not np.array_equal(values, np.round(values)):
        return False
    if len(values) < n_rows:  # with holes: in the order of the file alone
        return bool((np.diff(values) > 0).all())
    return bool(least in (0, 1) and largest - least == n_rows - 1) and len(
        np.unique(values)
    ) == len(values)


def described(columns: Sequence[str]) -> str:
    """Return how messages call such columns: one or several."""
    if len(columns) == 1:
        return f"{columns[0]}, which numbers the rows"
    return f"{' and '.join(columns)}, which number the rows"
