"""
From strong to weak regularisation
==================================

The larger C, the more the training samples count, and the more kernels are worth their weight. The
fits go on from one C to the next.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from mklbench import MKL, PathDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(X)
model = MKL(kernel="feature_gaussians", warm_start=True).fit(X, y)
display = PathDisplay.from_estimator(model, X, y, C=np.geomspace(0.1, 100, 13), top_k=8)
