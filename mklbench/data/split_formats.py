"""How splits stand in files: JSON, CSV, NumPy's npz or MATLAB's mat.

JSON is a list of ``{"train": [...], "test": [...]}``, with "validation" where there is such a part.
The other formats name the parts as the field does (`mklbench.data.split_names`): train_1, test_1,
train_2, ..., or trn1, val1, tst1; or train and test with one row a split; or cells of vectors. Rows
are numbers, or a mask of all rows. A CSV has these names over its columns, or the columns split,
part, row.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from mklbench import mat_files
from mklbench.data.arrays import npy
from mklbench.data.formats import detected
from mklbench.data.limits import DEFAULT_BYTES
from mklbench.data.split_names import Part, part_of
from mklbench.data.unpacking import inflate, unzip
from mklbench.errors import DataError, InputError, hint

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
        content = inflate(content, DEFAULT_BYTES)
        kind = detected(content)
        if kind == "mat":
            found = _of_arrays(mat_files.read(content, place, DEFAULT_BYTES), place)
        elif kind == "npz":
            found = _of_arrays(_npz(content, place), place)
        else:
            text = content.decode("utf-8-sig")
            parse = _of_json if text.lstrip()[:1] in ("[", "{") else _of_csv
            found = parse(text, place)
    except mat_files.LargeMatError:
        raise InputError(f"{place} holds too much for a file of splits: {_REMEDY}.") from None
    except mat_files.DamagedMatError as error:
        raise InputError(f"{place} is not a MATLAB file: it is damaged ({error}).") from error
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
    columns: dict[str, NDArray[Any]] = {}
    for position, name in enumerate(header):
        if part_of(name) is not None:
            cells = [(n, row[position]) for n, row in rows[1:] if len(row) > position]
            columns[name] = np.array([_cell(c, n, place) for n, c in cells if c], dtype=object)
    return _of_arrays(columns, place)


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


def _npz(content: bytes, place: str) -> dict[str, NDArray[Any]]:
    try:
        return {
            name.removesuffix(".npy"): npy(member)
            for name, member in unzip(content, place, DEFAULT_BYTES).items()
            if member.startswith(npy_format.MAGIC_PREFIX)
        }
    except DataError:
        raise
    except Exception as error:  # a damaged file makes the readers raise almost anything
        raise DataError(f"{place} is not an archive of arrays (npz)") from error


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
        return []
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
