"""Square matrices between all samples of a data set, from files: distances or Gram matrices.

MKL data ship as a stack of Gram matrices, (n, n, M) from MATLAB and (M, n, n) from Python, beside
labels, splits and what else; or as matrices with names of their own; or as a cell of them. Files
are read and checked once a process.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench import mat_files
from mklbench.errors import InputError, hint

# The names that a stack has where a file holds several.
_USUAL = ("KH", "K")
_TEXT = (".csv", ".tsv", ".txt")
# The first line of a kernel in LIBSVM's precomputed format.
_PRECOMPUTED = re.compile(rb"[-+.\deE]+[ \t]+0:1[ \t]+1:")
# What the arrays of an .npy file are called.
_STACK, _SINGLE = "K", "matrix 0"

# A path, and the time and size of the file, which tell whether it is the one read before.
File = tuple[str, int, int]


def matrices(
    path: str, names: Sequence[str] | None = None, option: str = "kernel.files"
) -> dict[str, NDArray[Any]]:
    """Return the square matrices of one file by their names.

    Parameters
    ----------
    path : str
        A .mat, .npz or .npy file, or a .csv, .tsv or .txt of one matrix.
    names : sequence of str or None, default=None
        Variables to take, in this order. None: the one stack (n, n, M) or (M, n, n), or cell of
        matrices, of the file, or that called KH or K where it holds several; in a file without a
        stack every matrix.
    option : str, default="kernel.files"
        What the user has named the file by.

    Raises
    ------
    InputError
        The file cannot be read, or holds no such matrix or several stacks, or a matrix is not
        square.
    """
    file = f"{option}={path}"
    arrays = {name: _numbers(value) for name, value in _arrays(path, file).items()}
    found: dict[str, NDArray[Any]] = {}
    for name in _chosen(arrays, file) if names is None else names:
        if name not in arrays:
            near = hint(name, arrays, "kernel.array=")
            raise InputError(f"kernel.array={name} is no variable of {file}: {near}.")
        array = arrays[name]
        if _is_matrix(array):
            found[name] = array
        elif _is_stack(array):
            stack = enumerate(kernels_first(array))
            found |= {f"{name}, matrix {m}": matrix for m, matrix in stack}
        else:
            raise InputError(
                f"kernel.array={name} of {file} has shape {array.shape}: name a matrix of numbers "
                "(n, n), or a stack (n, n, M) or (M, n, n)."
            )
    if not found:
        raise InputError(f"{file} holds no matrix: name a file with square matrices.")
    for name, matrix in found.items():
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(
                f"{file}: {name} has shape {matrix.shape}: a matrix between samples is square."
            )
    return found


def sample_names(path: str) -> list[str] | None:
    """Return the names of the samples of a matrix in a file of text, in its order; None: none."""
    return _table(path)[1] if path.endswith(_TEXT) and not _is_libsvm(path) else None


def regular_file(option: str, name: str | Path) -> Path:
    """Return the path of a file that there is."""
    path = Path(name).expanduser()
    if not path.is_file():  # a pipe would be waited for
        raise InputError(f"{option}={name} is not a regular file: give the path of one.")
    return path


def stated(
    files: str | Sequence[str], array: str | Sequence[str] | None
) -> tuple[tuple[File, ...], tuple[str, ...] | None]:
    """Return the files and the names of the variables to take, as a cache wants them."""
    if not files:
        raise InputError("kernel.files is empty: name your files, as in kernel.files=[mine.mat].")
    given = [files] if isinstance(files, str) else files
    paths = [regular_file("kernel.files", name) for name in given]
    names = (array,) if isinstance(array, str) else None if array is None else tuple(array)
    statuses = [(str(path), path.stat()) for path in paths]
    return tuple((path, status.st_mtime_ns, status.st_size) for path, status in statuses), names


def all_of(
    files: Sequence[File], names: Sequence[str] | None
) -> tuple[dict[str, NDArray[Any]], list[list[int]]]:
    """Return the matrices in all files by their names, and the numbers of those in each file."""
    found: dict[str, NDArray[Any]] = {}
    by_file: list[list[int]] = []
    differ = len({Path(path).name for path, *_ in files}) == len(files)
    for path, *_ in files:
        file = f"{Path(path).name if differ else path}: " if len(files) > 1 else ""
        of_file = {f"{file}{name}": matrix for name, matrix in matrices(path, names).items()}
        by_file.append(list(range(len(found), len(found) + len(of_file))))
        found |= of_file
    return found, by_file


def _chosen(arrays: Mapping[str, NDArray[Any]], file: str) -> list[str]:
    """Return the name of the stack of a file, or those of its single matrices."""
    stacks = [name for name, array in arrays.items() if _is_stack(array)]
    usual = [name for name in stacks if name in _USUAL]
    candidates = usual or stacks
    if len(candidates) > 1:
        raise InputError(
            f"{file} holds several stacks of matrices, {', '.join(candidates)}: choose "
            f"kernel=grams with kernel.array={candidates[0]} to take one of them."
        )
    return candidates or [name for name, array in arrays.items() if _is_matrix(array)]


def _is_matrix(array: NDArray[Any]) -> bool:
    return array.ndim == 2 and min(array.shape) > 1


def _is_stack(array: NDArray[Any]) -> bool:
    return (
        array.ndim == 3
        and min(array.shape) > 0
        and array.shape[1] > 1
        and array.shape[1] in (array.shape[0], array.shape[2])
    )


def kernels_first(stack: NDArray[Any]) -> NDArray[Any]:
    """Return a stack of matrices (M, n, n) or (n, n, M) with its kernels first, as in a cube."""
    n, also, last = stack.shape
    return np.moveaxis(stack, -1, 0) if n == also != last else stack


def _numbers(value: Any) -> NDArray[Any]:
    """Return a variable as an array of numbers, a cell of matrices as a stack; empty for others."""
    array = np.asarray(value)
    if array.dtype == object and array.size:
        items = [np.asarray(item) for item in array.ravel()]
        alike = {(item.shape, item.dtype.kind in "biufc") for item in items}
        shape, _ = next(iter(alike))
        if len(alike) > 1 or len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
            return np.empty(0)
        array = np.stack(items)
    if array.dtype.kind in "biu":
        array = array.astype(np.float64)
    return array if array.dtype.kind in "fc" else np.empty(0)


def _arrays(path: str, file: str) -> Mapping[str, Any]:
    """Everything a file holds, by name."""
    try:
        if path.endswith(".mat"):
            return mat_files.read(Path(path).read_bytes(), file)
        if _is_libsvm(path):
            from sklearn.datasets import load_svmlight_file

            # Label, 0:number of the sample, 1:K(x, x1), ...
            return {_SINGLE: load_svmlight_file(path, zero_based=True)[0].toarray()[:, 1:]}
        if path.endswith(_TEXT):
            return {_SINGLE: _table(path)[0]}
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {_STACK if loaded.ndim == 3 else _SINGLE: loaded}
        with loaded:
            return dict(loaded)
    except InputError:
        raise
    except Exception as error:  # a damaged file makes the readers raise almost anything
        raise InputError(
            f"{file} cannot be read as a .mat, .npz, .npy, .csv or .tsv file: name another."
        ) from error


def _is_libsvm(path: str) -> bool:
    with open(path, "rb") as file:
        return _PRECOMPUTED.match(file.readline()) is not None


def _table(path: str) -> tuple[NDArray[np.float64], list[str] | None]:
    """Read a matrix as text, and the names of its samples, if it has any.

    They are above the columns, before the rows, or both. Columns in another order than the rows are
    put into it.
    """
    import pandas as pd

    text = Path(path).read_text("utf-8-sig").splitlines()
    lines = [line for line in text if line.strip() and not line.startswith("#")]
    sep, decimal = (";", ",") if ";" in lines[0] else (None, ".")
    first, below = (
        pd.read_csv(
            io.StringIO("\n".join(part)), sep=sep, engine="python", header=None, decimal=decimal
        )
        for part in (lines[:1], lines[1:])
    )
    above = list(first.iloc[0])
    are_numbers = all(dtype.kind in "biuf" for dtype in below.dtypes)
    if len(below) == below.shape[1] and are_numbers:  # without names before the rows
        named = all(isinstance(name, str) for name in above)
        return np.asarray(below, np.float64), list(map(str, above)) if named else None
    if len(above) == below.shape[1]:  # of pandas, with the corner
        corner = above.pop(0)
        if not isinstance(corner, str) and not np.isnan(corner):
            return np.vstack([first, below]).astype(np.float64), None
    samples = [str(name) for name in below.iloc[:, 0]]
    names = [str(name) for name in above]
    if len(set(names)) < len(names) or set(names) != set(samples):
        raise InputError(
            f"kernel.files={path} names other samples over its columns than before its rows: give "
            "a square matrix with the same names, each once."
        )
    return np.asarray(below.iloc[:, 1:].set_axis(names, axis=1)[samples], np.float64), samples
