"""What the labels of a parsed file are: the classes of a set, or the numbers to predict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mklbench.data.numbers import Notation, plain_number
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
    classes = sorted(set(table.labels), key=_label_order)
    column = f"data.label={layout.label}"
    if len(classes) < 2:
        raise DataError(
            f"{place} has one class only, {classes[0]}, in {column}: two or more are needed."
        )
    if len(classes) > max(2, len(table.labels) // 2):
        raise DataError(
            f"{place} has {len(classes)} different labels in {len(table.labels)} rows: is {column} "
            "the column of the classes? For numbers to predict set data.task=regression."
        )
    numbers = [plain_number(label.replace(",", ".", 1)) for label in classes]
    if len(classes) > _MOST_NUMBERED and None not in numbers:
        has_fractions = any(number != np.round(number or 0) for number in numbers)
        if has_fractions or min(Counter(table.labels).values()) == 1:
            raise DataError(
                f"{place} has {len(classes)} different numbers in {column}, which look like real "
                "targets: set data.task=regression, or name the column of the classes."
            )
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


def targets_of(table: Table, layout: Layout, place: str) -> NDArray[np.float64]:
    """The labels as numbers (n,) to predict; different ones, for else there is nothing to learn.

    Raises
    ------
    DataError
        A label is no finite number, or all are the same.
    """
    column = f"data.label={layout.label}"
    targets = Notation().numbers(np.array(table.labels, dtype=object))
    if (odd := np.flatnonzero(~np.isfinite(targets))).size:
        raise DataError(
            f"{place} has the label {table.labels[odd[0]]} in {column}, which is no finite number "
            "to predict: name another column, or set data.task=classification."
        )
    if np.ptp(targets) == 0:
        raise DataError(
            f"{place} has the number {table.labels[0]} in every row of {column}: there is nothing "
            "to learn."
        )
    return targets


def _label_order(label: str) -> tuple[int, float, str]:
    number = plain_number(label)
    return (1, 0.0, label) if number is None or not np.isfinite(number) else (0, number, label)
