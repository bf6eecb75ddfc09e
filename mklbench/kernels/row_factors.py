"""Kernels as factors that are made in blocks of rows, for more samples than Gram matrices allow.

Kernels that share a basis are a part: with B (n, r) its rows at the training samples and a core
S_m (r, r) each,

    K_m = B S_m B',    K_m a = B S_m t,    a' K_m a = t' S_m t    with  t = B' a.

A row of B needs its sample only, so that no more than a block of rows has to be there at a time.
A function of such a kernel is b(z)' S_m v for some coefficients v (r,), and of the length v' S_m v.

A kernel on one feature interpolates between nodes c, k_m(x, z) = b(x)' k_m(c, c) b(z) to rounding,
where c are the Chebyshev points of the feature's interval or, where there are few, its values. In
such a basis a function b(z)' S_m v is also the expansion f_m(z) = sum_c k_m(z, c) v_c, which holds
for any z, inside the interval or not, and needs r nodes in place of n samples.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from mklbench.errors import InputError
from mklbench.kernels.contract import CrossKernels, Indices, weighted_sum
from mklbench.kernels.functions import Gaussian, KernelFunction, Linear, Polynomial, matrices
from mklbench.validation import check_features, column_called

Array = NDArray[np.float64]


# Samples from which on factors take the place of Gram matrices, where there is a choice.
MANY = 4000
# Rows that are made at once; a block of a few hundred columns then stays in a processor's cache.
ROWS = 2048
# Samples from which the directions are found in which kernels vary.
_SAMPLED = 4000
# Nodes count as samples in so many times the share of a kernel that may be left out.
_BETWEEN = 10.0
# Of factors finer than this each value of a feature with few counts as a whole sample: one that is
# too rare to be among the samples looked at may have a large alpha.
_ROUGH = 1e-5
# The rank of factors of a feature which leave a share of 1e-5 out: of one function, what each one
# more adds to it as a share, and of very many.
_REDUCED, _MORE, _MOST_REDUCED = 16, 0.3, 60
# Directions of a core below this share of its largest are rounding.
_RANK_TOLERANCE = 1e-13


# The columns of an interval with less than this share of the samples are sparse.
_SPARSE = 0.1


@dataclass(frozen=True, eq=False)
class Piece:
    """Maps samples in one interval of a feature, or anywhere, to rows b(x).

    Attributes
    ----------
    nodes : ndarray of shape (q, p)
        Points c of the p features.
    on_nodes : callable
        Returns the rows (n, q) at samples (n, p) with f(x) = b(x)' f(c).
    directions : ndarray of shape (q, r) or None, default=None
        What these are multiplied by; None for the identity.
    """

    nodes: Array
    on_nodes: Callable[[Array], Array]
    directions: Array | None = None

    @property
    def rank(self) -> int:
        """The number r of columns."""
        return len(self.nodes) if self.directions is None else self.directions.shape[1]

    def __call__(self, X: Array) -> Array:
        """Return the rows (n, r) at samples (n, p)."""
        rows = self.on_nodes(X)
        return rows if self.directions is None else rows @ self.directions


@dataclass(frozen=True, eq=False)
class Basis:
    """Maps samples to rows of B: those of each interval of a feature have columns of their own.

    Kernels that are narrow beside the range of their feature have several intervals.

    Attributes
    ----------
    pieces : tuple of Piece
        That of each interval.
    edges : sequence of float, default=()
        Where one interval ends and the next begins, ascending.
    of_values : bool, default=False
        Whether a row has a 1 for its sample's value and else zeros.
    """

    pieces: tuple[Piece, ...]
    edges: Sequence[float] = ()
    of_values: bool = False

    @cached_property
    def columns(self) -> list[slice]:
        """The columns of each piece."""
        ends = np.cumsum([0, *(piece.rank for piece in self.pieces)])
        return [slice(a, b) for a, b in pairwise(ends.tolist())]

    @property
    def rank(self) -> int:
        """The number r of columns."""
        return int(self.columns[-1].stop)

    @property
    def nodes(self) -> Array:
        """The points (q, p) of all pieces."""
        return np.concatenate([piece.nodes for piece in self.pieces])

    def __call__(self, X: Array) -> Array:
        """Return the rows (n, r) at samples (n, p)."""
        if len(self.pieces) == 1:
            return self.pieces[0](X)
        rows = np.zeros((len(X), self.rank))
        for piece, own, columns in self._each(X):
            rows[own, columns] = piece(X[own])
        return rows

    def both(self, X: Array, a: Array, x: Array) -> tuple[Array, Array]:
        """Return B'a (r,) and B x (n, k) for B at samples (n, p), vectors (n,) and (r, k)."""
        projected, outputs = np.empty(self.rank), np.empty((len(X), x.shape[1]))
        for piece, own, columns in self._each(X):
            B = piece(X[own])
            projected[columns], outputs[own] = B.T @ a[own], B @ x[columns]
        return projected, outputs

    def moments(self, X: Array) -> tuple[list[Array], int]:
        """Return B'B of each piece at some of the samples (n, p), and for how many these stand."""
        found, count = [], len(_some(X))
        for piece, own, _ in self._each(X):
            rows = piece(_some(X[own]))
            share = len(X[own]) * count / (max(1, len(rows)) * len(X))
            found.append(rows.T @ rows * share)
        return found, count

    def sparse(self, X: Array) -> NDArray[np.bool_]:
        """Return which columns (r,) are zero for most of the samples (n, p)."""
        few = [len(X[own]) < _SPARSE * len(X) for _, own, _ in self._each(X)]
        return np.repeat(few, [piece.rank for piece in self.pieces])

    def _each(self, X: Array) -> Iterator[tuple[Piece, Indices | slice, slice]]:
        """Return each piece with its samples and its columns."""
        parted: list[Indices | slice] = [slice(None)]
        if len(self.pieces) > 1:
            which = np.searchsorted(self.edges, X[:, 0], side="right")
            order = np.argsort(which, kind="stable")
            starts = np.searchsorted(which[order], np.arange(1, len(self.pieces)))
            parted = list(np.split(order, starts))
        return zip(self.pieces, parted, self.columns, strict=True)


def _some(X: Array) -> Array:
    """Return samples that are looked at in the place of all (n, p)."""
    return X[:: max(1, len(X) // _SAMPLED)]


@dataclass(frozen=True, eq=False)
class Nodes:
    """Points that a part predicts with: f(z) = sum_m d_m s_m sum_j k_m(z, z_j) v_j.

    Attributes
    ----------
    functions : sequence of KernelFunction
        The k functions k_m of the part.
    points : ndarray of shape (q, p)
        The points z_j, one for each column of the part's basis before any reduction.
    columns : slice
        The p features that the functions look at.
    scales : ndarray of shape (k,) or float, default=1.0
        Factors s_m.
    """

    functions: Sequence[KernelFunction]
    points: Array
    columns: slice
    scales: Array | float = 1.0

    def cross(self, weights: Array, X: Array) -> Array:
        """Return sum_m d_m s_m k_m (n, q) between samples (n, d) and the points."""
        d = self.scales * weights
        active = np.flatnonzero(d)
        functions = [self.functions[k] for k in active.tolist()]
        blocks = matrices(functions, X[:, self.columns], self.points)
        return weighted_sum(d[active], blocks, (len(X), len(self.points)))


class NodeKernels(CrossKernels):
    """The kernels between new samples and the nodes of all parts, one part after the other.

    Parameters
    ----------
    parts : sequence of Part
        Every kernel is in one of them.
    n_features : int
        How many features a sample has.
    matrix_of : callable or None, default=None
        Makes a matrix (n_z, d) of new samples that come otherwise.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        n_features: int,
        matrix_of: Callable[[Any], Array] | None = None,
    ) -> None:
        self._nodes = [(part.nodes, part.kernels) for part in parts]
        self._n_features, self._matrix_of = n_features, matrix_of
        self.n_samples = sum(len(nodes.points) for nodes, _ in self._nodes)
        self.n_kernels = sum(len(kernels) for _, kernels in self._nodes)

    def cross(self, weights: ArrayLike, Z: Any) -> Array:
        d = self._check_weights(weights)
        matrix = Z if self._matrix_of is None else self._matrix_of(Z)
        samples = check_features("Z", matrix, self._n_features)
        return np.hstack([nodes.cross(d[kernels], samples) for nodes, kernels in self._nodes])


@dataclass(frozen=True, eq=False)
class Part:
    """Kernels that share a basis.

    Attributes
    ----------
    basis : Basis
        Of rank r, of the features that the nodes are on.
    cores : ndarray of shape (k, r, r)
        S_m of each kernel.
    kernels : ndarray of int of shape (k,)
        Their indices in the bank.
    nodes : Nodes
        What the part predicts with.
    lift : ndarray of shape (q, r) or None, default=None
        Of a part that has been reduced: a function with the coefficients v there has the
        coefficients `lift` v in the basis of rank q before.
    """

    basis: Basis
    cores: Array
    kernels: Indices
    nodes: Nodes
    lift: Array | None = None

    @classmethod
    def of(
        cls,
        basis: Basis,
        functions: Sequence[KernelFunction],
        kernels: Sequence[int],
        columns: slice,
    ) -> Part:
        """Return the part of kernel functions, which are the `kernels`, on some columns."""
        nodes = Nodes(functions, basis.nodes, columns)
        cores = np.array(list(matrices(functions, basis.nodes, basis.nodes)))
        return cls(basis, cores, np.asarray(kernels, dtype=np.intp), nodes)

    def shifted(self, features: int, kernels: int) -> Part:
        """Return the part where so many other features and kernels stand before its own."""
        own = self.nodes.columns
        columns = slice(own.start + features, own.stop + features)
        nodes = replace(self.nodes, columns=columns)
        return replace(self, nodes=nodes, kernels=self.kernels + kernels)

    def samples(self, X: Array) -> Array:
        """Return what the basis sees of samples (n, d)."""
        return X[:, self.nodes.columns]

    def reduced(self, X: Array, dropped: float) -> Part:
        """Return the part in the fewest directions that keep all but a share of each kernel.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Samples whose kernels are to be kept.
        dropped : float
            The share of the trace of each kernel on these samples that may be left out.
        """
        cores = [self.cores[:, own, own] for own in self.basis.columns]
        moments, n = self.basis.moments(self.samples(X))
        between = _BETWEEN * dropped * n / self.basis.rank
        # The nodes stand for samples where these show none, as at the ends of an interval.
        moments = [own + between * np.eye(len(own)) for own in moments]
        traces = totals = _traces(cores, moments)
        if dropped < _ROUGH and self.basis.of_values:
            moments = [own + max(1.0 - between, 0.0) * np.eye(len(own)) for own in moments]
            totals = _traces(cores, moments)
        units = np.divide(1.0, traces, out=np.zeros_like(traces), where=traces > 0)
        if not units.any():
            return self
        found = [
            _directions(np.tensordot(units, core, 1), own)
            for core, own in zip(cores, moments, strict=True)
        ]
        spread = np.concatenate([own for own, _, _ in found])
        shares = np.concatenate(
            [
                np.einsum("qr,kqr->kr", lift, core @ lift) * own * units[:, None]
                for core, (own, _, lift) in zip(cores, found, strict=True)
            ],
            axis=1,
        )
        order = np.argsort(-spread, kind="stable")
        left = (totals * units)[:, None] - np.cumsum(shares[:, order], axis=1)
        enough = np.flatnonzero((left[traces > 0] <= dropped).all(axis=0))
        rank = int(enough[0]) + 1 if len(enough) else len(spread)
        if rank >= self.basis.rank:
            return self
        chosen = np.zeros(len(spread), dtype=bool)
        chosen[order[:rank]] = True
        kept = np.split(chosen, np.cumsum([len(own) for own, _, _ in found])[:-1])
        directions = [each[1][:, own] for each, own in zip(found, kept, strict=True)]
        lift = block_diag(*(each[2][:, own] for each, own in zip(found, kept, strict=True)))
        pieces = zip(self.basis.pieces, directions, strict=True)
        basis = Basis(
            tuple(replace(piece, directions=own) for piece, own in pieces), self.basis.edges
        )
        cores = lift.T @ self.cores @ lift
        return replace(self, basis=basis, cores=cores, lift=lift)

    def lowered(self, v: Array) -> Array:
        """Return the coefficients (r,) in the basis of those (q,) in the one before `reduced`."""
        if self.lift is None:
            return v
        return block_diag(*(piece.directions for piece in self.basis.pieces)).T @ v


def _traces(cores: Sequence[Array], moments: Sequence[Array]) -> Array:
    """Return the traces (k,) of kernels with these cores (k, r, r) and B'B of each piece."""
    pairs = zip(cores, moments, strict=True)
    return np.asarray(sum(np.tensordot(core, own, 2) for core, own in pairs))


def _directions(core: Array, moments: Array) -> tuple[Array, Array, Array]:
    """Return the spread of samples in each direction (r,), these (q, r) and their inverse (q, r).

    The space of the sum of all kernels, each in its own unit, contains those of all; a row there is
    no longer than the kernel's value at its sample, wherever that is.

    Parameters
    ----------
    core, moments : ndarray of shape (q, q)
        S of the sum, and B'B.
    """
    values, vectors = np.linalg.eigh(core)
    inside = values > _RANK_TOLERANCE * values[-1]
    root = vectors[:, inside] * np.sqrt(values[inside])
    inverse = vectors[:, inside] / np.sqrt(values[inside])
    spread, axes = np.linalg.eigh(root.T @ moments @ root)
    return spread[::-1], root @ axes[:, ::-1], inverse @ axes[:, ::-1]


class RowFactors:
    """The factors of all kernels of a bank.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The training samples.
    parts : sequence of Part
        Every kernel is in one of them.
    matrix_of : callable or None, default=None
        Makes a matrix (n_z, d) of new samples that come otherwise.

    Attributes
    ----------
    n_samples, n_kernels : int
        n and M.
    rank : int
        R, the number of columns of all parts together.
    columns : list of slice
        Those of each part.
    """

    def __init__(
        self,
        X: Array,
        parts: Sequence[Part],
        matrix_of: Callable[[Any], Array] | None = None,
    ) -> None:
        self.X, self.parts, self._matrix_of = X, tuple(parts), matrix_of
        ends = np.cumsum([0, *(part.basis.rank for part in self.parts)])
        self.columns = [slice(a, b) for a, b in pairwise(ends.tolist())]
        self.n_samples, self.rank = len(X), int(ends[-1])
        self.n_kernels = sum(len(part.kernels) for part in self.parts)
        self._reduced: dict[tuple[float, ...], RowFactors] = {}

    @cached_property
    def sparse(self) -> NDArray[np.bool_]:
        """Which columns (R,) of B are zero for most of the samples."""
        return np.concatenate([part.basis.sparse(part.samples(self.X)) for part in self.parts])

    @property
    def cross(self) -> NodeKernels:
        """The kernels on nodes: a function with coefficients (R,) before `reduced` predicts so."""
        return NodeKernels(self.parts, self.X.shape[1], self._matrix_of)

    def rows(self, start: int, stop: int, dtype: type[np.floating] = np.float64) -> NDArray:
        """Return the rows of B (stop - start, R) from `start` to `stop`."""
        X = self.X[start:stop]
        block = np.empty((len(X), self.rank), dtype)
        for part, columns in zip(self.parts, self.columns, strict=True):
            block[:, columns] = part.basis(part.samples(X))
        return block

    def on(self, X: Array) -> RowFactors:
        """Return the factors of the same kernels on other samples (n, d)."""
        return RowFactors(X, self.parts, self._matrix_of)

    def largest_entry(self) -> float:
        """Return the largest |B_ij| at the samples at which a feature is largest."""
        samples = self.X[np.unique([self.X.argmax(axis=0), self.X.argmin(axis=0)])]
        return float(np.abs(self.on(samples).rows(0, len(samples))).max())

    @classmethod
    def of_several(
        cls, several: Sequence[RowFactors], matrix_of: Callable[[Any], Array] | None = None
    ) -> RowFactors:
        """Return the factors of the kernels of several banks on the same samples.

        Parameters
        ----------
        several : sequence of RowFactors
            Those of each bank; with `matrix_of` on features of its own.
        matrix_of : callable or None, default=None
            Makes a matrix of new samples, with the features of one bank after the other.
        """
        parts, before, kernels = [], 0, 0
        for factors in several:
            parts += [part.shifted(before, kernels) for part in factors.parts]
            before += 0 if matrix_of is None else factors.X.shape[1]
            kernels += factors.n_kernels
        X = several[0].X if matrix_of is None else np.hstack([f.X for f in several])
        return cls(X, parts, matrix_of)

    def both(self, rows: slice, a: Array, x: Array) -> tuple[Array, Array]:
        """Return B'a (R,) and B x (n', k) of some rows, a part at a time.

        Parameters
        ----------
        rows : slice
            The n' rows.
        a : ndarray of shape (n,)
            A vector, of which these rows are taken.
        x : ndarray of shape (R, k)
            Vectors.
        """
        X, own = self.X[rows], a[rows]
        found = [
            part.basis.both(part.samples(X), own, x[columns])
            for part, columns in zip(self.parts, self.columns, strict=True)
        ]
        projected, outputs = zip(*found, strict=True)
        return np.concatenate(projected), np.sum(outputs, axis=0)

    def reduced(self, dropped: float | Sequence[float]) -> RowFactors:
        """Return factors in fewer directions, which leave out a share of each kernel's trace.

        Each is a compression of the kernel, so that it is positive semidefinite, too. For the same
        shares they are the same object.

        Parameters
        ----------
        dropped : float or sequence of float
            The share, > 0, or that of each part.
        """
        shares = (dropped,) * len(self.parts) if isinstance(dropped, float) else tuple(dropped)
        if shares not in self._reduced:
            parts = [
                part.reduced(self.X, own) for part, own in zip(self.parts, shares, strict=True)
            ]
            self._reduced[shares] = RowFactors(self.X, parts, self._matrix_of)
        return self._reduced[shares]

    def lifted(self, expansion: Array) -> Array:
        """Return coefficients (q,) in the bases before `reduced` of those in these (R,).

        The functions of the kernels are the same, or of several kernels on one basis nearly so.

        Parameters
        ----------
        expansion : ndarray of shape (R,)
            The coefficients.
        """
        pairs = zip(self.parts, (expansion[columns] for columns in self.columns), strict=True)
        return np.concatenate(
            [own if part.lift is None else part.lift @ own for part, own in pairs]
        )

    def lowered(self, expansion: Array) -> Array:
        """Return the coefficients (R,) in these bases of those (q,) in the bases before `reduced`.

        What these bases lack is left out; it is the inverse of `lifted` on what they have.

        Parameters
        ----------
        expansion : ndarray of shape (q,)
            The coefficients.
        """
        ends = np.cumsum([len(part.nodes.points) for part in self.parts])[:-1]
        pairs = zip(self.parts, np.split(expansion, ends), strict=True)
        return np.concatenate([part.lowered(own) for part, own in pairs])

    def scaled(self, scales: Array) -> RowFactors:
        """Return the factors of the kernels s_m K_m.

        Parameters
        ----------
        scales : ndarray of shape (M,)
            s_m > 0.
        """
        parts = []
        for part in self.parts:
            own = scales[part.kernels]
            nodes = replace(part.nodes, scales=own * part.nodes.scales)
            parts.append(replace(part, cores=own[:, None, None] * part.cores, nodes=nodes))
        return RowFactors(self.X, parts, self._matrix_of)

    def expanded(self, weights: Array, expansion: Array) -> Array:
        """Return S_d v (R,) for weights d (M,) and coefficients v (R,): outputs are B times it."""
        combined = self.combined(weights)
        return np.concatenate(
            [core @ expansion[own] for core, own in zip(combined, self.columns, strict=True)]
        )

    def combined(self, weights: Array) -> list[Array]:
        """Return sum_m weights_m S_m (r, r) of each part."""
        return [np.tensordot(weights[part.kernels], part.cores, 1) for part in self.parts]

    def products(self, projections: Array) -> Array:
        """Return T (R, M), whose column m is S_m t, for the projections t = B'a (R,)."""
        products = np.zeros((self.rank, self.n_kernels))
        for part, columns in zip(self.parts, self.columns, strict=True):
            products[columns, part.kernels] = (part.cores @ projections[columns]).T
        return products

    def forms(self, projections: Array) -> Array:
        """Return t' S_m t (M,) for the projections t = B'a (R,)."""
        forms = np.empty(self.n_kernels)
        for part, columns in zip(self.parts, self.columns, strict=True):
            own = projections[columns]
            forms[part.kernels] = (part.cores @ own) @ own
        return forms


# Of polynomials that interpolate a kernel, to the largest value of the kernel.
_INTERPOLATION_ERROR = 1e-14
_ELLIPSES = np.geomspace(1.01, 100.0, 200)
# A feature with more nodes than this is too rough for one interval; with more than the second it
# has several, with so many nodes each, if these are not more than the last.
_MOST_NODES, _WIDE, _NODES_OF_PIECE, _MOST_IN_PIECES = 400, 100, 40, 1000


def interpolation(places: Array, angles: Array) -> Array:
    """Return B (u, r) with B f(nodes) = f(values), by the barycentric formula.

    `places` (u,) are the values on the scale of [-1, 1], where the nodes are the cosines of
    `angles` (r,): differences of the values themselves may be too small to divide by.
    """
    weights = np.sin(angles)
    weights[1::2] *= -1.0
    with np.errstate(divide="ignore"):
        basis = weights / (places[:, None] - np.cos(angles))
    sums = basis.sum(axis=1, keepdims=True)
    on_nodes = np.flatnonzero(np.isinf(sums))
    basis[on_nodes], sums[on_nodes] = np.isinf(basis[on_nodes]), 1.0
    return np.asarray(basis / sums)


def n_nodes(width: float, functions: Sequence[KernelFunction]) -> float:
    """Return how many nodes suffice on an interval of this width about 0; inf if not known.

    On the ellipse of Bernstein with the parameter rho, of half-axes (rho +- 1 / rho) / 2 times the
    radius of the interval, a Gaussian is at most M = exp(gamma h^2), h being the shorter half-axis,
    and interpolated on p + 1 nodes to 4 M rho^-p / (rho - 1) (Trefethen, Approximation Theory and
    Approximation Practice, theorem 8.2).
    """
    if not all(isinstance(function, Gaussian | Polynomial | Linear) for function in functions):
        return np.inf
    gamma = max((f.factor for f in functions if isinstance(f, Gaussian)), default=0.0)
    degree = max((f.degree for f in functions if isinstance(f, Polynomial)), default=1)
    with np.errstate(over="ignore"):  # no number of nodes suffices
        heights = width / 4.0 * (_ELLIPSES - 1.0 / _ELLIPSES)
        logarithm = gamma * heights**2 + np.log(4.0 / (_ELLIPSES - 1.0) / _INTERPOLATION_ERROR)
    return 1.0 + max(degree, float(np.ceil((logarithm / np.log(_ELLIPSES)).min())))


def between(first: float, last: float, rank: int) -> Basis:
    """Return the basis that interpolates between so many Chebyshev points of an interval."""
    angles = np.pi * (np.arange(rank) + 0.5) / rank
    nodes = (first + last) / 2 + (last - first) / 2 * np.cos(angles)
    return Basis((Piece(nodes[:, None], partial(_interpolated, first, last, angles)),))


def _interpolated(first: float, last: float, angles: Array, X: Array) -> Array:
    # A share first: 2 over the width of an interval of denormal numbers is infinite.
    return interpolation(2.0 * ((X[:, 0] - first) / (last - first)) - 1.0, angles)


def on_values(values: Array) -> Basis:
    """Return the basis of indicators of the values (r,) of a feature."""
    return Basis((Piece(values[:, None], partial(_indicators, values)),), of_values=True)


def _indicators(values: Array, X: Array) -> Array:
    return (values == X).astype(np.float64)


def as_they_are(count: int) -> Basis:
    """Return the basis of so many features as they are, side by side."""
    return Basis((Piece(np.eye(count), np.asarray),))


def feature_parts(X: Array, functions: Sequence[KernelFunction]) -> list[Part]:
    """Return a part for each feature, of all kernel functions on it.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training samples.
    functions : sequence of KernelFunction
        Kernel functions; kernel j * len(functions) + k is function k on feature j.

    Raises
    ------
    InputError
        If a kernel is too rough for a basis on nodes.
    """
    k = len(functions)
    parts = []
    for j, column in enumerate(X.T):
        basis = basis_of(column, functions)
        if basis is None:
            raise InputError(
                f"method=joint has no factors for the kernels on {column_called(j)}: they vary too "
                f"fast over its values from {column.min():g} to {column.max():g}, choose wider "
                "kernels, rescale the column or its logarithm, or choose method=libsvm."
            )
        parts.append(Part.of(basis, functions, range(j * k, (j + 1) * k), slice(j, j + 1)))
    return parts


def rank_of(n: int, n_functions: int) -> int:
    """Return the rank, about, of factors of so many kernel functions on a feature of n samples."""
    return min(n, round(_REDUCED * (1.0 + _MORE * (n_functions - 1))), _MOST_REDUCED)


def basis_of(column: Array, functions: Sequence[KernelFunction]) -> Basis | None:
    """Return the basis of all kernel functions on a feature; None if they are too rough for one.

    Parameters
    ----------
    column : ndarray of shape (n,)
        The feature of the training samples.
    functions : sequence of KernelFunction
        Kernel functions.
    """
    basis = _on_interval(column, functions)
    if basis is None or basis.rank > _WIDE:
        return _in_pieces(column, functions) or basis
    return basis


def _on_interval(column: Array, functions: Sequence[KernelFunction]) -> Basis | None:
    """Return the basis of all kernel functions on some values of a feature, in one piece."""
    first, last = float(column.min()), float(column.max())
    many = n_nodes(last - first, functions)
    most = min(many, _MOST_NODES)
    values = np.unique(column)
    if len(values) <= most:
        return on_values(values)
    return between(first, last, int(many)) if many <= _MOST_NODES else None


def _in_pieces(column: Array, functions: Sequence[KernelFunction]) -> Basis | None:
    """Return a basis on intervals of equal length, one about the median and those beside it.

    None where there would be too many nodes.
    """
    lengths = np.geomspace(1e-6, 1e6, 400)
    few = bisect_right(lengths, float(_NODES_OF_PIECE), key=lambda w: n_nodes(w, functions))
    if few == 0:
        return None
    column = np.sort(column)
    with np.errstate(over="ignore"):
        places = np.round((column - column[len(column) // 2]) / lengths[few - 1])
    starts = np.unique(places, return_index=True)[1][1:]
    pieces: list[Piece] = []
    for own in np.split(column, starts):
        basis = _on_interval(own, functions)
        if basis is None or sum(p.rank for p in pieces) + basis.rank > _MOST_IN_PIECES:
            return None
        pieces += basis.pieces
    return Basis(tuple(pieces), column[starts].tolist())


def gram_factors(grams: Array) -> RowFactors:
    """Return Gram matrices as factors whose columns are the samples: K_m = 1 K_m 1'.

    So the joint method solves problems on any kernels, where there is room for their matrices.

    Parameters
    ----------
    grams : ndarray of shape (k, n, n)
        The matrices.
    """
    k, n, _ = grams.shape
    rows = np.arange(n, dtype=np.float64)
    part = Part(on_values(rows), grams, np.arange(k), Nodes((), rows[:, None], slice(0, 1)))
    return RowFactors(rows[:, None], [part])
