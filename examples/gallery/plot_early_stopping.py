"""
QN-PKL has to stop early
========================

A product of Gaussians with one width per feature is not convex, and its training objective can be
driven down for long. The test accuracy is best early on.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mklbench import QNPKL

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
counts = [1, 2, 3, 5, 10, 20, 40]
scores = np.empty((5, len(counts)))
for split in range(5):
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=0.5, random_state=split, stratify=y
    )
    for i, count in enumerate(counts):
        model = QNPKL(C=10, iterations=count).fit(X_train, y_train)
        scores[split, i] = model.score(X_test, y_test)
plt.errorbar(counts, scores.mean(axis=0), scores.std(axis=0) / 5**0.5, marker="o", capsize=3)
plt.xscale("log")
plt.xlabel("iterations")
_ = plt.ylabel("test accuracy (mean and standard error of 5 splits)")
