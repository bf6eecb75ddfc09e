"""
How alike are the kernels?
==========================

The centred alignment of kernels with each other, with the learned kernel, and with the target.
"""

from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from mklbench import MKL, AlignmentDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
X, y = StandardScaler().set_output(transform="pandas").fit_transform(X), y == 0
model = MKL(kernel="feature_gaussians", C=10).fit(X, y)
_ = AlignmentDisplay.from_estimator(model, X, y, top_k=6)
