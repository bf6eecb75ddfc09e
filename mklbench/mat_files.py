"""MATLAB files: their variables, of version 5 to 7 by SciPy and of version 7.3 by h5py.

MATLAB writes an array by columns, so that HDF5, which version 7.3 is, shows its axes in reverse: an
array (n, n, M) is a data set (M, n, n) there, and is turned back here. A cell is a data set of
references, a struct a group, a sparse matrix a group with the attribute MATLAB_sparse.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from mklbench.errors import MissingExtraError, first_line, missing

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
# Where HDF5 looks for its signature; MATLAB's own header takes the bytes before the second place.
_PLACES = (0, 512, 1024, 2048)


class DamagedMatError(ValueError):
    """The structure of the file is not sound; the message is the reason alone."""


def is_mat(content: bytes) -> bool:
    """Tell whether a file is one of MATLAB, by its first bytes.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    """
    return content.startswith(b"MATLAB ") or _is_hdf5(content)


def _is_hdf5(content: bytes) -> bool:
    return any(content.startswith(_SIGNATURE, place) for place in _PLACES)


def read(content: bytes, place: str) -> dict[str, Any]:
    """Return the variables of a MATLAB file of any version as `scipy.io.loadmat` gives them.

    Numbers, texts and cells (arrays of objects) have MATLAB's shapes; sparse matrices are dense
    arrays.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    place : str
        What is read, as the user calls it; for the sentence that asks for h5py.

    Raises
    ------
    DamagedMatError
        It is no such file, or a damaged one; the message is the reason alone.
    MissingExtraError
        It is of version 7.3, and h5py is not installed.
    """
    is_hdf5 = _is_hdf5(content)
    asked = f"{place}, a MATLAB file of version 7.3,"
    if is_hdf5 and (absent := missing("files", asked, only="h5py")):
        raise MissingExtraError(absent)
    try:
        if is_hdf5:
            import h5py

            with h5py.File(io.BytesIO(content), "r") as file:
                names = [name for name in file if not name.startswith("#")]
                return {name: _value(file[name], file) for name in names}
        from scipy.io import loadmat

        found = loadmat(io.BytesIO(content))
    except Exception as error:  # a damaged file makes the readers raise almost anything
        raise DamagedMatError(first_line(error)) from error
    named = {name: value for name, value in found.items() if not name.startswith("__")}
    return {name: v.toarray() if hasattr(v, "toarray") else v for name, v in named.items()}


def _value(node: Any, file: Any) -> Any:
    """Return what a node of HDF5 holds, with MATLAB's shape."""
    if "MATLAB_sparse" in node.attrs:
        from scipy.sparse import csc_array

        starts = node["jc"][()]
        shape = int(node.attrs["MATLAB_sparse"]), len(starts) - 1
        if "data" not in node:
            return np.zeros(shape)
        return csc_array((node["data"][()], node["ir"][()], starts), shape=shape).toarray()
    if not hasattr(node, "dtype"):  # a struct
        record = np.empty((1, 1), dtype=[(name, object) for name in node])
        for name in node:
            record[name][0, 0] = _value(node[name], file)
        return record
    if "MATLAB_empty" in node.attrs:
        return np.empty(tuple(int(size) for size in node[()].ravel()))
    array = node[()].T
    if node.dtype.kind == "O":
        items = np.empty(array.shape, dtype=object)
        for place, reference in np.ndenumerate(array):
            items[place] = _value(file[reference], file) if reference else None
        return items
    kind = node.attrs.get("MATLAB_class", b"")
    if kind == b"char":
        rows = np.atleast_2d(array).astype(np.uint32)
        return np.array(["".join(map(chr, row)) for row in rows])
    return array.astype(bool) if kind == b"logical" else array
