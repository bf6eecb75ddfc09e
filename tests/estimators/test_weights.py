"""A sample of weight 2 is the sample twice, one of weight 0 is left out, and so for classes."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import cross_validate
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.svm import SVR as OfScikitLearn

from mklbench import (
    GRAM,
    KRR,
    MEMO,
    MKL,
    NKRR,
    EasyMKL,
    ElasticNetMKL,
    KernelSVC,
    KernelSVR,
    KRRClassifier,
    LateFusion,
    OneClassMKL,
    RadiusMarginMKL,
    UniformMKL,
)
from mklbench.algorithms import (
    best_kernel,
    ckl,
    early_fusion,
    elastic_net,
    gmkl,
    hessianmkl,
    ikl,
    krr,
    late_fusion,
    mkl,
    mkl_svr,
    nkrr,
    simplemkl,
    svm,
    svr,
    uniform,
    vskl,
)
from mklbench.certify import Hinge, PrimalDualPoint, bounds
from mklbench.estimators.base import KernelEstimator
from mklbench.kernels import (
    Gaussian,
    GramStack,
    KernelOperator,
    Normalised,
    feature_gaussians,
    gaussian,
    precomputed,
)
from mklbench.kernels.base import Array
from mklbench.penalties.simple import Simplex

N, D = 48, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = np.sign(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.4 * RNG.normal(size=N) - 0.2)
TARGETS = np.sin(X[:, 0]) + X[:, 1]
COUNTS = RNG.integers(1, 4, size=N)
REPEATED = np.repeat(np.arange(N), COUNTS)
Z = RNG.normal(size=(20, D))

Build = Callable[[Array], KernelOperator]
PRECISE: list[tuple[ModuleType, Build, dict[str, Any]]] = [
    (svm, feature_gaussians, {"svm_tol": 1e-9}),
    (uniform, feature_gaussians, {"svm_tol": 1e-9}),
    (mkl, feature_gaussians, {"tol": 1e-8}),
    (simplemkl, feature_gaussians, {"tol": 1e-5}),
    (hessianmkl, feature_gaussians, {"tol": 1e-5}),
    (ckl, feature_gaussians, {"tol": 1e-5}),
    (vskl, feature_gaussians, {"tol": 1e-3}),
    (gmkl, feature_gaussians, {"tol": 1e-4, "max_iter": 200}),
    (ikl, feature_gaussians, {"tol": 1e-5}),
    (elastic_net, feature_gaussians, {"tol": 1e-6}),
    (late_fusion, feature_gaussians, {"svm_tol": 1e-9}),
    (early_fusion, gaussian, {"svm_tol": 1e-9}),
    (best_kernel, gaussian, {"svm_tol": 1e-9}),
]


@pytest.mark.parametrize(
    ("algorithm", "build", "options"), PRECISE, ids=[case[0].__name__ for case in PRECISE]
)
def test_weight_2_is_the_row_twice(
    algorithm: ModuleType, build: Build, options: dict[str, Any]
) -> None:
    weighted = algorithm.solve(build(X), Y, 2.0, sample_weight=COUNTS, **options)
    repeated = algorithm.solve(build(X[REPEATED]), Y[REPEATED], 2.0, **options)
    close = 2.0 * max(options.get("tol", 0.0), 1e-6)
    assert weighted.objective == pytest.approx(repeated.objective, rel=close)
    alpha = weighted.dual_coef * Y
    assert (alpha >= 0).all()
    assert (alpha <= 2.0 * COUNTS).all()
    assert np.ptp(alpha[alpha > 0]) > 0
    machine, twice = (s.members[0] if s.members else s for s in (weighted, repeated))
    values = build(X).cross(machine.weights, Z) @ machine.dual_coef + machine.intercept
    theirs = build(X[REPEATED]).cross(twice.weights, Z) @ twice.dual_coef + twice.intercept
    np.testing.assert_allclose(values, theirs, atol=20 * np.sqrt(close))


def test_the_same_for_ridge_regression_and_svr() -> None:
    for algorithm, options in (
        (krr, {}),
        (nkrr, {"degree": 1, "tol": 1e-9}),
        (nkrr, {"degree": 2, "tol": 1e-9}),
        (svr, {"svm_tol": 1e-9}),
        (mkl_svr, {"tol": 1e-7, "C": 2.0}),
    ):
        weighted = algorithm.solve(feature_gaussians(X), TARGETS, sample_weight=COUNTS, **options)
        repeated = algorithm.solve(feature_gaussians(X[REPEATED]), TARGETS[REPEATED], **options)
        assert weighted.objective == pytest.approx(repeated.objective, rel=1e-6)
        assert weighted.gap <= 1e-6
    path = krr.solve_path(feature_gaussians(X), TARGETS, [0.5, 2.0], sample_weight=COUNTS)
    alone = krr.solve(feature_gaussians(X), TARGETS, 2.0, sample_weight=COUNTS)
    np.testing.assert_allclose(path[1].dual_coef, alone.dual_coef)


@pytest.mark.parametrize("algorithm", [svm, uniform, mkl, simplemkl, hessianmkl, ckl, elastic_net])
def test_equal_weights_are_another_C_to_the_last_bit(algorithm: ModuleType) -> None:
    bank = feature_gaussians(X)
    weighted = algorithm.solve(bank, Y, 2.0, sample_weight=np.full(N, 4.0))
    plain = algorithm.solve(bank, Y, 8.0)
    np.testing.assert_array_equal(weighted.dual_coef, plain.dual_coef)
    np.testing.assert_array_equal(weighted.weights, plain.weights)


def test_a_bound_by_sample_is_certified_and_optimal() -> None:
    """The dual of MKL with alpha_i <= C_i by a conic solver, and the certificate of its parts."""
    box = 2.0 * RNG.uniform(0.1, 3.0, size=N)
    bank = feature_gaussians(X)
    solution = mkl.solve(bank, Y, 1.0, sample_weight=box, tol=1e-7)
    a, level = cp.Variable(N), cp.Variable()
    roots = [np.linalg.cholesky(bank.combine(unit) + 1e-9 * np.eye(N)) for unit in np.eye(D)]
    inside = [cp.sum_squares(root.T @ a) <= 2.0 * level for root in roots]
    limits = [cp.multiply(Y, a) >= 0, cp.multiply(Y, a) <= box, cp.sum(a) == 0]
    optimum = cp.Problem(cp.Maximize(Y @ a - level), inside + limits).solve(solver=cp.CLARABEL)
    assert solution.objective == pytest.approx(optimum, rel=1e-5)
    point = PrimalDualPoint.on_bank(bank, Hinge(Y, box), solution)
    found = bounds(point, Simplex())
    assert found.lower <= optimum * (1 + 1e-6)
    assert optimum <= found.upper * (1 + 1e-6)
    assert found.relative_gap <= 1e-7


ZERO = np.where(np.arange(N) % 5 == 0, 0.0, RNG.integers(1, 3, size=N))
KEPT = ZERO > 0


@pytest.mark.parametrize(
    "model",
    [MKL(), LateFusion(), KRRClassifier(), ElasticNetMKL()],
    ids=lambda model: type(model).__name__,
)
def test_weight_0_is_the_row_left_out(model: KernelEstimator) -> None:
    weighted = sklearn.clone(model).fit(X, Y, sample_weight=ZERO)
    fewer = sklearn.clone(model).fit(X[KEPT], Y[KEPT], sample_weight=ZERO[KEPT])
    np.testing.assert_array_equal(weighted.decision_function(Z), fewer.decision_function(Z))
    np.testing.assert_array_equal(weighted.dual_coef_[KEPT], fewer.dual_coef_)
    assert not weighted.dual_coef_[~KEPT].any()
    np.testing.assert_array_equal(weighted.support_, np.flatnonzero(KEPT)[fewer.support_])


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, lambda X: [X[:, :1], X[:, 1:]]])
@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(),
        [("scaled", Gaussian(0.5), [0, 1], StandardScaler())],
        [("fitted", Normalised("gaussians"), [1])],
    ],
)
@pytest.mark.parametrize("estimator", [MKL, KRR, OneClassMKL])
def test_nor_is_a_kernel_fitted_to_a_row_of_weight_0(
    estimator: type[KernelEstimator], kernel: Any, form: Callable[[Array], Any]
) -> None:
    counts = ZERO > 0
    far = np.where(counts[:, None], X, 100.0 * X)
    y = Y if estimator is MKL else TARGETS
    weighted = estimator(kernel).fit(form(far), y, sample_weight=1.0 * counts)
    without = estimator(kernel).fit(form(far[counts]), y[counts])
    assert_array_equal = np.testing.assert_array_equal
    assert_array_equal(weighted._decision(form(Z)), without._decision(form(Z)))
    assert weighted.dual_coef_.shape == (N,)
    assert_array_equal(weighted.dual_coef_[counts], without.dual_coef_)


def test_the_same_of_gram_matrices_which_stay_those_of_all_rows() -> None:
    K = np.stack([feature_gaussians(X).combine(unit) for unit in np.eye(D)])
    model = MKL(kernel="precomputed", C=5.0, tol=1e-7)
    weighted = sklearn.clone(model).fit(K, Y, sample_weight=ZERO)
    fewer = sklearn.clone(model).fit(K[:, KEPT][:, :, KEPT], Y[KEPT], sample_weight=ZERO[KEPT])
    np.testing.assert_allclose(
        weighted.decision_function(K), fewer.decision_function(K[:, :, KEPT]), atol=1e-9
    )
    stack = cross_validate(model, GramStack(K), Y, params={"sample_weight": ZERO}, cv=3)
    assert stack["test_score"].shape == (3,)
    assert precomputed(K).n_samples == weighted.n_features_in_


def test_regressors_agree_with_those_of_scikit_learn() -> None:
    weights = RNG.uniform(0.1, 3.0, size=N)
    K = gaussian(X).gram([1.0])
    ridge = KRR(lam=0.7).fit(X, TARGETS, sample_weight=weights)
    theirs = KernelRidge(alpha=0.7, kernel="precomputed").fit(K, TARGETS, sample_weight=weights)
    np.testing.assert_allclose(ridge.predict(X), theirs.predict(K), atol=1e-10)
    svr_ = KernelSVR(C=3.0, svm_tol=1e-7).fit(X, TARGETS, sample_weight=weights)
    other = OfScikitLearn(kernel="precomputed", C=3.0, tol=1e-7)
    other.fit(K, TARGETS, sample_weight=weights)
    np.testing.assert_allclose(svr_.predict(X), other.predict(K), atol=1e-5)
    assert svr_.gap_ < 1e-6
    without = NKRR(max_iter=5).fit(X[KEPT], TARGETS[KEPT], sample_weight=ZERO[KEPT])
    left_out = NKRR(max_iter=5).fit(X, TARGETS, sample_weight=ZERO)
    np.testing.assert_array_equal(left_out.predict(Z), without.predict(Z))


def test_balanced_is_that_of_scikit_learn() -> None:
    rows = np.concatenate([np.flatnonzero(Y > 0)[:8], np.flatnonzero(Y < 0)])
    A, y = X[rows], np.where(Y[rows] > 0, "rare", "usual")
    ours = KernelSVC(C=2.0, class_weight="balanced", svm_tol=1e-7).fit(A, y)
    theirs = SVC(C=2.0, gamma=1.0 / D, class_weight="balanced", tol=1e-7).fit(A, y)
    sign = 1.0 if list(theirs.classes_) == list(ours.classes_) else -1.0
    np.testing.assert_allclose(
        ours.decision_function(Z), sign * theirs.decision_function(Z), atol=1e-5
    )
    by_hand = {"rare": len(y) / 16, "usual": len(y) / (2 * (len(y) - 8))}
    same = KernelSVC(C=2.0, class_weight=by_hand, svm_tol=1e-7).fit(A, y)
    np.testing.assert_allclose(same.decision_function(Z), ours.decision_function(Z), atol=1e-9)


def test_factors_of_classes_and_samples_are_multiplied_class_by_class() -> None:
    A, y = load_iris(return_X_y=True)
    A, y = StandardScaler().fit_transform(A)[::2], y[::2]
    weights = RNG.uniform(0.5, 2.0, size=len(y))
    model = UniformMKL(class_weight={0: 3.0, 2: 0.2}).fit(A, y, sample_weight=weights)
    product = weights * np.array([3.0, 1.0, 0.2])[y]
    other = UniformMKL().fit(A, y, sample_weight=product)
    np.testing.assert_array_equal(model.dual_coef_, other.dual_coef_)
    balanced = UniformMKL(class_weight="balanced").fit(A, y, sample_weight=weights)
    sums = np.bincount(y, weights=weights)
    by_hand = UniformMKL().fit(A, y, sample_weight=weights * (sums.sum() / (3 * sums))[y])
    np.testing.assert_allclose(balanced.dual_coef_, by_hand.dual_coef_)


@pytest.mark.parametrize(
    "model", [EasyMKL(), GRAM(), MEMO(), RadiusMarginMKL()], ids=lambda model: type(model).__name__
)
def test_a_method_without_weights_says_so(model: KernelEstimator) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample_weight'"):
        model.fit(X, Y, sample_weight=np.ones(N))
