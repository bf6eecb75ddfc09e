"""Which arrays of a MATLAB or NumPy file are matrices between samples, and these one at a time.

MKL data ship as a stack of Gram matrices, (n, n, M) from MATLAB and (M, n, n) from Python, beside
labels, splits and what else; or as matrices with names of their own; or as a cell of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mklbench import mat_files
from mklbench.errors import InputError, hint
from mklbench.kernels.base import Array
from mklbench.kernels.storage.packed import asymmetry, symmetric

StackAxis = Literal["first", "last"]

# Files are often in single precision: an asymmetry is of rounding up to this share of the largest
# entry.
ROUNDING = 1e-6
# The names that a stack has where a file holds several.
_USUAL = ("KH", "K")
_TEXT = (".csv", ".tsv", ".txt")
# The first line of a kernel in LIBSVM's precomputed format.
_PRECOMPUTED = re.compile(rb"[-+.\deE]+[ \t]+0:1[ \t]+1:")
# What the arrays of an .npy file are called.
_STACK, _SINGLE = "K", "matrix 0"


@dataclass(frozen=True)
class _Stack:
    """The matrices of one variable: `axis` counts them, None for a single matrix."""

    name: str
    array: NDArray[Any]
    axis: int | None

    def __iter__(self) -> Iterator[tuple[str, NDArray[Any]]]:
        if self.axis is None:
            yield self.name, self.array
            return
        for m, matrix in enumerate(np.moveaxis(self.array, self.axis, 0)):
            yield f"{self.name}, matrix {m}", matrix


def matrices(
    path: str, names: Sequence[str] | None = None, axis: StackAxis | None = None
) -> dict[str, Array]:
    """Return the matrices of one file by "kernel.files=PATH: NAME", symmetric to the last digit.

    Parameters
    ----------
    path : str
        A .mat, .npz or .npy file, or a .csv, .tsv or .txt of one matrix.
    names : sequence of str or None, default=None
        Variables to take, in this order. None: the one stack (n, n, M) or (M, n, n), or cell of
        matrices, of the file, or that called KH or K where it holds several; in a file without a
        stack every matrix.
    axis : StackAxis or None, default=None
        Which axis of a stack counts the matrices. None: that which differs from the other two; of
        a cube, that whose slices are symmetric.

    Raises
    ------
    InputError
        The file cannot be read, or holds no such matrix or several stacks, or a matrix is not
        square, not finite or not symmetric.
    """
    if axis is not None and axis not in get_args(StackAxis):
        raise InputError(f"kernel.stack={axis} is not known: choose one of first, last.")
    arrays = {name: _numbers(value) for name, value in _arrays(path).items()}
    if names is None:
        chosen = _found(arrays, path, axis)
    else:
        chosen = [_named(arrays, name, path, axis) for name in names]
    found = {}
    for stack in chosen:
        for name, matrix in stack:
            called = f"kernel.files={path}: {name}"
            found[called] = _symmetric(called, matrix)
    if not found:
        raise InputError(f"kernel.files={path} holds no matrix: name a file with square matrices.")
    return found


def short_name(path: str, called: str, *, of_several: bool) -> str:
    """Return the name of a kernel: that of its variable, "KH, matrix 3", and of its file if needed.

    Parameters
    ----------
    path : str
        The file.
    called : str
        What `matrices` calls the matrix.
    of_several : bool
        Whether there are other files. Of a file whose arrays have no names it is named always.
    """
    file, own = Path(path).name, called.removeprefix(f"kernel.files={path}: ")
    if own.startswith(_SINGLE) or path.endswith(".npy"):
        return file if own == _SINGLE else f"{file}{own.removeprefix(_STACK)}"
    return f"{file}: {own}" if of_several else own


def _found(
    arrays: Mapping[str, NDArray[Any] | None], path: str, axis: StackAxis | None
) -> list[_Stack]:
    """Return the stack of a file, or its single matrices."""
    stacks = [name for name, array in arrays.items() if array is not None and _is_stack(array)]
    if not stacks:
        return [
            _Stack(name, array, None)
            for name, array in arrays.items()
            if array is not None and array.ndim == 2 and min(array.shape) > 1
        ]
    usual = [name for name in stacks if name in _USUAL]
    candidates = usual if len(stacks) > 1 and usual else stacks
    if len(candidates) > 1:
        raise InputError(
            f"kernel.files={path} holds several stacks of matrices, {', '.join(candidates)}: set "
            f"kernel.array={candidates[0]} to take one of them."
        )
    return [_named(arrays, candidates[0], path, axis)]


def _named(
    arrays: Mapping[str, NDArray[Any] | None], name: str, path: str, axis: StackAxis | None
) -> _Stack:
    if name not in arrays:
        raise InputError(
            f"kernel.array={name} is no variable of kernel.files={path}: "
            f"{hint(name, arrays, 'kernel.array=')}."
        )
    array = arrays[name]
    if array is None or not (_is_stack(array) or (array.ndim == 2 and min(array.shape) > 1)):
        what = "no numbers" if array is None else f"shape {array.shape}"
        raise InputError(
            f"kernel.array={name} of kernel.files={path} has {what}: name a matrix (n, n), or a "
            "stack (n, n, M) or (M, n, n)."
        )
    if array.ndim == 2:
        return _Stack(name, array, None)
    return _Stack(name, array, _axis(name, array, path, axis))


def _is_stack(array: NDArray[Any]) -> bool:
    return (
        array.ndim == 3
        and min(array.shape) > 0
        and array.shape[1] > 1
        and array.shape[1] in (array.shape[0], array.shape[2])
    )


def _axis(name: str, array: NDArray[Any], path: str, stated: StackAxis | None) -> int:
    """Return the axis, 0 or 2, that counts the matrices of a stack."""
    possible = {
        "first": array.shape[1] == array.shape[2],
        "last": array.shape[0] == array.shape[1],
    }
    if stated is not None:
        if not possible[stated]:
            raise InputError(
                f"kernel.stack={stated} does not fit kernel.files={path}: {name} has shape "
                f"{array.shape}; leave it out."
            )
        return 0 if stated == "first" else 2
    if all(possible.values()):
        possible = {
            "first": _are_symmetric(array),
            "last": _are_symmetric(np.moveaxis(array, 2, 0)),
        }
        if possible["first"] == possible["last"]:
            raise InputError(
                f"kernel.files={path}: {name} has shape {array.shape}, so that its matrices may "
                "be counted by the first axis or by the last: set kernel.stack=first or "
                "kernel.stack=last."
            )
    return 0 if possible["first"] else 2


def _are_symmetric(stack: NDArray[Any]) -> bool:
    return all(asymmetry(matrix) <= ROUNDING * np.abs(matrix).max() for matrix in stack)


def _symmetric(name: str, matrix: NDArray[Any]) -> Array:
    if matrix.dtype.kind == "c":
        raise InputError(f"{name} has complex numbers: give real ones.")
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name} has shape {matrix.shape}: a matrix between samples is square.")
    real = matrix.astype(np.float64)
    if not np.isfinite(real).all():
        raise InputError(f"{name} holds NaN or infinite values: remove or mend the samples.")
    real = symmetric(name, real)
    return 0.5 * (real + real.T)


def _numbers(value: Any) -> NDArray[Any] | None:
    """Return a variable as an array of numbers, a cell of matrices as a stack; None for others."""
    array = np.asarray(value)
    if array.dtype == object and array.size:
        items = [np.asarray(item) for item in array.ravel()]
        alike = {(item.shape, item.ndim, item.dtype.kind in "biufc") for item in items}
        first = items[0]
        if len(alike) > 1 or first.ndim != 2 or first.shape[0] != first.shape[1] or len(first) < 2:
            return None
        array = np.stack(items)
    return array if array.dtype.kind in "biufc" else None


def _arrays(path: str) -> Mapping[str, Any]:
    """Everything a file holds, by name."""
    try:
        if path.endswith(".mat"):
            return mat_files.read(Path(path).read_bytes(), f"kernel.files={path}")
        with open(path, "rb") as file:
            if _PRECOMPUTED.match(file.readline()):
                return {_SINGLE: _of_libsvm(path)}
        if path.endswith(_TEXT):
            return {_SINGLE: _named_matrix(path)}
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {_STACK if loaded.ndim == 3 else _SINGLE: loaded}
        with loaded:
            return dict(loaded)
    except mat_files.DamagedMatError as error:
        raise InputError(
            f"kernel.files={path} is not a MATLAB file: it is damaged ({error})."
        ) from error
    except InputError:
        raise
    except Exception as error:  # a damaged file makes the readers raise almost anything
        raise _unreadable(path) from error


def _of_libsvm(path: str) -> NDArray[np.float64]:
    """Read LIBSVM's precomputed format: label, 0:number of the sample, 1:K(x, x1), ..."""
    from sklearn.datasets import load_svmlight_file

    rows = load_svmlight_file(path, zero_based=True)[0].toarray()
    if not np.array_equal(rows[:, 0], np.arange(1, len(rows) + 1)):
        raise InputError(
            f"kernel.files={path} does not number its samples from 1 to {len(rows)}: give the "
            "kernel of the training samples with themselves."
        )
    return np.asarray(rows[:, 1:], np.float64)


def sample_names(path: str) -> list[str] | None:
    """Return the names of the samples of a matrix in a file of text, in its order; None: none."""
    if not path.endswith(_TEXT):
        return None
    frame = _frame(path)
    corner = frame.iloc[0, 0]
    is_named = isinstance(corner, str) or np.isnan(corner)
    return [str(name) for name in frame.iloc[1:, 0]] if is_named else None


def _frame(path: str) -> Any:
    import pandas as pd

    return pd.read_csv(path, sep=None, engine="python", header=None)


def _named_matrix(path: str) -> NDArray[np.float64]:
    """Read a matrix as text, whose first row and column name the samples, or have none.

    Columns in another order than the rows are put into it.
    """
    frame, samples = _frame(path), sample_names(path)
    if samples is not None:
        names = [str(name) for name in frame.iloc[0, 1:]]
        if len(set(names)) < len(names) or set(names) != set(samples):
            raise InputError(
                f"kernel.files={path} names other samples over its columns than before its rows: "
                "give a square matrix with the same names, each once."
            )
        frame = frame.iloc[1:, 1:].set_axis(names, axis=1)[samples]
    return np.asarray(frame, np.float64)


def _unreadable(path: str) -> InputError:
    return InputError(
        f"kernel.files={path} cannot be read as a .mat, .npz, .npy, .csv or .tsv file: name "
        "another."
    )
