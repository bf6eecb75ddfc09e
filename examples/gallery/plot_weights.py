"""
Which kernels does a model use?
===============================

Exact MKL on ten Gaussians and three polynomials of each feature, and of all of them: few are left.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklbench import MKL, WeightsDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
scaler = StandardScaler().set_output(transform="pandas")  # so that columns keep their names
model = make_pipeline(scaler, MKL(C=10)).fit(X, y)
WeightsDisplay.from_estimator(model, top_k=12)

# %%
# The certificate says how far the objective may be from the optimum.
learned = model[-1]
n_used, n_kernels = (learned.weights_ > 0).sum(), len(learned.weights_)
print(f"{n_used} of {n_kernels} kernels, certified gap {learned.gap_:.1e}")
