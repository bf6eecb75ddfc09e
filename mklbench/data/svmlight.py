"""Files of lines ``label index:value ...``, as svmlight and LIBSVM have them, read in blocks.

A first pass counts rows and finds the largest index, a second one reads the numbers of a block into
their place: beside the text and the inputs there is no more in memory than a block.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data.faults import TooLargeError
from mklbench.data.limits import beyond, megabytes, most_bytes
from mklbench.data.schema import Layout
from mklbench.data.table import Table
from mklbench.data.unpacking import unpack
from mklbench.errors import DataError, first_line

# Bytes of a number in memory, and of the shortest with its space in the text.
_NUMBER, _SHORTEST = 8, 2
# Bytes of text that are read at a time, to the end of a line.
_BLOCK = 2**20
_COMMENT = re.compile(rb"#[^\n]*")
# Digits of an index that is larger than anything has, and may be too long to be read.
_LARGE = 18

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)


def parse_svmlight(contents: Sequence[bytes], layout: Layout, place: str) -> Table:
    """Parse files of lines ``label index:value ...``, with indices from 1, as LIBSVM has them.

    With ``layout.zero_based`` the indices begin at 0.

    Parameters
    ----------
    contents : sequence of bytes
        The bytes of each file; gzip, xz and bzip2 are unpacked. The number of features is
        the largest index in any of them.
    layout : Layout
        Says where indices begin and what the files may take.
    place : str
        Where the files are, in messages.

    Raises
    ------
    DataError
        A file is not of that form, or ends where a line cannot end. Where the last line can be
        read but has no newline, which may be so of a file that was cut, a warning is logged.
    """
    limit = most_bytes(layout)
    texts = [unpack(content, place, limit) for content in contents]
    sizes = [_size(block) for text in texts for block in _blocks(text)]
    n_rows = sum(rows for rows, _ in sizes)
    n_features = max((last for _, last in sizes), default=0) + layout.zero_based
    # A single index can ask for any number of columns. Text of this size makes as many at most.
    n_bytes = n_rows * n_features * _NUMBER
    if n_bytes > _NUMBER // _SHORTEST * limit:
        raise TooLargeError(
            f"{place} has rows of {n_features} features, {megabytes(n_bytes)} of numbers "
            f"and so more than {beyond(limit)}."
        )
    X, labels, start = np.empty((n_rows, max(n_features, 1))), np.empty(n_rows), 0
    for text in texts:
        start = _read(text, X, labels, start, layout.zero_based, place)
    if not n_rows or not n_features:
        raise DataError(f"{place} has no row with a label and an input: give one a line.")
    different, places = np.unique(labels, return_inverse=True)
    names = np.array([f"{label:.17g}" for label in different], dtype=object)  # each once
    return Table(
        X=X,
        labels=tuple(names[places].tolist()),
        feature_names=tuple(f"x{i + 1}" for i in range(n_features)),
    )


def _blocks(text: bytes) -> Iterator[bytes]:
    """Yield whole lines, so many bytes at a time."""
    start = 0
    while start < len(text):
        stop = text.find(b"\n", start + _BLOCK) + 1 or len(text)
        yield text[start:stop]
        start = stop


def _size(block: bytes) -> tuple[int, int]:
    """Return how many rows a block has, and its largest index."""
    without = _COMMENT.sub(b"", block) if b"#" in block else block
    rows = last = 0
    for line in without.split(b"\n"):
        colon = line.rfind(b":")
        # Indices ascend along a line, so that the last is the largest; if not, it is refused later.
        index = line[max(line.rfind(b" ", 0, colon), line.rfind(b"\t", 0, colon)) + 1 : colon]
        if colon >= 0 and index.isdigit():
            rows += 1
            last = max(last, int(index) if len(index) < _LARGE else 10**_LARGE)
        else:
            rows += bool(line.strip())
    return rows, last


def _read(text: bytes, X: Array, labels: Array, start: int, zero_based: bool, place: str) -> int:
    """Write the rows of a file into `X` and `labels` from `start` on; return where they end."""
    read = 0
    for block in _blocks(text):
        read += len(block)
        try:
            rows, own = _parsed(block, X.shape[1], zero_based)
        except (ValueError, OverflowError, MemoryError) as error:
            if read == len(text) and _ends_early(text, block, X.shape[1], zero_based):
                line = text.count(b"\n") + 1
                raise DataError(
                    f"{place} ends early, in the middle of line {line}: get the whole file again."
                ) from error
            raise DataError(f"{place} is not in svmlight's format: {first_line(error)}.") from error
        if not np.isfinite(rows.data).all() or not np.isfinite(own).all():
            raise DataError(f"{place} holds NaN or infinite values: remove or impute them.")
        stop = start + len(own)
        rows.toarray(out=X[start:stop])
        labels[start:stop] = own
        start = stop
    if text and not text.endswith(b"\n"):
        _warn_of_a_cut(place)
    return start


@lru_cache
def _warn_of_a_cut(place: str) -> None:
    """Log it once a process: some commands read a file more than once."""
    logger.warning(
        "%s does not end its last line: if the file was cut there, numbers are missing, and it "
        "has to be got again; if it is whole, add a newline.",
        place,
    )


def _parsed(block: bytes, n_features: int, zero_based: bool) -> tuple[Any, Array]:
    """Return the inputs, a sparse matrix (k, d), and labels (k,) of a block."""
    from sklearn.datasets import load_svmlight_file

    rows, labels = load_svmlight_file(
        io.BytesIO(block), n_features=n_features, zero_based=zero_based
    )
    return rows, labels


def _ends_early(text: bytes, block: bytes, n_features: int, zero_based: bool) -> bool:
    """Tell whether the last line has no end, and all others of the last block can be read."""
    whole, _, last = block.rpartition(b"\n")
    if not last.strip() or last == text:
        return False
    try:
        if whole:
            _parsed(whole, n_features, zero_based)
    except (ValueError, OverflowError, MemoryError):
        return False
    return True
