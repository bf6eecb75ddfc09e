"""Gram matrices: packed as lower triangles, centred, held to be symmetric and definite.

A pass over a stack of Gram matrices is bound by memory, so half the numbers take half the time. The
packed K is the vector of K_ij, j <= i, row by row, which is what LAPACK calls packed storage of
the upper triangle (of the transpose, by columns): its routines for packed matrices work on it.

With H = I - 1 1'/n the centred matrix is H K H (Cortes et al. 2012). The spectrum of an indefinite
matrix is clipped at 0, shifted or flipped, and what belongs to new samples is transformed alike
(Chen et al. 2009, Similarity-based classification, JMLR 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, eigh, eigvalsh, lapack

from mklbench.errors import InputError, warn
from mklbench.kernels.contract import Array
from mklbench.validation import kernel_called

# Numbers of a sum that stay in the processor's cache while the terms stream past.
_CHUNK = 2**15
# Numbers that are read in the time of a call.
_CALL = 2**13
# Rows written at once: a block and its mirror image fit into the cache.
BLOCK = 64

# Of a matrix that is taken for symmetric, as a share of its largest entry: of rounding in single
# precision, which is taken out with a warning, and of rounding that needs none.
ASYMMETRY, _SILENT = 1e-6, 1e-10


class PackedTriangles:
    """A growing list of symmetric matrices (n, n), n (n + 1) / 2 numbers each.

    Parameters
    ----------
    n_samples : int
        n.
    triangles : ndarray of shape (M, n (n + 1) / 2)
        The matrices to begin with, packed.
    """

    def __init__(self, n_samples: int, triangles: Array) -> None:
        self.n_samples, self._buffer, self._size = n_samples, triangles, len(triangles)

    @classmethod
    def of(cls, n_samples: int, grams: Iterable[Array], capacity: int = 1) -> PackedTriangles:
        """Return the triangles of `grams`, of which one at a time need exist, with room for more.

        Parameters
        ----------
        n_samples : int
            n.
        grams : iterable of ndarray
            The matrices (n, n).
        capacity : int, default=1
            How many there are to be.
        """
        packed = cls(n_samples, np.empty((capacity, triangle_size(n_samples))))
        packed._size = 0
        for gram in grams:
            packed.append(gram)
        return packed

    @property
    def triangles(self) -> Array:
        """The triangles (M, n (n + 1) / 2)."""
        return self._buffer[: self._size]

    def __len__(self) -> int:
        return self._size

    def append(self, gram: Array) -> None:
        """Add the lower triangle of `gram`; the room doubles when it is used up."""
        if self._size == len(self._buffer):
            larger = np.empty((max(1, 2 * self._size), self._buffer.shape[1]))
            larger[: self._size] = self._buffer
            self._buffer = larger
        self._buffer[self._size] = pack(gram)
        self._size += 1

    def replace(self, kernel: int, gram: Array) -> None:
        """Put the lower triangle of `gram` in the place of matrix `kernel`."""
        self._buffer[kernel] = pack(gram)

    def truncate(self, count: int) -> None:
        """Keep the first `count` matrices at most; the room stays."""
        self._size = min(self._size, count)

    def combination(self, weights: Array) -> Array:
        """Return the triangle of sum_m weights_m K_m."""
        triangles = self.triangles
        if triangles.size <= _CHUNK or weights.all():
            return weights @ triangles
        active = np.flatnonzero(weights)
        total = np.zeros(triangles.shape[1])
        for start in range(0, len(total), _CHUNK):
            part = total[start : start + _CHUNK]
            for m in active:
                blas.daxpy(triangles[m, start : start + _CHUNK], part, a=weights[m])
        return total

    def quadratic_forms(self, a: Array) -> Array:
        """Return a' K_m a (M,) for `a` (n,); of the triangles the rows with a_i != 0 are read."""
        zeros = np.zeros(triangle_size(self.n_samples))
        products = blas.dspr(self.n_samples, 2.0, a, zeros, overwrite_ap=1)
        products[diagonal(self.n_samples)] *= 0.5
        forms = np.zeros(len(self))
        for start, stop in _stretches(np.flatnonzero(a), _CALL // max(1, len(self))):
            forms += self.triangles[:, start:stop] @ products[start:stop]
        return forms

    def products(self, a: Array, kernels: NDArray[np.intp]) -> Array:
        """Return the rows K_m a (k, n) for the indices `kernels` (k,)."""
        rows = np.empty((len(kernels), self.n_samples))
        for row, m in zip(rows, kernels, strict=True):
            row[...] = blas.dspmv(self.n_samples, 1.0, self._buffer[m], a)
        return rows

    def diagonals(self) -> Array:
        """Return the diagonals (M, n)."""
        return self.triangles[:, diagonal(self.n_samples)]

    def inner_products_with(self, K: Array) -> Array:
        """Return <K_m, K>_F (M,) for a symmetric matrix `K` (n, n)."""
        return self.triangles @ doubled(K)

    def inner_products(self) -> Array:
        """Return <K_m, K_l>_F (M, M)."""
        diagonals = self.diagonals()
        return 2.0 * (self.triangles @ self.triangles.T) - diagonals @ diagonals.T

    def centred(self) -> PackedTriangles:
        """Return the matrices H K_m H, H = I - 1 1'/n, as a list of their own."""
        return PackedTriangles.of(self.n_samples, map(centre, matrices_of(self)), len(self))

    def take(self, rows: NDArray[np.intp]) -> PackedTriangles:
        """Return the same matrices on the samples `rows` only."""
        chosen = np.arange(self.n_samples)[rows]
        i, j = np.tril_indices(len(chosen))
        triangles = self.triangles.take(_position(chosen[i], chosen[j]), axis=1)
        return PackedTriangles(len(chosen), triangles)

    def blocks(
        self, kernels: NDArray[np.intp], rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> Iterator[Array]:
        """Yield some matrices between the samples `rows` and `columns` (indices)."""
        position = _position(rows[:, None], columns)
        for m in kernels:
            yield self._buffer[m, position]

    def keep(self, kernels: NDArray[np.intp]) -> PackedTriangles:
        """Return a list of the matrices `kernels` (indices) only."""
        return PackedTriangles(self.n_samples, self.triangles[kernels])


def triangle_size(n: int) -> int:
    """Return n (n + 1) / 2, the numbers in one triangle."""
    return n * (n + 1) // 2


def pack(gram: Array) -> Array:
    """Return the triangle of a matrix (n, n); what is above its diagonal is not read."""
    triangle, _ = lapack.dtrttp(gram.T, uplo="U")
    return triangle


def doubled(gram: Array) -> Array:
    """Return the triangle of a symmetric matrix (n, n) with what is off its diagonal twice.

    Its inner product with the triangle of another one is that of the matrices.
    """
    triangle = 2.0 * pack(gram)
    triangle[diagonal(len(gram))] *= 0.5
    return triangle


def unpack(triangle: Array, out: Array) -> None:
    """Write the symmetric matrix of `triangle` into `out` (n, n)."""
    lower = lapack.dtpttr(len(out), triangle, uplo="U")[0].T
    for start in range(0, len(out), BLOCK):
        stop = start + BLOCK
        write_rows(lower[start:stop, :stop], start, out)


def matrices_of(packed: PackedTriangles) -> Iterator[Array]:
    """Yield the matrices of a list of triangles, one at a time in the same array."""
    matrix = np.empty((packed.n_samples, packed.n_samples))
    for triangle in packed.triangles:
        unpack(triangle, matrix)
        yield matrix


def write_rows(rows: Array, start: int, out: Array) -> None:
    """Write rows of a symmetric matrix, up to their diagonal block, and their mirror image.

    Parameters
    ----------
    rows : ndarray of shape (b, start + b)
        The rows from `start` on. What is above the diagonal is overwritten, so that the matrix is
        symmetric to the last digit.
    out : ndarray of shape (n, n)
        Where they are written.
    """
    stop, corner = start + len(rows), rows[:, start:]
    np.copyto(corner, corner.T, where=~np.tri(len(rows), dtype=bool))
    out[start:stop, :stop] = rows
    out[:start, start:stop] = rows[:, :start].T


def symmetric(name: str, gram: Array) -> Array:
    """Return a matrix (n, n), made symmetric with a warning where rounding left it less.

    Raises
    ------
    InputError
        If it is farther from that than 1e-6 of its largest entry.
    """
    largest, difference = float(np.abs(gram).max()), float(np.abs(gram - gram.T).max())
    if difference <= _SILENT * largest:
        return gram
    apart = (
        f"{name} is not symmetric, its entries (i, j) and (j, i) differ by up to {difference:.3g}"
    )
    if difference > ASYMMETRY * largest:
        raise InputError(
            f"{apart} where its largest is {largest:.3g}: a Gram matrix must be, mend it or give "
            "0.5 * (K + K.T)."
        )
    warn(f"{apart}: 0.5 * (K + K.T) is taken in its place.")
    return 0.5 * (gram + gram.T)


@lru_cache(maxsize=8)
def diagonal(n: int) -> NDArray[np.intp]:
    """Return where the diagonal stands in a triangle."""
    rows = np.arange(n)
    return rows * (rows + 3) // 2


def _stretches(rows: NDArray[np.intp], gap: int) -> list[tuple[int, int]]:
    """Return where ascending rows stand in a triangle, those `gap` numbers apart as one."""
    starts = rows * (rows + 1) // 2
    stops = starts + rows + 1
    apart = starts[1:] - stops[:-1] > gap
    first, last = np.append(True, apart), np.append(apart, True)
    return list(zip(starts[first[: len(rows)]], stops[last[: len(rows)]], strict=True))


def _position(rows: Any, columns: Any) -> NDArray[np.intp]:
    """Return where the entries (rows, columns) stand in a triangle."""
    high, low = np.maximum(rows, columns), np.minimum(rows, columns)
    return high * (high + 1) // 2 + low


def centre(K: Array) -> Array:
    """Return H K H (n, n) for a symmetric `K` (n, n), symmetric to the last digit."""
    means = K.mean(axis=0)
    return K - (means + means[:, None] - means.mean())


MakePSD = Literal["clip", "shift", "flip"]

# An eigenvalue down to minus this share of the trace is of rounding, also in single precision.
_ROUNDING = 1e-7


def check_definite(
    grams: Iterable[Array],
    names: Sequence[str] | None = None,
    remedy: str = 'or set make_psd to "clip", "shift" or "flip"',
) -> None:
    """Raise an InputError unless each matrix is positive semidefinite, up to rounding.

    Parameters
    ----------
    grams : iterable of ndarray
        Symmetric matrices (n, n).
    names : sequence of str or None, default=None
        What they are called in the message; "kernel 0 of K" and so on if not given.
    remedy : str
        What the message says can be done.
    """
    for m, gram in enumerate(grams):
        if not is_definite(gram):
            eigenvalues = eigvalsh(gram)
            name = kernel_called(m) if names is None else names[m]
            raise InputError(
                f"{name} is not positive semidefinite, its smallest eigenvalue is "
                f"{eigenvalues[0]:.3g} and its largest {eigenvalues[-1]:.3g}: a Gram matrix must "
                f"be, mend it {remedy}."
            )


def made_definite(gram: Array, how: MakePSD) -> tuple[Array, Array | None]:
    """Return a positive semidefinite matrix in the place of a symmetric one, and what maps others.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        A symmetric matrix V diag(l) V' between training samples.
    how : {"clip", "shift", "flip"}
        "clip" makes 0 of negative eigenvalues l, "flip" |l|, and "shift" subtracts the smallest
        from all.

    Returns
    -------
    ndarray of shape (n, n)
        The matrix; `gram` itself if it is positive semidefinite up to rounding.
    ndarray of shape (n, n) or None
        P, so that Z P are the kernel values of new samples in the place of Z (n_new, n); None where
        they stay.
    """
    if is_definite(gram):
        return gram, None
    eigenvalues, vectors = eigh(gram)
    if how == "shift":
        return gram - eigenvalues[0] * np.eye(len(gram)), None
    mapping = (vectors * (eigenvalues > 0 if how == "clip" else np.sign(eigenvalues))) @ vectors.T
    mended = gram @ mapping
    return 0.5 * (mended + mended.T), mapping


def is_definite(gram: Array) -> bool:
    """Tell whether a symmetric matrix (n, n) is positive semidefinite, up to rounding.

    It takes one Cholesky factorisation, with the rounding added to the diagonal.
    """
    size = float(np.trace(gram)) or float(np.abs(gram).max()) or 1.0
    shifted = gram.copy()
    shifted.flat[:: len(gram) + 1] += _ROUNDING * abs(size)
    # The transpose is in the order of LAPACK, which then needs no copy of its own.
    return not lapack.dpotrf(shifted.T, lower=0, clean=0, overwrite_a=1)[1]
