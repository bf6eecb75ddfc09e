"""What the labels of a parsed file are: the classes of a set, or the numbers to predict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

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
    for label in classes:
        if label not in table.labels:
            raise DataError(f"data.keep_classes={label} is not a label of {place}.")
    kept = [i for i, label in enumerate(table.labels) if label in classes]
    labels = tuple(table.labels[i] for i in kept)
    rows = np.asarray(kept) if table.rows is None else table.rows[kept]
    return replace(table, X=table.X[kept], labels=labels, splits=(), rows=rows)


def classes_of(table: Table, positive: str | None, layout: Layout, place: str) -> tuple[str, ...]:
    """The labels in the order of their codes: numbers by value, then texts; positive last.

    Raises
    ------
    DataError
        There is one class only or a class for almost every row, or `positive` is none of two.
    """
    classes = sorted(set(table.labels), key=_label_order)
    if len(classes) < 2:
        raise DataError(
            f"{place} has one class only, {classes[0]}, in data.label={layout.label}: two or more "
            f"are needed."
        )
    if len(classes) > max(2, len(table.labels) // 2):
        raise DataError(
            f"{place} has {len(classes)} different labels in {len(table.labels)} rows: is "
            f"data.label={layout.label} the column of the classes? For numbers to predict set "
            f"data.task=regression."
        )
    _require_classes(table.labels, classes, layout, place)
    if positive is None:
        return tuple(classes)
    if positive not in classes:
        raise DataError(
            f"data.positive={positive} is not a label of {place}: it has {', '.join(classes[:10])}."
        )
    if len(classes) > 2:
        raise DataError(
            f"data.positive={positive} needs a set of two classes, and {place} has "
            f"{len(classes)}: set data.positive=null."
        )
    return (next(label for label in classes if label != positive), positive)


def _require_classes(
    labels: Sequence[str], classes: Sequence[str], layout: Layout, place: str
) -> None:
    """Raise DataError for numbers that look like real targets: many, fractions or hardly twice."""
    if len(classes) <= _MOST_NUMBERED:
        return
    try:
        numbers = [float(label.replace(",", ".", 1)) for label in classes]
    except ValueError:
        return
    has_fractions = any(number != round(number) for number in numbers if np.isfinite(number))
    if has_fractions or min(Counter(labels).values()) == 1:
        raise DataError(
            f"{place} has {len(classes)} different numbers in data.label={layout.label}, which "
            "look like real targets: set data.task=regression, or name the column of the classes."
        )


def targets_of(table: Table, layout: Layout, place: str) -> NDArray[np.float64]:
    """The labels as numbers (n,) to predict; different ones, for else there is nothing to learn.

    Raises
    ------
    DataError
        A label is no finite number, or all are the same.
    """
    targets = np.empty(len(table.labels))
    for row, label in enumerate(table.labels):
        try:
            targets[row] = float(label)
        except ValueError:
            targets[row] = np.nan
        if not np.isfinite(targets[row]):
            raise DataError(
                f"{place} has the label {label} in data.label={layout.label}, which is no finite "
                f"number to predict: name another column, or set data.task=classification."
            )
    if np.ptp(targets) == 0:
        raise DataError(
            f"{place} has the number {table.labels[0]} in every row of data.label={layout.label}: "
            f"there is nothing to learn."
        )
    return targets


def _label_order(label: str) -> tuple[int, float, str]:
    try:
        number = float(label)
    except ValueError:
        number = float("nan")
    return (0, number, label) if np.isfinite(number) else (1, 0.0, label)
