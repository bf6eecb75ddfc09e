"""Dense twins of the kernel operators: the definitions written out, one Gram matrix a kernel.

Every operator of `mklbench.kernels` appears here in at least one case, beside the stack of Gram
matrices it stands for. Nothing in this module uses the code under test to compute a twin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench import kernels
from mklbench.data.dataset import View
from mklbench.kernels.banks.dense import FunctionBank, NamedFunction
from mklbench.kernels.banks.features import LinearBank
from mklbench.kernels.banks.precomputed import IndexedBank, pack_stack
from mklbench.kernels.banks.views import DistanceBank, feature_views
from mklbench.kernels.banks.wrapped import CombinedKernel, CosineBank, StandardisedBank
from mklbench.kernels.base import Bank, Indices
from mklbench.kernels.continuous import Family
from mklbench.kernels.functions import KernelFunction

Array = NDArray[np.float64]
DenseKernel = Callable[[Array, Array], Array]


def dense_distances(X: Array, Z: Array, unit: ArrayLike = 1.0) -> Array:
    """Return ||x_i - z_j||^2 from the differences themselves, in units (d,), (n, n_z)."""
    return (((X[:, None, :] - Z[None, :, :]) / np.asarray(unit)) ** 2).sum(axis=2)


def dense_gaussian(gamma: float) -> DenseKernel:
    return lambda X, Z: np.exp(-gamma * dense_distances(X, Z))


def dense_polynomial(degree: int, offset: float) -> DenseKernel:
    return lambda X, Z: (X @ Z.T + offset) ** degree


def on_all_features(functions: Sequence[DenseKernel], X: Array, Z: Array) -> Array:
    """Return the stack (len(functions), n, n_z)."""
    return np.array([function(X, Z) for function in functions])


def on_each_feature(functions: Sequence[DenseKernel], X: Array, Z: Array) -> Array:
    """Return the stack (d * len(functions), n, n_z), feature by feature."""
    return np.array(
        [function(X[:, [j]], Z[:, [j]]) for j in range(X.shape[1]) for function in functions]
    )


def toolbox_stack(X: Array, Z: Array) -> Array:
    """Return the kernels (13 (d + 1), n_z, n) of Rakotomamonjy et al. 2008 between Z and X.

    Ten Gaussians exp(-||x - z||^2 / (2 width^2)), the inner product, (x'z + 1)^2 and (x'z + 1)^3,
    on all features and on each, all divided by the trace of the Gram matrix on X.
    """
    columns = [list(range(X.shape[1])), *([j] for j in range(X.shape[1]))]
    stack = []
    for chosen in columns:
        train, new = X[:, chosen], Z[:, chosen]
        for width in (0.5, 1, 2, 5, 7, 10, 12, 15, 17, 20):
            gamma = 1.0 / (2.0 * width**2)
            stack.append(np.exp(-gamma * dense_distances(new, train)) / len(X))
        norms = (train**2).sum(axis=1)
        stack.append(new @ train.T / norms.sum())
        stack.append((new @ train.T + 1.0) ** 2 / ((norms + 1.0) ** 2).sum())
        stack.append((new @ train.T + 1.0) ** 3 / ((norms + 1.0) ** 3).sum())
    return np.array(stack)


class PlainBank(Bank):
    """A bank with nothing but the methods it must have, for the defaults that `Bank` gives it."""

    def __init__(self, stack: Array) -> None:
        self._stack = stack
        self.n_kernels, self.n_samples = stack.shape[:2]
        self.features = (-1,) * self.n_kernels
        self._rows, self._numbers = np.arange(self.n_samples), np.arange(self.n_kernels)

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        combined = np.einsum("m,mij->ij", self._check_weights(d), self._stack)
        if out is None:
            return combined
        out[...] = combined
        return out

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return np.einsum("i,mij,j->m", np.asarray(a), self._stack, np.asarray(a))

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        return np.einsum("mij,j->mi", self._stack[np.asarray(kernels, dtype=int)], np.asarray(a))

    def traces(self) -> Array:
        return np.einsum("mii->m", self._stack)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        given = np.asarray(Z)[self._numbers][..., self._rows]
        return np.einsum("m,mij->ij", np.asarray(weights), given)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> PlainBank:
        chosen = slice(None) if kernels is None else kernels
        taken = PlainBank(self._stack[chosen][:, np.asarray(rows)[:, None], np.asarray(rows)])
        taken._rows, taken._numbers = self._rows[np.asarray(rows)], self._numbers[chosen]
        return taken


@dataclass(frozen=True)
class BankCase:
    """A bank, the stack it stands for, and new samples with their cross Gram matrices.

    Attributes
    ----------
    stack : (M, n, n) Gram matrices.
    new : what `cross` takes for the new samples.
    cross : (M, n_z, n) cross Gram matrices.
    """

    bank: Bank
    stack: Array
    new: Any
    cross: Array


@dataclass(frozen=True)
class FamilyCase:
    """A family, its training and new samples, and the definition of its kernel."""

    family: Family
    X: Array
    Z: Array
    kernel: Callable[[Array, Array, Array], Array]

    def gradient(self, theta: Array, a: Array) -> Array:
        """Return that (M,) of a' K a."""
        return gradient(self.kernel, theta, self.X, a)


def awkward_features(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Return training and new samples with ties, a constant, a binary and a far-off feature."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    X[:, 1] = 2.5
    X[:, 2] = rng.integers(0, 2, n)
    X[:, 3] = np.round(X[:, 3], 1)
    X[n // 2 :, 4] = X[: n - n // 2, 4]
    X[:, 5] += 1000.0
    Z = X[rng.permutation(n)[:7]] + 0.3 * rng.standard_normal((7, 6))
    return X, Z


# Kernels of samples A with samples B, of one or of several functions.
Definition = Callable[[Array, Array], Array]

_GAMMAS = (0.01, 1.0, 30.0)
_FUNCTIONS: tuple[KernelFunction, ...] = (
    *(kernels.Gaussian(gamma) for gamma in _GAMMAS),
    kernels.Polynomial(1, offset=0.0),
)
_DENSE = (*(dense_gaussian(gamma) for gamma in _GAMMAS), dense_polynomial(1, 0.0))


def _case(
    make: Callable[[Array], Bank], dense: Definition, n: int = 25, columns: Any = slice(None)
) -> Callable[[], BankCase]:
    """Return what makes a case of awkward features, or some columns of them."""

    def made() -> BankCase:
        X, Z = (samples[:, columns] for samples in awkward_features(n))
        return BankCase(make(X), dense(X, X), Z, dense(Z, X))

    return made


def _on_all(A: Array, B: Array) -> Array:
    return on_all_features(_DENSE, A, B)


def _on_each(A: Array, B: Array) -> Array:
    return on_each_feature(_DENSE, A, B)


def _features(n: int) -> Callable[[], BankCase]:
    return _case(lambda X: kernels.FeatureBank(X, _FUNCTIONS), _on_each, n)


def _features_polynomial() -> Callable[[], BankCase]:
    functions: list[KernelFunction] = [
        kernels.Polynomial(2),
        kernels.Polynomial(3),
        kernels.Gaussian(0.2),
    ]
    dense = [dense_polynomial(2, 1.0), dense_polynomial(3, 1.0), dense_gaussian(0.2)]
    return _case(
        lambda X: kernels.FeatureBank(X, functions),
        lambda A, B: on_each_feature(dense, A, B),
        40,
        slice(5),
    )


def _generated(groups: Sequence[tuple[int, ...]]) -> Callable[[], BankCase]:
    parts = [list(group) for group in groups]
    dense = [dense_gaussian(gamma) for gamma in _GAMMAS]
    return _case(
        lambda X: kernels.GeneratedBank(X, _GAMMAS, groups),
        lambda A, B: np.concatenate([on_all_features(dense, A[:, p], B[:, p]) for p in parts]),
        40,
        [0, 2, 3, 5],
    )


def _linear(n_features: int) -> Callable[[], BankCase]:
    return _case(
        LinearBank,
        lambda A, B: on_each_feature([dense_polynomial(1, 0.0)], A, B),
        columns=np.resize(np.arange(6), n_features),
    )


def _concatenated(X: Array) -> Bank:
    parts = [kernels.FeatureBank(X, _FUNCTIONS), kernels.DenseBank(X, _FUNCTIONS)]
    return kernels.ConcatenatedBank(parts)


def _list_of_kernels(X: Array) -> Bank:
    own, each = ("one", dense_gaussian(0.3), [1]), ("each", "feature_gaussians", [0, 2])
    return kernels.KernelList([own, list(_FUNCTIONS), each])(X)


def _dense_list(A: Array, B: Array) -> Array:
    one = on_all_features([dense_gaussian(0.3)], A[:, [1]], B[:, [1]])
    each = on_each_feature([dense_gaussian(1.0)], A[:, [0, 2]], B[:, [0, 2]])
    return np.concatenate([one, _on_all(A, B), each])


def _functions_of_pairs(X: Array) -> Bank:
    return FunctionBank(X, [NamedFunction(each, "own") for each in _DENSE])


_SCALES = np.geomspace(1e-3, 1e3, len(_DENSE))


def _scaled(X: Array) -> Bank:
    return kernels.ScaledBank(kernels.DenseBank(X, _FUNCTIONS), _SCALES)


def _of_stack(make: Callable[[Array], Bank]) -> Callable[[], BankCase]:
    """Return what makes a case of a bank that is given a stack, and new samples as another."""

    def made() -> BankCase:
        X, Z = awkward_features(25)
        stack, cross = _on_all(X, X), _on_all(Z, X)
        return BankCase(make(stack.copy()), stack, cross, cross)

    return made


def _indexed() -> BankCase:
    X, _ = awkward_features(40)
    stack = _on_all(X, X)
    train, new = np.array([3, 1, 30, 12, 7, 22, 39]), np.array([0, 2, 30])
    return BankCase(
        IndexedBank(pack_stack(stack)[0], train),
        stack[:, train[:, None], train],
        new,
        stack[:, new[:, None], train],
    )


def _members() -> Callable[[], BankCase]:
    """Members of a family, one of which has replaced another and one of which came later."""
    rng = np.random.default_rng(3)
    thetas = rng.uniform(0.0, 0.2, size=(4, 6)) * (rng.uniform(size=(4, 6)) < 0.6)

    def bank(X: Array) -> Bank:
        found = kernels.FamilyBank(kernels.ProductGaussians(X), thetas[[0, 3, 2]])
        found.update(thetas)
        return found

    return _case(bank, lambda A, B: np.array([product_kernel(theta, A, B) for theta in thetas]))


_CHOSEN = [3, 0, 2]


def _subset(X: Array) -> Bank:
    return kernels.KernelSubset(kernels.DenseBank(X, _FUNCTIONS), _CHOSEN)


def _simplemkl() -> BankCase:
    X, Z = awkward_features(30)
    return BankCase(kernels.simplemkl_bank(X), toolbox_stack(X, X), Z, toolbox_stack(X, Z))


def _centred(whole: Array, n: int) -> Array:
    """Return H K H' of each matrix (M, N, N), where the first n samples have the mean 0."""
    N = whole.shape[1]
    H = np.eye(N) - np.where(np.arange(N) < n, 1.0 / n, 0.0)
    return H @ whole @ H.T


def _cosine(whole: Array, n: int) -> Array:
    """Return K_ij / sqrt(K_ii K_jj), and 0 where that is 0 / 0."""
    diagonals = np.einsum("mii->mi", whole)
    inverse = np.where(diagonals > 0, 1.0 / np.sqrt(np.where(diagonals > 0, diagonals, 1.0)), 0.0)
    return whole * inverse[:, :, None] * inverse[:, None, :]


def _changed(
    make: Callable[[Array], Bank],
    dense: Definition,
    change: Callable[[Array, int], Array],
    columns: Any = slice(None),
) -> Callable[[], BankCase]:
    """Return what makes a case of kernels changed on training and new samples together."""

    def made() -> BankCase:
        X, Z = (samples[:, columns] for samples in awkward_features(25))
        every, n = np.concatenate([X, Z]), len(X)
        whole = change(dense(every, every), n)
        return BankCase(make(X), whole[:, :n, :n], Z, whole[:, n:, :n])

    return made


def _standardised() -> BankCase:
    X, Z = awkward_features(25)
    centre, spread = X.mean(axis=0), X.std(axis=0)
    spread[1] = np.inf  # the constant feature
    bank = StandardisedBank(lambda samples: kernels.DenseBank(samples, _FUNCTIONS), X)
    scaled, new = (X - centre) / spread, (Z - centre) / spread
    return BankCase(bank, _on_all(scaled, scaled), Z, _on_all(new, scaled))


def _combined(how: str, combine: Callable[[Array], Array]) -> Callable[[], BankCase]:
    functions: list[KernelFunction] = [kernels.Gaussian(0.3), kernels.Polynomial(1)]
    dense = [dense_gaussian(0.3), dense_polynomial(1, 1.0)]

    def bank(X: Array) -> Bank:
        each = kernels.FeatureBank(X, functions)
        return CombinedKernel(each, how, degree=3, offset=0.5)

    return _case(bank, lambda A, B: combine(on_each_feature(dense, A, B))[None], columns=slice(5))


def view_distances(X: Array, Z: Array, spread: Array) -> list[Array]:
    """Return of two views the squared distances (n_z, n), the second in units of `spread`."""
    return [dense_distances(Z[:, :3], X[:, :3]), dense_distances(Z[:, 3:], X[:, 3:], spread)]


def _descriptors() -> BankCase:
    X, Z = awkward_features(30)
    views = [View("first", 0, 3), View("second", 3, 6, "seuclidean")]
    within = view_distances(X, X, X[:, 3:].std(axis=0))
    means = [distances.sum() / (30 * 29) for distances in within]
    stacks = [
        np.array(
            [
                np.exp(-gamma * D / mean)
                for D, mean in zip(of, means, strict=True)
                for gamma in (0.1, 2.0)
            ]
        )
        for of in (within, view_distances(X, Z, X[:, 3:].std(axis=0)))
    ]
    bank = DistanceBank(X, feature_views(X, views), (0.1, 2.0))
    return BankCase(bank, stacks[0], Z, stacks[1])


BANK_CASES: dict[str, Callable[[], BankCase]] = {
    "dense": _case(lambda X: kernels.DenseBank(X, _FUNCTIONS), _on_all),
    "features": _features(150),
    "features of few samples": _features(20),
    "features, polynomials": _features_polynomial(),
    "generated, on features": _generated([(j,) for j in range(4)]),
    "generated, on pairs": _generated(list(combinations(range(4), 2))),
    "generated, on groups": _generated([(2,), (3, 0, 1), (1, 3)]),
    "linear": _linear(6),
    "linear, more features than one product takes": _linear(300),
    "concatenated": _case(
        _concatenated, lambda A, B: np.concatenate([_on_each(A, B), _on_all(A, B)])
    ),
    "list of kernels": _case(_list_of_kernels, _dense_list),
    "functions of pairs": _case(_functions_of_pairs, _on_all),
    "scaled": _case(_scaled, lambda A, B: _SCALES[:, None, None] * _on_all(A, B)),
    "simplemkl": _simplemkl,
    "precomputed": _of_stack(lambda K: kernels.PrecomputedBank(K, groups=[[0, 2], [1, 3]])),
    "indexed": _indexed,
    "distances of views": _descriptors,
    "members of a family": _members(),
    "some kernels of a bank": _case(_subset, lambda A, B: _on_all(A, B)[_CHOSEN]),
    "centred": _changed(
        lambda X: kernels.CentredBank(kernels.FeatureBank(X, _FUNCTIONS)),
        _on_each,
        _centred,
        [0, 2, 3, 4],
    ),
    # Gaussians, which it leaves alone, and the linear kernel with samples at its origin.
    "cosine": _changed(lambda X: CosineBank(kernels.FeatureBank(X, _FUNCTIONS)), _on_each, _cosine),
    "centred, then cosine": _changed(
        lambda X: CosineBank(kernels.CentredBank(kernels.DenseBank(X, _FUNCTIONS))),
        _on_all,
        lambda whole, n: _cosine(_centred(whole, n), n),
        slice(5),
    ),
    "standardised features": _standardised,
    "sum": _combined("sum", lambda each: each.sum(axis=0)),
    "product": _combined("product", lambda each: each.prod(axis=0)),
    "polynomial": _combined("polynomial", lambda each: (each.sum(axis=0) + 0.5) ** 3),
    "defaults of Bank": _of_stack(PlainBank),
}


def product_kernel(theta: Array, X: Array, Z: Array) -> Array:
    """Return prod_m exp(-theta_m (x_m - z_m)^2), (n, n_z)."""
    squares = (X[:, None] - Z) ** 2
    return np.exp(-theta * squares).prod(axis=2)


def gradient(kernel: Callable[..., Array], theta: Array, X: Array, a: Array) -> Array:
    """Return the gradient (M,) of a' K a by complex steps, which have no rounding."""
    steps = 1e-30j * np.eye(len(theta))
    return np.array([(a @ kernel(theta + step, X, X) @ a).imag / 1e-30 for step in steps])


def isotropic_kernel(theta: Array, X: Array, Z: Array) -> Array:
    """Return exp(-theta ||x - z||^2), (n, n_z)."""
    return np.exp(-theta[0] * dense_distances(X, Z))


def gaussian_polynomial_kernel(theta: Array, X: Array, Z: Array) -> Array:
    """Return a Gaussian times the cosine of 1 + theta_1 x'z to the power 3."""

    def plain(A: Array, B: Array) -> Array:
        return 1.0 + theta[1] * (A @ B.T)

    norms = [np.sqrt(plain(A, A).diagonal()) for A in (X, Z)]
    return np.exp(-theta[0] * dense_distances(X, Z)) * (plain(X, Z) / np.outer(*norms)) ** 3


def _family(
    make: Callable[[Array], Family], kernel: Callable[[Array, Array, Array], Array], d: int = 6
) -> Callable[[], FamilyCase]:
    def made() -> FamilyCase:
        X, Z = (samples[:, :d] for samples in awkward_features(35))
        return FamilyCase(make(X), X, Z, kernel)

    return made


FAMILY_CASES: dict[str, Callable[[], FamilyCase]] = {
    "product of Gaussians": _family(kernels.ProductGaussians, product_kernel),
    "isotropic Gaussians": _family(kernels.IsotropicGaussians, isotropic_kernel),
    # Far from the origin, as the sixth feature is, a polynomial is constant.
    "Gaussians and polynomials": _family(
        lambda X: kernels.GaussianPolynomials(X, degree=3), gaussian_polynomial_kernel, 5
    ),
}
