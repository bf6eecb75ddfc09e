"""MATLAB files: their variables, of version 4 to 7 by SciPy and of version 7.3 by h5py.

SciPy's reader trusts the file: a type that is none, or a part that is missing, ends the process. So
the elements are gone through here first. What they hold is left to the reader.

The format: MathWorks, "MAT-File Format", chapter 1. Version 7.3 is HDF5 (`mklbench.hdf5_files`).
"""

from __future__ import annotations

import io
import math
import struct
import sys
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from mklbench import memory
from mklbench.errors import MissingExtraError, first_line
from mklbench.extras import missing
from mklbench.hdf5_files import DamagedMatError, LargeMatError, hdf5_variables, is_hdf5

__all__ = [
    "DamagedMatError",
    "LargeMatError",
    "NoMatError",
    "check",
    "in_words",
    "is_mat",
    "read",
    "room",
]

in_words = memory.in_words

_HEADER = 128
# A file of version 4 begins with a variable: its kind, its shape, whether it is complex, and the
# length of its name. Of the kind's decimal digits the first tells the order of bytes.
_HEADER_OF_4 = 20
_KINDS_OF_4 = frozenset(10 * number + matrix for number in range(6) for matrix in range(3))
_LONGEST_NAME = 64
# The larger byte of the version of the format, of files of version 7.3.
_HDF5 = 2
_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18})
# Classes of arrays by number, and the parts that one has behind flags, shape and name.
_CLASSES = range(1, 18)
_PARTS = {4: 1, 5: 3} | dict.fromkeys(range(6, 16), 1)
_COMPLEX = 0x0800
# Those that are given room by their shape: cells, structs, objects, texts and numbers.
_WITH_ITEMS = frozenset(range(1, 16)) - {5}
_DEEPEST = 50
_PIECE = 2**20
# Bytes that are read however little memory is free.
_ALWAYS = 2**24


class NoMatError(DamagedMatError):
    """What SciPy makes nothing of; the message is the reason alone."""


def room() -> int:
    """Return the bytes of arrays that there is memory to read.

    A quarter of what is free: the file, its arrays, their copies in double precision and what is
    made of these are there together.
    """
    there = memory.free()
    return sys.maxsize if there is None else max(_ALWAYS, int(there / 4))


def is_mat(content: bytes) -> bool:
    """Tell whether a file is one of MATLAB, by its first bytes.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    """
    return content.startswith(b"MATLAB ") or is_hdf5(content) or _is_of_4(content)


def _is_of_4(content: bytes) -> bool:
    if len(content) < _HEADER_OF_4:
        return False
    for order, first in (("<", 0), (">", 1000)):
        kind, n_rows, n_columns, is_complex, length = struct.unpack_from(f"{order}5i", content)
        name = content[_HEADER_OF_4 : _HEADER_OF_4 + length]
        if (
            kind - first in _KINDS_OF_4
            and min(n_rows, n_columns) >= 0
            and is_complex in (0, 1)
            and 2 <= length == len(name) <= _LONGEST_NAME
            and name[:-1].decode("latin-1").isidentifier()
            and name[-1] == 0
        ):
            return True
    return False


def read(
    content: bytes, place: str, limit: int, wanted: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return the variables of a MATLAB file of any version as `scipy.io.loadmat` gives them.

    Numbers, texts and cells (arrays of objects) have MATLAB's shapes; sparse matrices are dense
    arrays.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    place : str
        What is read, as the user calls it; for the sentence that asks for h5py.
    limit : int
        Bytes that the variables may have together.
    wanted : sequence of str or None, default=None
        Names of the variables to read; None reads all.

    Raises
    ------
    LargeMatError
        The variables have more than `limit` bytes.
    DamagedMatError
        It is no such file, or a damaged one; the message is the reason alone.
    MissingExtraError
        It is of version 7.3, and h5py is not installed.
    """
    if is_hdf5(content):
        if absent := missing("files", f"{place}, a MATLAB file of version 7.3,", only="h5py"):
            raise MissingExtraError(absent)
        return hdf5_variables(content, limit, wanted)
    if len(content) >= _HEADER and _HDF5 in content[124:126]:
        raise DamagedMatError("its header says version 7.3, and what follows is no HDF5")
    from scipy.io import loadmat

    check(content, limit)
    try:
        found = loadmat(io.BytesIO(content), variable_names=wanted)
    except Exception as error:  # a damaged file makes loadmat raise almost anything
        raise NoMatError(first_line(error)) from error
    named = {name: value for name, value in found.items() if not name.startswith("__")}
    return {name: _dense(value, limit) for name, value in named.items()}


def _dense(value: Any, limit: int) -> Any:
    """Return a sparse matrix as an array, which has all its zeros, and all else as it is."""
    if not hasattr(value, "toarray"):
        return value
    if 8 * math.prod(value.shape) > limit:
        raise LargeMatError
    return value.toarray()


def check(content: bytes, limit: int) -> None:
    """Raise an error unless SciPy can go through the variables of a file.

    Files of other versions are left to their reader.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    limit : int
        Bytes that the variables may have together.

    Raises
    ------
    LargeMatError
        The variables have more.
    DamagedMatError
        An element is damaged.
    """
    if len(content) < _HEADER or 0 in content[:4]:  # which is how version 4 is known
        return
    if _HDF5 in content[124:126]:
        return
    order = "<" if content[126:_HEADER] == b"IM" else ">"
    left = limit
    position = _HEADER
    try:
        while position < len(content):
            kind, body, position = _element(content, position, order, in_file=True)
            if kind == _COMPRESSED:
                unpacked = _inflated(body, left)
                if len(unpacked) > left:
                    raise LargeMatError
                kind, body, _ = _element(unpacked, 0, order, in_file=True)
            left -= len(body)
            if left < 0:
                raise LargeMatError
            if kind != _MATRIX:
                raise DamagedMatError(f"a variable of type {kind}")
            _check_matrix(body, order, _DEEPEST)
    except (struct.error, zlib.error) as error:
        raise DamagedMatError(str(error)) from error


def _element(
    content: bytes, position: int, order: str, in_file: bool = False
) -> tuple[int, bytes, int]:
    """Type and bytes of the element at a position, and the position behind it."""
    kind, size = struct.unpack_from(f"{order}II", content, position)
    start, packed = position + 8, kind >> 16
    if packed and not in_file:  # up to four bytes, in the place of the size
        if packed > 4:
            raise DamagedMatError(f"a small element of {packed} bytes")
        return kind & 0xFFFF, content[position + 4 : position + 4 + packed], start
    if size > len(content) - start:
        raise DamagedMatError("it ends within an element")
    filled = 0 if in_file or kind == _COMPRESSED else -size % 8
    return kind, content[start : start + size], start + size + filled


def _parts(body: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position < len(body):
        kind, part, position = _element(body, position, order)
        if kind not in _NUMBERS and kind != _MATRIX:
            raise DamagedMatError(f"a part of type {kind}")
        yield kind, part


def _check_matrix(body: bytes, order: str, depth: int) -> None:
    if not body:  # an empty cell
        return
    if depth == 0:
        raise DamagedMatError(f"cells more than {_DEEPEST} deep")
    parts = list(_parts(body, order))
    if parts[0][0] == _MATRIX or len(parts[0][1]) != 8:
        raise DamagedMatError("an array without flags")
    flags = struct.unpack(f"{order}II", parts[0][1])[0]
    if flags & 0xFF not in _CLASSES:
        raise DamagedMatError(f"an array of class {flags & 0xFF}")
    needed = _PARTS.get(flags & 0xFF)
    behind = parts[3:]
    if needed is not None:
        needed += bool(flags & _COMPLEX)
        if len(behind) != needed or any(kind == _MATRIX for kind, _ in parts):
            raise DamagedMatError(f"an array with {len(parts)} parts instead of {3 + needed}")
    if flags & 0xFF in _WITH_ITEMS:
        items = behind if needed is None else behind[0][1]
        _check_shape(parts[1:2], len(items), order)
    for kind, part in parts:
        if kind == _MATRIX:
            _check_matrix(part, order, depth - 1)


def _check_shape(parts: list[tuple[int, bytes]], n_items: int, order: str) -> None:
    """Refuse a shape of more cells, fields or bytes than there are: the reader makes room first."""
    for _, part in parts:
        shape = struct.unpack(f"{order}{len(part) // 4}i", part[: len(part) // 4 * 4])
        if min(shape, default=0) < 0 or math.prod(shape) > n_items:
            raise DamagedMatError(f"an array of shape {shape} with {n_items} items")


def _inflated(packed: bytes, limit: int) -> bytes:
    """What a zlib stream unpacks to, or a little more than `limit` bytes of it."""
    stream, data, content = zlib.decompressobj(), packed, bytearray()
    while data and not stream.eof and len(content) <= limit:
        content += stream.decompress(data, _PIECE)
        data = stream.unconsumed_tail
    return bytes(content)
