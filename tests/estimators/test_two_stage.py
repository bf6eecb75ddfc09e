"""Estimators of two-stage learning and fusion; scikit-learn's checks are in test_estimators."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklbench import (
    Align,
    AlignF,
    AlignFRegressor,
    AlignRegressor,
    BestKernel,
    EarlyFusion,
    LateFusion,
)
from mklbench.algorithms import best_kernel
from mklbench.estimators.learners import KernelLearner
from mklbench.kernels import Combination, Normalised, feature_gaussians
from mklbench.kernels.base import Array


@pytest.fixture(scope="module")
def classes() -> tuple[Array, NDArray[np.str_]]:
    X, codes = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), np.array(["a", "b", "c"])[codes]


@pytest.fixture(scope="module")
def regression() -> tuple[Array, Array]:
    X, y = make_friedman1(n_samples=120, n_features=6, noise=0.5, random_state=0)
    return StandardScaler().fit_transform(X), y - y.mean()


@pytest.mark.parametrize(
    "learner",
    [
        AlignF(learner="krr", lam=0.1),
        AlignF(learner="svr", programme="simplex"),
        LateFusion(C=10.0, vote=True),
        BestKernel(C=10.0),
        Align(kernel=Normalised("simplemkl")),
        EarlyFusion(kernel=Combination("feature_gaussians", how="polynomial")),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_three_classes_in_a_pipeline(
    classes: tuple[Array, NDArray[np.str_]], learner: KernelLearner
) -> None:
    X, y = classes
    assert cross_val_score(make_pipeline(StandardScaler(), learner), X, y, cv=3).mean() > 0.9


@pytest.mark.parametrize("estimator", [AlignRegressor, AlignFRegressor])
@pytest.mark.parametrize("learner", ["krr", "svr"])
def test_regression_on_an_aligned_kernel(
    regression: tuple[Array, Array], estimator: type[AlignRegressor], learner: str
) -> None:
    X, y = regression
    kernel = partial(feature_gaussians, gammas=[0.1, 1.0])
    model = estimator(kernel=kernel, learner=learner, lam=0.1, C=10.0).fit(X[:80], y[:80])
    assert model.score(X[80:], y[80:]) > 0.7


def test_the_folds_of_best_kernel_follow_random_state() -> None:
    X, y = make_classification(n_samples=60, n_features=4, random_state=0)
    seeded = BestKernel("feature_gaussians", C=1.0, random_state=3).fit(X, y).solutions_[0]
    direct = best_kernel.solve(feature_gaussians(X), np.where(y == 1, 1.0, -1.0), seed=3)
    assert seeded.history == direct.history
    states = [np.random.RandomState(0), np.random.RandomState(0)]
    first, second = (
        BestKernel("feature_gaussians", random_state=state).fit(X, y).solutions_[0]
        for state in states
    )
    assert first.history == second.history
