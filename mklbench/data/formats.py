"""From the files of a data set, in any format, to one `Table`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mklbench.data.arrays import parse_mat, parse_npz, parse_svmlight
from mklbench.data.images import parse_images
from mklbench.data.parse import Table, parse_table
from mklbench.data.schema import Layout
from mklbench.errors import DataError


def parse_files(contents: Sequence[bytes], layout: Layout, place: str) -> Table:
    """Parse the files of a data set, whose rows are taken one after the other.

    Parameters
    ----------
    contents : sequence of bytes
        The bytes of each file.
    layout : Layout
        How they are read; a format of named arrays is one file.
    place : str
        Where they are, in messages.

    Raises
    ------
    DataError
        A file cannot be parsed, or unpacks to more than it may, or the files do not have the same
        number of features.
    """
    if layout.format == "npz":
        return parse_npz(contents[0], layout, place)
    if layout.format == "mat":
        return parse_mat(contents[0], layout, place)
    if layout.format == "images":
        return parse_images(contents[0], layout, place)
    if layout.format == "svmlight":
        return parse_svmlight(contents, layout, place)
    tables = [
        parse_table(content, layout, _file(place, number, len(contents)))
        for number, content in enumerate(contents, 1)
    ]
    return tables[0] if len(tables) == 1 else _stacked(tables, place)


def _file(place: str, number: int, n_files: int) -> str:
    return place if n_files == 1 else f"{place}, file {number}"


def _stacked(tables: Sequence[Table], place: str) -> Table:
    widths = [table.X.shape[1] for table in tables]
    if len(set(widths)) > 1:
        raise DataError(
            f"{place} has files of {', '.join(map(str, widths))} features: they must agree."
        )
    return Table(
        X=np.vstack([table.X for table in tables]),
        labels=tuple(label for table in tables for label in table.labels),
        feature_names=tables[0].feature_names,
        dropped_rows=sum(table.dropped_rows for table in tables),
    )
