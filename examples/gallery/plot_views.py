"""
Several views of one thing, kernels in groups
=============================================

Digits seen as rows and as columns of pixels and as a whole, three Gaussians each. VSKL learns
sparse weights within a view, and keeps all views.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mklbench import MKL, VSKL
from mklbench.kernels import Gaussian

X, digit = load_digits(return_X_y=True)
X, y = X[:500] / 16, digit[:500] % 2
images = X.reshape(-1, 8, 8)
X = np.hstack([X, images.sum(axis=1), images.sum(axis=2)])
views = {"pixels": range(64), "columns": range(64, 72), "rows": range(72, 80)}
kernels = [
    (f"{name} {gamma}", Gaussian(gamma), list(columns))
    for name, columns in views.items()
    for gamma in (0.01, 0.1, 1.0)
]
groups = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
for axis, model in zip(axes, (MKL(kernels, C=10), VSKL(kernels, C=10, groups=groups)), strict=True):
    model.fit(X, y)
    axis.barh([name for name, _, _ in kernels], model.weights_ / model.weights_.max())
    axis.set_title(type(model).__name__)
figure.tight_layout()
