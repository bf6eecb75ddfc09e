"""Kernel banks (finite) and kernel families (continuous), as operators.

May import `errors` and `validation` only; it is imported by all that computes with kernels, which
asks for them here and not in the modules below.
"""

from mklbench.kernels.banks.dense import DenseBank, GrowingBank, IndexedBank, PrecomputedBank
from mklbench.kernels.banks.distances import FeatureDistances, MatrixDistances, chi2_distances
from mklbench.kernels.banks.features import FeatureBank
from mklbench.kernels.banks.linear import LinearBank
from mklbench.kernels.banks.views import DistanceBank
from mklbench.kernels.base import Bank, Family, KernelOperator
from mklbench.kernels.builders.derived import Combination, Normalised, Standardised
from mklbench.kernels.builders.descriptors import Descriptors
from mklbench.kernels.builders.from_files import MatrixDescriptors, MatrixKernels
from mklbench.kernels.builders.named import (
    BUILDERS,
    KernelBuilder,
    Precomputed,
    feature_gaussians,
    feature_widths,
    gaussian,
    gaussians,
    isotropic_gaussians,
    linear_features,
    precomputed,
    product_gaussians,
    resolve,
    separate,
    simplemkl_bank,
    single,
)
from mklbench.kernels.families import IsotropicGaussians, ProductGaussians
from mklbench.kernels.functions import Gaussian, Polynomial
from mklbench.kernels.groups import Groups, groups_of
from mklbench.kernels.mixtures import (
    FamilyBank,
    check_thetas,
    mixture_outputs,
    training_outputs,
)
from mklbench.kernels.transforms.combined import CombinedKernel
from mklbench.kernels.transforms.composite import ConcatenatedBank, ScaledBank, unit_trace
from mklbench.kernels.transforms.normalised import CentredBank, CosineBank
from mklbench.kernels.transforms.subset import KernelSubset
from mklbench.kernels.transforms.wrapped import StandardisedBank

__all__ = [
    "BUILDERS",
    "Bank",
    "CentredBank",
    "Combination",
    "CombinedKernel",
    "ConcatenatedBank",
    "CosineBank",
    "DenseBank",
    "Descriptors",
    "DistanceBank",
    "Family",
    "FamilyBank",
    "FeatureBank",
    "FeatureDistances",
    "Gaussian",
    "Groups",
    "GrowingBank",
    "IndexedBank",
    "IsotropicGaussians",
    "KernelBuilder",
    "KernelOperator",
    "KernelSubset",
    "LinearBank",
    "MatrixDescriptors",
    "MatrixDistances",
    "MatrixKernels",
    "Normalised",
    "Polynomial",
    "Precomputed",
    "PrecomputedBank",
    "ProductGaussians",
    "ScaledBank",
    "Standardised",
    "StandardisedBank",
    "check_thetas",
    "chi2_distances",
    "feature_gaussians",
    "feature_widths",
    "gaussian",
    "gaussians",
    "groups_of",
    "isotropic_gaussians",
    "linear_features",
    "mixture_outputs",
    "precomputed",
    "product_gaussians",
    "resolve",
    "separate",
    "simplemkl_bank",
    "single",
    "training_outputs",
    "unit_trace",
]
