"""What the labels of a parsed file are: the classes of a set, or the numbers to predict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mklbench.data.numbers import Notation
from mklbench.data.own import Table
from mklbench.data.schema import Layout
from mklbench.errors import DataError

# So many classes may be numbers of any kind.
_MOST_NUMBERED = 10


def rows_of_classes(table: Table, classes: Sequence[str], place: str) -> Table:
    """Keep the rows of some classes; splits of the file, which number all rows, are left out.

    Raises
    ------
    DataError
        A class is no label of the file, which `place` names.
    """
    if not classes:
        return table
    if absent := [label for label in classes if label not in table.labels]:
        raise DataError(f"data.keep_classes={absent[0]} is not a label of {place}.")
    kept = np.flatnonzero(np.isin(table.labels, classes))
    labels = tuple(table.labels[i] for i in kept)
    rows = kept if table.rows is None else table.rows[kept]
    return replace(table, X=table.X[kept], labels=labels, splits=(), rows=rows)


def classes_of(table: Table, positive: str | None, layout: Layout, place: str) -> tuple[str, ...]:
    """The labels in the order of their codes: numbers by value, then texts; positive last.

    Raises
    ------
    DataError
        There is one class only or a class for almost every row, or `positive` is none of two.
    """
    counts, column = Counter(table.labels), f"data.label={layout.label}"
    classes = sorted(counts)
    points = [label.replace(",", ".", 1) for label in classes]
    numbers = dict(zip(classes, _numbers(points), strict=True))
    classes.sort(key=lambda label: (not np.isfinite(numbers[label]), np.nan_to_num(numbers[label])))
    if len(classes) < 2:
        raise DataError(
            f"{place} has one class only, {classes[0]}, in {column}: two or more are needed."
        )
    values = np.array(list(numbers.values()))
    are_real = len(classes) > _MOST_NUMBERED and bool(np.isfinite(values).all())
    are_real &= bool((values != np.round(values)).any()) or min(counts.values()) == 1
    if are_real or len(classes) > max(2, len(table.labels) // 2):
        raise DataError(
            f"{place} has {len(classes)} different labels in {len(table.labels)} rows: is {column} "
            "the column of the classes? For numbers to predict set data.task=regression."
        )
    if positive is None:
        return tuple(classes)
    if positive not in classes or len(classes) > 2:
        raise DataError(
            f"data.positive={positive} is none of two classes of {place}, which has "
            f"{', '.join(classes[:10])}: correct it, or set data.positive=null."
        )
    return (next(label for label in classes if label != positive), positive)


def targets_of(table: Table, layout: Layout, place: str) -> NDArray[np.float64]:
    """The labels as numbers (n,) to predict; different ones, for else there is nothing to learn.

    Raises
    ------
    DataError
        A label is no finite number, or all are the same.
    """
    targets = _numbers(table.labels)
    odd = np.flatnonzero(~np.isfinite(targets))
    if odd.size or np.ptp(targets) == 0:
        found = f"label {table.labels[odd[0]]}" if odd.size else f"number {targets[0]:g} alone"
        raise DataError(
            f"{place} has the {found} in data.label={layout.label}, where different finite numbers "
            "to predict are needed: name another column, or set data.task=classification."
        )
    return targets


def _numbers(labels: Sequence[str]) -> NDArray[np.float64]:
    return Notation().numbers(np.array(labels, dtype=object))
