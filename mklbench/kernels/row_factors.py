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

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from mklbench.errors import InputError
from mklbench.kernels.cross import CrossKernels, Indices, weighted_sum
from mklbench.kernels.functions import Gaussian, KernelFunction, Linear, Polynomial, matrices
from mklbench.validation import check_features, column_called

Array = NDArray[np.float64]


class Basis(ABC):
    """Maps samples to rows of B.

    Attributes
    ----------
    rank : int
        r, the number of columns.
    of_values : bool
        Whether a row has a 1 for its sample's value and else zeros.
    """

    rank: int
    of_values = False

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Return the rows (n, r) at samples (n, d)."""

    def both(self, X: Array, a: Array, x: Array) -> tuple[Array, Array]:
        """Return B'a (r,) and B x (n, k) for B at samples (n, d), vectors (n,) and (r, k)."""
        B = self(X)
        return B.T @ a, B @ x

    def shifted(self, by: int) -> Basis:
        """Return the basis where other features stand before those that it looks at."""
        own: Any = self
        return replace(own, feature=own.feature + by)

    @property
    def pieces(self) -> list[slice]:
        """The columns of which a row has numbers in one of these only."""
        return [slice(0, self.rank)]

    def moments(self, X: Array) -> tuple[list[Array], int]:
        """Return B'B (r, r) of each piece at some of the samples (n, d), and their number."""
        rows = self(X[:: max(1, len(X) // _SAMPLED)])
        return [rows.T @ rows], len(rows)

    def along(self, directions: Sequence[Array]) -> Basis:
        """Return the rows of each piece times a matrix (r, k)."""
        return Projected(self, directions[0])

    def sparse(self, X: Array) -> NDArray[np.bool_]:
        """Return which columns (r,) are zero for most of the samples (n, d)."""
        return np.zeros(self.rank, dtype=bool)


@dataclass(frozen=True, eq=False)
class Columns(Basis):
    """Several features as they are, side by side.

    Attributes
    ----------
    feature : int
        The first of them.
    rank : int
        How many.
    """

    feature: int
    rank: int

    def __call__(self, X: Array) -> Array:
        return X[:, self.feature : self.feature + self.rank]


@dataclass(frozen=True, eq=False)
class Projected(Basis):
    """Some directions of another basis: its rows times a matrix.

    Attributes
    ----------
    basis : Basis
        The other basis, of rank q.
    directions : ndarray of shape (q, r)
        The matrix.
    """

    basis: Basis
    directions: Array

    @property
    def rank(self) -> int:  # type: ignore[override]
        return self.directions.shape[1]

    def __call__(self, X: Array) -> Array:
        return self.basis(X) @ self.directions

    def both(self, X: Array, a: Array, x: Array) -> tuple[Array, Array]:
        projected, outputs = self.basis.both(X, a, self.directions @ x)
        return self.directions.T @ projected, outputs


# Array from which on factors take the place of Gram matrices, where there is a choice.
MANY = 4000
# Rows that are made at once; a block of a few hundred columns then stays in a processor's cache.
ROWS = 4096
# Array from which the directions are found in which kernels vary.
_SAMPLED = 4000
# Nodes count as samples in so many times the share of a kernel that may be left out.
_BETWEEN = 10.0
# Of factors finer than this each value of a feature with few counts as a whole sample: one that is
# too rare to be among the samples looked at may have a large alpha.
_ROUGH = 1e-5
# Directions of a core below this share of its largest are rounding.
_RANK_TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class Nodes:
    """Points that a part predicts with: f(z) = sum_m d_m s_m sum_j k_m(z, z_j) v_j.

    Attributes
    ----------
    functions : sequence of KernelFunction
        The k functions k_m of the part.
    points : ndarray of shape (r, p)
        The points z_j, one for each column of the part's basis before any reduction.
    columns : slice
        The p features that the functions look at.
    scales : ndarray of shape (k,) or None, default=None
        Factors s_m; None for 1.
    """

    functions: Sequence[KernelFunction]
    points: Array
    columns: slice
    scales: Array | None = None

    def shifted(self, by: int) -> Nodes:
        """Return the nodes where other features stand before those that they are on."""
        return replace(self, columns=slice(self.columns.start + by, self.columns.stop + by))

    def cross(self, weights: Array, X: Array) -> Array:
        """Return sum_m d_m s_m k_m (n, r) between samples (n, d) and the points."""
        d = weights if self.scales is None else self.scales * weights
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
        self._nodes = [(part.nodes, part.kernels) for part in parts if part.nodes is not None]
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
        Of rank r.
    cores : ndarray of shape (k, r, r)
        S_m of each kernel.
    kernels : ndarray of int of shape (k,)
        Their indices in the bank.
    nodes : Nodes or None
        What the part predicts with; None where it is not asked to.
    lift : ndarray of shape (q, r) or None
        Of a part that has been reduced: a function with the coefficients v there has the
        coefficients `lift` v in the basis of rank q before.
    directions : ndarray of shape (q, r) or None
        Of such a part: its basis is the one before times this matrix.
    """

    basis: Basis
    cores: Array
    kernels: Indices
    nodes: Nodes | None = None
    lift: Array | None = None
    directions: Array | None = None

    def reduced(self, X: Array, dropped: float) -> Part:
        """Return the part in the fewest directions that keep all but a share of each kernel.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Array whose kernels are to be kept.
        dropped : float
            The share of the trace of each kernel on these samples that may be left out.
        """
        pieces = self.basis.pieces
        moments, n = self.basis.moments(X)
        between = _BETWEEN * dropped * n / self.basis.rank
        # The nodes stand for samples where these show none, as at the ends of an interval.
        moments = [own + between * np.eye(len(own)) for own in moments]
        cores = [self.cores[:, own, own] for own in pieces]
        traces = sum(np.tensordot(core, own, 2) for core, own in zip(cores, moments, strict=True))
        totals = traces
        if dropped < _ROUGH and self.basis.of_values:
            moments = [own + max(1.0 - between, 0.0) * np.eye(len(own)) for own in moments]
            totals = np.tensordot(self.cores, block_diag(*moments), 2)
        units = np.divide(1.0, traces, out=np.zeros_like(traces), where=traces > 0)
        if not units.any():
            return self
        found = [
            _directions(np.tensordot(units, core, 1), own)
            for core, own in zip(cores, moments, strict=True)
        ]
        spread = np.concatenate([each[0] for each in found])
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
        kept = np.split(chosen, np.cumsum([len(each[0]) for each in found])[:-1])
        along = [each[1][:, own] for each, own in zip(found, kept, strict=True)]
        lift = block_diag(*(each[2][:, own] for each, own in zip(found, kept, strict=True)))
        return replace(
            self,
            basis=self.basis.along(along),
            cores=lift.T @ self.cores @ lift,
            lift=lift,
            directions=block_diag(*along),
        )


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
        return np.concatenate([part.basis.sparse(self.X) for part in self.parts])

    @property
    def cross(self) -> NodeKernels:
        """The kernels on nodes: a function with coefficients (R,) before `reduced` predicts so."""
        return NodeKernels(self.parts, self.X.shape[1], self._matrix_of)

    def rows(self, start: int, stop: int, dtype: type[np.floating] = np.float64) -> NDArray:
        """Return the rows of B (stop - start, R) from `start` to `stop`."""
        X = self.X[start:stop]
        block = np.empty((len(X), self.rank), dtype)
        for part, columns in zip(self.parts, self.columns, strict=True):
            block[:, columns] = part.basis(X)
        return block

    def on(self, X: Array) -> RowFactors:
        """Return the factors of the same kernels on other samples (n, d)."""
        return RowFactors(X, self.parts, self._matrix_of)

    def largest_entry(self) -> float:
        """Return the largest |B_ij| at the samples at which a feature is largest."""
        samples = self.X[np.unique([self.X.argmax(axis=0), self.X.argmin(axis=0)])]
        return max(float(np.abs(part.basis(samples)).max()) for part in self.parts)

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
            for part in factors.parts:
                nodes = None if part.nodes is None else part.nodes.shifted(before)
                basis = part.basis.shifted(before)
                parts.append(
                    replace(part, basis=basis, nodes=nodes, kernels=part.kernels + kernels)
                )
            before += 0 if matrix_of is None else factors.X.shape[1]
            kernels += factors.n_kernels
        X = several[0].X if matrix_of is None else np.hstack([f.X for f in several])
        return cls(X, parts, matrix_of)

    def projected(self, rows: slice, a: Array) -> Array:
        """Return B'a (R,) of some rows, a part at a time.

        Parameters
        ----------
        rows : slice
            The rows.
        a : ndarray of shape (n,)
            A vector, of which these rows are taken.
        """
        return self.both(rows, a, np.zeros((self.rank, 0)))[0]

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
        projected, outputs = [], np.zeros((len(X), x.shape[1]))
        for part, columns in zip(self.parts, self.columns, strict=True):
            vectors = x[columns] if x[columns].any() else x[columns, :0]
            along, more = part.basis.both(X, own, vectors)
            projected.append(along)
            outputs[:, : more.shape[1]] += more
        return np.concatenate(projected), outputs

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
        return np.concatenate(
            [
                expansion[columns] if part.lift is None else part.lift @ expansion[columns]
                for part, columns in zip(self.parts, self.columns, strict=True)
            ]
        )

    def lowered(self, expansion: Array) -> Array:
        """Return the coefficients (R,) in these bases of those (q,) in the bases before `reduced`.

        What these bases lack is left out; it is the inverse of `lifted` on what they have.

        Parameters
        ----------
        expansion : ndarray of shape (q,)
            The coefficients.
        """
        lowered, start = [], 0
        for part in self.parts:
            full = part.basis.rank if part.directions is None else len(part.directions)
            own = expansion[start : start + full]
            lowered.append(own if part.directions is None else part.directions.T @ own)
            start += full
        return np.concatenate(lowered)

    def scaled(self, scales: Array) -> RowFactors:
        """Return the factors of the kernels s_m K_m.

        Parameters
        ----------
        scales : ndarray of shape (M,)
            s_m > 0.
        """
        parts = []
        for part in self.parts:
            own, nodes = scales[part.kernels], part.nodes
            if nodes is not None:
                nodes = replace(nodes, scales=own if nodes.scales is None else own * nodes.scales)
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
# The columns of an interval with less than this share of the samples are sparse.
_SPARSE = 0.1


def interpolation(places: Array, angles: Array) -> Array:
    """Return B (u, r) with B f(nodes) = f(values), by the barycentric formula.

    `places` (u,) are the values on the scale of [-1, 1], where the nodes are the cosines of
    `angles` (r,): differences of the values themselves may be too small to divide by.
    """
    weights = np.sin(angles)
    weights[1::2] *= -1.0
    distances = places[:, None] - np.cos(angles)
    row, column = np.nonzero(distances == 0.0)
    distances[row] = 1.0
    basis = weights / distances
    basis /= basis.sum(axis=1, keepdims=True)
    basis[row] = 0.0
    basis[row, column] = 1.0
    return basis


def n_nodes(values: Array, functions: Sequence[KernelFunction]) -> float:
    """Return how many nodes suffice on the interval of ascending `values`; inf if not known.

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
        heights = (values[-1] - values[0]) / 4.0 * (_ELLIPSES - 1.0 / _ELLIPSES)
        logarithm = gamma * heights**2 + np.log(4.0 / (_ELLIPSES - 1.0) / _INTERPOLATION_ERROR)
    return 1.0 + max(degree, float(np.ceil((logarithm / np.log(_ELLIPSES)).min())))


@dataclass(frozen=True)
class Interpolation(Basis):
    """Between the Chebyshev points of an interval of one feature.

    Attributes
    ----------
    feature : int
        The feature.
    first, last : float
        The ends of its interval.
    rank : int
        The number of points.
    """

    feature: int
    first: float
    last: float
    rank: int

    @property
    def nodes(self) -> Array:
        """The points (r,), descending."""
        middle, radius = (self.first + self.last) / 2, (self.last - self.first) / 2
        return middle + radius * np.cos(self._angles)

    def __call__(self, X: Array) -> Array:
        # A share first: 2 over the width of an interval of denormal numbers is infinite.
        share = (X[:, self.feature] - self.first) / (self.last - self.first)
        return interpolation(2.0 * share - 1.0, self._angles)

    @property
    def _angles(self) -> Array:
        return np.pi * (np.arange(self.rank) + 0.5) / self.rank


@dataclass(frozen=True, eq=False)
class Values(Basis):
    """Indicators of the values that a feature has at the training samples.

    Attributes
    ----------
    feature : int
        The feature.
    nodes : ndarray of shape (r,)
        The values, ascending.
    """

    feature: int
    nodes: Array
    of_values = True

    @property
    def rank(self) -> int:  # type: ignore[override]
        return len(self.nodes)

    def __call__(self, X: Array) -> Array:
        return (X[:, [self.feature]] == self.nodes).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Pieces(Basis):
    """A basis for each of several intervals of a feature, for kernels narrow beside its range.

    Attributes
    ----------
    feature : int
        The feature.
    edges : ndarray of shape (p - 1,)
        Where one interval ends and the next begins, ascending.
    bases : tuple of Basis
        That of each of the p intervals.
    """

    feature: int
    edges: Array
    bases: tuple[Basis, ...]

    @property
    def rank(self) -> int:  # type: ignore[override]
        return sum(basis.rank for basis in self.bases)

    @property
    def pieces(self) -> list[slice]:
        ends = np.cumsum([0, *(basis.rank for basis in self.bases)])
        return [slice(a, b) for a, b in pairwise(ends.tolist())]

    @property
    def nodes(self) -> Array:
        """The points (r,)."""
        return np.concatenate([basis.nodes for basis in self.bases])  # type: ignore[attr-defined]

    def shifted(self, by: int) -> Pieces:
        bases = tuple(basis.shifted(by) for basis in self.bases)
        return replace(self, feature=self.feature + by, bases=bases)

    def along(self, directions: Sequence[Array]) -> Pieces:
        pairs = zip(self.bases, directions, strict=True)
        return replace(self, bases=tuple(Projected(*each) for each in pairs))

    def moments(self, X: Array) -> tuple[list[Array], int]:
        column = X[:, self.feature]
        order, starts = self._by_piece(column)
        found = []
        for basis, start, stop in zip(self.bases, starts, starts[1:], strict=False):
            own = order[start:stop]
            some = own[:: max(1, len(own) // _SAMPLED)]
            rows = basis(X[some])
            found.append(rows.T @ rows * (len(own) / max(1, len(some))))
        return found, len(X)

    def sparse(self, X: Array) -> NDArray[np.bool_]:
        _, starts = self._by_piece(X[:, self.feature])
        few = np.diff(starts) < _SPARSE * len(X)
        return np.repeat(few, [basis.rank for basis in self.bases])

    def __call__(self, X: Array) -> Array:
        rows = np.zeros((len(X), self.rank))
        for basis, own, columns in self._each(X):
            rows[own, columns] = basis(X[own])
        return rows

    def both(self, X: Array, a: Array, x: Array) -> tuple[Array, Array]:
        projected, outputs = np.zeros(self.rank), np.zeros((len(X), x.shape[1]))
        for basis, own, columns in self._each(X):
            projected[columns], outputs[own] = basis.both(X[own], a[own], x[columns])
        return projected, outputs

    def _each(self, X: Array) -> Iterator[tuple[Basis, Indices, slice]]:
        order, starts = self._by_piece(X[:, self.feature])
        for i in np.flatnonzero(np.diff(starts)).tolist():
            yield self.bases[i], order[starts[i] : starts[i + 1]], self.pieces[i]

    def _by_piece(self, column: Array) -> tuple[Indices, Indices]:
        """Return the samples, those of one piece after the other, and where each piece starts."""
        which = np.searchsorted(self.edges, column, side="right")
        order = np.argsort(which, kind="stable")
        return order, np.searchsorted(which[order], np.arange(len(self.bases) + 1))


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
    for j in range(X.shape[1]):
        basis = basis_of(X, j, functions)
        if basis is None:
            column = X[:, j]
            raise InputError(
                f"method=joint has no factors for the kernels on {column_called(j)}: they vary too "
                f"fast over its values from {column.min():g} to {column.max():g}, choose wider "
                "kernels, rescale the column or its logarithm, or choose method=libsvm."
            )
        points = basis.nodes[:, None]
        cores = np.array(list(matrices(functions, points, points)))
        nodes = Nodes(functions, points, slice(j, j + 1))
        parts.append(Part(basis, cores, np.arange(j * k, (j + 1) * k), nodes))
    return parts


def basis_of(
    X: Array, j: int, functions: Sequence[KernelFunction]
) -> Interpolation | Values | Pieces | None:
    """Return the basis of all kernel functions on a feature; None if they are too rough for one.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training samples.
    j : int
        The feature.
    functions : sequence of KernelFunction
        Kernel functions.
    """
    basis = _on_interval(X[:, j], j, functions)
    if basis is None or basis.rank > _WIDE:
        return _in_pieces(X, j, functions) or basis
    return basis


def _on_interval(
    column: Array, j: int, functions: Sequence[KernelFunction]
) -> Interpolation | Values | None:
    """Return the basis of all kernel functions on some values of a feature."""
    ends = np.array([column.min(), column.max()])
    many = n_nodes(ends, functions)
    values = _few_values(column, min(many, _MOST_NODES))
    if values is not None:
        return Values(j, values)
    if many <= _MOST_NODES:
        return Interpolation(j, float(ends[0]), float(ends[1]), int(many))
    return None


def _in_pieces(X: Array, j: int, functions: Sequence[KernelFunction]) -> Pieces | None:
    """Return a basis on intervals of equal length, one about the median and those beside it.

    None where there would be too many nodes.
    """
    column = np.sort(X[:, j])
    reach = _reach(functions)
    if not reach > 0:
        return None
    with np.errstate(over="ignore"):
        places = np.round((column - column[len(column) // 2]) / reach)
    starts = np.unique(places, return_index=True)[1]
    bases: list[Basis] = []
    for own in np.split(column, starts[1:]):
        basis = _on_interval(own, j, functions)
        if basis is None or sum(b.rank for b in bases) + basis.rank > _MOST_IN_PIECES:
            return None
        bases.append(basis)
    return Pieces(j, column[starts[1:]], tuple(bases))


def _reach(functions: Sequence[KernelFunction]) -> float:
    """Return the length of an interval on which few nodes suffice; 0 if there is none."""
    lengths = np.geomspace(1e-6, 1e6, 400)
    few = [n_nodes(np.array([0.0, length]), functions) <= _NODES_OF_PIECE for length in lengths]
    return float(lengths[few][-1]) if any(few) else 0.0


def _few_values(column: Array, most: float) -> Array | None:
    """Return the different values of a column, ascending; None if there are more than `most`."""
    if len(np.unique(column[: 4 * _MOST_NODES])) > most:  # tells most apart without sorting all
        return None
    values = np.unique(column)
    return values if len(values) <= most else None


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
    return RowFactors(rows[:, None], [Part(Values(0, rows), grams, np.arange(k))])
