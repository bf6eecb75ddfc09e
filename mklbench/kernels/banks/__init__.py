"""Finite sets of kernels as operators: on all features, on single ones, on distances, given.

May import `kernels.base` and what stands beside it; it is imported by `mixtures` and `builders`.
"""
