"""Square matrices between all samples of a data set, from files: distances or Gram matrices.

MKL data ship as a stack of Gram matrices, (n, n, M) from MATLAB and (M, n, n) from Python, beside
labels, splits and what else; or as matrices with names of their own; or as a cell of them. Files
are read and checked once a process.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench import mat_files
from mklbench.errors import InputError, hint
from mklbench.kernels.banks.precomputed import pack_grams
from mklbench.kernels.banks.views import DistanceBank, MatrixView
from mklbench.kernels.banks.wrapped import unit_trace
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.builders.derived import VSKL_GAMMAS
from mklbench.kernels.builders.grams import Precomputed, kernel_axes
from mklbench.kernels.contract import Memory, Shape
from mklbench.kernels.gram_matrices import (
    ASYMMETRY,
    MakePSD,
    PackedTriangles,
    check_definite,
    matrices_of,
    symmetric,
)
from mklbench.kernels.groups import GroupLists
from mklbench.kernels.samples import row_numbers
from mklbench.validation import check_finite

# The names that a stack has where a file holds several.
_USUAL = ("KH", "K")
_TEXT = (".csv", ".tsv", ".txt")
# The first line of a kernel in LIBSVM's precomputed format.
_PRECOMPUTED = re.compile(rb"[-+.\deE]+[ \t]+0:1[ \t]+1:")
# What the arrays of an .npy file are called.
_STACK, _SINGLE = "K", "matrix 0"

# A path, and the time and size of the file, which tell whether it is the one read before.
_File = tuple[str, int, int]


class MatrixDescriptors:
    """Builder of a `DistanceBank` from distances in files, called with row numbers.

    Parameters
    ----------
    files : str or sequence of str
        Path of the file, or of several; each matrix in them is a view, and its kernels are a group.
    gammas : sequence of float, default=VSKL_GAMMAS
        Factors in exp(-gamma D / mean D), each of them for every view.
    normalise : bool, default=True
        Whether each kernel is divided by its training trace.
    array : str, sequence of str or None, default=None
        Names of the variables to take from each file; None: the stack of the file, or every matrix
        (`matrices`).

    Raises
    ------
    InputError
        A file cannot be read or holds no matrix, or a matrix is not square, not finite, not
        symmetric, has entries below 0, a diagonal other than 0 or another size than the first.
    """

    takes_rows = True
    new_options = ("array",)

    def __init__(
        self,
        files: str | Sequence[str],
        gammas: Sequence[float] = VSKL_GAMMAS,
        normalise: bool = True,
        array: str | Sequence[str] | None = None,
    ) -> None:
        self._whole, self._names = _distances(*_stated(files, array))
        self.n_samples = self._whole.shape[1]
        self.rows_of = partial(row_numbers, n=self.n_samples)
        self._gammas = gammas
        self._normalise = normalise

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs beside the distances that were read.

        Parameters
        ----------
        shape : Shape
            Size of the training samples, which are row numbers: only how many there are counts.
        """
        return DistanceBank.needs(shape.n, len(self._whole) * len(self._gammas))

    def __call__(self, rows: ArrayLike) -> Bank:
        """Return the bank whose training samples are `rows` (n,) of the data set."""
        views = [MatrixView(*each) for each in zip(self._names, self._whole, strict=True)]
        bank = DistanceBank(rows, views, self._gammas)
        return unit_trace(bank) if self._normalise else bank


class MatrixKernels(Precomputed):
    """Builder of an `IndexedBank` from Gram matrices in files, called with row numbers.

    Parameters
    ----------
    files : str or sequence of str
        Path of the file, or of several.
    groups : GroupLists or None, default=None
        Lists of kernel indices, counted through all files; None: the kernels of a file are a
        group.
    normalise : bool, default=True
        Whether each kernel is divided by its training trace.
    array : str, sequence of str or None, default=None
        Names of the variables to take from each file; None: the stack of the file, or every matrix
        (`matrices`).
    make_psd : {"clip", "shift", "flip"} or None, default=None
        How indefinite matrices are made positive semidefinite, each as a whole
        (`mklbench.kernels.gram_matrices`); None refuses them.

    Raises
    ------
    InputError
        As for `MatrixDescriptors`, but that a matrix must be positive semidefinite in place of
        having no entries below 0; or `groups` are no partition.
    """

    new_options = ("array", "make_psd")

    def __init__(
        self,
        files: str | Sequence[str],
        groups: GroupLists | None = None,
        normalise: bool = True,
        array: str | Sequence[str] | None = None,
        make_psd: MakePSD | None = None,
    ) -> None:
        whole, by_file, names = _grams(*_stated(files, array), make_psd)
        self._keep(whole, by_file if groups is None else groups, names)
        self._normalise = normalise

    def __call__(self, rows: ArrayLike) -> Bank:
        """Return the bank whose training samples are `rows` (n,) of the data set."""
        bank = super().__call__(rows)
        return unit_trace(bank) if self._normalise else bank


def matrices(path: str, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Return the matrices of one file by their names, symmetric to the last digit.

    Parameters
    ----------
    path : str
        A .mat, .npz or .npy file, or a .csv, .tsv or .txt of one matrix.
    names : sequence of str or None, default=None
        Variables to take, in this order. None: the one stack (n, n, M) or (M, n, n), or cell of
        matrices, of the file, or that called KH or K where it holds several; in a file without a
        stack every matrix.

    Raises
    ------
    InputError
        The file cannot be read, or holds no such matrix or several stacks, or a matrix is not
        square, not finite or not symmetric.
    """
    arrays = {name: _numbers(value) for name, value in _arrays(path).items()}
    found: dict[str, Array] = {}
    for name in _chosen(arrays, path) if names is None else names:
        array = _named(arrays, name, path)
        if array.ndim == 2:
            found[name] = array
            continue
        stack = np.moveaxis(array, _axis(name, array, path), 0)
        found |= {f"{name}, matrix {m}": matrix for m, matrix in enumerate(stack)}
    if not found:
        raise InputError(f"kernel.files={path} holds no matrix: name a file with square matrices.")
    return {name: _symmetric(f"kernel.files={path}: {name}", found[name]) for name in found}


def sample_names(path: str) -> list[str] | None:
    """Return the names of the samples of a matrix in a file of text, in its order; None: none."""
    return _table(path)[1] if path.endswith(_TEXT) and not _is_libsvm(path) else None


def _stated(
    files: str | Sequence[str], array: str | Sequence[str] | None
) -> tuple[tuple[_File, ...], tuple[str, ...] | None]:
    """Return the files and the names of the variables to take, as a cache wants them."""
    if not files:
        raise InputError("kernel.files is empty: name your files, as in kernel.files=[mine.mat].")
    stated = []
    for name in [files] if isinstance(files, str) else files:
        path = Path(name).expanduser()
        if not path.is_file():
            raise InputError(f"kernel.files={name} does not exist: give the path of a file.")
        status = path.stat()
        stated.append((str(path), status.st_mtime_ns, status.st_size))
    names = (array,) if isinstance(array, str) else None if array is None else tuple(array)
    return tuple(stated), names


@lru_cache(maxsize=2)
def _distances(files: tuple[_File, ...], names: tuple[str, ...] | None) -> tuple[Array, list[str]]:
    """The distances (V, N, N) in all files, and their names (V,)."""
    called, short, found, _ = _all_of(files, names)
    for name, matrix in zip(called, found, strict=True):
        if matrix.min() < -ASYMMETRY * matrix.max():
            raise InputError(f"{name} has the distance {matrix.min():g}: none may be below 0.")
        if np.abs(matrix.diagonal()).max() > ASYMMETRY * matrix.max():
            raise InputError(
                f"{name} has the distance {np.abs(matrix.diagonal()).max():g} between a sample and "
                f"itself: for Gram matrices choose kernel=grams."
            )
    whole = np.maximum(np.array(found), 0.0)
    whole.setflags(write=False)
    return whole, short


@lru_cache(maxsize=2)
def _grams(
    files: tuple[_File, ...],
    names: tuple[str, ...] | None,
    make_psd: MakePSD | None,
) -> tuple[PackedTriangles, list[list[int]], list[str]]:
    """The Gram matrices in all files, the indices of those in each file, and their names."""
    called, short, found, by_file = _all_of(files, names)
    n, n_grams = len(found[0]), len(found)
    # Each matrix is let go when it is packed.
    packed, _ = pack_grams(n, (found.pop(0) for _ in range(n_grams)), n_grams, make_psd)
    if make_psd is None:
        check_definite(matrices_of(packed), called, "or set kernel.make_psd to clip, shift or flip")
    return packed, by_file, short


def _all_of(
    files: tuple[_File, ...], names: tuple[str, ...] | None
) -> tuple[list[str], list[str], list[Array], list[list[int]]]:
    """Return what messages and what weights call the matrices of all files, these, and by file."""
    called: list[str] = []
    short: list[str] = []
    found: list[Array] = []
    by_file: list[list[int]] = []
    for path, *_ in files:
        of_file = matrices(path, names)
        by_file.append(list(range(len(found), len(found) + len(of_file))))
        called += [f"kernel.files={path}: {name}" for name in of_file]
        file = f"{Path(path).name}: " if len(files) > 1 else ""
        short += [f"{file}{name}" for name in of_file]
        found += of_file.values()
    for name, matrix in zip(called, found, strict=True):
        if matrix.shape != found[0].shape:
            raise InputError(
                f"{name} is on {len(matrix)} samples and {called[0]} on {len(found[0])}: all "
                f"matrices must be on the same."
            )
    return called, short, found, by_file


def _chosen(arrays: Mapping[str, NDArray[Any] | None], path: str) -> list[str]:
    """Return the name of the stack of a file, or those of its single matrices."""
    stacks = [name for name, array in arrays.items() if array is not None and _is_stack(array)]
    usual = [name for name in stacks if name in _USUAL]
    candidates = usual or stacks
    if len(candidates) > 1:
        raise InputError(
            f"kernel.files={path} holds several stacks of matrices, {', '.join(candidates)}: set "
            f"kernel.array={candidates[0]} to take one of them."
        )
    return candidates or [
        n for n, array in arrays.items() if array is not None and _is_matrix(array)
    ]


def _named(arrays: Mapping[str, NDArray[Any] | None], name: str, path: str) -> NDArray[Any]:
    if name not in arrays:
        raise InputError(
            f"kernel.array={name} is no variable of kernel.files={path}: "
            f"{hint(name, arrays, 'kernel.array=')}."
        )
    array = arrays[name]
    if array is None or not (_is_stack(array) or _is_matrix(array)):
        what = "no numbers" if array is None else f"shape {array.shape}"
        raise InputError(
            f"kernel.array={name} of kernel.files={path} has {what}: name a matrix (n, n), or a "
            "stack (n, n, M) or (M, n, n)."
        )
    return array


def _is_matrix(array: NDArray[Any]) -> bool:
    return array.ndim == 2 and min(array.shape) > 1


def _is_stack(array: NDArray[Any]) -> bool:
    return (
        array.ndim == 3
        and min(array.shape) > 0
        and array.shape[1] > 1
        and array.shape[1] in (array.shape[0], array.shape[2])
    )


def _axis(name: str, array: NDArray[Any], path: str) -> int:
    """Return the axis, 0 or 2, that counts the matrices of a stack."""
    first, last = array.shape[1] == array.shape[2], array.shape[0] == array.shape[1]
    axes = kernel_axes(array, first=first, last=last)
    if len(axes) > 1:
        raise InputError(
            f"kernel.files={path}: {name} has shape {array.shape}, so that its matrices may be "
            "counted by the first axis or by the last: save each under a name of its own."
        )
    return axes[0]


def _symmetric(name: str, matrix: NDArray[Any]) -> Array:
    if matrix.dtype.kind == "c":
        raise InputError(f"{name} has complex numbers: give real ones.")
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name} has shape {matrix.shape}: a matrix between samples is square.")
    real = matrix.astype(np.float64)
    check_finite(name, real)
    real = symmetric(name, real)
    return 0.5 * (real + real.T)


def _numbers(value: Any) -> NDArray[Any] | None:
    """Return a variable as an array of numbers, a cell of matrices as a stack; None for others."""
    array = np.asarray(value)
    if array.dtype == object and array.size:
        items = [np.asarray(item) for item in array.ravel()]
        alike = {(item.shape, item.dtype.kind in "biufc") for item in items}
        shape, _ = next(iter(alike))
        if len(alike) > 1 or len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
            return None
        array = np.stack(items)
    if array.dtype.kind in "biu":
        array = array.astype(np.float64)
    return array if array.dtype.kind in "fc" else None


def _arrays(path: str) -> Mapping[str, Any]:
    """Everything a file holds, by name."""
    try:
        if path.endswith(".mat"):
            return mat_files.read(Path(path).read_bytes(), f"kernel.files={path}")
        if _is_libsvm(path):
            return {_SINGLE: _of_libsvm(path)}
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
            f"kernel.files={path} cannot be read as a .mat, .npz, .npy, .csv or .tsv file: name "
            "another."
        ) from error


def _is_libsvm(path: str) -> bool:
    with open(path, "rb") as file:
        return _PRECOMPUTED.match(file.readline()) is not None


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
