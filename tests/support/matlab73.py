"""MATLAB files of version 7.3, written as MATLAB writes them: by columns, in HDF5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from scipy import sparse

_HEADER = (
    b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Sat Nov  1 10:00:00 2025 HDF5 schema"
)
_USER_BLOCK = 512


def save73(path: Path, variables: dict[str, Any]) -> None:
    """Write variables: arrays, texts, lists (as cells, 1 x k), sparse matrices, dicts (structs)."""
    with h5py.File(path, "w", userblock_size=_USER_BLOCK) as file:
        references = file.create_group("#refs#")
        for name, value in variables.items():
            _write(file, references, name, value)
    with open(path, "r+b") as stream:
        stream.write((_HEADER + b" 1.00 .").ljust(124) + b"\x00\x02IM")


def _write(group: Any, references: Any, name: str, value: Any) -> None:
    if isinstance(value, dict):
        node = group.create_group(name)
        node.attrs["MATLAB_class"] = np.bytes_(b"struct")
        for field, item in value.items():
            _write(node, references, field, item)
    elif sparse.issparse(value):
        columns = sparse.csc_matrix(value)
        node = group.create_group(name)
        node.attrs["MATLAB_class"] = np.bytes_(b"double")
        node.attrs["MATLAB_sparse"] = np.uint64(columns.shape[0])
        for field, item in (("data", columns.data), ("ir", columns.indices)):
            node[field] = item
        node["jc"] = columns.indptr.astype(np.uint64)
    elif isinstance(value, list):
        kept = []
        for item in value:
            inner = f"r{len(references)}"
            _write(references, references, inner, item)
            kept.append(references[inner].ref)
        cells = np.array(kept, dtype=h5py.ref_dtype).reshape(-1, 1)  # a cell 1 x k, by columns
        group.create_dataset(name, data=cells, dtype=h5py.ref_dtype)
        group[name].attrs["MATLAB_class"] = np.bytes_(b"cell")
    elif isinstance(value, str):
        group[name] = np.array([[ord(letter)] for letter in value], dtype=np.uint16)
        group[name].attrs["MATLAB_class"] = np.bytes_(b"char")
    else:
        array = np.atleast_2d(np.asarray(value))
        kind = "logical" if array.dtype == bool else {"f": "double"}.get(array.dtype.kind, "int64")
        stored = array.astype(np.uint8) if array.dtype == bool else array
        if not array.size:
            group[name] = np.array(array.shape, dtype=np.uint64)
            group[name].attrs["MATLAB_empty"] = np.uint8(1)
        else:  # packed in pieces, as MATLAB does
            group.create_dataset(name, data=stored.T, chunks=True, compression="gzip")
        group[name].attrs["MATLAB_class"] = np.bytes_(kind.encode())
