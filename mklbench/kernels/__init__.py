"""Kernel banks (finite) and kernel families (continuous), as operators."""

from mklbench.kernels.base import Bank, Family, KernelOperator
from mklbench.kernels.builders import (
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
from mklbench.kernels.combination import CombinedKernel
from mklbench.kernels.composite import ConcatenatedBank, ScaledBank, unit_trace
from mklbench.kernels.dense import DenseBank, GrowingBank, IndexedBank, PrecomputedBank
from mklbench.kernels.descriptors import Descriptors, DistanceBank
from mklbench.kernels.distances import FeatureDistances, MatrixDistances, chi2_distances
from mklbench.kernels.families import IsotropicGaussians, ProductGaussians
from mklbench.kernels.feature_bank import FeatureBank
from mklbench.kernels.functions import Gaussian, Polynomial
from mklbench.kernels.groups import Groups, groups_of
from mklbench.kernels.linear_bank import LinearBank
from mklbench.kernels.made_from import Combination, Normalised, Standardised
from mklbench.kernels.matrices import MatrixDescriptors, MatrixKernels
from mklbench.kernels.members import (
    FamilyBank,
    KernelSubset,
    check_thetas,
    mixture_outputs,
    training_outputs,
)
from mklbench.kernels.normalised import CentredBank, CosineBank
from mklbench.kernels.wrapping import StandardisedBank

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
