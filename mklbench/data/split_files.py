"""Splits of the rows of a data set that a file states, checked against the data.

JSON is a list of ``{"train": [...], "test": [...]}``, with "validation" where there is such a part.
NumPy's npz and MATLAB's mat have an array a part: train_1, test_1, train_2, ..., or trn1, val1,
tst1. A fold number a row, as a list of JSON, an .npy file, the only column of a text or one called
fold, or an array called so, is the fold in which the row is tested on; below 0 it is in none.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mklbench.data.arrays import read_mat, read_npz
from mklbench.data.dataset import splits_digest
from mklbench.data.files import read_file, unpack
from mklbench.data.numbers import is_number
from mklbench.data.schema import Layout
from mklbench.data.splits import Rows
from mklbench.data.tables import detected, read_text, reading
from mklbench.errors import DataError, InputError

FirstRow = Literal["auto"] | int

_PARTS = ("train", "validation", "test")
# Arrays of the rows of a part of a split.
_ARRAY = re.compile(r"(train|trn|val|validation|test|tst)_?(\d+)")
_PART_OF = {"tr": "train", "va": "validation", "ts": "test", "te": "test"}
_REMEDY = (
    'give JSON such as [{"train": [0, 1], "test": [2]}], arrays train_1, test_1, train_2, ..., or '
    "a column fold with a number a row"
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

    @property
    def digest(self) -> str:
        """Digest of the sizes and rows of all parts, whatever the format of the file."""
        return splits_digest((one.train, one.validation, one.test) for one in self.splits)

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
            It has a row that the data do not have, or no row of a class to fit to.
        """
        split, place = self.splits[index], f"{self.place}, split {index}"
        rows, n_rows = np.concatenate([split.train, split.validation, split.test]), len(y)
        if self.n_rows not in (None, n_rows):
            raise InputError(
                f"{self.place} has the folds of {self.n_rows} rows, and the data have {n_rows}: "
                "give one a row."
            )
        if rows.min() < 0 or rows.max() >= n_rows:
            first = self.first_row
            raise InputError(
                f"{place} names rows from {rows.min() + first} to {rows.max() + first}, and the "
                f"data have the rows {first} to {first + n_rows - 1}: correct it, or set "
                "split.first_row to what the file has for the first row, 0 or 1."
            )
        absent = np.setdiff1d(np.arange(len(classes)), y[split.train])
        if len(absent):
            raise InputError(
                f"{place} has no row of class {classes[absent[0]]} in its training part: give it "
                "one, or leave that class out of the data."
            )
        return split


def read_splits(path: str, first_row: FirstRow = "auto", option: str = "split.path") -> FixedSplits:
    """Read a file of splits.

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
    place = f"{option}={path}"
    try:
        content = unpack(read_file(str(Path(path).expanduser())), place)
        kind = detected(content)
        found = _parsed(content, kind, place)
    except DataError as error:
        reason = str(error).removeprefix(place).strip(" .")
        raise InputError(f"{place} {reason}: {_REMEDY}.") from error
    first, note, n_rows = 0 if first_row == "auto" else first_row, "", None
    if not isinstance(found[0], Mapping):  # the fold of each row
        folds = _whole(found, f"{place}, which has folds,")
        first, n_rows = 0, len(folds)
        tested = np.unique(folds[folds >= 0])  # as of scikit-learn's PredefinedSplit
        parts = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in tested]
        found = [{"train": train.tolist(), "test": test.tolist()} for train, test in parts]
    elif kind == "mat" and first_row == "auto":
        first = int(all(0 not in part for rows in found for part in rows.values()))
        note = f"{place} is of MATLAB, and its rows are counted from {first} (split.first_row)."
    splits = [_split(rows, first, f"{place}, split {k}") for k, rows in enumerate(found)]
    return FixedSplits(place, tuple(splits), first, note, n_rows)


def _split(parts: Mapping[str, Any], first_row: int, place: str) -> FixedSplit:
    """Return a split with rows from 0, whose parts are not empty and share no row."""
    if not isinstance(parts, Mapping) or not {"train", "test"} <= set(parts) <= set(_PARTS):
        raise InputError(f"{place} needs the parts train and test, or validation too: {_REMEDY}.")
    rows = {name: _whole(parts.get(name, []), f"{place}, part {name},") for name in _PARTS}
    if not len(rows["train"]) or not len(rows["test"]):
        raise InputError(f"{place} has an empty training or test part: {_REMEDY}.")
    values, counts = np.unique(np.concatenate(list(rows.values())), return_counts=True)
    if counts.max() > 1:
        raise InputError(
            f"{place} names row {values[counts > 1][0]} more than once: a row may be once in one "
            "part."
        )
    return FixedSplit(**{name: numbers - first_row for name, numbers in rows.items()})


def _parsed(content: bytes, kind: str, place: str) -> list[Any]:
    """Return the parts of each split as the file numbers their rows, or the fold of each row."""
    if kind in ("mat", "npz"):
        found = _of_arrays((read_mat if kind == "mat" else read_npz)(content, place))
    elif kind == "npy":
        with reading("an array of folds", place):
            found = np.load(io.BytesIO(content), allow_pickle=False).ravel().tolist()
    elif content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{"):
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise DataError(f"cannot be read as JSON ({error})") from error
    else:
        columns = read_text(content, Layout(own=True, delimiter="auto"), place).columns
        named = [c for c in columns if len(columns) == 1 or c[0].lower() == "fold"]
        found = named[0][0 if is_number(named[0][0]) else 1 :].tolist() if named else []
    if not found:
        raise DataError("has no splits or folds")
    return found if isinstance(found, list) else [found]


def _of_arrays(arrays: Mapping[str, Any]) -> list[Any]:
    """Return the splits of arrays that are called by their parts and numbers."""
    found: dict[int, dict[str, Any]] = {}
    for name, array in arrays.items():
        if name.lower() in ("fold", "folds"):
            return np.ravel(array).tolist()
        if named := _ARRAY.fullmatch(name.lower()):
            of_split = found.setdefault(int(named[2]), {})
            of_split[_PART_OF[named[1][:2]]] = np.ravel(array).tolist()
    return [found[number] for number in sorted(found)]


def _whole(rows: Any, place: str) -> Rows:
    """Return numbers of rows or folds, which may be doubles or text, as integers."""
    numbers = np.array([0.5])
    if isinstance(rows, list) and not any(isinstance(row, bool) for row in rows):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            numbers = np.array([float(row) for row in rows])
    if np.array_equal(numbers, np.round(numbers)) and (np.abs(numbers) < 2**53).all():
        return numbers.astype(np.int64)
    raise InputError(f"{place} is no list of whole numbers: correct it.")
