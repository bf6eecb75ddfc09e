"""The regressors and the classifiers by sign; scikit-learn's own checks are in test_estimators."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklbench import KRR, NKRR
from mklbench.estimators.learners import KernelRegressor
from mklbench.kernels.base import Array


@pytest.fixture(scope="module")
def regression() -> tuple[Array, Array]:
    X, y = make_friedman1(n_samples=120, n_features=6, noise=0.5, random_state=0)
    return StandardScaler().fit_transform(X), y - y.mean()


def test_a_quadratic_kernel_of_features_equals_scikit_learns_polynomial(
    regression: tuple[Array, Array],
) -> None:
    X, y = regression
    ours = KRR(kernel="linear_features", weights=1.0, degree=2, lam=2.0).fit(X[:80], y[:80])
    theirs = KernelRidge(alpha=2.0, kernel="poly", degree=2, gamma=1.0, coef0=0.0)
    theirs.fit(X[:80], y[:80])
    np.testing.assert_allclose(ours.predict(X[80:]), theirs.predict(X[80:]), atol=1e-6)


def test_learned_weights_in_a_search(regression: tuple[Array, Array]) -> None:
    X, y = regression
    grid = {"nkrr__lam": [0.01, 0.1, 1.0], "nkrr__radius": [0.0, 3.0]}
    search = GridSearchCV(make_pipeline(StandardScaler(), NKRR()), grid, cv=3).fit(X, y)
    assert search.best_params_["nkrr__radius"] == 3.0
    assert search.best_score_ > 0.8
    weights = search.best_estimator_[-1].weights_
    assert weights[5] < weights[:5].min()  # the feature that the targets do not depend on


@pytest.mark.parametrize("learner", [KRR, NKRR])
@pytest.mark.parametrize("kind", [str, object])
def test_class_names_are_no_targets(
    regression: tuple[Array, Array], learner: type[KernelRegressor], kind: type
) -> None:
    X, y = regression
    with pytest.raises(ValueError, match="give an array of real numbers"):
        learner().fit(X, np.where(y > 0, "high", "low").astype(kind))
