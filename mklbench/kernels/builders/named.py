"""From training samples to a bank or a family: kernels by the names of the papers and scikit-learn.

Each function takes the training samples first and the choices of the paper as keywords; with the
keywords fixed (``functools.partial``) it is what the experiments and the estimators call `kernel`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.concatenated import ConcatenatedBank
from mklbench.kernels.banks.dense import DenseBank, FunctionBank, NamedFunction, has_factors
from mklbench.kernels.banks.features import FeatureBank, LinearBank
from mklbench.kernels.banks.generated import GeneratedBank
from mklbench.kernels.banks.wrapped import ScaledBank, unit_trace
from mklbench.kernels.base import Array, Bank, KernelOperator
from mklbench.kernels.builders.grams import precomputed
from mklbench.kernels.contract import declares, unbound
from mklbench.kernels.families import (
    GaussianPolynomials,
    IsotropicGaussians,
    ProductGaussians,
)
from mklbench.kernels.functions import (
    Gaussian,
    KernelFunction,
    Linear,
    Polynomial,
    check_values,
    gamma_scale,
)
from mklbench.kernels.naming import function_names
from mklbench.kernels.samples import csr, dense, is_sparse
from mklbench.validation import (
    check_choice,
    check_count,
    check_features,
    check_not_empty,
    check_not_negative,
    check_positive,
    check_scale,
    check_training_features,
    column_called,
)

KernelBuilder = Callable[[ArrayLike], KernelOperator]
# What estimators take: a name, a builder, a function of two sets of samples, or a list of kernels.
Kernel = str | Callable[..., Any] | Sequence[Any]

# The gammas of `gaussians`, in units of that of `Gaussian()`.
SCALE_FACTORS = (0.0625, 0.25, 1.0, 4.0, 16.0)
# Rakotomamonjy et al. 2008, the widths and degrees of the authors' toolbox.
SIMPLEMKL_WIDTHS = (0.5, 1.0, 2.0, 5.0, 7.0, 10.0, 12.0, 15.0, 17.0, 20.0)
# Gehler & Nowozin 2008, footnote 3, for data sets of two classes; those of footnote 4, for more
# classes, are SIMPLEMKL_WIDTHS.
GEHLER_WIDTHS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 75.0, 100.0, 125.0, 150.0)
# Kernels of `feature_widths` of which factors are stored; of more nothing is. No table of the
# project has as many.
MOST_STORED = 2000
# The end of the box of "products", section 3 of the same paper.
GEHLER_GAMMA_MAX = 30.0

# Families are their own builders.
product_gaussians = ProductGaussians
isotropic_gaussians = IsotropicGaussians
gaussian_polynomials = GaussianPolynomials


def samples_of(X: Any) -> Any:
    """Return finite samples (n, d) of an array, or of a sparse matrix as such."""
    if not is_sparse(X):
        return check_features("X", X)
    samples = csr(X)
    if not np.isfinite(samples.data).all():
        raise InputError("X holds NaN or infinite values: remove or impute them.")
    return samples


@declares(takes_sparse=True)
def on_all_features(X: Any, functions: Sequence[Gaussian | Linear | Polynomial]) -> Bank:
    """Return the bank of kernel functions on all features of samples, dense or sparse (n, d)."""
    if is_sparse(X) and has_factors(np.shape(X)[1], functions):
        X = dense(X)
    if not is_sparse(X):
        return DenseBank(X, functions)
    fitted = [f.on(X) if isinstance(f, Gaussian) else f for f in functions]
    names = function_names(fitted)
    own = [NamedFunction(_on_sparse(f), name) for f, name in zip(fitted, names, strict=True)]
    return FunctionBank(samples_of(X), own)


def _on_sparse(function: Gaussian | Linear | Polynomial) -> Callable[[Any, Any], Any]:
    """Return the kernel function as scikit-learn has it, which takes sparse matrices."""
    if isinstance(function, Gaussian):
        return _of_sklearn("rbf_kernel", gamma=function.factor)
    if isinstance(function, Linear):
        return _of_sklearn("linear_kernel")
    options = {"degree": function.degree, "gamma": function.gamma, "coef0": function.offset}
    return _of_sklearn("polynomial_kernel", **options)


@declares(takes_sparse=True)
def gaussian(X: ArrayLike, gamma: float | None = None) -> Bank:
    """Return one Gaussian exp(-gamma ||x - z||^2) on all features.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples.
    gamma : float or None, default=None
        Factor of the squared distance, > 0; 1/d if not given.
    """
    features = samples_of(X)
    return on_all_features(features, [Gaussian(_gamma(features, gamma))])


rbf = gaussian  # as scikit-learn calls it


@declares(takes_sparse=True)
def gaussians(X: ArrayLike, gammas: Sequence[float] | None = None) -> Bank:
    """Return Gaussians exp(-gamma ||x - z||^2) on all features, one for each gamma.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples.
    gammas : sequence of float or None, default=None
        Factors of the squared distance, > 0, at least one; if not given, that of ``Gaussian()``
        on the training samples times 1/16, 1/4, 1, 4 and 16.
    """
    features = samples_of(X)
    if gammas is None:
        if isinstance(features, np.ndarray):
            check_scale("X", features)
        gammas = [gamma_scale(features) * factor for factor in SCALE_FACTORS]
    functions = [Gaussian(gamma) for gamma in check_not_empty("gammas", gammas)]
    return on_all_features(features, functions)


@declares(version=2)
def feature_gaussians(X: ArrayLike, gammas: Sequence[float] = (1.0,)) -> FeatureBank:
    """Return Gaussians exp(-gamma (x_m - z_m)^2) on every single feature, one for each gamma.

    With one gamma these are the minor kernels of Picard et al. 2012 and the terms of the sum in
    Varma & Babu 2009.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    gammas : sequence of float, default=(1.0,)
        Factors of the squared difference, > 0, at least one.
    """
    return FeatureBank(X, [Gaussian(gamma) for gamma in check_not_empty("gammas", gammas)])


def feature_widths(X: ArrayLike, n_widths: int = 10) -> ScaledBank:
    """Return Gaussians exp(-(x_m - z_m)^2 / (2 width^2)) on every single feature, of unit trace.

    The kernels of the scalability experiments of Aflalo et al. 2011, a growing number of them. The
    paper leaves the widths open: here they are `n_widths` on a logarithmic scale between the ends
    of `SIMPLEMKL_WIDTHS`, both included where there are two or more.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    n_widths : int, default=10
        Number of widths, >= 1. With more than 2,000 kernels the bank keeps none of them
        (`mklbench.kernels.GeneratedBank`): a million take no more memory than their weights.
    """
    gammas = _gammas_of_widths(n_widths)
    samples = check_training_features("X", X)
    if samples.shape[1] * len(gammas) > MOST_STORED:
        every = [(j,) for j in range(samples.shape[1])]
        return unit_trace(GeneratedBank(samples, gammas, every))
    functions = [Gaussian(gamma) for gamma in gammas.tolist()]
    return unit_trace(FeatureBank(samples, functions))


def feature_pairs(X: ArrayLike, n_widths: int = 5) -> ScaledBank:
    """Return Gaussians exp(-((x_i - z_i)^2 + (x_j - z_j)^2) / (2 width^2)) on every pair i < j.

    Each has unit trace. They are products of a Gaussian on either feature, and so tell interactions
    of two features; none of them is kept (`mklbench.kernels.GeneratedBank`). The widths are those
    of `feature_widths`.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples, d >= 2.
    n_widths : int, default=5
        Number of widths, >= 1.

    Raises
    ------
    InputError
        If `X` has one column only, or an argument is out of range.
    """
    samples = check_training_features("X", X)
    if samples.shape[1] < 2:
        raise InputError(
            "X has 1 column, but the kernels look at pairs of columns: pass two or more, or "
            "choose kernel=feature_widths."
        )
    pairs = list(combinations(range(samples.shape[1]), 2))
    return unit_trace(GeneratedBank(samples, _gammas_of_widths(n_widths), pairs))


def _gammas_of_widths(n_widths: int) -> Array:
    """Return 0.5 / width^2 of so many widths on a logarithmic scale between the toolbox's ends."""
    widths = np.geomspace(
        SIMPLEMKL_WIDTHS[0], SIMPLEMKL_WIDTHS[-1], check_count("n_widths", n_widths)
    )
    return np.array([0.5 / width**2 for width in widths.tolist()])


def linear_features(X: ArrayLike) -> LinearBank:
    """Return the linear kernels x_m z_m, one a feature: the base kernels of Cortes et al. 2009.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    """
    return LinearBank(X)


@declares(version=3)
def simplemkl_bank(
    X: ArrayLike,
    widths: Sequence[float] = SIMPLEMKL_WIDTHS,
    degrees: Sequence[int] = (1, 2, 3),
) -> ScaledBank:
    """Return the 13 (d + 1) kernels of Rakotomamonjy et al. 2008, each with unit trace.

    Gaussians exp(-||x - z||^2 / (2 width^2)) and polynomials (x'z + 1)^degree, where degree 1 is
    the plain inner product, on all features together and then on every single one.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    widths : sequence of float, default=SIMPLEMKL_WIDTHS
        Widths of the Gaussians, > 0, in units of the features, at least one.
    degrees : sequence of int, default=(1, 2, 3)
        Degrees of the polynomials, >= 1.
    """
    functions = simplemkl_functions(check_not_empty("widths", widths), degrees)
    return unit_trace(ConcatenatedBank([DenseBank(X, functions), FeatureBank(X, functions)]))


def simplemkl_functions(
    widths: Sequence[float] = SIMPLEMKL_WIDTHS, degrees: Sequence[int] = (1, 2, 3)
) -> list[KernelFunction]:
    """Return the kernel functions of `simplemkl_bank`, Gaussians first."""
    return [
        *(Gaussian(0.5 / check_positive("width", width) ** 2) for width in widths),
        *(Polynomial(degree, offset=float(degree > 1)) for degree in degrees),
    ]


def single(X: ArrayLike, widths: Sequence[float] = GEHLER_WIDTHS) -> DenseBank:
    """Return Gaussians exp(-||x - z||^2 / width^2) on all features, one for each width.

    The finite set "single" of Gehler & Nowozin 2008, its footnote 3.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    widths : sequence of float, default=GEHLER_WIDTHS
        Widths of the Gaussians, > 0, in units of the features, at least one.
    """
    return DenseBank(X, _inverse_square_widths(widths))


def separate(X: ArrayLike, widths: Sequence[float] = GEHLER_WIDTHS) -> ConcatenatedBank:
    """Return the Gaussians of `single` on all features together, then on every single one.

    The finite set "separate" of Gehler & Nowozin 2008: len(widths) (d + 1) kernels.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    widths : sequence of float, default=GEHLER_WIDTHS
        Widths of the Gaussians, > 0, in units of the features, at least one.
    """
    functions = _inverse_square_widths(widths)
    return ConcatenatedBank([DenseBank(X, functions), FeatureBank(X, functions)])


def _of_sklearn(name: str, **options: Any) -> Callable[[Any, Any], Any]:
    """Return a kernel of scikit-learn between two sets of samples."""
    from sklearn.metrics import pairwise  # of those who ask for it: it takes a second to import

    return partial(getattr(pairwise, name), **options)


def _gamma(X: Any, gamma: float | None) -> float:
    """Return the factor of a kernel on all features, 1/d if none is given."""
    return 1.0 / X.shape[1] if gamma is None else check_positive("gamma", gamma)


@declares(takes_sparse=True)
def linear(X: Any) -> Bank:
    """Return the inner product x'z on all features.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples.
    """
    return on_all_features(samples_of(X), [Linear()])


@declares(takes_sparse=True)
def poly(X: Any, degree: int = 3, gamma: float | None = None, coef0: float = 1.0) -> Bank:
    """Return (gamma x'z + coef0)^degree on all features.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples.
    degree : int, default=3
        The power, >= 1.
    gamma : float or None, default=None
        Factor of the inner product, > 0; 1/d if not given.
    coef0 : float, default=1.0
        Added to it, >= 0.
    """
    samples = samples_of(X)
    offset = check_not_negative("coef0", coef0)
    return on_all_features(samples, [Polynomial(degree, offset, _gamma(samples, gamma))])


@declares(takes_sparse=True)
def laplacian(X: Any, gamma: float | None = None) -> Bank:
    """Return exp(-gamma ||x - z||_1) on all features.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples.
    gamma : float or None, default=None
        Factor of the distance, > 0; 1/d if not given.
    """
    samples = samples_of(X)
    factor = _gamma(samples, gamma)
    function = _of_sklearn("laplacian_kernel", gamma=factor)
    return FunctionBank(samples, [NamedFunction(function, f"laplacian {factor:.3g}")])


@declares(takes_sparse=True)
def cosine(X: Any) -> Bank:
    """Return x'z / (||x|| ||z||) on all features.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples.
    """
    function = NamedFunction(_of_sklearn("cosine_similarity"), "cosine")
    return FunctionBank(samples_of(X), [function])


def chi2(X: Any, gamma: float = 1.0) -> Bank:
    """Return exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j)) on all features, which are histograms.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples, no entry below 0.
    gamma : float, default=1.0
        Factor of the distance, > 0.
    """
    factor = check_positive("gamma", gamma)
    function = NamedFunction(partial(_chi2, gamma=factor), f"chi2 {factor:.3g}")
    return FunctionBank(samples_of(X), [function])


def _chi2(X: Any, Z: Any, gamma: float) -> Any:
    for samples in (X, Z):
        if np.min(samples) < 0:
            row, column = np.argwhere(np.asarray(samples) < 0)[0].tolist()
            raise InputError(
                f"X holds {samples[row, column]:g} at row {row}, {column_called(column)}: chi2 "
                "compares histograms, which have no values below 0."
            )
    return _of_sklearn("chi2_kernel", gamma=gamma)(X, Z)


def smkl_bank(X: ArrayLike, gamma: float = 1.0, sigmoids: bool = True) -> Bank:
    """Return the ten kernels of Bertsimas et al. 2025, in their order and as large as they are.

    x'z; (gamma x'z + 1)^d for d = 2, 3 and 5; exp(-g ||x - z||^2) for g = 0.5, 0.3 and 0.1;
    tanh(g x'z + 1) for g = 0.5 and 0.7, which is not positive semidefinite; exp(-0.3 ||x - z||_1).

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    gamma : float, default=1.0
        Factor of the inner product in the polynomials, > 0: 1 for the rivals of SMKL in the
        paper, and 0.01 in the authors' program for SMKL.
    sigmoids : bool, default=True
        Whether the two kernels that are not positive semidefinite are there.
    """
    factor = check_positive("gamma", gamma)
    samples = samples_of(X)
    polynomials = [Polynomial(degree, 1.0, factor) for degree in (2, 3, 5)]
    check_values(polynomials, samples)
    functions: list[KernelFunction] = [
        Linear(),
        *polynomials,
        *(Gaussian(g) for g in (0.5, 0.3, 0.1)),
        *(
            NamedFunction(_of_sklearn("sigmoid_kernel", gamma=g, coef0=1.0), f"sigmoid {g}")
            for g in (0.5, 0.7)
            if sigmoids
        ),
        NamedFunction(_of_sklearn("laplacian_kernel", gamma=0.3), "laplacian 0.3"),
    ]
    return FunctionBank(samples, functions)


BUILDERS: dict[str, KernelBuilder] = {
    "gaussian": gaussian,
    "gaussians": gaussians,
    "feature_gaussians": feature_gaussians,
    "feature_widths": feature_widths,
    "feature_pairs": feature_pairs,
    "linear_features": linear_features,
    "simplemkl": simplemkl_bank,
    "product": product_gaussians,
    "single": single,
    "separate": separate,
    "isotropic": partial(isotropic_gaussians, gamma_max=GEHLER_GAMMA_MAX),
    "products": partial(product_gaussians, gamma_max=GEHLER_GAMMA_MAX),
    "precomputed": precomputed,
    "linear": linear,
    "poly": poly,
    "rbf": rbf,
    "laplacian": laplacian,
    "cosine": cosine,
    "chi2": chi2,
    "smkl": smkl_bank,
}


def resolve(kernel: Kernel, **parameters: object) -> KernelBuilder:
    """Return the builder that `kernel` names, or `kernel` itself if it is callable.

    Parameters
    ----------
    kernel : str or KernelBuilder
        A name in `BUILDERS`, or a builder.
    **parameters : object
        Keywords to fix for a builder that is named; a builder that is given has its own.
    """
    if callable(kernel):
        return kernel
    name = check_choice("kernel", kernel, BUILDERS)
    return partial(BUILDERS[name], **parameters) if parameters else BUILDERS[name]


def takes_matrices(kernel: Any) -> bool:
    """Tell whether a parameter ``kernel`` is "precomputed", or the builder with options bound."""
    if isinstance(kernel, str):
        return kernel == "precomputed"
    return callable(kernel) and unbound(kernel)[0] is precomputed


def _inverse_square_widths(widths: Sequence[float]) -> list[Gaussian]:
    return [
        Gaussian(check_positive("width", width) ** -2)
        for width in check_not_empty("widths", widths)
    ]
