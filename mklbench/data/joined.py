"""Several files of one study, joined by the names of their samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mklbench.data.numbers import plain_number
from mklbench.data.own import UNNAMED, Body, Table
from mklbench.data.schema import Layout
from mklbench.data.tables import Cells, excerpt, text_of
from mklbench.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

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
    headers = [set(body.header or ()) for body in bodies]
    if headers[0] and all(header == headers[0] for header in headers):
        raise DataError(
            f"{place} have the same columns, so that they seem to be parts of one table: put them "
            "under each other in one file, and name the rows of each part with split=file."
        )
    frames = _by_sample(bodies, names, place)
    shared = [name for name in frames[0].index if all(name in of.index for of in frames[1:])]
    columns: dict[str, Any] = {}
    bounds = [0]
    for frame, view in zip(frames, names, strict=True):
        for name, cells in frame.loc[shared].items():
            if name in columns:
                odd = np.flatnonzero(columns[name].astype(str) != cells.to_numpy().astype(str))
                if not odd.size:
                    continue  # such as the label in each of the files
                if name in (str(layout.label), str(layout.groups)):
                    raise DataError(
                        f"{place} have a column {name} each, which differ for sample "
                        f"{shared[odd[0]]}: leave it in one of the files."
                    )
                name = f"{view}: {name}"
            columns[str(name)] = cells.to_numpy()
        bounds.append(len(columns))
    index = {"samples": np.array(shared, dtype=object)}
    table = Body(Cells(list(columns.values()), list(columns), index), layout, place).table()
    n_others = len(set().union(*(frame.index for frame in frames))) - len(shared)
    dropped = (f"{n_others} not in every file",) if n_others else ()
    return replace(
        table.in_views(bounds, names),
        dropped_rows=table.dropped_rows + n_others,
        dropped=dropped + table.dropped,
    )


def _by_sample(bodies: Sequence[Body], views: Sequence[str], place: str) -> list[pd.DataFrame]:
    """Return the columns of each file by the names of its samples.

    These are the column of different cells, of each file, that shares the most with the first.
    """
    import pandas as pd  # which most runs do not need

    named = [_names(body) for body in bodies]
    for body, columns in zip(bodies, named, strict=True):
        if not columns:
            raise DataError(
                f"{body.place} has no column that names each sample once, by which files are "
                "joined: give it one, as its first column."
            )
    sets = [{c: set(names) for c, names in columns.items()} for columns in named]

    def best(wanted: set[str], k: int) -> tuple[int, int]:
        return max((len(wanted & names), -c) for c, names in sets[k].items())

    others = range(1, len(bodies))
    first = max(sets[0], key=lambda c: (min(best(sets[0][c], k)[0] for k in others), -c))
    chosen = [first, *(-best(sets[0][first], k)[1] for k in others)]
    called = [body.reference(c) for body, c in zip(bodies, chosen, strict=True)]
    if not min(best(sets[0][first], k)[0] for k in others):
        shown = " and ".join(excerpt(of[c][0]) for of, c in zip(named[:2], chosen, strict=False))
        raise DataError(
            f"{place} share no name of a sample, such as {shown}: the first column, or one that "
            "has the same name in all files, has to name the samples alike."
        )
    # An index without a name is called "index" in what is read of a parquet file.
    keys = [body.header[c] if body.header else "" for body, c in zip(bodies, chosen, strict=True)]
    unnamed = any(key == "index" or UNNAMED.fullmatch(key) for key in keys)
    if all(name.isdigit() for name in named[0][first]) and (unnamed or len(set(called)) > 1):
        raise DataError(
            f"{place} would be joined by the numbers in {' and '.join(called)}, which may agree by "
            "chance: give the columns that name the samples the same name in all files."
        )
    return [
        pd.DataFrame(
            {body.header[c] if body.header else f"{view}{c + 1}": body.in_points(c)
             for c in range(body.n_own) if c != key},
            index=of[key],
        )
        for body, of, key, view in zip(bodies, named, chosen, views, strict=True)
    ]  # fmt: skip


def _names(body: Body) -> dict[int, list[str]]:
    """Return the columns that may name the samples, with their texts."""
    found = {}
    n_all = len(body.columns)
    for column in [*range(body.n_own, n_all), *range(min(body.n_own, _FIRST_COLUMNS))]:
        names = [text_of(value) for value in body.columns[column]]
        measured = any(plain_number(name) is not None and not name.isdigit() for name in names)
        if len(set(names)) == len(names) and "" not in names and not measured:
            found[column] = names
    return found
