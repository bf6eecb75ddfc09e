"""From the files of a data set, in any format, to one `Table`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mklbench.data.arrays import parse_mat, parse_npz
from mklbench.data.images import parse_images
from mklbench.data.number_tables import parse_npy
from mklbench.data.openml import parse_openml
from mklbench.data.parse import parse_table
from mklbench.data.schema import FileFormat, Layout
from mklbench.data.svmlight import parse_svmlight
from mklbench.data.table import Table
from mklbench.data.typed_tables import parse_parquet, parse_xlsx
from mklbench.errors import DataError
from mklbench.mat_files import is_mat

# An archive without a file: NumPy writes one where it is given no array.
_EMPTY_ZIP = b"PK\x05\x06"
# A line as svmlight has it, and what may stand before the first: comments, and samples whose
# features are all zero, which have a label alone.
_SVMLIGHT = re.compile(
    rb"\s*[-+.\deE]+(?:[ \t]+qid:\d+)?(?:[ \t]+\d+:[-+.\deE]+)+[ \t]*(?:#|\r?\n|$)"
)
_BEFORE_SVMLIGHT = re.compile(rb"(?:\s*(?:[-+.\deE]+[ \t]*)?(?:#[^\n]*)?\r?\n)*")
_BEGINNING = 2**16


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
    if layout.format == "auto":
        layout = replace(layout, format=detected(contents[0]))
    if layout.sheet is not None and layout.format != "xlsx":
        raise DataError(
            f"data.sheet={layout.sheet} is of an Excel file, and {place} is none: leave it out."
        )
    if layout.format == "npz":
        return parse_npz(contents[0], layout, place)
    if layout.format == "npy":
        return parse_npy(contents[0], layout, place)
    if layout.format == "mat":
        return parse_mat(contents[0], layout, place)
    if layout.format == "images":
        return parse_images(contents[0], layout, place)
    if layout.format == "parquet":
        return parse_parquet(contents[0], layout, place)
    if layout.format == "openml":
        return parse_openml(contents[0], layout, place)
    if layout.format == "xlsx":
        return parse_xlsx(contents[0], layout, place)
    if layout.format == "svmlight":
        return parse_svmlight(contents, layout, place)
    tables = [
        parse_table(content, layout, _file(place, number, len(contents)))
        for number, content in enumerate(contents, 1)
    ]
    return tables[0] if len(tables) == 1 else _stacked(tables, place)


def detected(content: bytes) -> FileFormat:
    """Return the format of a file by its first bytes; text where they tell nothing else.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    """
    if content.startswith(_EMPTY_ZIP):
        return "npz"
    if content.startswith(b"PK\x03\x04"):
        if b".npy" in content[:4096]:
            return "npz"
        # The names of the files in an archive are at its end.
        return "xlsx" if b"xl/workbook.xml" in content else "text"
    if content.startswith(b"\x93NUMPY"):
        return "npy"
    if content.startswith(b"PAR1"):
        return "parquet"
    if is_mat(content):
        return "mat"
    before = _BEFORE_SVMLIGHT.match(content, 0, _BEGINNING)
    return "svmlight" if _SVMLIGHT.match(content, before.end() if before else 0) else "text"


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
