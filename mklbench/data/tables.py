"""Files of tables, as their cells: text, Excel, parquet, ARFF; and whether a row names columns.

What the cells mean is found in `mklbench.data.own`.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data.numbers import is_number, numbers_of
from mklbench.data.schema import FileFormat, Layout
from mklbench.errors import DataError, first_line
from mklbench.mat_files import is_mat

_ZIP = b"PK\x03\x04"
# How files begin; an archive without a file is what NumPy writes where it is given no array.
_BEGINS: dict[bytes, FileFormat] = {b"PK\x05\x06": "npz", b"\x93NUMPY": "npy", b"PAR1": "parquet"}
# A line as svmlight has it.
_SVMLIGHT = re.compile(
    rb"\s*[-+.\deE]+(?:[ \t]+qid:\d+)?(?:[ \t]+\d+:[-+.\deE]+)+[ \t]*(?:#|\r?\n|$)"
)
_ARFF = re.compile(rb"(?:\s*%[^\n]*\n|\s)*@relation\s", re.IGNORECASE)
_BEGINNING = 2**16
# JSON, web pages and pointers of Git LFS, which at times stand in the place of a table.
_NO_TABLES = (b"[{", b'{"', b"<!doctype", b"<html", b"<?xml", b"version https://git-lfs")
_DELIMITERS = (",", ";", "\t", "|", "whitespace")
# Lines that the delimiter is found from.
_SAMPLE = 50
# Characters of a cell, at most.
_LONGEST = 2**30

# What pandas takes for missing, and what others write, in lower case.
MARKS = frozenset({
    "", "#n/a", "#n/a n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>",
    "n/a", "na", "nan", "none", "null", "?", "-", ".",
})  # fmt: skip
# Rows, and columns at either end, that tell whether the first row has names.
_SEEN, _TRIED = 2000, 100


@dataclass(frozen=True)
class Cells:
    """A table as it stands in its file.

    Attributes
    ----------
    columns : sequence of ndarray of shape (n,)
        Texts without blanks around them, or typed values.
    names : list of str or None
        Of the columns, where the format has names; None: the first row may be names.
    index : mapping of str to ndarray of shape (n,)
        Columns that the file itself calls names of rows, by their name.
    lines : sequence of int or None
        The line of each row; None: the file has no lines.
    """

    columns: Sequence[NDArray[Any]]
    names: list[str] | None = None
    index: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    lines: Sequence[int] | None = None

    def line(self, row: int) -> str:
        """Say where a row stands in the file, as in "line 3"."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """List names in a message, the first few if they are many."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"


@contextlib.contextmanager
def reading(kind: str, place: str) -> Iterator[None]:
    """Turn whatever a library raises of a file that is not of a kind into a DataError."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # of damaged files libraries raise almost anything
        raise DataError(f"{place} is not {kind}, or damaged ({first_line(error)}).") from error


def text_of(value: Any) -> str:
    """Return a cell as text: true and false are 1 and 0, a missing value is empty."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, int | float | np.number | np.bool_):
        number = float(value)
        return str(int(value)) if number.is_integer() and abs(number) < 2**63 else repr(number)
    return str(value)


def read_text(content: bytes, layout: Layout, place: str) -> Cells:
    """Read delimited text, whose cells stay texts.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    layout : Layout
        How the text is laid out.
    place : str
        The file's name in messages.

    Raises
    ------
    DataError
        The content is not such a table; the message names the line.
    """
    lines = _decoded(content, place).split("\n")
    filled = [k for k in range(layout.skip_lines, len(lines)) if lines[k].strip()]
    while layout.own and filled and lines[filled[0]].startswith("#"):
        filled.pop(0)
    if not filled:
        raise DataError(f"{place} holds no rows of data.")
    delimiter, start = layout.delimiter, filled[0]
    if delimiter == "auto":
        delimiter = _delimiter([lines[k] for k in filled[:_SAMPLE]], place)
    rows: list[list[str]] = []
    numbers, before = [], start
    reader = _reader(lines[start:], delimiter)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append(cells)
                numbers.append(before + 1)
            before = start + reader.line_num
    except csv.Error as error:
        raise DataError(
            f"{place}, line {before + 1} cannot be split into cells ({error})."
        ) from error
    width = len(rows[-1]) - 1
    if width and "" in (rows[0][width:] or [""]) and all(row[-1] == "" for row in rows[1:]):
        rows = [row[:width] for row in rows]  # behind a delimiter at the end of each line
    names = []
    if len(rows) > 1 and {len(row) for row in rows[1:]} == {len(rows[0]) + 1}:
        # R writes the names of the columns without one for the names of the rows.
        names, rows, numbers = rows[0], rows[1:], numbers[1:]
    odd = next((k for k, row in enumerate(rows) if len(row) != len(rows[0])), None)
    if odd is not None:
        raise DataError(
            f"{place}, line {numbers[odd]} has {len(rows[odd])} cells where {len(rows[0])} were "
            f"expected: correct it, or begin there with data.skip_lines={numbers[odd] - 1}."
        )
    columns = [np.array(column, dtype=object) for column in zip(*rows, strict=True)]
    if names:
        return Cells(columns[1:], names, {"row names": columns[0]}, numbers)
    return Cells(columns, lines=numbers)


def _reader(lines: Sequence[str], delimiter: str) -> Any:
    """Return a reader of rows of cells; a line is a cell if nothing separates them."""
    csv.field_size_limit(_LONGEST)
    if delimiter == "whitespace":
        return csv.reader((" ".join(line.split()) for line in lines), delimiter=" ")
    return csv.reader(
        (f"{line}\n" for line in lines), delimiter=delimiter or "\1",
        skipinitialspace=delimiter != " ", strict=True,
    )  # fmt: skip


def read_parquet(content: bytes, layout: Layout, place: str) -> Cells:
    """Read a parquet file; an index that pandas kept is no column.

    Raises
    ------
    DataError
        It cannot be read.
    """
    import pandas as pd

    with reading("a parquet file", place):
        frame = pd.read_parquet(io.BytesIO(content))
    index = {}
    if not isinstance(frame.index, pd.RangeIndex):
        levels = [frame.index.get_level_values(k) for k in range(frame.index.nlevels)]
        index = {str(level.name or "index"): _plain(level.to_series()) for level in levels}
    columns = [_plain(frame.iloc[:, k]) for k in range(frame.shape[1])]
    return Cells(columns, [str(name) for name in frame.columns], index)


def _plain(column: Any) -> NDArray[Any]:
    """Return a column of pandas as numbers, or as texts and other values."""
    from pandas.api import types

    if types.is_numeric_dtype(column.dtype):
        exact = types.is_integer_dtype(column.dtype) and not column.isna().any()
        kind, absent = (f"{column.dtype.kind}8", 0) if exact else ("f8", np.nan)
        return np.asarray(column.to_numpy(kind, na_value=absent))
    cells = np.empty(len(column), dtype=object)
    there = column.astype(object).where(column.notna(), None)
    # Lists and the like are texts, as dates are.
    cells[:] = [cell if cell is None or np.isscalar(cell) else str(cell) for cell in there]
    return cells


def read_excel(content: bytes, layout: Layout, place: str) -> Cells:
    """Read a sheet of an Excel file: ``layout.sheet``, or the only one that is not empty.

    Raises
    ------
    DataError
        It cannot be read, or has several sheets of which none is chosen.
    """
    import pandas as pd

    options: dict[str, Any] = {"header": None, "dtype": object, "keep_default_na": False}
    with reading("an Excel file", place):
        sheets = pd.read_excel(io.BytesIO(content), sheet_name=None, engine="openpyxl", **options)
    filled = {name: _trimmed(sheet.iloc[layout.skip_lines :]) for name, sheet in sheets.items()}
    found = {name: sheet for name, sheet in filled.items() if len(sheet)}
    if not found:
        raise DataError(f"{place} holds no rows of data.")
    name = layout.sheet or next(iter(found))
    if name not in found or (layout.sheet is None and len(found) > 1):
        raise DataError(
            f"{place} has the sheets {shortened(list(found))}: set data.sheet to one of them."
        )
    frame = found[name]
    columns = [np.array([*frame[name], None], dtype=object)[:-1] for name in frame]
    return Cells(columns, lines=[row + 1 for row in frame.index])


def _trimmed(frame: Any) -> Any:
    """Return a sheet without its empty rows and columns, and texts without blanks around them."""
    frame = frame.map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    empty = frame.isna() | (frame == "")
    return frame.loc[~empty.all(axis=1), ~empty.all(axis=0)]


def read_arff(content: bytes, layout: Layout, place: str) -> Cells:
    """Read a file of Weka's (ARFF), whose columns have names.

    Raises
    ------
    DataError
        It cannot be read: SciPy reads numbers and nominal values.
    """
    from scipy.io import arff

    with reading("an ARFF file of numbers and nominal values", place):
        rows, _ = arff.loadarff(io.StringIO(_decoded(content, place)))
    names = list(rows.dtype.names or ())
    columns = [rows[name] if rows[name].dtype.kind == "f" else
               np.array([cell.decode() for cell in rows[name]], dtype=object)
               for name in names]  # fmt: skip
    return Cells(columns, names)


def transposed(cells: Cells) -> Cells:
    """Return the cells of a file whose first column names the features, its first row the samples.

    The names of the samples become those of the rows.
    """
    columns, names = list(cells.columns), cells.names
    if names is None:
        names, columns = [text_of(column[0]) for column in columns], [c[1:] for c in columns]
    variables = next(iter(cells.index.values()), None)
    if variables is None:
        variables, columns, names = columns[0], columns[1:], names[1:]
    rows = [np.array(row, dtype=object) for row in zip(*columns, strict=True)]
    return Cells(rows, list(map(str, variables)), {"samples": np.array(names, dtype=object)})


def _decoded(content: bytes, place: str) -> str:
    try:
        is_wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        begins = content[:_BEGINNING].lstrip().lower()
        if begins.startswith(_NO_TABLES) or (not is_wide and b"\0" in content):
            raise ValueError("it is binary, JSON or a web page")
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
    except ValueError as error:
        raise DataError(
            f"{place} is not a text file in UTF-8 ({first_line(error)}): save it as CSV in UTF-8, "
            "as .xlsx or as parquet."
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _delimiter(lines: Sequence[str], place: str) -> str:
    """Return what splits all lines into as many cells, most of them numbers; empty: nothing does.

    Where no delimiter gives each line as many cells, it is the most frequent one, so that the
    line which has more or fewer can be named.
    """
    shares: dict[str, tuple[bool, float]] = {}
    for delimiter in _DELIMITERS:
        try:
            rows = [next(_reader([line], delimiter)) for line in lines]
        except csv.Error:  # a cell of several lines
            continue
        widths = {len(row) for row in rows[1:] or rows}
        # R writes one name less than there are columns.
        is_of_r = widths == {len(rows[0]) + 1} and len(rows) > 2
        if is_of_r or (widths == {len(rows[0])} and len(rows[0]) > 1):
            cells = [cell.strip() for row in rows[1:] or rows for cell in row]
            shares[delimiter] = (not is_of_r, sum(map(is_number, cells)) / len(cells))
    best = [delimiter for delimiter in shares if shares[delimiter] == max(shares.values())]
    if len(best) > 1 and "whitespace" in best:
        best.remove("whitespace")
    if len(best) > 1:
        raise DataError(
            f"{place} can be split at {best[0]!r} or at {best[1]!r}: set data.delimiter to what "
            f"separates its cells, as in 'data.delimiter=\"{best[0]}\"'."
        )
    if best:
        return best[0]
    most = max(_DELIMITERS[:-1], key=lambda sign: sum(sign in line for line in lines))
    return most if any(most in line for line in lines) else ""


def detected(content: bytes) -> FileFormat:
    """Return the format of a file by its first bytes; text where they tell nothing else.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    """
    for signature, kind in _BEGINS.items():
        if content.startswith(signature):
            return kind
    if content.startswith(_ZIP):
        if b".npy" in content[:4096]:
            return "npz"
        # The names of the files in an archive are at its end.
        return "xlsx" if b"xl/workbook.xml" in content else "text"
    if is_mat(content):
        return "mat"
    if _ARFF.match(content):
        return "arff"
    return "svmlight" if _SVMLIGHT.match(content) else "text"


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
    numbers: dict[int, tuple[float, NDArray[np.float64]]] = {}  # and those below
    is_name = is_sample = False
    columns = range(len(first))
    for column in sorted({*columns[:_TRIED], *columns[-_TRIED:]}):
        cell = first[column]
        texts = [text_of(value) for value in cells.columns[column][1:_SEEN]]
        texts = [text for text in texts if text.casefold() not in MARKS]
        if cell.casefold() in MARKS or not texts:
            continue
        number, *values = _in_any_notation([cell, *texts])
        known = np.array(values)[~np.isnan(values)]
        are_numbers = 2 * len(known) >= len(texts)
        if are_numbers and number == number:
            numbers[column] = number, known
        elif not are_numbers and cell in texts:
            is_sample = True
        elif are_numbers or number == number or min(Counter(texts).values()) > 1:
            is_name = True
    features = [found for column, found in numbers.items() if column != label]
    repeats = len({number for number, _ in features}) < len(features)
    are_names = not repeats and _are_names(features)
    is_sample |= repeats
    if is_name:
        return None if is_sample or (features and not are_names) else True
    return None if not is_sample and (are_names or not numbers) else False


def _in_any_notation(texts: Sequence[str]) -> list[float]:
    cells = np.array(texts, dtype=object)
    numbers = numbers_of(cells)
    odd = np.isnan(numbers)
    numbers[odd] = numbers_of(cells[odd], "comma")
    return numbers.tolist()


def _are_names(features: Sequence[tuple[float, NDArray[np.float64]]]) -> bool:
    """Tell whether numbers look like names, as 0, 1, 2, ..., years, or wavelengths do."""
    recurring = sum(number in below for number, below in features)
    if not features or 2 * recurring > len(features):
        return False
    ranges = [(number, below.min(), below.max()) for number, below in features]
    outside = sum(a < b and not 2 * a - b <= number <= 2 * b - a for number, a, b in ranges)
    values = np.array([number for number, _ in features])
    steps = np.diff(values)
    in_order = len(values) > 2 and bool((steps > 0).all() or (steps < 0).all())
    whole = np.array_equal(values, np.round(values))
    counts = len(values) > 1 and np.array_equal(values, range(len(values)))
    if 2 * outside > len(values) or counts:
        return True
    return in_order and (len(values) >= 6 or whole or np.allclose(steps, steps[0], rtol=1e-6))
