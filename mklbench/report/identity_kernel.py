"""The SVM on an identity kernel matrix: what is left when a product of Gaussians degenerates."""

from __future__ import annotations


def objective_at_identity(larger_class: float, C: float) -> float:
    """Return the SVM dual objective per sample when the kernel matrix is the identity.

    All positives then share one coefficient and all negatives another. With s the sum of either
    class's coefficients per sample, the dual per sample is 2 s - s^2 / (2 p (1 - p)), at most at
    s = 2 p (1 - p), and the box bounds s by C min(p, 1 - p).

    Parameters
    ----------
    larger_class : p, share of the samples in the larger class, between 0.5 and 1.
    C : bound on the coefficients of the dual.
    """
    both = larger_class * (1 - larger_class)
    total = min(2 * both, C * min(larger_class, 1 - larger_class))
    return 2 * total - total**2 / (2 * both)
