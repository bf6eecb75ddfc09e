"""Files of tables, as their cells: text, Excel and parquet by pandas, matrices by NumPy.

What the cells mean is found in `mklbench.data.own`.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mklbench.data.files import unpack
from mklbench.data.numbers import is_number
from mklbench.data.schema import FileFormat, Layout
from mklbench.errors import DataError, first_line
from mklbench.extras import missing
from mklbench.mat_files import is_mat

if TYPE_CHECKING:
    import pandas as pd

# Characters of a cell in a message.
SHOWN = 60
_ZIP = b"PK\x03\x04"
# An archive without a file: NumPy writes one where it is given no array.
_EMPTY_ZIP = b"PK\x05\x06"
# A line as svmlight has it, and what may stand before the first: comments, and samples whose
# features are all zero, which have a label alone.
_SVMLIGHT = re.compile(
    rb"\s*[-+.\deE]+(?:[ \t]+qid:\d+)?(?:[ \t]+\d+:[-+.\deE]+)+[ \t]*(?:#|\r?\n|$)"
)
_BEFORE_SVMLIGHT = re.compile(rb"(?:\s*(?:[-+.\deE]+[ \t]*)?(?:#[^\n]*)?\r?\n)*")
_ARFF = re.compile(rb"(?:\s*%[^\n]*\n|\s)*@relation\s", re.IGNORECASE)
_BEGINNING = 2**16
_DELIMITERS = (",", ";", "\t", "|", "whitespace")
# Lines that the delimiter is found from.
_SAMPLE = 50
_WIDER = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")


@dataclass(frozen=True)
class Cells:
    """A table as it stands in its file.

    Attributes
    ----------
    frame : DataFrame
        The cells, with columns 0, 1, ...; texts without blanks around them, or typed values.
    names : list of str or None
        Of the columns, where the format has names; None: the first row may be names.
    index : dict of str to Series
        Columns that the file itself calls names of rows, by their name.
    text, delimiter, skipped : str or int
        What a text file holds, from which lines are counted; else empty.
    lines : sequence of int or None
        The line of each row, where that is neither.
    """

    frame: pd.DataFrame
    names: list[str] | None = None
    index: dict[str, Any] | None = None
    text: str = ""
    delimiter: str = ""
    skipped: int = 0
    lines: Sequence[int] | None = None

    def line(self, row: int) -> str:
        """Say where a row of the frame stands in the file, as in "line 3"."""
        if self.lines is not None:
            return f"line {self.lines[row]}"
        if not self.text:
            return f"line {row + 1 + (self.names is not None)}"
        return f"line {self._lines[row]}"

    @cached_property
    def _lines(self) -> list[int]:
        rows = _rows(self.text, self.delimiter)
        return [number for number, _ in rows if number > self.skipped]


def excerpt(cell: object) -> str:
    """A cell in a message, its beginning if it is long."""
    text = str(cell)
    return repr(text) if len(text) <= SHOWN else f"{text[:SHOWN]!r}..."


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """List names in a message, the first few if they are many."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"


def read_text(content: bytes, layout: Layout, place: str) -> Cells:
    """Read delimited text, whose cells stay texts.

    Parameters
    ----------
    content : bytes
        The bytes of the file; gzip, xz and bzip2 are unpacked.
    layout : Layout
        How the text is laid out.
    place : str
        The file's name in messages.

    Raises
    ------
    DataError
        The content is not such a table; the message names the line.
    """
    import pandas as pd

    text = _decoded(content, place)
    lines = list(itertools.islice(_filled(text, layout.skip_lines), _SAMPLE))
    if not lines:
        raise DataError(f"{place} holds no rows of data.")
    delimiter = layout.delimiter
    if delimiter == "auto":
        delimiter = _delimiter(lines, place)
    widths = [len(split_line(line, delimiter)) for line in lines]
    # R writes the names of the columns without one for the names of the rows.
    is_of_r = len(widths) > 1 and widths[0] > 0 and set(widths[1:]) == {widths[0] + 1}
    skipped = layout.skip_lines + is_of_r * _number_of(text, layout.skip_lines)
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=r"\s+" if delimiter == "whitespace" else delimiter or "\1",
            header=None,
            skiprows=skipped,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            skipinitialspace=delimiter != " ",
            engine="c",
        )
    except pd.errors.EmptyDataError:
        raise DataError(f"{place} holds no rows of data.") from None
    except pd.errors.ParserError as error:
        if found := _WIDER.search(str(error)):
            expected, line, saw = found.groups()
            raise DataError(_widths(place, int(line), int(saw), int(expected))) from error
        raise DataError(f"{place} cannot be split into cells ({first_line(error)}).") from error
    if " " in text or "\t" in text:
        frame = frame.apply(lambda column: column.str.strip())
    cells = Cells(frame, None, None, text, delimiter, skipped)
    _require_widths(cells, place)
    if frame.shape[1] > 1 and (frame.iloc[:, -1] == "").all():  # behind a delimiter at each end
        cells = replace(cells, frame=frame.iloc[:, :-1])
    if not is_of_r:
        return cells
    names = [name.strip() for name in split_line(lines[0], delimiter)]
    rest = frame.iloc[:, 1:].set_axis(range(len(names)), axis=1)
    return Cells(rest, names, {"row names": frame[0]}, text, delimiter, skipped)


def read_parquet(content: bytes, layout: Layout, place: str) -> Cells:
    """Read a parquet file; an index that pandas kept is no column.

    Raises
    ------
    DataError
        It cannot be read, or pyarrow is not installed.
    """
    import pandas as pd

    if asked := missing("files", place, "pyarrow"):
        raise DataError(asked)
    try:
        frame = pd.read_parquet(io.BytesIO(content))
    except Exception as error:  # of damaged files pyarrow raises almost anything
        raise DataError(
            f"{place} is not a parquet file: it is damaged ({first_line(error)})."
        ) from error
    index = {}
    if not isinstance(frame.index, pd.RangeIndex):
        levels = [frame.index.get_level_values(k) for k in range(frame.index.nlevels)]
        index = {str(level.name or "index"): pd.Series(list(level)) for level in levels}
    return _typed(frame.reset_index(drop=True), index)


def _typed(frame: pd.DataFrame, index: dict[str, Any] | None = None) -> Cells:
    names = [str(name) for name in frame.columns]
    return Cells(frame.set_axis(range(len(names)), axis=1), names, index)


def read_matrix(matrix: Any) -> Cells:
    """Return the cells of a matrix (n, d) of numbers, without names."""
    import pandas as pd

    return Cells(pd.DataFrame(matrix))


def read_excel(content: bytes, layout: Layout, place: str) -> Cells:
    """Read a sheet of an Excel file: ``layout.sheet``, or the only one that is not empty.

    Raises
    ------
    DataError
        It cannot be read, or has several sheets of which none is chosen; openpyxl is missing.
    """
    import pandas as pd

    if asked := missing("files", place, "openpyxl"):
        raise DataError(asked)
    try:
        sheets = pd.read_excel(
            io.BytesIO(content),
            sheet_name=None,
            header=None,
            dtype=object,
            keep_default_na=False,
            engine="openpyxl",
        )
    except Exception as error:  # of damaged XML openpyxl raises almost anything
        raise DataError(
            f"{place} is not an Excel file: it is damaged ({first_line(error)})."
        ) from error
    if layout.sheet is not None and layout.sheet not in sheets:
        raise DataError(
            f"data.sheet={layout.sheet} is not a sheet of {place}: it has "
            f"{shortened(list(sheets))}."
        )
    filled = {name: _trimmed(sheet) for name, sheet in sheets.items()}
    found = [name for name, sheet in filled.items() if len(sheet)]
    if layout.sheet is not None:
        found = [layout.sheet]
    if len(found) > 1:
        raise DataError(
            f"{place} has the sheets {shortened(found)}: choose one, as in data.sheet={found[0]}."
        )
    if not found or len(filled[found[0]]) <= layout.skip_lines:
        raise DataError(f"{place} holds no rows of data.")
    frame = filled[found[0]].iloc[layout.skip_lines :]
    return Cells(frame.reset_index(drop=True), lines=[row + 1 for row in frame.index])


def read_arff(content: bytes, layout: Layout, place: str) -> Cells:
    """Read a file of Weka's (ARFF), whose columns have names.

    Raises
    ------
    DataError
        It cannot be read: SciPy reads numbers and nominal values.
    """
    import pandas as pd
    from scipy.io import arff

    try:
        rows, _ = arff.loadarff(io.StringIO(_decoded(content, place)))
    except Exception as error:  # of damaged files SciPy raises almost anything
        raise DataError(f"{place} is not an ARFF file: {first_line(error)}.") from error
    frame = pd.DataFrame(rows)
    return _typed(frame.map(lambda cell: cell.decode() if isinstance(cell, bytes) else cell))


def transposed(cells: Cells) -> Cells:
    """Return the cells of a file whose first column names the features, its first row the samples.

    The names of the samples become those of the rows.
    """
    import pandas as pd

    frame: Any = cells.frame
    if cells.names is None:
        variables, samples, inside = frame.iloc[1:, 0], frame.iloc[0, 1:], frame.iloc[1:, 1:]
    elif cells.index:
        variables, samples, inside = next(iter(cells.index.values())), cells.names, frame
    else:
        variables, samples, inside = frame[0], cells.names[1:], frame.iloc[:, 1:]
    turned = inside.T.reset_index(drop=True).set_axis(list(variables), axis=1)
    return _typed(turned, {"samples": pd.Series([str(name) for name in samples], dtype=object)})


def _trimmed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a sheet without its empty rows and columns, and texts without blanks around them."""
    frame = frame.map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    empty = frame.isna() | (frame == "")
    kept = frame.loc[~empty.all(axis=1), ~empty.all(axis=0)]
    return kept.set_axis(range(kept.shape[1]), axis=1)


def _decoded(content: bytes, place: str) -> str:
    if content.startswith(_ZIP):
        raise DataError(f"{place} is a zip archive: unpack it and name a file in it.")
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise DataError(f"{place} is an Excel file of the old kind: save it as .xlsx.")
    text = unpack(content, place)
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _unified(text.decode("utf-16", errors="replace"))
    if (position := text.find(b"\0")) >= 0:
        raise DataError(
            f"{place} is not a text file: byte {position + 1} is zero; give a text file in UTF-8."
        )
    try:
        return _unified(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(
            f"{place} is not a text file in UTF-8: byte {error.start + 1} cannot be read; save "
            "it in UTF-8."
        ) from error


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _filled(text: str, skipped: int) -> Iterator[str]:
    """Yield the lines with something in them, behind those that are skipped."""
    lines = itertools.islice(io.StringIO(text), skipped, None)
    return (line.rstrip("\r\n") for line in lines if line.strip())


def _number_of(text: str, skipped: int) -> int:
    """Return the number, behind the skipped lines, of the first with something in it."""
    lines = itertools.islice(io.StringIO(text), skipped, None)
    return next(number for number, line in enumerate(lines, 1) if line.strip())


def _delimiter(lines: Sequence[str], place: str) -> str:
    """Return what splits all lines into as many cells, most of them numbers; empty: nothing does.

    Where no delimiter gives each line as many cells, it is that of the first line, so that the
    line which has more or fewer can be named.
    """
    shares: dict[str, float] = {}
    of_r: dict[str, float] = {}  # which writes one name less than there are columns
    for delimiter in _DELIMITERS:
        rows = [split_line(line, delimiter) for line in lines]
        cells = [cell.strip() for row in rows[1:] or rows for cell in row]
        share = sum(map(is_number, cells)) / len(cells)
        widths = {len(row) for row in rows[1:] or rows}
        if len(widths) == 1 and len(rows[0]) in widths and len(rows[0]) > 1:
            shares[delimiter] = share
        elif widths == {len(rows[0]) + 1} and len(rows) > 2:
            of_r[delimiter] = share
    shares = shares or of_r
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
    # The first line may be a title.
    counts = {sign: lines[min(1, len(lines) - 1)].count(sign) for sign in _DELIMITERS[:-1]}
    most = max(counts, key=lambda sign: counts[sign])
    return most if counts[most] else ""


def split_line(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line; the line itself if nothing separates them."""
    if delimiter == "whitespace":
        return next(csv.reader([" ".join(line.split())], delimiter=" "))
    return next(csv.reader([line], delimiter=delimiter)) if delimiter else [line]


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of each row that is not empty."""
    if delimiter == "whitespace":
        lines = enumerate(io.StringIO(text), 1)
        yield from ((number, split_line(line, delimiter)) for number, line in lines if line.strip())
        return
    reader = csv.reader(io.StringIO(text), delimiter=delimiter or "\1")
    before = 0
    for cells in reader:
        if "".join(cells).strip() or len(cells) > 1:
            yield before + 1, cells
        before = reader.line_num


def _require_widths(cells: Cells, place: str) -> None:
    """Raise DataError for a line with fewer cells, which pandas fills up with empty ones."""
    width = cells.frame.shape[1]
    if width == 1 or not (cells.frame[width - 1] == "").any():
        return
    for number, row in _rows(cells.text, cells.delimiter):
        if number > cells.skipped and len(row) != width:
            raise DataError(_widths(place, number, len(row), width))


def _widths(place: str, line: int, found: int, expected: int) -> str:
    hint = ""
    if line == 2 and expected < found:
        hint = ": if the first line is a title, set data.skip_lines=1"
    return f"{place}, line {line} has {found} cells where {expected} were expected{hint}."


def detected(content: bytes) -> FileFormat:
    """Return the format of a file by its first bytes; text where they tell nothing else.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    """
    if content.startswith(_EMPTY_ZIP):
        return "npz"
    if content.startswith(_ZIP):
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
    if _ARFF.match(content):
        return "arff"
    before = _BEFORE_SVMLIGHT.match(content, 0, _BEGINNING)
    return "svmlight" if _SVMLIGHT.match(content, before.end() if before else 0) else "text"
