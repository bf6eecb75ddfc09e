"""The gradient of a product of Gaussians: one matrix product against the stack of distances."""

from __future__ import annotations

import numpy as np

from benchmarks.timing import Result, alternate
from mklbench.kernels import product_gaussians


def run() -> list[Result]:
    """Return the ratio at n = 500, M = 60."""
    n, M = 500, 60
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, M))
    a = rng.standard_normal(n)
    theta = np.full(M, 1.0 / M)
    family = product_gaussians(X)
    distances = (X.T[:, :, None] - X.T[:, None, :]) ** 2

    def stored_stack() -> np.ndarray:
        """-A' (D_m o K) A with the stack D (M, n, n) at hand, as the paper's formula reads."""
        K = np.exp(-np.tensordot(theta, distances, axes=1))
        return -distances.reshape(M, -1) @ (np.outer(a, a) * K).ravel()

    def operator() -> np.ndarray:
        return family.gradient(theta, a)

    np.testing.assert_allclose(operator(), stored_stack(), rtol=1e-9)
    fast, plain, ratio = alternate(operator, stored_stack, repeats=20)
    return [
        Result(
            f"gradient of the product family / distance stack, n = {n}, M = {M}",
            f"1/{1.0 / ratio:.1f} ({fast * 1e3:.1f} ms / {plain * 1e3:.1f} ms)",
            "<= 1/8",
            ratio <= 1 / 8,
        )
    ]
