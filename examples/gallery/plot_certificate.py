"""
How close is it? Certified gaps of three solvers
================================================

Three solvers of one problem. The gap is computed from weights and dual coefficients alone, not by
the solver: it bounds how far the objective is from the optimum.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from mklbench import MKL, HessianMKL, SimpleMKL

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
options = {"kernel": "feature_gaussians", "C": 10, "tol": 1e-4}
for model in (MKL(**options), HessianMKL(**options), SimpleMKL(**options)):
    history = model.fit(X, y).history_
    calls = [step["n_svm_calls"] for step in history]
    plt.loglog(calls, [step["gap"] for step in history], marker=".", label=type(model).__name__)
plt.xlabel("SVMs solved")
plt.ylabel("certified relative gap")
_ = plt.legend()
