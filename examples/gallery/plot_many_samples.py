"""
Many samples: no Gram matrix
============================

The joint method works on factors of kernels of single features. Its time grows with n, that on
Gram matrices with its square and more.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from mklbench import MKL

rng = np.random.default_rng(0)
X = rng.standard_normal((16000, 5))
y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1 + 0.5 * rng.standard_normal(16000) > 0
for method, numbers in (("libsvm", (500, 1000, 2000)), ("joint", (1000, 4000, 16000))):
    seconds = []
    for n in numbers:
        model = MKL(kernel="feature_gaussians", C=10, tol=1e-3, method=method)
        start = perf_counter()
        model.fit(X[:n], y[:n])
        seconds.append(perf_counter() - start)
    plt.loglog(numbers, seconds, marker="o", label=f'method="{method}"')
plt.xlabel("samples")
plt.ylabel("seconds of a fit to a certified gap of 1e-3")
_ = plt.legend()
