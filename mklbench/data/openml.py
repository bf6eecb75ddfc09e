"""Data sets of OpenML by their number, through scikit-learn; what comes is kept as lines of JSON.

The first line is a mapping: id, name, version, the target (null unless there is exactly one) and
the columns. Each other line is the list of a row's values. Numbers are written so that they come
back to the last bit, and a missing value is null.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import socket
import warnings
from collections.abc import Iterator
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError

from mklbench.data.files import AbsentError, DamagedError, UnreadableError, inflate
from mklbench.data.own import Table, table_of
from mklbench.data.schema import Layout
from mklbench.data.tables import read_values, shortened
from mklbench.errors import DataError, first_line

logger = logging.getLogger(__name__)


def fetch(location: str, timeout: float) -> bytes:
    """Download a data set and return it as lines of JSON.

    Parameters
    ----------
    location : str
        Its page, which ends in its number.
    timeout : float
        Seconds that a server may be silent.

    Raises
    ------
    AbsentError, UnreadableError
        The message is a reason in a few words.
    """
    from sklearn.datasets import fetch_openml

    number = int(location.rsplit("/", 1)[-1])
    try:
        # Without a cache of its own scikit-learn downloads the table twice.
        with (
            TemporaryDirectory() as directory,
            _patient(timeout),
            warnings.catch_warnings(record=True) as said,
        ):
            warnings.simplefilter("always")
            found = fetch_openml(data_id=number, as_frame=True, data_home=directory, n_retries=1)
    except HTTPError as error:
        if error.code in (404, 412):
            raise AbsentError(f"OpenML has no data set {number}") from error
        raise UnreadableError(f"OpenML answers {error.code} {error.reason}") from error
    except OSError as error:  # no network, or a server that is silent
        reason = getattr(error, "reason", None) or error
        raise UnreadableError(f"OpenML cannot be reached: {reason}") from error
    except ValueError as error:
        if "not found" in str(error):
            raise AbsentError(f"OpenML has no data set {number}") from error
        if "Sparse" in str(error):
            raise UnreadableError("it is sparse, and only dense sets are read") from error
        raise UnreadableError(f"OpenML sends what cannot be read: {first_line(error)}") from error
    for warning in said:
        if re.match(r"Version|OpenML", str(warning.message)):
            logger.warning("data.id=%d: %s", number, first_line(warning.message))
    return _as_lines(number, found)


@contextlib.contextmanager
def _patient(seconds: float) -> Iterator[None]:
    """Let connections that state no limit, as scikit-learn's, wait so long for each next byte."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _as_lines(number: int, found: Any) -> bytes:
    targets = list(found.target_names)
    head = {
        "id": number,
        "name": found.details.get("name"),
        "version": found.details.get("version"),
        "target": targets[0] if len(targets) == 1 else None,
        "columns": [str(name) for name in found.frame.columns],
    }
    values = found.frame.astype(object).where(found.frame.notna(), None)
    rows = values.itertuples(index=False, name=None)
    return "".join(f"{json.dumps(line, default=_plain)}\n" for line in (head, *rows)).encode()


def _plain(value: Any) -> Any:
    """Return a number of NumPy as Python's; of anything else its text."""
    return value.item() if hasattr(value, "item") else str(value)


def parse_openml(content: bytes, layout: Layout, place: str) -> Table:
    """Parse the lines of JSON of a data set; the label "target" is what OpenML calls so.

    Parameters
    ----------
    content : bytes
        As `fetch` returns it.
    layout : Layout
        What the columns are.
    place : str
        The set's name in messages.

    Raises
    ------
    DamagedError
        It is not of that form.
    DataError
        The set has no target, and no label is named; or as `table_of`.
    """
    lines = inflate(content).splitlines()
    try:
        head, *rows = map(json.loads, lines)
        columns, target = head["columns"], head["target"]
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"not a kept data set of OpenML: {first_line(error)}") from error
    label = layout.label
    if label == "target" and "target" not in columns:
        if target is None:
            raise DataError(
                f"{place} has no single target: set data.label to the column of the classes; it "
                f"has {shortened(columns)}."
            )
        label = target
    stated = replace(layout, label=label)
    return table_of(read_values(columns, rows), stated, place)
