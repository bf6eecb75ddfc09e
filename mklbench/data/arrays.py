"""From files that hold arrays (NumPy's npz, MATLAB's mat) to a `Table`.

Their content is checked as that of a text file is: finite inputs, whole labels, sound splits.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from mklbench import mat_files
from mklbench.data.dataset import Split
from mklbench.data.download import read_file
from mklbench.data.faults import AbsentError
from mklbench.data.limits import DEFAULT_BYTES, most_bytes
from mklbench.data.own_arrays import AUTO, LAST, NONE, choose_arrays, texts
from mklbench.data.schema import Layout
from mklbench.data.table import Table
from mklbench.data.unpacking import too_large, unzip
from mklbench.errors import DataError, first_line


def parse_npz(content: bytes, layout: Layout, place: str) -> Table:
    """Parse a NumPy archive with the arrays that `layout` names.

    The arrays train_1, test_1, train_2, ... are the rows, from 0, of splits that the file holds.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    layout : Layout
        Names the array of the inputs (n, d) and that of the labels (n,).
    place : str
        The file's name in messages.

    Raises
    ------
    DataError
        It is no such archive, an array is absent or not sound, or a split is not.
    """
    try:
        members = unzip(content, place, most_bytes(layout))
        arrays = {
            name.removesuffix(".npy"): npy(member)
            for name, member in members.items()
            if member.startswith(npy_format.MAGIC_PREFIX)
        }
    except DataError:
        raise
    except Exception as error:  # a damaged file makes the readers raise almost anything
        raise DataError(
            f"{place} is not an archive of arrays (npz): {first_line(error)}."
        ) from error
    if _is_open(layout):
        return _of_own(arrays, layout, place)
    numbers = itertools.takewhile(lambda k: f"train_{k}" in arrays, itertools.count(1))
    pairs = (
        (_array(arrays, f"train_{k}", place), _array(arrays, f"test_{k}", place)) for k in numbers
    )
    return _table(arrays, layout, pairs, place)


def npy(content: bytes) -> NDArray[Any]:
    """The array of a file of NumPy's, which has to hold all that its header claims."""
    stream = io.BytesIO(content)
    version = npy_format.read_magic(stream)
    readers = {
        (1, 0): npy_format.read_array_header_1_0,
        (2, 0): npy_format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"version {version[0]}.{version[1]} of its arrays is not read")
    shape, in_columns, kind = readers[version](stream)
    n_numbers, there = math.prod(shape), len(content) - stream.tell()
    if kind.hasobject or min(shape, default=0) < 0 or n_numbers * kind.itemsize > there:
        raise ValueError(f"its array of shape {shape} is not whole")
    if n_numbers * kind.itemsize == 0:
        return np.empty(shape, kind)
    flat = np.frombuffer(content, kind, n_numbers, stream.tell())
    return flat.reshape(shape, order="F" if in_columns else "C")


def parse_mat(content: bytes, layout: Layout, place: str) -> Table:
    """Parse a MATLAB file (up to version 7) with the arrays that `layout` names.

    The inputs may be a cell of several arrays, the views of the rows, of shape (n, d_v) or
    (d_v, n); they become one array (n, d), side by side. The labels may be a cell that repeats
    them for each view.

    With ``layout.struct`` the arrays are fields of that variable, beside ``train`` and ``test`` of
    shapes (n_splits, n_train) and (n_splits, n_test): the rows, from 1, of splits that the file
    holds.

    Parameters, raised errors as in `parse_npz`.
    """
    if layout.struct is None and _is_open(layout):
        return _of_own(_matlab_variables(content, place, most_bytes(layout)), layout, place)
    wanted = [layout.struct] if layout.struct else [layout.inputs, str(layout.label)]
    variables = _matlab_variables(content, place, most_bytes(layout), wanted)
    if layout.struct is None:
        return _of_views(variables, layout, place)
    fields = _struct(variables, layout.struct, place)
    train, test = (_array(fields, name, place) for name in ("train", "test"))
    if train.ndim != 2 or test.ndim != 2 or len(train) != len(test):
        raise DataError(
            f"{place} has splits of shapes {train.shape} and {test.shape}: the fields train and "
            f"test must have one row a split."
        )
    # Matlab's numbers are doubles more often than not; `_splits` refuses what is not whole.
    return _table(fields, layout, zip(train - 1.0, test - 1.0, strict=True), place)


def _is_open(layout: Layout) -> bool:
    """Whether the arrays are to be found; the configuration of a shipped set names both."""
    return layout.inputs in (AUTO, NONE) or str(layout.label).lower() == LAST


def _of_own(arrays: Mapping[str, Any], layout: Layout, place: str) -> Table:
    """Parse a file of the user's own, whose arrays are found by their names and shapes."""
    inputs, label = choose_arrays(arrays, layout, place)
    found = texts(arrays[label])
    if found is None:
        raise DataError(
            f"{place} has labels {label} of shape {np.shape(arrays[label])}: a vector with one "
            "number or text a row is needed; name another array with data.label=NAME."
        )
    if layout.label_names:
        found = tuple(layout.label_names.get(text, text) for text in found)
    odd = {text for text in ("nan", "inf", "-inf", "") if text in found}
    if odd:
        raise DataError(f"{place} has a label in {label} that is {odd.pop() or 'empty'}: mend it.")
    n_samples = len(found)
    if inputs is None:
        return Table(X=np.empty((n_samples, 0)), labels=found, feature_names=())
    parts = {inputs: arrays[inputs], label: np.arange(n_samples)}
    return replace(
        _of_views(parts, replace(layout, inputs=inputs, label=label), place), labels=found
    )


def _of_views(variables: Mapping[str, Any], layout: Layout, place: str) -> Table:
    """Parse variables of which the inputs may be a cell of views."""
    label = str(layout.label)
    labels = _cell(variables, label, place)
    if any(not np.array_equal(labels[0].ravel(), other.ravel()) for other in labels[1:]):
        raise DataError(f"{place} has views whose labels {label} differ.")
    views = _cell(variables, layout.inputs, place)
    n_samples = labels[0].size
    # A square array has its rows first, as most files do.
    if odd := [view.shape for view in views if view.ndim != 2 or n_samples not in view.shape]:
        raise DataError(
            f"{place} has inputs {layout.inputs} of shape {odd[0]} for {n_samples} labels {label}: "
            f"one row of inputs a label is needed."
        )
    views = [view if len(view) == n_samples else view.T for view in views]
    stacked = {layout.inputs: np.hstack(views), label: labels[0]}
    table = _table(stacked, layout, (), place)
    sizes = tuple(view.shape[1] for view in views) if len(views) > 1 else ()
    return replace(table, view_sizes=sizes)


def _cell(variables: Mapping[str, Any], name: str, place: str) -> list[NDArray[Any]]:
    """Return the arrays of a cell, which loadmat gives as an array of objects, or the one array."""
    value = np.asarray(variables.get(name))
    if value.dtype != object or name not in variables:
        return [_array(variables, name, place)]
    if not value.size:
        raise DataError(f"{place} has an empty cell {name}.")
    return [_array({name: item}, name, place) for item in value.ravel()]


def parse_splits(path: str, n_samples: int) -> tuple[Split, ...]:
    """Read a MATLAB file of splits with variables trn1, val1, tst1, trn2, ...: rows from 1.

    The validation rows, where there are such, belong to the training part: hyperparameters are
    chosen by cross-validation.

    Parameters
    ----------
    path : str
        Of the file.
    n_samples : int
        Number of rows of the set.

    Raises
    ------
    DataError
        It is no such file, or a split is not sound.
    """
    place = f"data.splits_file={path}"
    variables = _matlab_variables(_splits_content(path, place), place, DEFAULT_BYTES)
    splits = []
    for k in itertools.takewhile(lambda k: f"trn{k}" in variables, itertools.count(1)):
        parts = [f"trn{k}", *([f"val{k}"] if f"val{k}" in variables else [])]
        train = np.concatenate([_array(variables, name, place).ravel() for name in parts]) - 1.0
        test = _array(variables, f"tst{k}", place) - 1.0
        rows = _split(train, test, n_samples, f"{place}, split {k}")
        splits.append((np.sort(rows[0]), np.sort(rows[1])))
    if not splits:
        raise DataError(f"{place} has no splits: it needs the variables trn1, tst1, and so on.")
    return tuple(splits)


def _splits_content(path: str, place: str) -> bytes:
    try:
        return read_file(path, DEFAULT_BYTES)
    except AbsentError as error:
        raise DataError(f"{place} does not exist: give the path of a MATLAB file.") from error
    except DataError as error:
        raise DataError(f"{place} {error}: give the path of a MATLAB file of splits.") from error


def _table(
    arrays: Mapping[str, Any], layout: Layout, pairs: Iterable[tuple[Any, Any]], place: str
) -> Table:
    X = _numbers(arrays, layout.inputs, place)
    labels = _numbers(arrays, str(layout.label), place).ravel()
    if X.ndim != 2 or X.size == 0 or len(X) != len(labels):
        raise DataError(
            f"{place} has inputs {layout.inputs} of shape {X.shape} for {len(labels)} labels "
            f"{layout.label}: one row of inputs a label is needed."
        )
    return Table(
        X=X,
        labels=tuple(f"{label:.17g}" for label in labels),
        feature_names=tuple(f"x{i + 1}" for i in range(X.shape[1])),
        splits=tuple(
            _split(train, test, len(X), f"{place}, split {index}")
            for index, (train, test) in enumerate(pairs)
        ),
    )


def _split(train: Any, test: Any, n_samples: int, place: str) -> Split:
    """Rows of the two parts, checked: whole numbers from 0, in range, and each row once."""
    rows = np.concatenate([np.asarray(train).ravel(), np.asarray(test).ravel()])
    if not np.size(train) or not np.size(test):
        raise DataError(f"{place} has an empty part.")
    if not np.array_equal(rows, np.round(rows)) or rows.min() < 0 or rows.max() >= n_samples:
        raise DataError(f"{place} names a row that is none of the {n_samples}.")
    if len(np.unique(rows)) < len(rows):
        raise DataError(f"{place} names a row twice: no row may be in both parts.")
    whole = rows.astype(np.int64)
    return whole[: np.size(train)], whole[np.size(train) :]


def _struct(variables: Mapping[str, Any], name: str, place: str) -> dict[str, Any]:
    """Fields of a MATLAB struct, which loadmat gives as a structured array of shape (1, 1)."""
    value = variables.get(name)
    if value is None or value.dtype.names is None or value.size != 1:
        raise DataError(f"{place} has no struct {name}.")
    return {field: value[field].item() for field in value.dtype.names}


def _numbers(arrays: Mapping[str, Any], name: str, place: str) -> NDArray[np.float64]:
    array = _array(arrays, name, place).astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise DataError(f"{place} holds NaN or infinite values in {name}.")
    return array


def _array(arrays: Mapping[str, Any], name: str, place: str) -> NDArray[Any]:
    if name not in arrays:
        raise DataError(f"{place} has no array {name}.")
    array = np.asarray(arrays[name])
    if array.dtype.kind not in "biuf":
        raise DataError(f"{place} has an array {name} that does not hold numbers.")
    return array


def _matlab_variables(
    content: bytes, place: str, limit: int, wanted: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return the variables of a MATLAB file, within a limit of bytes: those wanted, or all.

    Raises
    ------
    DataError
        That names the file, if it is too large or cannot be read.
    """
    try:
        return mat_files.read(content, place, limit, wanted)
    except mat_files.LargeMatError:
        raise too_large(place, limit) from None
    except mat_files.NoMatError as error:
        raise DataError(f"{place} is not a MATLAB file: {error}.") from error
    except mat_files.DamagedMatError as error:
        raise DataError(f"{place} is not a MATLAB file: it is damaged ({error}).") from error
