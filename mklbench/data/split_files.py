"""Splits of the rows of a data set that a file states, checked against the data.

JSON is a list of ``{"train": [...], "test": [...]}``, with "validation" where there is such a part.
NumPy's npz and MATLAB's mat have an array a part: train_1, test_1, train_2, ..., or trn1, val1,
tst1. A fold number a row, as a list of JSON, a column of a CSV or an array, each called fold, is
the fold in which the row is tested on.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mklbench.data.arrays import PART, read_mat, read_npz
from mklbench.data.files import read_file, unpack
from mklbench.data.splits import Rows
from mklbench.data.tables import detected
from mklbench.errors import DataError, InputError, hint

FirstRow = Literal["auto"] | int

_PARTS = ("train", "validation", "test")
_PART_OF = {"tr": "train", "va": "validation", "ts": "test", "te": "test"}
_REMEDY = (
    'give JSON such as [{"train": [0, 1], "test": [2]}], or arrays train_1, test_1, train_2, ...'
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
    place : str
        The option with the path of the file, as messages name it.
    splits : tuple of FixedSplit
        In the order of the file.
    first_row : int
        The number, 0 or 1, that the file has for the first row.
    note : str
        What was found out about the file, for the user; empty if that was stated.
    n_rows : int or None
        Rows of the data, where the file has a fold of each; else None.
    """

    place: str
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
                f"{self.place}: leave it out to run all of them."
            )
        return len(self.splits) if wanted is None else wanted

    def checked(self, index: int, y: Rows, classes: Sequence[str]) -> FixedSplit:
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
        split, place = self.splits[index], f"{self.place}, split {index}"
        rows = np.concatenate([split.train, split.validation, split.test])
        n_rows = len(y)
        if self.n_rows not in (None, n_rows):
            raise InputError(
                f"{self.place} has the folds of {self.n_rows} rows, and the data have "
                f"{n_rows}: they must be of the same rows, in the same order."
            )
        if rows.max() >= n_rows or rows.min() < 0:
            odd = rows.max() if rows.max() >= n_rows else rows.min()
            last = self.first_row + n_rows - 1
            raise InputError(
                f"{place} names row {odd + self.first_row}, and the data have the rows "
                f"{self.first_row} to {last}: correct it, or set split.first_row to what the file "
                "has for the first row, 0 or 1."
            )
        absent = np.setdiff1d(np.arange(len(classes)), y[split.train])
        if len(absent):
            raise InputError(
                f"{place} has no row of class {classes[absent[0]]} in its training part: give it "
                "one, or leave that class out of the data."
            )
        return split


def read_splits(path: str, first_row: FirstRow = "auto", option: str = "split.path") -> FixedSplits:
    """Read a file of splits (once while it does not change).

    Parameters
    ----------
    path : str
        Of the file.
    first_row : {"auto", 0, 1}, default="auto"
        The number that the file has for the first row of the data. "auto": 1 in a MATLAB file in
        which no row is 0, else 0.
    option : str, default="split.path"
        That names the file.

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
        raise InputError(f"{option}={path} does not exist: give the path of a file.") from None
    return _read(f"{option}={path}", str(expanded), first_row, (status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=8)
def _read(place: str, expanded: str, first_row: FirstRow, state: tuple[int, int]) -> FixedSplits:
    try:
        content = read_file(expanded)
    except DataError as error:
        raise InputError(f"{place} {error}: give the path of a file of splits.") from error
    try:
        content = unpack(content, place)
        kind = detected(content)
        found = _parsed(content, kind, place)
    except (UnicodeDecodeError, DataError) as error:
        raise InputError(f"{place} is no file of splits: {_REMEDY}.") from error
    if isinstance(found, np.ndarray):
        folds = [(np.flatnonzero(found != k), np.flatnonzero(found == k)) for k in np.unique(found)]
        parts = [{"train": train, "test": test} for train, test in folds]
        first, note, n_rows = 0, "", len(found)
    else:
        parts, n_rows = found, None
        first, note = _first_row(parts, first_row, kind == "mat")
    if not parts:
        raise InputError(f"{place} holds no splits: {_REMEDY}.")
    splits = [_split(rows, first, f"{place}, split {index}") for index, rows in enumerate(parts)]
    return FixedSplits(place, tuple(splits), first, f"{place} {note}." if note else "", n_rows)


def _first_row(
    parts: Sequence[Mapping[str, Rows]], stated: FirstRow, matlab: bool
) -> tuple[int, str]:
    """Return the number of the first row in a file, and what is said of it."""
    if stated != "auto" or not matlab:
        return 0 if stated == "auto" else int(stated), ""
    if any((rows == 0).any() for of_split in parts for rows in of_split.values()):
        return 0, "names row 0, so that its rows are counted from 0 (split.first_row=0)"
    return 1, "is of MATLAB and names no row 0: its rows are counted from 1 (split.first_row=1)"


def _split(parts: Mapping[str, Rows], first_row: int, place: str) -> FixedSplit:
    """Return a split with rows from 0, whose parts are not empty and share no row."""
    for name in ("train", "test"):
        if name not in parts:
            raise InputError(f"{place} has no {name} part: {_REMEDY}.")
        if not len(parts[name]):
            raise InputError(f"{place} has an empty {name} part: name one row or more.")
    for name, rows in parts.items():
        values, counts = np.unique(rows, return_counts=True)
        if len(values) < len(rows):
            raise InputError(
                f"{place} names row {values[counts > 1][0]} twice in its {name} part: name each "
                "row once."
            )
    for one, other in combinations(sorted(parts, key=_PARTS.index), 2):
        shared = np.intersect1d(parts[one], parts[other])
        if len(shared):
            raise InputError(
                f"{place} has row {shared[0]} both in its {one} and its {other} part: a row may "
                "be in one of them."
            )
    empty = np.empty(0, dtype=np.int64)
    found = {name: parts.get(name, empty) - first_row for name in _PARTS}
    return FixedSplit(found["train"], found["test"], found["validation"])


def _parsed(content: bytes, kind: str, place: str) -> list[dict[str, Rows]] | Rows:
    """Return the rows of the parts of each split as the file numbers them, or the fold of each."""
    if kind in ("mat", "npz"):
        return _of_arrays((read_mat if kind == "mat" else read_npz)(content, place), place)
    text = content.decode("utf-8-sig")
    if text.lstrip()[:1] in ("[", "{"):
        return _of_json(text, place)
    rows = list(csv.reader(text.splitlines(), delimiter=max(",;\t", key=text.count)))
    header = [name.strip().lower() for name in rows[0]] if rows else []
    if "fold" not in header:
        raise InputError(f"{place} has no column fold: {_REMEDY}.")
    return _whole([row[header.index("fold")] for row in rows[1:] if row], "column fold", place)


def _of_json(text: str, place: str) -> list[dict[str, Rows]] | Rows:
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error).rstrip(".")
        raise InputError(f"{place} cannot be read as JSON ({reason}): {_REMEDY}.") from error
    listed = [listed] if isinstance(listed, dict) else listed
    if listed and not isinstance(listed[0], dict | list):
        return _whole(listed, "list of folds", place)
    found = []
    for index, parts in enumerate(listed):
        if not isinstance(parts, dict):
            raise InputError(f"{place}, split {index} is not a mapping of parts: {_REMEDY}.")
        for name in parts:
            if name not in _PARTS:
                raise InputError(
                    f"{place}, split {index} has a part {name}, which is not known: "
                    f"{hint(name, _PARTS)}."
                )
        at = f"{place}, split {index}"
        found.append({name: _whole(rows, f"{name} part", at) for name, rows in parts.items()})
    return found


def _of_arrays(arrays: Mapping[str, Any], place: str) -> list[dict[str, Rows]] | Rows:
    """Return the splits of arrays that are called by their parts and numbers."""
    found: dict[int, dict[str, Rows]] = {}
    for name, array in arrays.items():
        if name.lower() in ("fold", "folds"):
            return _whole(np.ravel(array).tolist(), f"array {name}", place)
        named = PART.fullmatch(name.lower())
        if named is not None and named["number"]:
            part, number = _PART_OF[named["part"][:2]], int(named["number"])
            rows = _whole(np.ravel(array).tolist(), f"array {name}", place)
            if part in found.setdefault(number, {}):
                raise InputError(f"{place} has two arrays for the {part} part of split {number}.")
            found[number][part] = rows
    return [found[number] for number in sorted(found)]


def _whole(rows: Any, what: str, place: str) -> Rows:
    """Return numbers of rows or folds, which may be doubles or text, as integers."""
    numbers = np.array([0.5])
    if isinstance(rows, list) and not any(isinstance(row, bool) for row in rows):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            numbers = np.array([float(row) for row in rows])
    if np.array_equal(numbers, np.round(numbers)) and (np.abs(numbers) < 2**53).all():
        return numbers.astype(np.int64)
    raise InputError(f"{place} has a {what} that is no list of whole numbers: correct it.")
