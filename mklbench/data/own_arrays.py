"""Which arrays of a user's own file are the labels and the inputs, where no option says so.

Names that the field uses count first, then what is there alone. Of two that would do none is taken:
the sentence names both, and the option that chooses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mklbench.data.schema import Layout
from mklbench.data.split_names import part_of
from mklbench.errors import DataError, hint

# The values of `Layout.inputs` that are no names, and that of `Layout.label`.
AUTO, NONE, LAST = "auto", "none", "last"

_LABELS = ("y",), ("label", "labels", "target", "targets", "gt", "gnd", "truth", "class", "t")
_INPUTS = ("x", "data", "features", "fea", "inputs")


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
        label = _label(arrays, place)
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
    """Return labels, numbers or texts in a vector or a cell, as texts; None for all else."""
    array = np.asarray(value)
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
    others = [name for name in vectors if part_of(name) is None]
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
    named = [name for name in others if part_of(name) is None and fits(others[name])]
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
