"""
Sparse, or a little of everything: the norm of the weights
==========================================================

With p = 1 few kernels have weight; the larger p, the more alike all weights are. Which is better
depends on how many kernels carry information.
"""

import matplotlib.pyplot as plt
import numpy as np

from mklbench import MKL

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 12))
y = X[:, :4].sum(axis=1) + 0.5 * X[:, 4] * X[:, 5] + 0.5 * rng.standard_normal(300) > 0
figure, axes = plt.subplots(1, 4, figsize=(10, 2.6), sharey=True)
for axis, p in zip(axes, (1, 1.5, 4, np.inf), strict=True):
    model = MKL(kernel="feature_gaussians", C=1, p=p).fit(X, y)
    axis.bar(np.arange(12), model.weights_ / model.weights_.max())
    axis.set_title(f"p = {p}")
    axis.set_xlabel("feature")
_ = axes[0].set_ylabel("weight / the largest")
