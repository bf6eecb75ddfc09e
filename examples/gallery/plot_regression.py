"""
Regression: which feature says what
===================================

Epsilon-insensitive regression on one Gaussian per feature. The learned function is a sum of
functions of one feature each, so that each can be drawn.
"""

import matplotlib.pyplot as plt
import numpy as np

from mklbench import MKLRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (300, 6))
y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 3] ** 2 + 0.2 * rng.standard_normal(300)
model = MKLRegressor(kernel="feature_gaussians", C=10, epsilon=0.1).fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
left.bar(np.arange(6), model.weights_)
left.set(xlabel="feature", ylabel="weight")
grid = np.linspace(-3, 3, 200)
for feature, truth in ((0, np.sin(2 * grid)), (3, 0.3 * grid**2)):
    points = np.zeros((200, 6))
    points[:, feature] = grid
    learned = model.predict(points)
    right.plot(grid, learned - learned.mean(), label=f"learned, feature {feature}")
    right.plot(grid, truth - truth.mean(), "k:", lw=1)
right.set(xlabel="value of the feature", ylabel="its part (dotted: the truth)")
_ = right.legend()
