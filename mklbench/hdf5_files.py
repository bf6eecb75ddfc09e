"""MATLAB files of version 7.3, which are HDF5: their variables as `scipy.io.loadmat` gives them.

MATLAB writes an array by columns, so that HDF5 shows its axes in reverse: an array (n, n, M) is a
data set (M, n, n) there, and is turned back here. A cell is a data set of references, a struct a
group, a sparse matrix a group with the attribute MATLAB_sparse.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import first_line

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
# Where HDF5 looks for its signature; MATLAB's own header takes the bytes before the second place.
_PLACES = (0, 512, 1024, 2048)
_DEEPEST = 50


class DamagedMatError(ValueError):
    """The structure of the file is not sound; the message is the reason alone."""


class LargeMatError(ValueError):
    """The variables of the file unpack to too much."""


def is_hdf5(content: bytes) -> bool:
    """Tell whether a file is HDF5, as a MATLAB file of version 7.3 is."""
    return any(content.startswith(_SIGNATURE, place) for place in _PLACES)


def hdf5_variables(
    content: bytes, limit: int, wanted: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return the variables of a file by name.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    limit : int
        Bytes that the variables may have together.
    wanted : sequence of str or None, default=None
        Names of the variables to read; None reads all.

    Raises
    ------
    LargeMatError
        The variables have more bytes.
    DamagedMatError
        It cannot be read.
    """
    import h5py

    try:
        with h5py.File(io.BytesIO(content), "r") as file:
            reader = _Reader(file, limit)
            names = [name for name in file if not name.startswith("#")]
            return {
                name: reader.value(file[name], _DEEPEST)
                for name in names
                if (wanted is None or name in wanted) and reader.is_inside(file, name)
            }
    except (LargeMatError, DamagedMatError):
        raise
    except Exception as error:  # a damaged file makes HDF5 raise almost anything
        raise DamagedMatError(first_line(error)) from error


class _Reader:
    """Reads the nodes of one file, within a number of bytes for all of them."""

    def __init__(self, file: Any, limit: int) -> None:
        self._file, self._left = file, limit

    @staticmethod
    def is_inside(group: Any, name: str) -> bool:
        """Tell whether a node stands in this file: a link may lead to any other on the disk."""
        import h5py

        return isinstance(group.get(name, getlink=True), h5py.HardLink)

    def value(self, node: Any, depth: int) -> Any:
        """Return what a node holds, with MATLAB's shape."""
        if depth == 0:
            raise DamagedMatError(f"cells more than {_DEEPEST} deep")
        if "MATLAB_sparse" in node.attrs:
            return self._sparse(node)
        if not hasattr(node, "dtype"):
            return self._struct(node, depth)
        if "MATLAB_empty" in node.attrs:
            return np.empty(tuple(int(size) for size in self._numbers(node).ravel()))
        kind = node.attrs.get("MATLAB_class", b"")
        if node.dtype.kind == "O":
            return self._cell(node, depth)
        array = self._numbers(node).T
        if kind == b"char":
            rows = np.atleast_2d(array).astype(np.uint32)
            return np.array(["".join(map(chr, row)) for row in rows])
        if kind == b"logical":
            return array.astype(bool)
        if array.dtype.names == ("real", "imag"):
            return array["real"] + 1j * array["imag"]
        return array

    def _cell(self, node: Any, depth: int) -> NDArray[Any]:
        references = self._numbers(node)
        items = np.empty(references.shape, dtype=object)
        for place, reference in np.ndenumerate(references):
            items[place] = self.value(self._file[reference], depth - 1) if reference else None
        return items.T

    def _struct(self, node: Any, depth: int) -> NDArray[Any]:
        """Return a struct as loadmat does: an array (1, 1) with a field for each member."""
        names = [name for name in node if self.is_inside(node, name)]
        record = np.empty((1, 1), dtype=[(name, object) for name in names])
        for name in names:
            record[name][0, 0] = self.value(node[name], depth - 1)
        return record

    def _sparse(self, node: Any) -> NDArray[np.float64]:
        """Return a sparse matrix, kept by columns, as an array."""
        from scipy.sparse import csc_array

        if "data" not in node:
            columns = self._numbers(node["jc"])
            return self._room((int(node.attrs["MATLAB_sparse"]), len(columns) - 1))
        values, rows, starts = (self._numbers(node[name]) for name in ("data", "ir", "jc"))
        shape = (int(node.attrs["MATLAB_sparse"]), len(starts) - 1)
        whole = self._room(shape)
        whole[...] = csc_array((values, rows, starts), shape=shape).toarray()
        return whole

    def _room(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        self._take(8 * math.prod(shape))
        return np.zeros(shape)

    def _numbers(self, node: Any) -> NDArray[Any]:
        if node.external or node.is_virtual:
            raise DamagedMatError("its numbers are in another file")
        self._take(math.prod(node.shape) * node.dtype.itemsize)
        array: NDArray[Any] = node[()]
        return array

    def _take(self, n_bytes: int) -> None:
        self._left -= n_bytes
        if self._left < 0:
            raise LargeMatError
