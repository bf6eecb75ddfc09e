"""Splits of the rows of a data set that a file states, checked against the data.

JSON is a list of ``{"train": [...], "test": [...]}``, with "validation" where there is such a part.
The other formats, CSV, NumPy's npz and MATLAB's mat, name the parts as the field does
(`mklbench.data.splits.part_of`): train_1, test_1, train_2, ..., or trn1, val1, tst1; or train and
test with one row a split; or cells of vectors. Rows are numbers, or a mask of all rows. A CSV has
these names over its columns, or the columns split, part, row. A list, or a column called fold, of
as many numbers as there are rows has the fold in which each row is tested on.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mklbench.data.arrays import read_mat, read_npz
from mklbench.data.files import inflate, read_file
from mklbench.data.splits import Part, Rows, part_of
from mklbench.data.tables import detected
from mklbench.errors import DataError, InputError, hint

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
        content = read_file(expanded)
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


# The rows of each part of one split: numbers as the file has them, or a mask.
Parts = dict[Part, NDArray[Any]]

_PARTS: tuple[Part, ...] = get_args(Part)
_MOST_SPLITS = 10_000
_LONG = {"split", "part", "row"}
_REMEDY = (
    'give JSON such as [{"train": [0, 1], "test": [2]}], or arrays or columns train_1, test_1, ...'
)


def is_matlab(content: bytes) -> bool:
    """Tell whether a file is one of MATLAB's, which counts from 1."""
    return detected(content) == "mat"


def parse_parts(content: bytes, place: str) -> list[Parts]:
    """Return the parts of each split of a file.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    place : str
        The file in messages.

    Raises
    ------
    InputError
        It is no such file, or a row is no whole number.
    """
    try:
        content = inflate(content)
        kind = detected(content)
        if kind in ("mat", "npz"):
            found = _of_arrays((read_mat if kind == "mat" else read_npz)(content, place), place)
        else:
            text = content.decode("utf-8-sig")
            parse = _of_json if text.lstrip()[:1] in ("[", "{") else _of_csv
            found = parse(text, place)
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is no file of splits: {_REMEDY}.") from error
    except DataError as error:
        text = str(error) if str(error).startswith(place) else f"{place} {error}"
        raise InputError(text.rstrip(".") + f": {_REMEDY}.") from error
    if not found:
        raise InputError(f"{place} holds no splits: {_REMEDY}.")
    if len(found) > _MOST_SPLITS:
        raise InputError(
            f"{place} holds {len(found)} splits, and at most {_MOST_SPLITS} can be run: give fewer."
        )
    return found


def _of_json(text: str, place: str) -> list[Parts]:
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error).rstrip(".")
        raise InputError(f"{place} cannot be read as JSON ({reason}): {_REMEDY}.") from error
    if isinstance(listed, dict):
        listed = [listed]
    if isinstance(listed, list) and all(type(fold) is int for fold in listed):
        return _of_folds(listed)
    found = []
    for index, entry in enumerate(listed):
        if not isinstance(entry, dict):
            raise InputError(f"{place}, split {index} is not a mapping of parts: {_REMEDY}.")
        for name in entry:
            if name not in _PARTS:
                raise InputError(
                    f"{place}, split {index} has a part {name}, which is not known: "
                    f"{hint(name, _PARTS)}."
                )
        parts = {name: _listed(rows, name, index, place) for name, rows in entry.items()}
        found.append(_complete(parts, index, place))
    return found


def _listed(rows: Any, name: str, index: int, place: str) -> NDArray[np.int64]:
    if not isinstance(rows, list) or any(type(row) is not int for row in rows):
        raise InputError(
            f"{place}, split {index} has a {name} part that is no list of whole numbers: give the "
            "numbers of its rows."
        )
    return _whole(np.array(rows, dtype=object), name, index, place)


def _of_csv(text: str, place: str) -> list[Parts]:
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    delimiter = max(",;\t", key=first.count)
    rows = [
        (number, [cell.strip() for cell in cells])
        for number, cells in enumerate(csv.reader(lines, delimiter=delimiter), 1)
        if any(cell.strip() for cell in cells)
    ]
    if not rows:
        return []
    header = [name.lower() for name in rows[0][1]]
    if set(header) >= _LONG:
        return _long(header, rows[1:], place)
    if len(header) == 1 or "fold" in header:
        at = header.index("fold") if "fold" in header else 0
        is_number = header[at].lstrip("-").isdigit()
        return _of_folds([_cell(row[at], n, place) for n, row in rows[not is_number :]])
    columns: dict[str, NDArray[Any]] = {}
    for position, name in enumerate(header):
        if part_of(name) is not None:
            cells = [(n, row[position]) for n, row in rows[1:] if len(row) > position]
            columns[name] = np.array([_cell(c, n, place) for n, c in cells if c], dtype=object)
    return _of_arrays(columns, place)


def _of_folds(folds: Sequence[int]) -> list[Parts]:
    """Return the splits of a fold number a row: each fold is tested on once."""
    of_row = np.asarray(folds)
    return [{"train": of_row != fold, "test": of_row == fold} for fold in np.unique(of_row)]


def _long(header: list[str], rows: list[tuple[int, list[str]]], place: str) -> list[Parts]:
    splits: dict[int, dict[Part, list[int]]] = {}
    at = {name: header.index(name) for name in _LONG}
    for line, cells in rows:
        if len(cells) != len(header):
            raise InputError(
                f"{place}, line {line} has {len(cells)} cells where {len(header)} were expected."
            )
        part = part_of(cells[at["part"]])
        if part is None or part[1] is not None:
            raise InputError(
                f"{place}, line {line} has the part {cells[at['part']]}, which is not known: "
                "choose one of train, validation, test."
            )
        number = _cell(cells[at["split"]], line, place)
        of_split = splits.setdefault(number, {})
        of_split.setdefault(part[0], []).append(_cell(cells[at["row"]], line, place))
    return [
        _complete({name: np.array(rows) for name, rows in splits[number].items()}, index, place)
        for index, number in enumerate(sorted(splits))
    ]


def _cell(cell: str, line: int, place: str) -> int:
    try:
        return int(cell)
    except ValueError:
        raise InputError(f"{place}, line {line}: {cell!r} is no whole number.") from None


def _of_arrays(arrays: Mapping[str, Any], place: str) -> list[Parts]:
    """Return the splits of arrays that are called by their parts, numbered or not."""
    numbered: dict[int, dict[Part, tuple[str, Any]]] = {}
    plain: dict[Part, tuple[str, Any]] = {}
    for name, array in arrays.items():
        found = part_of(name)
        if found is None or np.asarray(array).dtype.kind not in "biufO":
            continue
        part, number = found
        of_split = plain if number is None else numbered.setdefault(number, {})
        if part in of_split:
            raise InputError(
                f"{place} has two arrays for one part, {of_split[part][0]} and {name}: leave out "
                "one of them."
            )
        of_split[part] = name, array
    if numbered:
        listed = [numbered[number] for number in sorted(numbered)]
        found_parts = [{part: a for part, (_, a) in of_split.items()} for of_split in listed]
    elif plain:
        found_parts = list(
            _one_each({part: np.asarray(a) for part, (_, a) in plain.items()}, place)
        )
    else:
        named = [a for name, a in arrays.items() if name.lower() in ("fold", "folds")]
        return _of_folds(np.asarray(named[0]).ravel().astype(np.int64).tolist()) if named else []
    return [
        _complete(
            {
                name: _whole(np.asarray(rows).ravel(), name, index, place)
                for name, rows in of.items()
            },
            index,
            place,
        )
        for index, of in enumerate(found_parts)
    ]


def _one_each(parts: Mapping[Part, NDArray[Any]], place: str) -> Iterator[dict[Part, Any]]:
    """Yield the parts of each split where one array, or one cell, has those of all splits."""
    shapes = {name: array.shape for name, array in parts.items()}
    if any(
        array.dtype == object and np.ndim(array.flat[0]) for array in parts.values() if array.size
    ):
        lists = {name: list(array.ravel()) for name, array in parts.items()}
    elif not any(array.ndim == 2 and min(array.shape) > 1 for array in parts.values()):
        lists = {name: [array] for name, array in parts.items()}
    else:
        whole = {name: np.atleast_2d(array) for name, array in parts.items()}
        if len({len(array) for array in whole.values()}) > 1:
            whole = {name: array.T for name, array in whole.items()}
        lists = {name: list(array) for name, array in whole.items()}
    if len({len(listed) for listed in lists.values()}) > 1:
        shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InputError(
            f"{place} has parts of shapes {shown}: give as many splits in each, a row each."
        )
    for of_split in zip(*lists.values(), strict=True):
        yield dict(zip(lists, of_split, strict=True))


def _whole(rows: NDArray[Any], name: str, index: int, place: str) -> NDArray[Any]:
    """Return row numbers as integers, or a mask of rows as booleans."""
    if rows.dtype == bool:
        return rows
    try:
        numbers = rows.astype(np.float64)
        numbers = numbers[~np.isnan(numbers)]  # fills up the shorter splits of a matrix
    except (TypeError, ValueError, OverflowError):
        numbers = np.array([0.5])
    if not np.array_equal(numbers, np.round(numbers)) or np.abs(numbers).max(initial=0) > 2**53:
        raise InputError(
            f"{place}, split {index} has a {name} part with numbers that are not whole: give the "
            "numbers of its rows."
        )
    # SciPy reads MATLAB's logical values as bytes; so many row numbers have others among them.
    if rows.dtype == np.uint8 and len(numbers) > 2 and np.isin(numbers, (0, 1)).all():
        return numbers.astype(bool)
    return numbers.astype(np.int64)


def _complete(parts: Parts, index: int, place: str) -> Parts:
    for name in ("train", "test"):
        if name not in parts:
            raise InputError(f"{place}, split {index} has no {name} part: {_REMEDY}.")
    return parts
