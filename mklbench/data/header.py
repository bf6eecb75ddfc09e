"""Whether the first row of a file names the columns, or is a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mklbench.data.numbers import is_number, plain_number
from mklbench.data.schema import Layout
from mklbench.data.tables import Cells, shortened, text_of
from mklbench.errors import DataError

# What pandas takes for missing, and what others write, in lower case.
MARKS = frozenset({
    "", "#n/a", "#n/a n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>",
    "n/a", "na", "nan", "none", "null", "?", "-", ".",
})  # fmt: skip
# Rows, and columns at either end, that tell whether the first row has names.
_SEEN, _TRIED = 2000, 100


def has_header(cells: Cells, layout: Layout, place: str) -> bool:
    """Tell whether the first row of a file names the columns.

    Raises
    ------
    DataError
        It may be one or the other.
    """
    if layout.header != "auto":
        return bool(layout.header)
    first = [text_of(column[0]) for column in cells.columns]
    if not layout.own or len(cells.columns[0]) == 1:
        marks = {mark.casefold() for mark in layout.missing or ()}
        return not any(is_number(cell) or cell.casefold() in marks for cell in first)
    options = [layout.label, layout.groups, *layout.drop]
    options += layout.categories if isinstance(layout.categories, tuple) else ()
    if {r for r in options if isinstance(r, str) and r.lower() != "last"} & set(first):
        return True
    answer = _answer(first, cells, layout)
    if answer is None:
        raise DataError(
            f"{place} begins with {shortened(list(map(repr, first)), 4)}, which may be the names "
            "of the columns or a sample: set data.header=true or data.header=false."
        )
    return answer


def _answer(first: Sequence[str], cells: Cells, layout: Layout) -> bool | None:
    """Tell whether cells, beside those below, are names; None: it is open."""
    label = layout.label if isinstance(layout.label, int) else len(first)
    label = label - 1 if label > 0 else len(first) + label
    numbers: dict[int, float] = {}
    below: dict[int, NDArray[np.float64]] = {}  # under a number
    is_name = is_sample = False
    for column in range(len(first)):
        if _TRIED <= column < len(first) - _TRIED:
            continue
        cell = first[column]
        texts = [text_of(value) for value in cells.columns[column][1:_SEEN]]
        texts = [text for text in texts if text.casefold() not in MARKS]
        if cell.casefold() in MARKS or not texts:
            continue
        values = [_number(text) for text in texts if is_number(text)]
        if 2 * len(values) >= len(texts) and is_number(cell):
            known = np.array([value for value in values if value == value])
            if len(known) and (number := _number(cell)) == number:
                numbers[column], below[column] = number, known
        elif 2 * len(values) < len(texts) and cell in texts:
            is_sample = True
        elif 2 * len(values) >= len(texts) or is_number(cell) or min(Counter(texts).values()) > 1:
            is_name = True
    features = {c: number for c, number in numbers.items() if c != label}
    repeats = len(set(features.values())) < len(features)
    are_names = not repeats and _are_names(features, below)
    is_sample |= repeats
    if is_name:
        return None if is_sample or (features and not are_names) else True
    return None if not is_sample and (are_names or not below) else False


def _number(text: str) -> float:
    number = plain_number(text.replace(",", ".", 1))
    return np.nan if number is None else number


def _are_names(numbers: Mapping[int, float], below: Mapping[int, NDArray[np.float64]]) -> bool:
    """Tell whether numbers look like names, as 0, 1, 2, ..., years, or wavelengths do."""
    values = np.array(list(numbers.values()))
    outside = recurring = 0
    for column, value in numbers.items():
        least, most = below[column].min(), below[column].max()
        recurring += value in below[column]
        outside += most > least and not 2 * least - most <= value <= 2 * most - least
    if not len(values) or 2 * recurring > len(values):
        return False
    steps = np.diff(values)
    if 2 * outside > len(values) or (len(values) > 1 and (values == range(len(values))).all()):
        return True
    in_order = len(values) > 2 and bool((steps > 0).all() or (steps < 0).all())
    whole = np.array_equal(values, np.round(values))
    return in_order and (len(values) >= 6 or whole or np.allclose(steps, steps[0], rtol=1e-6))
