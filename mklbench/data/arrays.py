"""Files that hold arrays, NumPy's and MATLAB's, and svmlight's: to a `Table`.

Which arrays are the labels and the inputs follows from the names that the field uses, unless it is
said. Of two that would do none is taken: the sentence names both.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench import mat_files
from mklbench.data.dataset import Split
from mklbench.data.own import Body, Table, names_subjects
from mklbench.data.schema import Layout
from mklbench.data.tables import Cells, reading, shortened
from mklbench.errors import DataError, hint

# The values of `Layout.inputs` that are no names, and that of `Layout.label`.
AUTO, NONE, LAST = "auto", "none", "last"
_LABELS = ("y",), ("label", "labels", "target", "targets", "gt", "gnd", "truth", "class", "t")
_INPUTS = ("x", "data", "features", "fea", "inputs")
# Arrays of the two parts of a fixed split, as x_train, Xtrain and train_X.
_XY = re.compile(r"(x|y)_?(train|val\w*|test)|(train|val\w*|test)[_.]?(x|y)")
# An array, or the first letters of its texts, as in station[:8].
_PREFIX = re.compile(r"(.*?)(?:\[:(\d+)\])?")
_KIND = "a file of NumPy's"
_Arrays = Mapping[str, Any]


def parse_npz(content: bytes, layout: Layout, place: str) -> Table:
    """Parse a NumPy archive with the arrays that `layout` names, or the user's own.

    The arrays train_1, test_1, train_2, ..., or train and test, are the rows, from 0, of splits
    that a shipped set holds. Its inputs view may be several arrays view_1, view_2, ...

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
    arrays = read_npz(content, place)
    if {"format", "shape"} <= set(arrays):
        from scipy.sparse import load_npz

        return _of_matrix(load_npz(io.BytesIO(content)).toarray(), layout, place)
    if layout.own:
        return _of_arrays(arrays, layout, place)
    names = _numbered(arrays, "train") or [name for name in ("train",) if name in arrays]
    splits = [(arrays[name], arrays[name.replace("train", "test")]) for name in names]
    if views := _numbered(arrays, layout.inputs):
        cell = np.empty(len(views), dtype=object)
        cell[:] = [arrays[name] for name in views]
        arrays = {**arrays, layout.inputs: cell}
    return _of_arrays(arrays, layout, place, splits)


def _numbered(arrays: _Arrays, name: str) -> list[str]:
    """Return name_1, name_2, ... as far as there are such arrays."""
    each = (f"{name}_{k}" for k in itertools.count(1))
    return list(itertools.takewhile(arrays.__contains__, each))


def read_npz(content: bytes, place: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a NumPy archive, by name; nothing in it is unpickled.

    Raises
    ------
    DataError
        It is no such archive, or holds an array of objects.
    """
    with reading(_KIND, place), np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def parse_npy(content: bytes, layout: Layout, place: str) -> Table:
    """Parse a matrix of NumPy's, of which a column is the labels, the last unless it is said.

    The parameters are those of `parse_npz`.

    Raises
    ------
    DataError
        It is damaged, no matrix, or as `mklbench.data.own.Body.table`.
    """
    with reading(_KIND, place):
        matrix = np.load(io.BytesIO(content), allow_pickle=False)
    return _of_matrix(matrix, layout, place)


def _of_matrix(matrix: NDArray[Any], layout: Layout, place: str) -> Table:
    if matrix.ndim != 2 or matrix.shape[1] < 2 or not len(matrix):
        raise DataError(
            f"{place} has an array of shape {matrix.shape} and type {matrix.dtype}: give a matrix "
            "of numbers, a column of which is the labels, or several arrays in an .npz file."
        )
    return Body(Cells(list(matrix.T)), replace(layout, header=False), place).table()


def parse_mat(content: bytes, layout: Layout, place: str) -> Table:
    """Parse a MATLAB file with the arrays that `layout` names, or the user's own.

    The inputs may be a cell of several arrays, the views of the rows, of shape (n, d_v) or
    (d_v, n); they become one array (n, d), side by side. The labels may be a cell that repeats
    them for each view.

    With ``layout.struct`` the arrays are fields of that variable, beside ``train`` and ``test`` of
    shapes (n_splits, n_train) and (n_splits, n_test): the rows, from 1, of splits that the file
    holds.

    Parameters, raised errors as in `parse_npz`.
    """
    variables = read_mat(content, place)
    if layout.struct is None:
        return _of_arrays(_with_fields(variables) if layout.own else variables, layout, place)
    fields = _fields(variables[layout.struct])
    splits = zip(fields["train"] - 1.0, fields["test"] - 1.0, strict=True)
    return _of_arrays(fields, layout, place, splits)


def read_mat(content: bytes, place: str) -> dict[str, Any]:
    """Return the variables of a MATLAB file.

    Raises
    ------
    DataError
        That names the file, if it cannot be read.
    """
    with reading("a MATLAB file", place):
        return mat_files.read(content, place)


def parse_svmlight(contents: Sequence[bytes], layout: Layout, place: str) -> Table:
    """Parse files of lines ``label index:value ...``.

    Indices are from 1, as LIBSVM has them, or from 0 where there is one of 0.

    Parameters
    ----------
    contents : sequence of bytes
        The bytes of each file; the number of features is the largest index in any of them.
    layout : Layout
        What is said of rows and labels.
    place : str
        Where the files are, in messages.

    Raises
    ------
    DataError
        A file is not of that form.
    """
    from sklearn.datasets import load_svmlight_files

    with reading("in svmlight's format", place):
        found = load_svmlight_files(
            list(map(io.BytesIO, contents)), zero_based="auto", query_id=True
        )
    X = np.vstack([rows.toarray() for rows in found[::3]])
    if not X.size:
        raise DataError(f"{place} has no row with a label and an input: give one a line.")
    labels, queries = np.concatenate(found[1::3]), np.concatenate(found[2::3])
    arrays = {"x": X, "y": labels} | ({"qid": queries} if len(queries) == len(X) else {})
    return _of_arrays(arrays, replace(layout, inputs="x", label="y"), place)


def _of_arrays(
    arrays: _Arrays, layout: Layout, place: str, splits: Iterable[tuple[Any, Any]] = ()
) -> Table:
    """Return the table of named arrays, which are asked about as the columns of a file are."""
    if layout.own:
        arrays, splits = _joined_parts(arrays)
    inputs, label = _choice(arrays, layout, place)
    labels = texts(arrays[label])
    if labels is None:
        raise DataError(
            f"{place} has labels {label} of shape {np.shape(arrays[label])} that are no vector "
            "with one number or text a row: name another array with data.label=NAME."
        )
    named = [name for name in arrays if names_subjects(name) and name != label
             and len(texts(arrays[name]) or ()) == len(labels)]  # fmt: skip
    if layout.own and named and layout.groups is None and layout.index == "ask":
        raise DataError(
            f"{place} has an array {named[0]} with a value a row: set data.groups={named[0]} to "
            "keep the rows of each on one side of every split, or data.index=keep to do without."
        )
    groups = None
    if layout.groups is not None:
        name, width = _PREFIX.fullmatch(str(layout.groups)).groups()  # type: ignore[union-attr]
        groups = texts(arrays.get(name, ()))
        if groups and width:
            groups = tuple(text[: int(width)] for text in groups)
        if len(groups or ()) != len(labels):
            raise DataError(
                f"data.groups={layout.groups} is no array with a value a row of {place}."
            )
    views = [] if inputs is None else _matrices(arrays, inputs, len(labels), place)
    columns = [column for view in views for column in view.T] + [np.array(labels, object)]
    columns += [] if groups is None else [np.array(groups, object)]
    n_inputs = sum(view.shape[1] for view in views)
    stated = replace(
        layout, header=False, label=n_inputs + 1, groups=n_inputs + 2 if groups else None
    )
    table = Body(Cells(columns), stated, place).table()
    kept = {row: k for k, row in enumerate(np.asarray(table.rows).tolist())}

    def renumbered(part: Any) -> NDArray[np.int64]:
        rows = [kept[row] for row in np.ravel(part).tolist() if row in kept]
        return np.array(rows, dtype=np.int64)

    used = () if layout.keep_classes else splits
    fixed = tuple((renumbered(train), renumbered(test)) for train, test in used)
    others = [name for name in arrays if name not in (inputs, label, layout.groups)]
    left_out = table.left_out + ((f"arrays {shortened(others)}",) if others else ())
    table = replace(table, label=f"array {label}", splits=fixed, left_out=left_out)
    sizes = [view.shape[1] for view in views]
    return table if len(sizes) < 2 else table.in_views(np.cumsum([0, *sizes]).tolist())


def _joined_parts(arrays: _Arrays) -> tuple[_Arrays, tuple[Split, ...]]:
    """Put training and test arrays, x_train and the like, under each other, as a fixed split."""
    parts: dict[str, str] = {}
    for name in arrays:
        if found := _XY.fullmatch(name.lower()):
            parts[f"{found[1] or found[4]} {found[2] or found[3]}"] = name
    if not {"x train", "y train", "x test", "y test"} <= set(parts):
        return arrays, ()
    read = [parts[f"{array} {part}"] for array in "xy" for part in ("train", "test")]
    both = {name: value for name, value in arrays.items() if name not in read}
    train, test = (np.asarray(arrays[parts[f"x {part}"]]) for part in ("train", "test"))
    both["x"] = np.concatenate([train, test])
    labels = [texts(arrays[parts[f"y {part}"]]) or () for part in ("train", "test")]
    both["y"] = np.array([*labels[0], *labels[1]])
    rows = np.arange(len(both["x"]))
    return both, ((rows[: len(train)], rows[len(train) :]),)


def _matrices(arrays: _Arrays, inputs: str, n_samples: int, place: str) -> list[NDArray[Any]]:
    """Return the inputs, one matrix (n, d) or the several of a cell, with a row a sample."""
    value = np.asarray(arrays[inputs])
    views = [np.asarray(item) for item in (value.ravel() if value.dtype == object else [value])]
    for view in views:
        if view.dtype.kind not in "biuf" or view.ndim != 2 or n_samples not in view.shape:
            raise DataError(
                f"{place} has inputs {inputs} of shape {view.shape} and type {view.dtype} for "
                f"{n_samples} labels: a row of numbers a label is needed."
            )
    # A square array has its rows first, as most files do.
    return [view if len(view) == n_samples else view.T for view in views]


def _fields(value: Any) -> dict[str, Any]:
    """Fields of a MATLAB struct, which loadmat gives as a structured array of shape (1, 1)."""
    if value is None or np.asarray(value).dtype.names is None or np.size(value) != 1:
        return {}
    return {field: value[field].item() for field in value.dtype.names}


def _with_fields(variables: _Arrays) -> dict[str, Any]:
    """Return variables with the fields of structs in their place, by names that are each once."""
    found = [
        (field or name, f"{name}.{field}" if field else name, inside)
        for name, value in variables.items()
        for field, inside in (_with_fields(_fields(value)) or {"": value}).items()
    ]
    short = [field for field, _, _ in found]
    return {field if short.count(field) == 1 else name: inside for field, name, inside in found}


def texts(value: Any) -> tuple[str, ...] | None:
    """Return labels as texts: a vector or a cell of numbers or texts, or one-hot; None for others.

    Of a one-hot matrix (n, k) a label is the number of its class, from 1. Of a cell that repeats
    the labels for each view they are those of the first.
    """
    array = np.asarray(value)
    if array.ndim == 2 and min(array.shape) > 1 and array.dtype.kind in "biuf":
        is_one = np.isin(array, (0, 1)).all() and (array.sum(axis=1) == 1).all()
        return tuple(str(code + 1) for code in array.argmax(axis=1)) if is_one else None
    if array.size != max(array.shape, default=0):
        return None
    if array.dtype == object:
        items = [np.asarray(item) for item in array.ravel()]
        if items and items[0].size > 1 and all(np.array_equal(items[0], one) for one in items):
            return texts(items[0])
        if any(item.size != 1 or item.dtype.kind not in "US" for item in items):
            return None
        array = np.array([item.item() for item in items])
    if array.dtype.kind in "US":
        return tuple(text.strip() for text in array.ravel().astype(str).tolist())
    if array.dtype.kind not in "biuf":
        return None
    return tuple(f"{number:.17g}" for number in array.astype(np.float64).ravel())


def _choice(arrays: _Arrays, layout: Layout, place: str) -> tuple[str | None, str]:
    """Return the names of the inputs, None for labels alone, and of the labels."""
    label, inputs = str(layout.label), layout.inputs
    if label.lower() == LAST and LAST not in arrays:
        first, second = ([n for n in arrays if n.lower() in usual] for usual in _LABELS)
        vectors = [n for n, v in arrays.items() if np.size(v) == max(np.shape(v), default=0) > 1]
        others = [name for name in vectors if name != layout.groups and texts(arrays[name])]
        label = _single(first or second or others, "label", place) or ""
        if not label:
            raise DataError(
                f"{place} holds no vector of labels, only {shortened(sorted(arrays))}: name "
                "the file that has them, or the array with data.label=NAME."
            )
    n_samples = len(texts(arrays.get(label)) or ())
    if inputs == AUTO:  # a usual name, or the only table with a row a label; not a kernel
        shapes = {name: np.shape(value) for name, value in arrays.items() if name != label}
        tables = [n for n, s in shapes.items() if len(s) == 2 and s.count(n_samples) == 1 < min(s)]
        usual = [name for name in arrays if name.lower() in _INPUTS]
        inputs = _single(usual or tables, "inputs", place) or NONE
    for option, name in (("label", label), ("inputs", inputs)):
        if name not in arrays and (option, name) != ("inputs", NONE):
            near = hint(name, arrays, f"data.{option}=")
            raise DataError(f"data.{option}={name} is no array of {place}: {near}.")
    return None if inputs == NONE else inputs, label


def _single(names: Sequence[str], option: str, place: str) -> str | None:
    """Return the only one of some names; None if there is none."""
    if len(names) > 1:
        raise DataError(
            f"{place} has several arrays that may be the {option.rstrip('s')}s, "
            f"{', '.join(sorted(names))}: set data.{option}={min(names)} to take one of them."
        )
    return names[0] if names else None
