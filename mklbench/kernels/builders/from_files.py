"""Square matrices between all samples of a data set, from files: distances or Gram matrices.

A MATLAB file (`.mat`) or a NumPy archive (`.npz`) may hold several, as a stack or one by one; which
are taken says `mklbench.kernels.builders.matrix_files`. An `.npy` file holds one matrix or a stack.
What is read is checked once a process.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.dense import IndexedBank, pack_grams
from mklbench.kernels.banks.distances import MatrixDistances
from mklbench.kernels.banks.views import DistanceBank
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.builders.descriptors import VSKL_GAMMAS
from mklbench.kernels.builders.matrix_files import ROUNDING, StackAxis, matrices, short_name
from mklbench.kernels.definite import MakePSD, check_definite
from mklbench.kernels.groups import GroupLists, check_groups
from mklbench.kernels.memory import Memory, Shape
from mklbench.kernels.samples import RowNumbers
from mklbench.kernels.storage.packed import PackedGrams, matrices_of
from mklbench.kernels.transforms.composite import unit_trace

# A path, and the time and size of the file, which tell whether it is the one read before.
_File = tuple[str, int, int]
# The files, the names of the variables to take, and the axis that counts matrices.
_Stated = tuple[tuple[_File, ...], tuple[str, ...] | None, StackAxis | None]


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
        (`mklbench.kernels.builders.matrix_files.matrices`).
    stack : {"first", "last"} or None, default=None
        Which axis of a stack counts its matrices; None: what its shape or symmetry tells.

    Raises
    ------
    InputError
        A file cannot be read or holds no matrix, or a matrix is not square, not finite, not
        symmetric, has entries below 0, a diagonal other than 0 or another size than the first.
    """

    takes_rows = True
    new_options = ("array", "stack")

    def __init__(
        self,
        files: str | Sequence[str],
        gammas: Sequence[float] = VSKL_GAMMAS,
        normalise: bool = True,
        array: str | Sequence[str] | None = None,
        stack: StackAxis | None = None,
    ) -> None:
        self._whole, self._names = _distances(*_stated(files, array, stack))
        self.n_samples = self._whole.shape[1]
        self.rows_of = RowNumbers(self.n_samples)
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
        bank = DistanceBank(MatrixDistances(self._whole, rows, self._names), self._gammas)
        return unit_trace(bank) if self._normalise else bank


class MatrixKernels:
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
        (`mklbench.kernels.builders.matrix_files.matrices`).
    stack : {"first", "last"} or None, default=None
        Which axis of a stack counts its matrices; None: what its shape or symmetry tells.
    make_psd : {"clip", "shift", "flip"} or None, default=None
        How indefinite matrices are made positive semidefinite, each as a whole
        (`mklbench.kernels.definite`); None refuses them.

    Raises
    ------
    InputError
        As for `MatrixDescriptors`, but that a matrix must be positive semidefinite in place of
        having no entries below 0; or `groups` are no partition.
    """

    takes_rows = True
    new_options = ("array", "stack", "make_psd")

    def __init__(
        self,
        files: str | Sequence[str],
        groups: GroupLists | None = None,
        normalise: bool = True,
        array: str | Sequence[str] | None = None,
        stack: StackAxis | None = None,
        make_psd: MakePSD | None = None,
    ) -> None:
        self._whole, by_file, self._names = _grams(*_stated(files, array, stack), make_psd)
        self.n_samples = self._whole.n_samples
        self.rows_of = RowNumbers(self.n_samples)
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
        bank = IndexedBank(self._whole, rows, self._groups, self._names)
        return unit_trace(bank) if self._normalise else bank


def _stated(
    files: str | Sequence[str], array: str | Sequence[str] | None, stack: StackAxis | None
) -> _Stated:
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
    return tuple(stated), names, stack


@lru_cache(maxsize=2)
def _distances(
    files: tuple[_File, ...], names: tuple[str, ...] | None, axis: StackAxis | None
) -> tuple[Array, tuple[str, ...]]:
    """The distances (V, N, N) in all files, and their names (V,)."""
    by_file = [matrices(path, names, axis) for path, *_ in files]
    found = _same_size(by_file)
    for name, matrix in found.items():
        if matrix.min() < -ROUNDING * matrix.max():
            raise InputError(f"{name} has the distance {matrix.min():g}: none may be below 0.")
        if np.abs(matrix.diagonal()).max() > ROUNDING * matrix.max():
            raise InputError(
                f"{name} has the distance {np.abs(matrix.diagonal()).max():g} between a sample and "
                f"itself: for Gram matrices choose kernel=grams."
            )
    whole = np.maximum(np.array(list(found.values())), 0.0)
    whole.setflags(write=False)
    return whole, _names(files, by_file)


@lru_cache(maxsize=2)
def _grams(
    files: tuple[_File, ...],
    names: tuple[str, ...] | None,
    axis: StackAxis | None,
    make_psd: MakePSD | None,
) -> tuple[PackedGrams, list[list[int]], tuple[str, ...]]:
    """The Gram matrices in all files, the indices of those in each file, and their names."""
    by_file = [matrices(path, names, axis) for path, *_ in files]
    ends = np.cumsum([len(of_file) for of_file in by_file])
    found, short = _same_size(by_file), _names(files, by_file)
    by_file.clear()
    called = list(found)
    n = len(found[called[0]])
    packed = pack_grams(n, (found.pop(name) for name in called), len(called), make_psd)
    if make_psd is None:
        check_definite(matrices_of(packed), called, "or set kernel.make_psd to clip, shift or flip")
    return packed, [part.tolist() for part in np.split(np.arange(ends[-1]), ends[:-1])], short


def _names(files: Sequence[_File], by_file: Sequence[dict[str, Array]]) -> tuple[str, ...]:
    """Return what the matrices of all files are called, the files told where there are several."""
    return tuple(
        short_name(path, called, of_several=len(files) > 1)
        for (path, *_), of_file in zip(files, by_file, strict=True)
        for called in of_file
    )


def _same_size(by_file: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """The matrices of all files, which are on as many samples."""
    found = {name: matrix for of_file in by_file for name, matrix in of_file.items()}
    first = next(iter(found))
    for name, other in found.items():
        if other.shape != found[first].shape:
            raise InputError(
                f"{name} is on {len(other)} samples and {first} on {len(found[first])}: all "
                f"matrices must be on the same."
            )
    return found
