"""Square matrices between all samples of a data set, from files: distances or Gram matrices.

A MATLAB file (`.mat`, up to version 7) or a NumPy archive (`.npz`) may hold several; every matrix
in it is taken, in the order of the file, and vectors such as labels are passed over. An `.npy` file
holds one matrix or a stack (V, N, N). What is read is checked once a process.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklbench import mat_files
from mklbench.errors import InputError
from mklbench.kernels.banks.dense import IndexedBank, pack_stack
from mklbench.kernels.banks.distances import MatrixDistances
from mklbench.kernels.banks.views import DistanceBank
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.builders.definite import check_definite, unpacked
from mklbench.kernels.builders.descriptors import VSKL_GAMMAS
from mklbench.kernels.groups import GroupLists, check_groups
from mklbench.kernels.memory import Memory, Shape
from mklbench.kernels.storage.packed import PackedGrams, asymmetry
from mklbench.kernels.transforms.composite import unit_trace

# Files are often in single precision: an asymmetry or a distance below 0 is of rounding up to this
# share of the largest entry.
_ROUNDING = 1e-6

# A path, and the time and size of the file, which tell whether it is the one read before.
_File = tuple[str, int, int]


class MatrixDescriptors:
    """Builder of a `DistanceBank` from distances in files, called with row numbers.

    Parameters
    ----------
    files : sequence of str
        Paths of the files; each matrix in them is a view, and its kernels are a group.
    gammas : sequence of float, default=VSKL_GAMMAS
        Factors in exp(-gamma D / mean D), each of them for every view.
    normalise : bool, default=True
        Whether each kernel is divided by its training trace.

    Raises
    ------
    InputError
        A file cannot be read or holds no matrix, or a matrix is not square, not finite, not
        symmetric, has entries below 0, a diagonal other than 0 or another size than the first.
    """

    takes_rows = True

    def __init__(
        self,
        files: Sequence[str],
        gammas: Sequence[float] = VSKL_GAMMAS,
        normalise: bool = True,
    ) -> None:
        self._whole = _distances(_stated(files))
        self.n_samples = self._whole.shape[1]
        self._gammas = gammas
        self._normalise = normalise

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs beside the distances that were read.

        Parameters
        ----------
        shape : Shape
            Size of the training samples, which are row numbers: only how many there are counts.
        """
        return DistanceBank.of_views(shape.n, len(self._whole), len(self._gammas))

    def __call__(self, rows: ArrayLike) -> Bank:
        """Return the bank whose training samples are `rows` (n,) of the data set."""
        bank = DistanceBank(MatrixDistances(self._whole, rows), self._gammas)
        return unit_trace(bank) if self._normalise else bank


class MatrixKernels:
    """Builder of an `IndexedBank` from Gram matrices in files, called with row numbers.

    Parameters
    ----------
    files : sequence of str
        Paths of the files.
    groups : GroupLists or None, default=None
        Lists of kernel indices, counted through all files; None: the kernels of a file are a
        group.
    normalise : bool, default=True
        Whether each kernel is divided by its training trace.

    Raises
    ------
    InputError
        As for `MatrixDescriptors`, but that a matrix must be positive semidefinite in place of
        having no entries below 0; or `groups` are no partition.
    """

    takes_rows = True

    def __init__(
        self,
        files: Sequence[str],
        groups: GroupLists | None = None,
        normalise: bool = True,
    ) -> None:
        self._whole, by_file = _grams(_stated(files))
        self.n_samples = self._whole.n_samples
        check_groups(groups, len(self._whole))
        self._groups = by_file if groups is None else groups
        self._normalise = normalise

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs beside the matrices that were read.

        Parameters
        ----------
        shape : Shape
            Size of the training samples, which are row numbers: only how many there are counts.
        """
        return IndexedBank.of_rows(shape.n, len(self._whole))

    def __call__(self, rows: ArrayLike) -> Bank:
        """Return the bank whose training samples are `rows` (n,) of the data set."""
        bank = IndexedBank(self._whole, rows, self._groups)
        return unit_trace(bank) if self._normalise else bank


def _stated(files: Sequence[str]) -> tuple[_File, ...]:
    if not files:
        raise InputError("kernel.files is empty: name your files, as in kernel.files=[mine.mat].")
    stated = []
    for name in files:
        path = Path(name).expanduser()
        if not path.is_file():
            raise InputError(f"kernel.files={name} does not exist: give the path of a file.")
        status = path.stat()
        stated.append((str(path), status.st_mtime_ns, status.st_size))
    return tuple(stated)


@lru_cache(maxsize=2)
def _distances(files: tuple[_File, ...]) -> Array:
    """The distances (V, N, N) in all files."""
    matrices = _same_size([named for path, *_ in files for named in _matrices(path).items()])
    for name, matrix in matrices.items():
        if matrix.min() < -_ROUNDING * matrix.max():
            raise InputError(f"{name} has the distance {matrix.min():g}: none may be below 0.")
        if np.abs(matrix.diagonal()).max() > _ROUNDING * matrix.max():
            raise InputError(
                f"{name} has the distance {np.abs(matrix.diagonal()).max():g} between a sample and "
                f"itself: for Gram matrices choose kernel=grams."
            )
    whole = np.maximum(np.array(list(matrices.values())), 0.0)
    whole.setflags(write=False)
    return whole


@lru_cache(maxsize=2)
def _grams(files: tuple[_File, ...]) -> tuple[PackedGrams, list[list[int]]]:
    """The Gram matrices in all files, and the indices of those in each file."""
    found = [_matrices(path) for path, *_ in files]
    matrices = _same_size([named for of_file in found for named in of_file.items()])
    packed = pack_stack(np.array(list(matrices.values())))
    check_definite(unpacked(packed), list(matrices))
    ends = np.cumsum([len(of_file) for of_file in found])
    return packed, [part.tolist() for part in np.split(np.arange(ends[-1]), ends[:-1])]


def _same_size(named: Sequence[tuple[str, Array]]) -> dict[str, Array]:
    first, matrix = named[0]
    for name, other in named:
        if other.shape != matrix.shape:
            raise InputError(
                f"{name} is on {len(other)} samples and {first} on {len(matrix)}: all matrices "
                f"must be on the same."
            )
    return dict(named)


def _matrices(path: str) -> dict[str, Array]:
    """The matrices of one file by "kernel.files=PATH: NAME", symmetric to the last digit."""
    found = {}
    for name, value in _arrays(path).items():
        array = np.asarray(value)
        if array.dtype.kind == "c" and array.ndim == 2 and min(array.shape) > 1:
            raise InputError(f"kernel.files={path}: {name} has complex numbers: give real ones.")
        if array.dtype.kind in "biuf" and array.ndim == 2 and min(array.shape) > 1:
            called = f"kernel.files={path}: {name}"
            found[called] = _symmetric(called, array.astype(np.float64))
    if not found:
        raise InputError(f"kernel.files={path} holds no matrix: name a file with square matrices.")
    return found


def _symmetric(name: str, matrix: Array) -> Array:
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name} has shape {matrix.shape}: a matrix between samples is square.")
    if not np.isfinite(matrix).all():
        raise InputError(f"{name} holds NaN or infinite values: remove or mend the samples.")
    if asymmetry(matrix) > _ROUNDING * np.abs(matrix).max():
        raise InputError(f"{name} is not symmetric: a matrix between samples must be.")
    return 0.5 * (matrix + matrix.T)


def _arrays(path: str) -> Mapping[str, Any]:
    """Everything a file holds, by name."""
    try:
        if path.endswith(".mat"):
            from scipy.io import loadmat

            content = Path(path).read_bytes()
            mat_files.check(content, sys.maxsize)  # SciPy trusts the structure of a file
            variables = loadmat(io.BytesIO(content))
            return {name: value for name, value in variables.items() if not name.startswith("__")}
        loaded = np.load(path, allow_pickle=False)
        if not isinstance(loaded, np.ndarray):
            return dict(loaded)
        stack = loaded[None] if loaded.ndim == 2 else loaded
        return {f"matrix {i}": matrix for i, matrix in enumerate(stack)}
    except mat_files.DamagedMatError as error:
        raise InputError(
            f"kernel.files={path} is not a MATLAB file of version 7 or before: it is damaged "
            f"({error})."
        ) from error
    except NotImplementedError as error:  # as loadmat calls HDF5
        raise InputError(
            f"kernel.files={path} is a MATLAB file of version 7.3: save it with -v7."
        ) from error
    except Exception as error:  # a damaged file makes the readers raise almost anything
        raise InputError(
            f"kernel.files={path} cannot be read as a .mat, .npz or .npy file: name another."
        ) from error
