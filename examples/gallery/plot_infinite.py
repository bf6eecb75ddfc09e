"""
Infinite kernel learning
========================

IKL looks for the widths of its Gaussians, one per feature, in a continuous box. Here the classes
depend on two features of four, at different scales.
"""

import matplotlib.pyplot as plt
import numpy as np

from mklbench import IKL

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (300, 4))
y = np.sin(6 * X[:, 0]) + X[:, 1] > 0
model = IKL(C=1).fit(X, y)
for name, weight in model.kernel_weights(sort=True).head(5).items():
    print(f"{weight:.2f}  {name}")

# %%
# Each kernel is a row; the darker, the more it looks at a feature.
solution = model.solutions_[0]
order = np.argsort(-solution.weights)
plt.imshow(np.log10(1 + solution.thetas[order]), cmap="Blues")
plt.xlabel("feature")
plt.ylabel("kernel, the heaviest first")
_ = plt.colorbar(label="log10 (1 + gamma)")
