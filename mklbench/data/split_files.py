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
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mklbench.data.arrays import PART, read_mat, read_npz
from mklbench.data.files import read_file, unpack
from mklbench.data.splits import Rows
from mklbench.data.tables import detected
from mklbench.errors import DataError, InputError, first_line, hint

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
    kind = detected(content)
    try:
        found = _parsed(content, kind, place)
    except (UnicodeDecodeError, DataError) as error:
        raise InputError(f"{place} is no file of splits: {_REMEDY}.") from error
    first, note, n_rows = 0 if first_row == "auto" else first_row, "", None
    if isinstance(found, np.ndarray):
        first, n_rows = 0, len(found)
        found = [
            {"train": np.flatnonzero(found != k), "test": np.flatnonzero(found == k)}
            for k in np.unique(found)
        ]
    elif kind == "mat" and first_row == "auto":
        first = int(all(rows.min(initial=1) for parts in found for rows in parts.values()))
        note = f"{place} is of MATLAB, and its rows are counted from {first} (split.first_row)."
    if not found:
        raise InputError(f"{place} holds no splits: {_REMEDY}.")
    splits = [_split(rows, first, f"{place}, split {index}") for index, rows in enumerate(found)]
    return FixedSplits(place, tuple(splits), first, note, n_rows)


def _split(parts: Mapping[str, Rows], first_row: int, place: str) -> FixedSplit:
    """Return a split with rows from 0, whose parts are not empty and share no row."""
    if not all(len(parts.get(name, ())) for name in ("train", "test")):
        raise InputError(f"{place} has an empty training or test part: {_REMEDY}.")
    values, counts = np.unique(np.concatenate(list(parts.values())), return_counts=True)
    if counts.max() > 1:
        twice = values[counts > 1][0]
        where = " and ".join(name for name in _PARTS if twice in parts.get(name, ()))
        raise InputError(
            f"{place} names row {twice} more than once, in its {where} part: a row may be once in "
            "one of them."
        )
    empty = np.empty(0, dtype=np.int64)
    return FixedSplit(**{name: parts.get(name, empty) - first_row for name in _PARTS})


def _parsed(content: bytes, kind: str, place: str) -> list[dict[str, Rows]] | Rows:
    """Return the rows of the parts of each split as the file numbers them, or the fold of each."""
    if kind in ("mat", "npz"):
        return _of_arrays((read_mat if kind == "mat" else read_npz)(content, place), place)
    text = unpack(content, place).decode("utf-8-sig")
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
        raise InputError(
            f"{place} cannot be read as JSON ({first_line(error)}): {_REMEDY}."
        ) from error
    listed = [listed] if isinstance(listed, dict) else listed
    if listed and not isinstance(listed[0], dict | list):
        return _whole(listed, "list of folds", place)
    found = []
    for index, parts in enumerate(listed):
        at = f"{place}, split {index}"
        names = parts if isinstance(parts, dict) else {"list": ()}
        if odd := next((name for name in names if name not in _PARTS), None):
            raise InputError(f"{at} has a part {odd}, which is not known: {hint(odd, _PARTS)}.")
        found.append({name: _whole(rows, f"{name} part", at) for name, rows in parts.items()})
    return found


def _of_arrays(arrays: Mapping[str, Any], place: str) -> list[dict[str, Rows]] | Rows:
    """Return the splits of arrays that are called by their parts and numbers."""
    found: dict[int, dict[str, Rows]] = {}
    for name, array in arrays.items():
        named = PART.fullmatch(name.lower())
        if named is None or not (named["number"] or name.lower().startswith("fold")):
            continue
        rows = _whole(np.ravel(array).tolist(), f"array {name}", place)
        if named["part"] is None:
            return rows
        part, of_split = _PART_OF[named["part"][:2]], found.setdefault(int(named["number"]), {})
        if part in of_split:
            raise InputError(f"{place} has two arrays for the {part} part of a split, as {name}.")
        of_split[part] = rows
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
