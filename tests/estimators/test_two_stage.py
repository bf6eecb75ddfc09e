"""Estimators of two-stage learning and fusion; scikit-learn's checks are in test_estimators."""

from __future__ import annotations

from functools import partial
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from mklbench import (
    Align,
    AlignF,
    AlignFRegressor,
    AlignRegressor,
    BestKernel,
    EarlyFusion,
    KernelSVR,
    LateFusion,
)
from mklbench.algorithms import align, alignf, best_kernel
from mklbench.estimators.base import KernelEstimator
from mklbench.estimators.learners import KernelLearner
from mklbench.kernels import Combination, Normalised, Precomputed, feature_gaussians
from mklbench.kernels.base import Array


@pytest.fixture(scope="module")
def classes() -> tuple[Array, NDArray[np.str_]]:
    X, codes = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), np.array(["a", "b", "c"])[codes]


@pytest.fixture(scope="module")
def regression() -> tuple[Array, Array]:
    X, y = make_friedman1(n_samples=120, n_features=6, noise=0.5, random_state=0)
    return StandardScaler().fit_transform(X), y - y.mean()


@pytest.mark.parametrize(("estimator", "algorithm"), [(Align, align), (AlignF, alignf)])
def test_every_class_has_its_own_alignment(
    classes: tuple[Array, NDArray[np.str_]], estimator: type[KernelEstimator], algorithm: ModuleType
) -> None:
    X, y = classes
    fitted = estimator("feature_gaussians", C=5.0).fit(X, y)
    for code, name in enumerate("abc"):
        labels = np.where(y == name, 1.0, -1.0)
        alone = algorithm.solve(feature_gaussians(X), labels, C=5.0)
        np.testing.assert_array_equal(fitted.weights_[code], alone.weights)
        assert fitted.solutions_[code].objective == alone.objective


@pytest.mark.parametrize(
    "learner",
    [
        Align(),
        AlignF(learner="krr", lam=0.1),
        AlignF(learner="svr", programme="simplex"),
        EarlyFusion(),
        LateFusion(C=10.0),
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


def test_early_fusion_is_scikit_learns_svc(classes: tuple[Array, NDArray[np.str_]]) -> None:
    X, y = classes
    two = y != "c"
    ours = EarlyFusion(C=2.0, svm_tol=1e-6).fit(X[two], y[two])
    theirs = SVC(C=2.0, gamma=0.25, tol=1e-6).fit(X[two], y[two])
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


def test_svr_is_scikit_learns(regression: tuple[Array, Array]) -> None:
    X, y = regression
    ours = KernelSVR(C=10.0, epsilon=0.5, svm_tol=1e-6).fit(X[:80], y[:80])
    theirs = SVR(C=10.0, epsilon=0.5, gamma=1 / 6, tol=1e-6).fit(X[:80], y[:80])
    np.testing.assert_allclose(ours.predict(X[80:]), theirs.predict(X[80:]), atol=1e-3)


@pytest.mark.parametrize("estimator", [AlignRegressor, AlignFRegressor])
@pytest.mark.parametrize("learner", ["krr", "svr"])
def test_regression_on_an_aligned_kernel(
    regression: tuple[Array, Array], estimator: type[AlignRegressor], learner: str
) -> None:
    X, y = regression
    kernel = partial(feature_gaussians, gammas=[0.1, 1.0])
    model = estimator(kernel=kernel, learner=learner, lam=0.1, C=10.0).fit(X[:80], y[:80])
    assert model.score(X[80:], y[80:]) > 0.7


def test_rows_of_gram_matrices_in_a_search(classes: tuple[Array, NDArray[np.str_]]) -> None:
    X, y = classes
    stack = np.exp(-((X.T[:, :, None] - X.T[:, None, :]) ** 2))
    rows = np.arange(len(y))[:, None]
    search = GridSearchCV(LateFusion(kernel=Precomputed(stack)), {"C": [0.1, 10.0]}, cv=3)
    on_features = GridSearchCV(LateFusion("feature_gaussians"), {"C": [0.1, 10.0]}, cv=3).fit(X, y)
    np.testing.assert_allclose(
        search.fit(rows, y).cv_results_["mean_test_score"],
        on_features.cv_results_["mean_test_score"],
    )


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (Align(kernel="product"), "align needs a bank"),
        (AlignF(learner="svn"), "learner=svn is not known"),
        (AlignF(programme="simples"), "did you mean simplex"),
        (EarlyFusion(kernel="feature_gaussians"), "there are 4"),
        (LateFusion(groups="views"), "groups=views is not known"),
        (BestKernel(folds=1), "folds=1 is not accepted"),
    ],
)
def test_a_wrong_parameter_is_named(
    classes: tuple[Array, NDArray[np.str_]], estimator: KernelEstimator, message: str
) -> None:
    X, y = classes
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)


def test_real_targets_are_not_for_an_svm(regression: tuple[Array, Array]) -> None:
    X, y = regression
    with pytest.raises(ValueError, match="choose learner=krr or learner=svr"):
        AlignRegressor(learner="svm").fit(X, y)


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
