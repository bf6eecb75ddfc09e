"""Factors of kernels on several features: landmarks (Nystroem).

Of a kernel k and landmarks z_1 ... z_m among the training samples, the functions k(., z_j) span a
part of its space. The kernel of that part,

    k~(x, z) = k(x, Z) K_ZZ^-1 k(Z, z) = b(x)' b(z),    b(x) = L^-1 k(Z, x),    K_ZZ = L L',

has factors of m columns. It is never above k: k - k~ is a kernel, too, whose trace on samples that
are no landmarks is what the landmarks leave out. A function b(z)' v is sum_j k(z, z_j) (L^-T v)_j,
in the space of k itself, and of the length |v| there.

The landmarks are found by randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber 2022), a block
at a time: samples are drawn with probabilities that are what is left of k(x, x). Those that add
nothing to the others are left out, so that L is well conditioned. The seed is fixed: the same
samples have the same landmarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack, solve_triangular

from mklbench.errors import InputError
from mklbench.kernels.bases import Array, Basis
from mklbench.kernels.cross import CrossKernels
from mklbench.kernels.functions import KernelFunction
from mklbench.kernels.row_factors import Part, RowFactors
from mklbench.validation import check_count, check_features

# Landmarks of a kernel, where their number is not given: as many as leave out this share of the
# trace, and no more than this.
LEFT_OUT, MOST = 1e-3, 1000
# Kernels on all features that have a weight in the end, about; for the memory of factors.
IN_USE = 2
# Samples among which landmarks are looked for, at least; so many times their number, at least.
_CANDIDATES, _TIMES = 4000, 4
# Other samples, on which what is left out is measured.
_HELD_OUT = 1000
# Landmarks that are drawn at a time.
_BLOCK = 50
# A sample that the landmarks leave less of is rounding: of the mean of k(x, x).
_ROUNDING = 1e-11
_SEED = 0


@dataclass(frozen=True, eq=False)
class Landmarks(Basis):
    """The rows b(x) of a kernel function on neighbouring features.

    Attributes
    ----------
    function : KernelFunction
        k.
    points : ndarray of shape (m, p)
        The landmarks, on these features.
    directions : ndarray of shape (m, m)
        L^-T.
    first : int
        The first of the features.
    """

    function: KernelFunction
    points: Array
    directions: Array
    first: int = 0

    @property
    def rank(self) -> int:  # type: ignore[override]
        return self.directions.shape[1]

    def __call__(self, X: Array) -> Array:
        return self._values(X) @ self.directions

    def projected(self, X: Array, a: Array) -> Array:
        return self.directions.T @ (self._values(X).T @ a)

    def outputs(self, X: Array, x: Array) -> Array:
        return self._values(X) @ (self.directions @ x)

    def both(self, X: Array, a: Array, x: Array) -> tuple[Array, Array]:
        values = self._values(X)
        return self.directions.T @ (values.T @ a), values @ (self.directions @ x)

    def shifted(self, by: int) -> Landmarks:
        return replace(self, first=self.first + by)

    def first_landmarks(self, m: int) -> Landmarks:
        """Return the basis of the first `m` landmarks only."""
        return replace(self, points=self.points[:m], directions=self.directions[:m, :m])

    def between(self, X: Array) -> Landmarks:
        """Return what gives the values of k itself between samples and those in `X` (n, d)."""
        return replace(self, points=self._own(X), directions=np.eye(len(X)))

    def _own(self, X: Array) -> Array:
        return X[:, self.first : self.first + self.points.shape[1]]

    def _values(self, X: Array) -> Array:
        return self.function(self._own(X), self.points)


def landmark_factors(
    X: Array,
    functions: Sequence[KernelFunction],
    landmarks: int | None = None,
    columns: Sequence[slice] | None = None,
) -> RowFactors:
    """Return factors of kernel functions on several features, each with landmarks of its own.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training samples.
    functions : sequence of KernelFunction
        The M kernels.
    landmarks : int or None, default=None
        How many of each kernel, up to n; fewer where more add nothing. If not given, as many as
        leave out a thousandth of the trace on samples that are no landmarks, and at most 1,000.
    columns : sequence of slice or None, default=None
        The features from a first to a last that each function looks at; all if not given.

    Raises
    ------
    InputError
        If `landmarks` is no number from 1 to n.
    """
    check_landmarks(landmarks, len(X))
    own = [slice(0, X.shape[1])] * len(functions) if columns is None else columns
    parts = [
        _part(X, *each, m, landmarks) for m, each in enumerate(zip(functions, own, strict=True))
    ]
    bases = [part.basis for part in parts if isinstance(part.basis, Landmarks)]
    return RowFactors(X, parts, LandmarksCross(bases, X.shape[1]))


def check_landmarks(landmarks: int | None, n: int | None = None) -> None:
    """Raise an InputError unless a number of landmarks is None, or a count up to n."""
    if landmarks is None:
        return
    check_count("landmarks", landmarks)
    if n is not None and landmarks > n:
        raise InputError(
            f"landmarks={landmarks} is more than the {n} training samples, among which they are "
            f"chosen: give at most {n}."
        )


class LandmarksCross(CrossKernels):
    """Kernel functions between new samples and the landmarks of each: what is predicted with.

    Parameters
    ----------
    bases : sequence of Landmarks
        Of the M kernels. In place of training samples come the landmarks, those of one kernel
        after those of the other; a kernel is 0 at those of others.
    n_features : int
        How many features a new sample has.
    """

    def __init__(self, bases: Sequence[Landmarks], n_features: int) -> None:
        self._kernels = [(basis.function, basis.points, basis.first) for basis in bases]
        self._n_features = n_features
        self.n_samples = sum(len(points) for _, points, _ in self._kernels)
        self.n_kernels = len(self._kernels)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        samples = check_features("Z", Z, self._n_features)
        kernel = np.zeros((len(samples), self.n_samples))
        start = 0
        for weight, (function, points, first) in zip(
            self._check_weights(weights), self._kernels, strict=True
        ):
            if weight != 0.0:
                own = samples[:, first : first + points.shape[1]]
                kernel[:, start : start + len(points)] = weight * function(own, points)
            start += len(points)
        return kernel


def _part(
    X: Array, function: KernelFunction, columns: slice, number: int, landmarks: int | None
) -> Part:
    rng = np.random.default_rng(_SEED)
    most = min(len(X), MOST if landmarks is None else landmarks)
    n_candidates = max(_CANDIDATES, _TIMES * most)
    if n_candidates + _HELD_OUT < len(X):
        rows = rng.permutation(len(X))[: n_candidates + _HELD_OUT]
        samples = np.asarray(X[rows, columns], dtype=np.float64)
        judges = slice(n_candidates, None)
    else:  # there are none to spare: what is left out is measured on all
        samples = np.asarray(X[:, columns], dtype=np.float64)
        n_candidates, judges = len(X), slice(None)
    enough = 0.0 if landmarks is not None else LEFT_OUT
    chosen, root, left_out = _pivots(samples, function, n_candidates, judges, most, enough, rng)
    directions = solve_triangular(root, np.eye(len(root)), lower=True).T
    basis = Landmarks(function, samples[chosen], directions, columns.start)
    core = np.eye(basis.rank)[None]
    return Part(basis, core, np.array([number]), nodes=directions, left_out=left_out)


def _pivots(
    samples: Array,
    function: KernelFunction,
    n_candidates: int,
    judges: slice,
    most: int,
    enough: float,
    rng: np.random.Generator,
) -> tuple[np.ndarray, Array, float]:
    """Return which of the first samples are landmarks, L (m, m), and the share left out of others.

    There are as many as are needed to leave out no more than `enough` of the trace on the samples
    `judges`, and at most `most`.
    """
    left = np.asarray(function.diagonal(samples), dtype=np.float64)
    trace = float(left[judges].sum())
    smallest = _ROUNDING * float(left.mean())
    rows = np.empty((len(samples), most))
    chosen = np.empty(0, dtype=np.intp)
    while len(chosen) < most and left[judges].sum() > enough * trace:
        possible = np.flatnonzero(left[:n_candidates] > smallest)
        if not len(possible):
            break
        m = len(chosen)
        size = min(_BLOCK, most - m, len(possible))
        share = left[possible] / left[possible].sum()
        drawn = rng.choice(possible, size, replace=False, p=share)
        columns = function(samples, samples[drawn]) - rows[:, :m] @ rows[drawn, :m].T
        factor, order, rank, _ = lapack.dpstrf(columns[drawn], tol=smallest, lower=1)
        if not rank:
            break
        kept = order[:rank] - 1
        fresh = solve_triangular(np.tril(factor[:rank, :rank]), columns[:, kept].T, lower=True).T
        rows[:, m : m + rank] = fresh
        left = np.maximum(left - np.square(fresh).sum(axis=1), 0.0)
        chosen = np.concatenate([chosen, drawn[kept]])
        left[drawn] = 0.0
    if not len(chosen):  # a kernel that is 0 on all samples
        return np.zeros(1, dtype=np.intp), np.ones((1, 1)), 0.0
    kept_by = np.cumsum(np.square(rows[judges, : len(chosen)]).sum(axis=0))
    m = min(len(chosen), int(np.searchsorted(kept_by, (1.0 - enough) * trace)) + 1)
    left_out = max(0.0, 1.0 - float(kept_by[m - 1]) / trace) if trace > 0.0 else 0.0
    return chosen[:m], np.tril(rows[chosen[:m], :m]), left_out
