"""
What learning is worth when most kernels are noise
==================================================

Two features decide, the others are noise; there is one Gaussian per feature. The plain sum of
kernels suffers from each useless one, learned sparse weights hardly do.
"""

import matplotlib.pyplot as plt
import numpy as np

from mklbench import MKL, UniformMKL

rng = np.random.default_rng(0)
numbers = [2, 5, 10, 20, 40, 80]
X = rng.standard_normal((1200, max(numbers)))
y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.standard_normal(1200) > 1
models = {
    "plain sum": UniformMKL(kernel="feature_gaussians", C=10),
    "learned (exact MKL)": MKL(kernel="feature_gaussians", C=10),
}
for label, model in models.items():
    scores = [model.fit(X[:200, :d], y[:200]).score(X[200:, :d], y[200:]) for d in numbers]
    plt.semilogx([100 * (d - 2) / d for d in numbers], scores, marker="o", label=label)
plt.xscale("linear")
plt.xlabel("kernels that are noise (per cent)")
plt.ylabel("accuracy on 1,000 new samples")
_ = plt.legend()
