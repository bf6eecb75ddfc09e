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
    gradient: Callable[[Array, Array, Array], Array]


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


_GAMMAS = (0.01, 1.0, 30.0)
_FUNCTIONS: tuple[KernelFunction, ...] = (
    *(kernels.Gaussian(gamma) for gamma in _GAMMAS),
    kernels.Polynomial(1, offset=0.0),
)
_DENSE = (*(dense_gaussian(gamma) for gamma in _GAMMAS), dense_polynomial(1, 0.0))


def _dense() -> BankCase:
    X, Z = awkward_features(25)
    return BankCase(
        kernels.DenseBank(X, _FUNCTIONS),
        on_all_features(_DENSE, X, X),
        Z,
        on_all_features(_DENSE, Z, X),
    )


def _features(n: int, memory_limit: float = 1e8) -> BankCase:
    X, Z = awkward_features(n)
    return BankCase(
        kernels.FeatureBank(X, _FUNCTIONS, memory_limit=memory_limit),
        on_each_feature(_DENSE, X, X),
        Z,
        on_each_feature(_DENSE, Z, X),
    )


def _features_polynomial() -> BankCase:
    X, Z = awkward_features(40, seed=1)
    X, Z = X[:, :5], Z[:, :5]
    functions: list[KernelFunction] = [
        kernels.Polynomial(2),
        kernels.Polynomial(3),
        kernels.Gaussian(0.2),
    ]
    dense = [dense_polynomial(2, 1.0), dense_polynomial(3, 1.0), dense_gaussian(0.2)]
    return BankCase(
        kernels.FeatureBank(X, functions),
        on_each_feature(dense, X, X),
        Z,
        on_each_feature(dense, Z, X),
    )


def _generated(how: str) -> BankCase:
    X, Z = awkward_features(40)
    X, Z = X[:, [0, 2, 3, 5]], Z[:, [0, 2, 3, 5]]
    dense = [dense_gaussian(gamma) for gamma in _GAMMAS]
    every: dict[str, list[tuple[int, ...]]] = {
        "features": [(j,) for j in range(4)],
        "pairs": list(combinations(range(4), 2)),
        "groups": [(2,), (3, 0, 1), (1, 3)],
    }
    groups = every[how]
    parts = [(X[:, list(group)], Z[:, list(group)]) for group in groups]
    return BankCase(
        kernels.GeneratedBank(X, _GAMMAS, groups),
        np.concatenate([on_all_features(dense, x, x) for x, _ in parts]),
        Z,
        np.concatenate([on_all_features(dense, z, x) for x, z in parts]),
    )


def _linear(n_features: int) -> BankCase:
    X, Z = awkward_features(25)
    X, Z = np.resize(X.T, (n_features, 25)).T, np.resize(Z.T, (n_features, 7)).T
    dense = [dense_polynomial(1, 0.0)]
    return BankCase(
        kernels.LinearBank(X), on_each_feature(dense, X, X), Z, on_each_feature(dense, Z, X)
    )


def _concatenated() -> BankCase:
    X, Z = awkward_features(25)
    parts = (on_each_feature, on_all_features)
    return BankCase(
        kernels.ConcatenatedBank(
            [kernels.FeatureBank(X, _FUNCTIONS), kernels.DenseBank(X, _FUNCTIONS)]
        ),
        np.concatenate([part(_DENSE, X, X) for part in parts]),
        Z,
        np.concatenate([part(_DENSE, Z, X) for part in parts]),
    )


def _list_of_kernels() -> BankCase:
    X, Z = awkward_features(25)
    kernel = [
        ("one", dense_gaussian(0.3), [1]),
        list(_FUNCTIONS),
        ("each", "feature_gaussians", [0, 2]),
    ]
    unit = [dense_gaussian(1.0)]
    dense = [
        np.concatenate(
            [
                on_all_features([dense_gaussian(0.3)], A[:, [1]], X[:, [1]]),
                on_all_features(_DENSE, A, X),
                on_each_feature(unit, A[:, [0, 2]], X[:, [0, 2]]),
            ]
        )
        for A in (X, Z)
    ]
    return BankCase(kernels.KernelList(kernel)(X), dense[0], Z, dense[1])


def _functions_of_pairs() -> BankCase:
    X, Z = awkward_features(25)
    own = [kernels.NamedFunction(function, "own") for function in _DENSE]
    return BankCase(
        kernels.FunctionBank(X, own),
        on_all_features(_DENSE, X, X),
        Z,
        on_all_features(_DENSE, Z, X),
    )


def _scaled() -> BankCase:
    X, Z = awkward_features(25)
    scales = np.geomspace(1e-3, 1e3, len(_DENSE))
    return BankCase(
        kernels.ScaledBank(kernels.DenseBank(X, _FUNCTIONS), scales),
        scales[:, None, None] * on_all_features(_DENSE, X, X),
        Z,
        scales[:, None, None] * on_all_features(_DENSE, Z, X),
    )


def _simplemkl() -> BankCase:
    X, Z = awkward_features(30)
    return BankCase(kernels.simplemkl_bank(X), toolbox_stack(X, X), Z, toolbox_stack(X, Z))


def _precomputed() -> BankCase:
    X, Z = awkward_features(25)
    stack, cross = on_all_features(_DENSE, X, X), on_all_features(_DENSE, Z, X)
    bank = kernels.PrecomputedBank(stack.copy(), groups=[[0, 2], [1, 3]])
    return BankCase(bank, stack, cross, cross)


def _indexed() -> BankCase:
    X, _ = awkward_features(40)
    stack = on_all_features(_DENSE, X, X)
    train, new = np.array([3, 1, 30, 12, 7, 22, 39]), np.array([0, 2, 30])
    return BankCase(
        kernels.IndexedBank(stack.copy(), train),
        stack[:, train[:, None], train],
        new,
        stack[:, new[:, None], train],
    )


def _members() -> BankCase:
    """Members of a family, one of which has replaced another and one of which came later."""
    X, Z = awkward_features(25)
    rng = np.random.default_rng(3)
    thetas = rng.uniform(0.0, 0.2, size=(4, 6)) * (rng.uniform(size=(4, 6)) < 0.6)
    bank = kernels.FamilyBank(kernels.ProductGaussians(X), thetas[[0, 3, 2]])
    bank.update(thetas)
    return BankCase(
        bank,
        np.array([product_kernel(theta, X, X) for theta in thetas]),
        Z,
        np.array([product_kernel(theta, Z, X) for theta in thetas]),
    )


def _subset() -> BankCase:
    X, Z = awkward_features(25)
    chosen = [3, 0, 2]
    return BankCase(
        kernels.KernelSubset(kernels.DenseBank(X, _FUNCTIONS), chosen),
        on_all_features(_DENSE, X, X)[chosen],
        Z,
        on_all_features(_DENSE, Z, X)[chosen],
    )


def dense_centred(stack: Array, cross: Array) -> tuple[Array, Array]:
    """Return H K H of each matrix of a stack (M, n, n), and that for new samples (M, n_z, n)."""
    n = stack.shape[1]
    H = np.eye(n) - np.full((n, n), 1.0 / n)
    shift = np.full((cross.shape[1], n), 1.0 / n)
    return H @ stack @ H, (cross - shift @ stack) @ H


def dense_cosine(stack: Array, cross: Array, new: Array) -> tuple[Array, Array]:
    """Return K_ij / sqrt(K_ii K_jj), and the same for new samples with k(z, z) `new` (M, n_z)."""
    inverse, inverse_new = (
        np.where(each > 0, 1.0 / np.sqrt(np.where(each > 0, each, 1.0)), 0.0)
        for each in (np.einsum("mii->mi", stack), new)
    )
    return (
        stack * inverse[:, :, None] * inverse[:, None, :],
        cross * inverse_new[:, :, None] * inverse[:, None, :],
    )


def _centred() -> BankCase:
    X, Z = awkward_features(25)
    X, Z = X[:, [0, 2, 3, 4]], Z[:, [0, 2, 3, 4]]
    stack, cross = dense_centred(on_each_feature(_DENSE, X, X), on_each_feature(_DENSE, Z, X))
    bank = kernels.CentredBank(kernels.FeatureBank(X, _FUNCTIONS))
    return BankCase(bank, stack, Z, cross)


def _cosine() -> BankCase:
    """Gaussians, which it leaves alone, and the linear kernel with samples at its origin."""
    X, Z = awkward_features(25)
    new = np.array(
        [
            np.diag(function(column[:, None], column[:, None]))
            for column in Z.T
            for function in _DENSE
        ]
    )
    stack, cross = dense_cosine(on_each_feature(_DENSE, X, X), on_each_feature(_DENSE, Z, X), new)
    return BankCase(kernels.CosineBank(kernels.FeatureBank(X, _FUNCTIONS)), stack, Z, cross)


def _normalised() -> BankCase:
    X, Z = awkward_features(25)
    X, Z = X[:, :5], Z[:, :5]
    every = np.concatenate([X, Z])
    whole = on_all_features(_DENSE, every, every)
    n = len(X)
    weights = np.concatenate([np.full(n, 1.0 / n), np.zeros(len(Z))])
    H = np.eye(len(every)) - np.outer(np.ones(len(every)), weights)
    whole = H @ whole @ H.T
    stack, cross = dense_cosine(
        whole[:, :n, :n], whole[:, n:, :n], np.einsum("mii->mi", whole)[:, n:]
    )
    bank = kernels.CosineBank(kernels.CentredBank(kernels.DenseBank(X, _FUNCTIONS)))
    return BankCase(bank, stack, Z, cross)


def _standardised() -> BankCase:
    X, Z = awkward_features(25)
    centre, spread = X.mean(axis=0), X.std(axis=0)
    spread[1] = np.inf  # the constant feature
    stack = on_all_features(_DENSE, (X - centre) / spread, (X - centre) / spread)
    cross = on_all_features(_DENSE, (Z - centre) / spread, (X - centre) / spread)
    bank = kernels.StandardisedBank(lambda samples: kernels.DenseBank(samples, _FUNCTIONS), X)
    return BankCase(bank, stack, Z, cross)


def _combined(how: str) -> BankCase:
    X, Z = awkward_features(25)
    X, Z = X[:, :5], Z[:, :5]
    functions: list[KernelFunction] = [kernels.Gaussian(0.3), kernels.Polynomial(1)]
    dense = [dense_gaussian(0.3), dense_polynomial(1, 1.0)]
    stack, cross = on_each_feature(dense, X, X), on_each_feature(dense, Z, X)
    combine: Callable[[Array], Array] = {
        "sum": lambda each: each.sum(axis=0),
        "product": lambda each: each.prod(axis=0),
        "polynomial": lambda each: (each.sum(axis=0) + 0.5) ** 3,
    }[how]
    bank = kernels.FeatureBank(X, functions)
    return BankCase(
        kernels.CombinedKernel(bank, how, degree=3, offset=0.5),
        combine(stack)[None],
        Z,
        combine(cross)[None],
    )


def _plain() -> BankCase:
    X, Z = awkward_features(25)
    stack, cross = on_all_features(_DENSE, X, X), on_all_features(_DENSE, Z, X)
    return BankCase(PlainBank(stack), stack, cross, cross)


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
    bank = kernels.DistanceBank(X, kernels.feature_views(X, views), (0.1, 2.0))
    return BankCase(bank, stacks[0], Z, stacks[1])


BANK_CASES: dict[str, Callable[[], BankCase]] = {
    "dense": _dense,
    "features, all stored": lambda: _features(20),
    "features as factors": lambda: _features(150),
    "features as factors alone": lambda: _features(150, memory_limit=0),
    "features, polynomials": _features_polynomial,
    "generated, on features": lambda: _generated("features"),
    "generated, on pairs": lambda: _generated("pairs"),
    "generated, on groups": lambda: _generated("groups"),
    "linear": lambda: _linear(6),
    "linear, more features than one product takes": lambda: _linear(300),
    "concatenated": _concatenated,
    "list of kernels": _list_of_kernels,
    "functions of pairs": _functions_of_pairs,
    "scaled": _scaled,
    "simplemkl": _simplemkl,
    "precomputed": _precomputed,
    "indexed": _indexed,
    "distances of views": _descriptors,
    "members of a family": _members,
    "some kernels of a bank": _subset,
    "centred": _centred,
    "cosine": _cosine,
    "centred, then cosine": _normalised,
    "standardised features": _standardised,
    "sum": lambda: _combined("sum"),
    "product": lambda: _combined("product"),
    "polynomial": lambda: _combined("polynomial"),
    "defaults of Bank": _plain,
}


def product_kernel(theta: Array, X: Array, Z: Array) -> Array:
    """Return prod_m exp(-theta_m (x_m - z_m)^2), (n, n_z), factor by factor."""
    K = np.ones((len(X), len(Z)))
    for m, parameter in enumerate(theta):
        K *= np.exp(-parameter * (X[:, [m]] - Z[:, m]) ** 2)
    return K


def product_gradient(theta: Array, X: Array, a: Array) -> Array:
    """Return -a' (D_m o K) a for all m from the stack of distances D_m (M, n, n)."""
    D = (X.T[:, :, None] - X.T[:, None, :]) ** 2
    return -np.einsum("i,mij,ij,j->m", a, D, product_kernel(theta, X, X), a)


def _product() -> FamilyCase:
    X, Z = awkward_features(35)
    return FamilyCase(kernels.ProductGaussians(X), X, Z, product_kernel, product_gradient)


def isotropic_kernel(theta: Array, X: Array, Z: Array) -> Array:
    """Return exp(-theta ||x - z||^2), (n, n_z)."""
    return dense_gaussian(float(theta[0]))(X, Z)


def isotropic_gradient(theta: Array, X: Array, a: Array) -> Array:
    """Return -a' (D o K) a for the squared distances D."""
    return -np.array([a @ (dense_distances(X, X) * isotropic_kernel(theta, X, X)) @ a])


def _isotropic() -> FamilyCase:
    X, Z = awkward_features(35)
    return FamilyCase(kernels.IsotropicGaussians(X), X, Z, isotropic_kernel, isotropic_gradient)


def gaussian_polynomial_kernel(theta: Array, X: Array, Z: Array) -> Array:
    """Return a Gaussian times the cosine of 1 + theta_1 x'z to the power 3."""

    def plain(A: Array, B: Array) -> Array:
        return 1.0 + theta[1] * (A @ B.T)

    norms = [np.sqrt(plain(A, A).diagonal()) for A in (X, Z)]
    return np.exp(-theta[0] * dense_distances(X, Z)) * (plain(X, Z) / np.outer(*norms)) ** 3


def gaussian_polynomial_gradient(theta: Array, X: Array, a: Array) -> Array:
    """Return the gradient of a' K a by complex steps, which have no rounding."""
    steps = 1e-30j * np.eye(len(theta))
    kernels_beside = (gaussian_polynomial_kernel(theta + step, X, X) for step in steps)
    return np.array([(a @ K @ a).imag / 1e-30 for K in kernels_beside])


def _gaussian_polynomials() -> FamilyCase:
    X, Z = awkward_features(35)
    X, Z = X[:, :5], Z[:, :5]  # far from the origin a polynomial is constant
    family = kernels.GaussianPolynomials(X, degree=3)
    return FamilyCase(family, X, Z, gaussian_polynomial_kernel, gaussian_polynomial_gradient)


FAMILY_CASES: dict[str, Callable[[], FamilyCase]] = {
    "product of Gaussians": _product,
    "isotropic Gaussians": _isotropic,
    "Gaussians and polynomials": _gaussian_polynomials,
}
