"""
Outliers, and the features by which they are seen
=================================================

One-class MKL on one Gaussian per feature: nu bounds the share of training samples outside.
"""

import matplotlib.pyplot as plt
import numpy as np

from mklbench import OneClassMKL

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 2)) * [1, 0.4]
model = OneClassMKL(kernel="feature_gaussians", nu=0.1).fit(X)
grid = np.stack(np.meshgrid(np.linspace(-4, 4, 120), np.linspace(-4, 4, 120)), axis=-1)
values = model.decision_function(grid.reshape(-1, 2)).reshape(120, 120)
plt.contourf(grid[..., 0], grid[..., 1], values, levels=20, cmap="Blues")
plt.contour(grid[..., 0], grid[..., 1], values, levels=[0], colors="k")
inside = model.predict(X) == 1
plt.scatter(*X[inside].T, s=8, c="white", edgecolors="k", label="inside")
plt.scatter(*X[~inside].T, s=16, c="tab:orange", edgecolors="k", label="outside")
_ = plt.legend()
