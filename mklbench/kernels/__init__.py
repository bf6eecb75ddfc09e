"""Kernel banks (finite) and kernel families (continuous), as operators."""

from mklbench.kernels.base import Bank, Family, KernelOperator
from mklbench.kernels.builders import (
    BUILDERS,
    KernelBuilder,
    Precomputed,
    feature_gaussians,
    gaussian,
    gaussians,
    precomputed,
    product_gaussians,
    resolve,
    simplemkl_bank,
)
from mklbench.kernels.composite import ConcatenatedBank, ScaledBank, unit_trace
from mklbench.kernels.dense import DenseBank, GrowingBank, IndexedBank, PrecomputedBank
from mklbench.kernels.families import ProductGaussians
from mklbench.kernels.feature_bank import FeatureBank
from mklbench.kernels.functions import Gaussian, Polynomial

__all__ = [
    "BUILDERS",
    "Bank",
    "ConcatenatedBank",
    "DenseBank",
    "Family",
    "FeatureBank",
    "Gaussian",
    "GrowingBank",
    "IndexedBank",
    "KernelBuilder",
    "KernelOperator",
    "Polynomial",
    "Precomputed",
    "PrecomputedBank",
    "ProductGaussians",
    "ScaledBank",
    "feature_gaussians",
    "gaussian",
    "gaussians",
    "precomputed",
    "product_gaussians",
    "resolve",
    "simplemkl_bank",
    "unit_trace",
]
