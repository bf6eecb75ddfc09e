"""Kernel banks (finite) and kernel families (continuous), as operators.

May import `errors` and `validation` only. Here is what a user of the library asks for.
"""

from mklbench.kernels.banks.concatenated import ConcatenatedBank
from mklbench.kernels.banks.dense import DenseBank
from mklbench.kernels.banks.features import FeatureBank
from mklbench.kernels.banks.generated import GeneratedBank
from mklbench.kernels.banks.precomputed import PrecomputedBank
from mklbench.kernels.banks.wrapped import CentredBank, KernelSubset, ScaledBank, unit_trace
from mklbench.kernels.base import Bank, KernelOperator
from mklbench.kernels.builders.columns import KernelList
from mklbench.kernels.builders.derived import (
    Combination,
    Descriptors,
    MatrixDescriptors,
    Normalised,
    OneView,
    Standardised,
)
from mklbench.kernels.builders.grams import GramStack, MatrixKernels, Precomputed, precomputed
from mklbench.kernels.builders.named import (
    BUILDERS,
    Kernel,
    KernelBuilder,
    chi2,
    cosine,
    feature_gaussians,
    feature_pairs,
    feature_widths,
    gaussian,
    gaussian_polynomials,
    gaussians,
    isotropic_gaussians,
    laplacian,
    linear,
    linear_features,
    poly,
    product_gaussians,
    rbf,
    resolve,
    separate,
    simplemkl_bank,
    single,
    smkl_bank,
)
from mklbench.kernels.continuous import Family
from mklbench.kernels.families import GaussianPolynomials, IsotropicGaussians, ProductGaussians
from mklbench.kernels.functions import Gaussian, Linear, Polynomial
from mklbench.kernels.mixtures import FamilyBank
from mklbench.kernels.samples import Views

__all__ = [
    "BUILDERS",
    "Bank",
    "CentredBank",
    "Combination",
    "ConcatenatedBank",
    "DenseBank",
    "Descriptors",
    "Family",
    "FamilyBank",
    "FeatureBank",
    "Gaussian",
    "GaussianPolynomials",
    "GeneratedBank",
    "GramStack",
    "IsotropicGaussians",
    "Kernel",
    "KernelBuilder",
    "KernelList",
    "KernelOperator",
    "KernelSubset",
    "Linear",
    "MatrixDescriptors",
    "MatrixKernels",
    "Normalised",
    "OneView",
    "Polynomial",
    "Precomputed",
    "PrecomputedBank",
    "ProductGaussians",
    "ScaledBank",
    "Standardised",
    "Views",
    "chi2",
    "cosine",
    "feature_gaussians",
    "feature_pairs",
    "feature_widths",
    "gaussian",
    "gaussian_polynomials",
    "gaussians",
    "isotropic_gaussians",
    "laplacian",
    "linear",
    "linear_features",
    "poly",
    "precomputed",
    "product_gaussians",
    "rbf",
    "resolve",
    "separate",
    "simplemkl_bank",
    "single",
    "smkl_bank",
    "unit_trace",
]
