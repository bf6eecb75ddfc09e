"""Files that hold arrays, NumPy's and MATLAB's, and svmlight's: to a `Table`.

Which arrays are the labels and the inputs follows from the names that the field uses, then from
what is there alone. Of two that would do none is taken: the sentence names both.
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
from mklbench.data.files import unpack
from mklbench.data.own import Table, names_subjects, table_of
from mklbench.data.schema import Layout
from mklbench.data.tables import Cells
from mklbench.errors import DataError, first_line, hint

# The values of `Layout.inputs` that are no names, and that of `Layout.label`.
AUTO, NONE, LAST = "auto", "none", "last"
_LABELS = ("y",), ("label", "labels", "target", "targets", "gt", "gnd", "truth", "class", "t")
_INPUTS = ("x", "data", "features", "fea", "inputs")
# Arrays of the two parts of a fixed split, as x_train, Xtrain and train_X.
_XY = re.compile(r"(x|y)_?(train|val\w*|test)|(train|val\w*|test)_?(x|y)")
# Arrays of the rows of a part of a split, as train_1, trn1, trainIdx, val1, ...
PART = re.compile(
    r"(?:idx_?)?(?P<part>trn?|train(?:ing)?|val(?:id(?:ation)?)?|tst|te(?:st)?)"
    r"(?:_?(?:idx|ind|index|indices|rows?))?_?(?P<number>\d*)|folds?"
)


def parse_npz(content: bytes, layout: Layout, place: str) -> Table:
    """Parse a NumPy archive with the arrays that `layout` names, or the user's own.

    The arrays train_1, test_1, train_2, ..., or train and test, are the rows, from 0, of splits
    that the file holds. Of a shipped set the inputs view may be several arrays view_1, view_2, ...

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
    if {"indptr", "shape"} <= set(arrays) or {"row", "col", "shape"} <= set(arrays):
        from scipy.sparse import load_npz

        return _of_matrix(load_npz(io.BytesIO(content)).toarray(), layout, place)
    if layout.own:
        return _of_own(arrays, layout, place)
    names = _numbered(arrays, "train") or [name for name in ("train",) if name in arrays]
    pairs = [(arrays[name], arrays[name.replace("train", "test")]) for name in names]
    views = [arrays[name] for name in _numbered(arrays, layout.inputs)]
    if views:
        arrays = {**arrays, layout.inputs: _as_cell(views)}
    return _table(arrays, layout, pairs, place)


def _as_cell(views: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return several arrays as a MATLAB file has them, an array of objects."""
    cell = np.empty(len(views), dtype=object)
    cell[:] = views
    return cell


def _numbered(arrays: Mapping[str, Any], name: str) -> list[str]:
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
    name = ""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            found = {}
            for name in archive.files:
                found[name] = archive[name]
            return found
    except Exception as error:  # a damaged file makes the readers raise almost anything
        if "allow_pickle" in str(error) and name:
            raise DataError(
                f"{place} has an array {name} of objects, which only Python's pickle reads: save "
                f"it as text or numbers, as in np.savez(file, {name}={name}.astype(str))."
            ) from error
        raise DataError(
            f"{place} is not an archive of arrays (npz): {first_line(error)}."
        ) from error


def parse_npy(content: bytes, layout: Layout, place: str) -> Table:
    """Parse a matrix of NumPy's, of which a column is the labels, the last unless it is said.

    The parameters are those of `parse_npz`.

    Raises
    ------
    DataError
        It is damaged, no matrix, or as `mklbench.data.own.table_of`.
    """
    try:
        matrix = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception as error:  # a damaged file makes the reader raise almost anything
        raise DataError(
            f"{place} is not an array of NumPy's: it is damaged ({first_line(error)})."
        ) from error
    return _of_matrix(matrix, layout, place)


def _of_matrix(matrix: NDArray[Any], layout: Layout, place: str) -> Table:
    if matrix.ndim != 2 or matrix.shape[1] < 2 or not len(matrix):
        raise DataError(
            f"{place} has an array of shape {matrix.shape} and type {matrix.dtype}: give a matrix "
            "of numbers, a column of which is the labels, or several arrays in an .npz file."
        )
    return table_of(Cells(list(matrix.T)), replace(layout, header=False), place)


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
        if layout.own:
            return _of_own(_with_fields(variables), layout, place)
        return _table(variables, layout, (), place)
    fields = _fields(variables.get(layout.struct))
    if fields is None:
        raise DataError(f"{place} has no struct {layout.struct}.")
    train, test = (_array(fields, name, place) for name in ("train", "test"))
    return _table(fields, layout, zip(train - 1.0, test - 1.0, strict=True), place)


def read_mat(content: bytes, place: str) -> dict[str, Any]:
    """Return the variables of a MATLAB file.

    Raises
    ------
    DataError
        That names the file, if it cannot be read.
    """
    try:
        return mat_files.read(content, place)
    except mat_files.DamagedMatError as error:
        raise DataError(f"{place} is not a MATLAB file: it is damaged ({error}).") from error


def parse_svmlight(contents: Sequence[bytes], layout: Layout, place: str) -> Table:
    """Parse files of lines ``label index:value ...``.

    Indices are from 1, as LIBSVM has them, or from 0 with ``layout.zero_based`` and in a file of
    the user's own that has one of 0.

    Parameters
    ----------
    contents : sequence of bytes
        The bytes of each file; the number of features is the largest index in any of them.
    layout : Layout
        Says where indices begin.
    place : str
        Where the files are, in messages.

    Raises
    ------
    DataError
        A file is not of that form.
    """
    from sklearn.datasets import load_svmlight_files

    streams = [io.BytesIO(unpack(content, place)) for content in contents]
    try:
        zero_based = "auto" if layout.own else layout.zero_based
        found = load_svmlight_files(streams, zero_based=zero_based, query_id=True)
    except (ValueError, OverflowError, MemoryError) as error:
        raise DataError(f"{place} is not in svmlight's format: {first_line(error)}.") from error
    inputs, labels, queries = found[::3], np.concatenate(found[1::3]), np.concatenate(found[2::3])
    X = np.vstack([rows.toarray() for rows in inputs])
    if not X.size:
        raise DataError(f"{place} has no row with a label and an input: give one a line.")
    if layout.own:
        if len(queries) == len(X) and layout.groups is None and layout.index == "ask":
            raise DataError(
                f"{place} has queries (qid): set data.groups=qid to keep the rows of each on one "
                "side of every split, or data.index=keep to do without."
            )
        groups = queries if layout.groups == "qid" and len(queries) == len(X) else None
        return _of_columns(X, labels, groups, layout, place)
    return _table({"x": X, "y": labels}, replace(layout, inputs="x", label="y"), (), place)


def _of_columns(X: NDArray[Any], labels: Any, groups: Any, layout: Layout, place: str) -> Table:
    """Return the table of inputs, labels and groups, which are asked about as columns of a file."""
    columns = [*X.T, labels] + ([] if groups is None else [np.array(groups, dtype=object)])
    stated = replace(
        layout,
        header=False,
        label=X.shape[1] + 1,
        groups=None if groups is None else X.shape[1] + 2,
    )
    return table_of(Cells(columns), stated, place)


def _of_own(arrays: Mapping[str, Any], layout: Layout, place: str) -> Table:
    """Parse a file of the user's own, whose arrays are found by their names and shapes."""
    arrays, split = _joined_parts(arrays, place)
    inputs, label = choose_arrays(arrays, layout, place)
    labels = texts(arrays[label])
    if labels is None:
        raise DataError(
            f"{place} has labels {label} of shape {np.shape(arrays[label])}: a vector with one "
            "number or text a row is needed; name another array with data.label=NAME."
        )
    groups = None
    of_rows = (name for name in arrays if len(texts(arrays[name]) or ()) == len(labels))
    named = [name for name in of_rows if name != label and names_subjects(name)]
    if named and layout.groups is None and layout.index == "ask":
        raise DataError(
            f"{place} has an array {named[0]} with a value a row: set data.groups={named[0]} to "
            "keep the rows of each on one side of every split, or data.index=keep to do without."
        )
    if layout.groups is not None:
        if layout.groups not in arrays:
            raise _absent("groups", str(layout.groups), arrays, place)
        groups = texts(arrays[str(layout.groups)])
        if groups is None or len(groups) != len(labels):
            raise DataError(
                f"data.groups={layout.groups} of {place} is no vector of {len(labels)}."
            )
    views = [] if inputs is None else _matrices(arrays, inputs, label, len(labels), place)
    X = np.hstack(views) if views else np.empty((len(labels), 0))
    table = _of_columns(X, np.array(labels, object), groups, layout, place)
    table = replace(table, label=f"array {label}", splits=(split,) if split else ())
    if split and table.dropped_rows:
        raise DataError(
            f"{place} has rows with a missing value beside fixed training and test arrays: leave "
            "these rows out of both."
        )
    if len(views) < 2:
        return table
    return table.in_views(np.cumsum([0, *(view.shape[1] for view in views)]).tolist())


def _joined_parts(arrays: Mapping[str, Any], place: str) -> tuple[dict[str, Any], Split | None]:
    """Put training and test arrays, x_train and the like, under each other, as a fixed split."""
    parts: dict[str, str] = {}
    for name in arrays:
        if found := _XY.fullmatch(name.lower()):
            parts[f"{found[1] or found[4]} {found[2] or found[3]}"] = name
    if not {"x train", "y train", "x test", "y test"} <= set(parts):
        return dict(arrays), None
    if len(parts) > 4:
        raise DataError(
            f"{place} has arrays {', '.join(parts.values())}: put the rows for validation into the "
            "training part, of which a search makes its own folds, or all rows into x and y and "
            "name those of each part with split=file."
        )
    both = {name: value for name, value in arrays.items() if name not in parts.values()}
    for what in "xy":
        pieces = [np.asarray(arrays[parts[f"{what} {part}"]]) for part in ("train", "test")]
        if what == "y":
            pieces = [np.asarray(texts(piece) or (), object) for piece in pieces]
        both[what] = np.concatenate(pieces)
    n_train = np.shape(arrays[parts["x train"]])[0]
    rows = np.arange(len(both["x"]))
    return both, (rows[:n_train], rows[n_train:])


def _matrices(
    arrays: Mapping[str, Any], inputs: str, label: str, n_samples: int, place: str
) -> list[NDArray[Any]]:
    """Return the inputs, one matrix (n, d) or several, with a row a sample."""
    views = _cell(arrays, inputs, place)
    # A square array has its rows first, as most files do.
    if odd := [view.shape for view in views if view.ndim != 2 or n_samples not in view.shape]:
        raise DataError(
            f"{place} has inputs {inputs} of shape {odd[0]} for {n_samples} labels {label}: "
            f"one row of inputs a label is needed."
        )
    return [view if len(view) == n_samples else view.T for view in views]


def _cell(variables: Mapping[str, Any], name: str, place: str) -> list[NDArray[Any]]:
    """Return the arrays of a cell, which loadmat gives as an array of objects, or the one array."""
    value = np.asarray(variables.get(name))
    if value.dtype != object or not value.size or name not in variables:
        return [_array(variables, name, place)]
    return [_array({name: item}, name, place) for item in value.ravel()]


def _table(
    arrays: Mapping[str, Any], layout: Layout, pairs: Iterable[tuple[Any, Any]], place: str
) -> Table:
    """Return the table of a shipped set, whose content is verified; its inputs may be views."""
    label = str(layout.label)
    labels = _cell(arrays, label, place)
    if any(not np.array_equal(labels[0].ravel(), other.ravel()) for other in labels[1:]):
        raise DataError(f"{place} has views whose labels {label} differ.")
    views = _matrices(arrays, layout.inputs, label, labels[0].size, place)
    X = np.hstack(views).astype(np.float64, copy=False)
    missing = np.isnan(X) & (layout.impute is not None)
    if not (np.isfinite(X) | missing).all():
        raise DataError(f"{place} holds NaN or infinite values in {layout.inputs}.")
    groups = layout.groups and texts(_array(arrays, str(layout.groups), place))
    return Table(
        X=X,
        labels=tuple(f"{label:.17g}" for label in labels[0].ravel().astype(np.float64).tolist()),
        groups=groups or None,
        feature_names=tuple(f"x{i + 1}" for i in range(X.shape[1])),
        splits=tuple(
            (np.asarray(train).ravel().astype(np.int64), np.asarray(test).ravel().astype(np.int64))
            for train, test in pairs
        ),
        view_sizes=tuple(view.shape[1] for view in views) if len(views) > 1 else (),
    )


def _fields(value: Any) -> dict[str, Any] | None:
    """Fields of a MATLAB struct, which loadmat gives as a structured array of shape (1, 1)."""
    if value is None or np.asarray(value).dtype.names is None or np.size(value) != 1:
        return None
    return {field: value[field].item() for field in value.dtype.names}


def _with_fields(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables with the fields of structs in their place."""
    found: dict[str, Any] = {}
    for name, value in variables.items():
        fields = _fields(value)
        if fields is None:
            found[name] = value
            continue
        for field, inside in fields.items():
            taken = field in found or field in variables
            found[f"{name}.{field}" if taken else field] = inside
    return found


def _array(arrays: Mapping[str, Any], name: str, place: str) -> NDArray[Any]:
    if name not in arrays:
        raise DataError(f"{place} has no array {name}.")
    array = np.asarray(arrays[name])
    if array.dtype.kind not in "biuf":
        raise DataError(f"{place} has an array {name} that does not hold numbers.")
    return array


def choose_arrays(arrays: Mapping[str, Any], layout: Layout, place: str) -> tuple[str | None, str]:
    """Return the names of the inputs, None for a file of labels alone, and of the labels.

    Parameters
    ----------
    arrays : mapping of str to object
        What the file holds.
    layout : Layout
        ``inputs`` is a name, "auto" or "none"; ``label`` a name or "last", which leaves it open.
    place : str
        The file's name in messages.

    Raises
    ------
    DataError
        A name is not there, or several arrays would do, or none.
    """
    label = str(layout.label)
    if label.lower() == LAST and LAST not in arrays:
        label = _label({k: v for k, v in arrays.items() if k != layout.groups}, place)
    elif label not in arrays:
        raise _absent("label", label, arrays, place)
    n_samples = len(texts(arrays[label]) or ())
    if layout.inputs == NONE:
        return None, label
    if layout.inputs == AUTO and AUTO not in arrays:
        return _inputs({k: v for k, v in arrays.items() if k != label}, n_samples, place), label
    if layout.inputs not in arrays:
        raise _absent("inputs", layout.inputs, arrays, place)
    return layout.inputs, label


def texts(value: Any) -> tuple[str, ...] | None:
    """Return labels as texts: a vector or a cell of numbers or texts, or one-hot; None for others.

    Of a one-hot matrix (n, k) a label is the number of its class, from 1.
    """
    array = np.asarray(value)
    if array.ndim == 2 and min(array.shape) > 1 and array.dtype.kind in "biuf":
        is_one = np.isin(array, (0, 1)).all() and (array.sum(axis=1) == 1).all()
        return tuple(str(code + 1) for code in array.argmax(axis=1)) if is_one else None
    if array.size != max(array.shape, default=0):
        return None
    if array.dtype == object:
        items = [np.asarray(item) for item in array.ravel()]
        if any(item.size != 1 or item.dtype.kind not in "US" for item in items):
            return None
        array = np.array([item.item() for item in items])
    if array.dtype.kind in "US":
        return tuple(text.strip() for text in array.ravel().astype(str).tolist())
    if array.dtype.kind not in "biuf":
        return None
    return tuple(f"{number:.17g}" for number in array.astype(np.float64).ravel())


def _label(arrays: Mapping[str, Any], place: str) -> str:
    vectors = [name for name, value in arrays.items() if len(texts(value) or ()) > 1]
    for usual in _LABELS:
        named = [name for name in vectors if name.lower() in usual]
        if named:
            return _only(named, "label", "labels", place)
    flat = [name for name in vectors if min(np.shape(arrays[name]), default=0) < 2
            or np.ndim(arrays[name]) == 1]  # fmt: skip
    others = [name for name in flat if not PART.fullmatch(name.lower())]
    if not others:
        raise DataError(
            f"{place} holds no vector of labels, only {_listed(arrays)}: name the file that has "
            "them, or the array with data.label=NAME."
        )
    return _only(others, "label", "labels", place)


def _inputs(others: Mapping[str, Any], n_samples: int, place: str) -> str | None:
    def fits(value: Any) -> bool:
        array = np.asarray(value)
        if array.dtype == object and array.size:
            return all(fits(item) for item in array.ravel())
        return array.dtype.kind in "biuf" and array.ndim == 2 and n_samples in array.shape

    def is_square(value: Any) -> bool:
        array = np.asarray(value)
        if array.dtype == object and array.size:
            return all(is_square(item) for item in array.ravel())
        return array.dtype.kind in "biuf" and array.shape.count(n_samples) > 1

    usual = [name for name in others if name.lower() in _INPUTS and fits(others[name])]
    if usual:
        return _only(usual, "inputs", "inputs", place)
    if any(map(is_square, others.values())):  # a file of kernels
        return None
    named = [name for name in others if not PART.fullmatch(name.lower()) and fits(others[name])]
    tables = [name for name in named if min(np.shape(others[name])) > 1]
    return _only(tables, "inputs", "inputs", place) if tables else None


def _only(names: list[str], option: str, what: str, place: str) -> str:
    if len(names) == 1:
        return names[0]
    raise DataError(
        f"{place} has several arrays that may be the {what}, {', '.join(sorted(names))}: set "
        f"data.{option}={sorted(names)[0]} to take one of them."
    )


def _absent(option: str, name: str, arrays: Mapping[str, Any], place: str) -> DataError:
    near = hint(name, arrays, f"data.{option}=")
    return DataError(f"data.{option}={name} is no array of {place}: {near}.")


def _listed(names: Iterable[str]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:8]) + (", ..." if len(listed) > 8 else "") if listed else "nothing"
