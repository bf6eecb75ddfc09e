"""A parsed file before any choice about its content is made, and how messages show parts of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.data.dataset import Split

# Characters of a cell in a message.
SHOWN = 60


@dataclass(frozen=True)
class Table:
    """A parsed file, before any choice about its content is made.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The inputs.
    labels : tuple of str
        n labels as text.
    feature_names : tuple of str
        d names, from the header or x1 ... xd.
    dropped_rows : int
        Number of rows left out for a missing value.
    splits : tuple of Split
        Training and test rows of each split that the file holds, from 0.
    view_sizes : tuple of int
        Columns of each view, where the file has several; else empty.
    digest : str or None
        Of the content, where that is not `X`; else None.
    notes : tuple of str
        What was done to the columns of the file.
    """

    X: NDArray[np.float64]
    labels: tuple[str, ...]
    feature_names: tuple[str, ...]
    dropped_rows: int = 0
    splits: tuple[Split, ...] = ()
    view_sizes: tuple[int, ...] = ()
    digest: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """The cells of one line of a file, without surrounding blanks."""

    line: int  # in the file, from 1
    cells: list[str]


def excerpt(cell: str) -> str:
    """A cell in a message, its beginning if it is long."""
    return repr(cell) if len(cell) <= SHOWN else f"{cell[:SHOWN]!r}..."


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """List names in a message, the first few if they are many."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"
