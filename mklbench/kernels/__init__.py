"""Kernel banks (finite) and kernel families (continuous), as operators.

May import `errors` and `validation` only; it is imported by all that computes with kernels, which
asks for them here and not in the modules below.
"""

from mklbench.kernels.banks.concatenated import ConcatenatedBank
from mklbench.kernels.banks.dense import DenseBank
from mklbench.kernels.banks.features import FeatureBank
from mklbench.kernels.banks.generated import GeneratedBank
from mklbench.kernels.banks.precomputed import (
    PrecomputedBank,
)
from mklbench.kernels.banks.wrapped import (
    CentredBank,
    KernelSubset,
    ScaledBank,
    unit_trace,
)
from mklbench.kernels.base import Bank, KernelOperator
from mklbench.kernels.builders.columns import FittedViews, KernelList, kernel_list, takes_sparse
from mklbench.kernels.builders.derived import (
    Combination,
    Descriptors,
    MatrixDescriptors,
    Normalised,
    OneView,
    Standardised,
)
from mklbench.kernels.builders.forms import no_kernels
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
from mklbench.kernels.cross import CrossKernels
from mklbench.kernels.families import (
    GaussianPolynomials,
    IsotropicGaussians,
    ProductGaussians,
)
from mklbench.kernels.functions import Gaussian, Linear, Polynomial
from mklbench.kernels.groups import Groups, groups_of
from mklbench.kernels.mixtures import FamilyBank, check_thetas, mixture_outputs, training_outputs
from mklbench.kernels.samples import Views, matrix_of, rows_of

__all__ = [
    "BUILDERS",
    "Bank",
    "CentredBank",
    "Combination",
    "ConcatenatedBank",
    "CrossKernels",
    "DenseBank",
    "Descriptors",
    "Family",
    "FamilyBank",
    "FeatureBank",
    "FittedViews",
    "Gaussian",
    "GaussianPolynomials",
    "GeneratedBank",
    "GramStack",
    "Groups",
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
    "check_thetas",
    "chi2",
    "cosine",
    "feature_gaussians",
    "feature_pairs",
    "feature_widths",
    "gaussian",
    "gaussian_polynomials",
    "gaussians",
    "groups_of",
    "isotropic_gaussians",
    "kernel_list",
    "laplacian",
    "linear",
    "linear_features",
    "matrix_of",
    "mixture_outputs",
    "no_kernels",
    "poly",
    "precomputed",
    "product_gaussians",
    "rbf",
    "resolve",
    "rows_of",
    "separate",
    "simplemkl_bank",
    "single",
    "smkl_bank",
    "takes_sparse",
    "training_outputs",
    "unit_trace",
]
