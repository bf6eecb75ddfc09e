"""Splits of the rows of a data set that a file states, checked against the data.

How they stand in the file says `mklbench.data.split_formats`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mklbench.data.download import read_file
from mklbench.data.limits import DEFAULT_BYTES
from mklbench.data.split_formats import Parts, is_matlab, parse_parts
from mklbench.data.split_names import Part
from mklbench.data.splits import Rows
from mklbench.errors import DataError, InputError

FirstRow = Literal["auto"] | int

# Pairs of parts that may not share a row.
_PAIRS: tuple[tuple[Part, Part], ...] = (
    ("train", "test"),
    ("train", "validation"),
    ("validation", "test"),
)


@dataclass(frozen=True)
class FixedSplit:
    """The rows of one split, from 0, each part in the order of the file.

    Attributes
    ----------
    train, test : ndarray of int
        Rows to fit to, and rows to test on.
    validation : ndarray of int
        Rows that the search for hyperparameters tests on; empty: it makes folds of `train`.
    """

    train: Rows
    test: Rows
    validation: Rows

    @property
    def learning(self) -> Rows:
        """Rows of the training and the validation part, sorted: what the last fit has."""
        return np.sort(np.concatenate([self.train, self.validation]))


@dataclass(frozen=True)
class FixedSplits:
    """The splits of one file.

    Attributes
    ----------
    path : str
        Of the file, as it was given.
    splits : tuple of FixedSplit
        In the order of the file.
    first_row : int
        The number, 0 or 1, that the file has for the first row.
    note : str
        What was found out about the file, for the user; empty if that was stated.
    n_rows : int or None
        Rows of the data, where the file has masks of them; else None.
    """

    path: str
    splits: tuple[FixedSplit, ...]
    first_row: int
    note: str = ""
    n_rows: int | None = None

    def __len__(self) -> int:
        return len(self.splits)

    @property
    def digest(self) -> str:
        """Digest of the sizes and rows of all parts, whatever the format of the file."""
        digest = hashlib.sha256()
        for split in self.splits:
            parts = (split.train, split.validation, split.test)
            digest.update(" ".join(str(len(part)) for part in parts).encode() + b"\n")
            digest.update(np.concatenate(parts).astype("<i8").tobytes())
        return f"sha256:{digest.hexdigest()}"

    def number(self, wanted: int | None) -> int:
        """Return how many splits are run: all of them if `wanted` is None.

        Raises
        ------
        InputError
            More are wanted than there are.
        """
        if wanted is not None and wanted > len(self.splits):
            raise InputError(
                f"split.n_splits={wanted} is more than the {len(self.splits)} of "
                f"split.path={self.path}: leave it out to run all of them."
            )
        return len(self.splits) if wanted is None else wanted

    def checked(self, index: int, y: NDArray[np.int64], classes: Sequence[str]) -> FixedSplit:
        """Return a split that fits a data set.

        Parameters
        ----------
        index : int
            Of the split, from 0.
        y : ndarray of shape (n,)
            Class codes; all 0 where there are targets instead.
        classes : sequence of str
            Code -> label; empty where there are targets.

        Raises
        ------
        InputError
            There is no such split, or a row that the data do not have, or no row of a class to
            fit to.
        """
        self.number(index + 1)
        split, place = self.splits[index], f"split.path={self.path}, split {index}"
        rows = np.concatenate([split.train, split.validation, split.test])
        n_rows = len(y)
        if self.n_rows not in (None, n_rows):
            raise InputError(
                f"split.path={self.path} has masks of {self.n_rows} rows, and the data have "
                f"{n_rows}: they must be of the same rows, in the same order."
            )
        if rows.max() >= n_rows or rows.min() < 0:
            odd = rows.max() if rows.max() >= n_rows else rows.min()
            last = self.first_row + n_rows - 1
            may_be = ""
            if self.first_row == 0 and odd == n_rows and self._least() >= 1:
                may_be = "; if it counts from 1, as no row 0 in it suggests, set split.first_row=1"
            elif self.first_row == 1 and odd == -1:
                may_be = "; if it counts from 0, set split.first_row=0"
            raise InputError(
                f"{place} names row {odd + self.first_row}, and the data have the rows "
                f"{self.first_row} to {last}: correct it{may_be}."
            )
        absent = np.setdiff1d(np.arange(len(classes)), y[split.train])
        if len(absent):
            raise InputError(
                f"{place} has no row of class {classes[absent[0]]} in its training part: give it "
                "one, or leave that class out of the data."
            )
        return split

    def _least(self) -> int:
        return min(int(part.min()) for s in self.splits for part in (s.train, s.test))


def read_splits(path: str, first_row: FirstRow = "auto") -> FixedSplits:
    """Read a file of splits (once while it does not change).

    Parameters
    ----------
    path : str
        Of the file.
    first_row : {"auto", 0, 1}, default="auto"
        The number that the file has for the first row of the data. "auto": 1 in a MATLAB file in
        which no row is 0, else 0.

    Raises
    ------
    InputError
        It cannot be read, holds no splits, or has a part that is empty or names a row twice, or
        two parts with the same row.
    """
    expanded = Path(path).expanduser()
    try:
        status = expanded.stat()
    except (OSError, ValueError):
        raise InputError(f"split.path={path} does not exist: give the path of a file.") from None
    return _read(path, str(expanded), first_row, (status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=8)
def _read(path: str, expanded: str, first_row: FirstRow, state: tuple[int, int]) -> FixedSplits:
    place = f"split.path={path}"
    try:
        content = read_file(expanded, DEFAULT_BYTES)
    except DataError as error:
        raise InputError(f"{place} {error}: give the path of a file of splits.") from error
    parts = parse_parts(content, place)
    first, note = _first_row(parts, first_row, is_matlab(content))
    splits = tuple(
        _split(found, first, f"{place}, split {index}") for index, found in enumerate(parts)
    )
    masks = {len(rows) for found in parts for rows in found.values() if rows.dtype == bool}
    if len(masks) > 1:
        raise InputError(
            f"{place} has masks of {', '.join(map(str, sorted(masks)))} rows: each must be of all "
            "rows of the data."
        )
    n_rows = masks.pop() if masks else None
    return FixedSplits(path, splits, first, f"{place} {note}." if note else "", n_rows)


def _first_row(parts: Sequence[Parts], stated: FirstRow, matlab: bool) -> tuple[int, str]:
    """Return the number of the first row in a file, and what is said of it."""
    if stated != "auto":
        return int(stated), ""
    numbers = [rows for of_split in parts for rows in of_split.values() if rows.dtype != bool]
    if not matlab or not numbers:
        return 0, ""
    if any((rows == 0).any() for rows in numbers):
        return 0, "names row 0, so that its rows are counted from 0 (split.first_row=0)"
    return 1, "is of MATLAB and names no row 0: its rows are counted from 1 (split.first_row=1)"


def _split(parts: Parts, first_row: int, place: str) -> FixedSplit:
    """Return a split with rows from 0, whose parts are not empty and share no row."""
    found: dict[Part, Rows] = {}
    for name, rows in parts.items():
        if rows.dtype == bool:
            found[name] = np.flatnonzero(rows).astype(np.int64)
        else:
            found[name] = rows - first_row
            values, counts = np.unique(rows, return_counts=True)
            if len(values) < len(rows):
                twice = values[counts > 1][0]
                raise InputError(
                    f"{place} names row {twice} twice in its {name} part: name each row once."
                )
        if not len(found[name]) and name != "validation":
            raise InputError(f"{place} has an empty {name} part: name one row or more.")
    found.setdefault("validation", np.empty(0, dtype=np.int64))
    for one, other in _PAIRS:
        shared = np.intersect1d(found[one], found[other])
        if len(shared):
            raise InputError(
                f"{place} has row {shared[0] + first_row} both in its {one} and its {other} part: "
                "a row may be in one of them."
            )
    return FixedSplit(found["train"], found["test"], found["validation"])
