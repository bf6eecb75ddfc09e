"""Several files of one study, joined by the names of their samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data.numbers import plain_number
from mklbench.data.own import UNNAMED, Body, Table
from mklbench.data.schema import Layout
from mklbench.data.tables import Cells, text_of
from mklbench.errors import DataError

# Of these one names the samples.
_FIRST_COLUMNS = 10


def joined_table(files: Sequence[Cells], names: Sequence[str], layout: Layout, place: str) -> Table:
    """Return the table of the samples that several files have, by name; a view a file.

    Parameters
    ----------
    files : sequence of Cells
        The cells of each.
    names : sequence of str
        What the views are called.
    layout : Layout
        What the columns are; the names of their columns are those of all files.
    place : str
        The files in messages.

    Raises
    ------
    DataError
        A file does not name its samples, or names one twice, or they share none.
    """
    if str(layout.label).lower() == "last":
        raise DataError(
            f"{place} are several files: set data.label to the name of the column of the labels."
        )
    bodies = [Body(cells, layout, f"{place}, file {k}") for k, cells in enumerate(files, 1)]
    keys = _keys(bodies, place)
    rows = [
        {text_of(cell): row for row, cell in enumerate(body.columns[key])}
        for body, key in zip(bodies, keys, strict=True)
    ]
    shared = [name for name in rows[0] if all(name in of for of in rows[1:])]
    columns: dict[str, NDArray[Any]] = {}
    bounds = [0]
    for body, key, at, view in zip(bodies, keys, rows, names, strict=True):
        for called, found in _columns(body, key, view).items():
            name, cells = called, found[[at[sample] for sample in shared]]
            if name in columns:
                odd = np.flatnonzero(columns[name].astype(str) != cells.astype(str))
                if not odd.size:
                    continue  # such as the label in each of the files
                if name in (str(layout.label), str(layout.groups)):
                    raise DataError(
                        f"{place} have a column {name} each, which differ for sample "
                        f"{shared[odd[0]]}: leave it in one of the files."
                    )
                name = f"{view}: {name}"
            columns[name] = cells
        bounds.append(len(columns))
    index = {"samples": np.array(shared, dtype=object)}
    table = Body(Cells(list(columns.values()), list(columns), index), layout, place).table()
    n_others = len(set().union(*rows)) - len(shared)
    dropped = (f"{n_others} not in every file",) if n_others else ()
    return replace(
        table.in_views(bounds, names),
        dropped_rows=table.dropped_rows + n_others,
        dropped=dropped + table.dropped,
    )


def _keys(bodies: Sequence[Body], place: str) -> list[int]:
    """Return the column of each file that names its samples: the first, or one of the same name.

    Of several ways the one is taken in which the files share the most samples.
    """
    options = [[body.n_own if len(body.columns) > body.n_own else 0 for body in bodies]]
    headers = [body.header or [] for body in bodies]
    for name in headers[0][:_FIRST_COLUMNS]:
        if all(header.count(name) == 1 for header in headers):
            options.append([header.index(name) for header in headers])

    def shared(option: Sequence[int]) -> int:
        names = [_names(body, column) for body, column in zip(bodies, option, strict=True)]
        return len(set.intersection(*names))

    keys = max(options, key=shared)
    if not shared(keys):
        begin = [
            f"{text_of(body.columns[column][0])!r} in file {k}"
            for k, (body, column) in enumerate(zip(bodies, options[0], strict=True), 1)
        ]
        raise DataError(
            f"{place} share no name of a sample ({', '.join(begin)}): the first column, or one "
            "that has the same name in all files, has to name each sample once, and alike in all "
            "of them; data.transpose=[...] names files with samples in columns."
        )
    # An index without a name is called "index" in what is read of a parquet file.
    called = {h[key] if h else "" for h, key in zip(headers, keys, strict=True)}
    unnamed = any(name == "index" or UNNAMED.fullmatch(name) for name in called)
    if (unnamed or len(called) > 1) and all(map(str.isdigit, _names(bodies[0], keys[0]))):
        raise DataError(
            f"{place} would be joined by the numbers in "
            f"{' and '.join(b.describe(c) for b, c in zip(bodies, keys, strict=True))}, which may "
            "agree by chance: give the columns that name the samples the same name in all files."
        )
    return keys


def _names(body: Body, column: int) -> set[str]:
    """Return the names that a column has for the samples; none where it cannot name them."""
    names = [text_of(value) for value in body.columns[column]]
    measured = any(plain_number(name) is not None and not name.isdigit() for name in names)
    found = set(names)
    return set() if measured or "" in found or len(found) < len(names) else found


def _columns(body: Body, key: int, view: str) -> dict[str, NDArray[Any]]:
    """Return the columns of a file by name, without its key."""
    found: dict[str, NDArray[Any]] = {}
    for column in range(body.n_own):
        name = body.header[column] if body.header else f"{view}{column + 1}"
        if column != key:
            found[body.describe(column) if name in found else name] = body.columns[column]
    return found
