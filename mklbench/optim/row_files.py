"""Samples in a memory-mapped file, as other machines that see the file can have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.validation import mapped_file


@dataclass(frozen=True)
class InFile:
    """Rows (k, d) of a matrix that is a part of a file, of which slices are read when asked for.

    Attributes
    ----------
    path : str
        The file.
    offset : int
        Where its bytes begin there.
    shape : tuple of int
        k and d.
    dtype : str
        Of the numbers, with the order of bytes.
    """

    path: str
    offset: int
    shape: tuple[int, int]
    dtype: str

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """Return some rows.

        Raises
        ------
        OSError
            If the file is not there, or ends early.
        """
        try:
            opened = np.memmap(self.path, np.dtype(self.dtype), "r", self.offset, self.shape)
        except ValueError as error:  # by its name, as a map beyond the end is no fault of a file
            raise OSError(f"{self.path} ends early") from error
        return np.asarray(opened[rows])


def sent(X: NDArray[Any], rows: slice) -> NDArray[Any] | InFile:
    """Return rows of samples as they are to be sent to another machine.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The samples.
    rows : slice
        Which of them.

    Returns
    -------
    ndarray or InFile
        The rows themselves, or where they are in a file if `X` is memory-mapped in C order.
    """
    own = X[rows]
    whole = mapped_file(own)
    if whole is None or whole.filename is None or not own.flags.c_contiguous or not own.size:
        return np.ascontiguousarray(own)
    begins = own.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return InFile(str(whole.filename), whole.offset + begins, own.shape, own.dtype.str)
