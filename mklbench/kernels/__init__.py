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
from mklbench.kernels.composite import ConcatenatedBank, ScaledBank, unit_trace
from mklbench.kernels.dense import DenseBank, GrowingBank, IndexedBank, PrecomputedBank
from mklbench.kernels.families import IsotropicGaussians, ProductGaussians
from mklbench.kernels.feature_bank import FeatureBank
from mklbench.kernels.functions import Gaussian, Polynomial
from mklbench.kernels.groups import Groups, groups_of
from mklbench.kernels.linear_bank import LinearBank
from mklbench.kernels.members import FamilyBank, KernelSubset, check_thetas, mixture_outputs

__all__ = [
    "BUILDERS",
    "Bank",
    "ConcatenatedBank",
    "DenseBank",
    "Family",
    "FamilyBank",
    "FeatureBank",
    "Gaussian",
    "Groups",
    "GrowingBank",
    "IndexedBank",
    "IsotropicGaussians",
    "KernelBuilder",
    "KernelOperator",
    "KernelSubset",
    "LinearBank",
    "Polynomial",
    "Precomputed",
    "PrecomputedBank",
    "ProductGaussians",
    "ScaledBank",
    "check_thetas",
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
    "unit_trace",
]
