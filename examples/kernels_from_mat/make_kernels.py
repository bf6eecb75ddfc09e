"""Write wine.mat as sites of MKL data offer theirs: kernels, labels and fixed splits, from MATLAB.

KH (n, n, M) holds a Gaussian kernel for each of the 13 measurements of the wines, and three on all
of them; Y (n, 1) the classes 1 to 3; trn1, val1, tst1, ... the rows of three splits, from 1 on.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.io import savemat
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import rbf_kernel

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
kernels = [rbf_kernel(X[:, [feature]], gamma=0.5) for feature in range(X.shape[1])]
kernels += [rbf_kernel(X, gamma=gamma) for gamma in (0.01, 0.1, 1.0)]

variables = {"KH": np.stack(kernels, axis=2), "Y": y[:, None] + 1.0}
generator = np.random.default_rng(0)
for split in (1, 2, 3):
    rows = generator.permutation(len(y)) + 1.0
    variables |= {f"trn{split}": rows[:50], f"val{split}": rows[50:90], f"tst{split}": rows[90:]}
savemat(sys.argv[1] if len(sys.argv) > 1 else "wine.mat", variables, do_compression=True)
