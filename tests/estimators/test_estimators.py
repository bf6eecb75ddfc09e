"""The estimators keep scikit-learn's rules and agree with the functions they wrap."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from every_kernel import KINDS_FIRST, QUICK
from narrowing import present
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import mklbench
from mklbench import (
    CKL,
    GMKL,
    IKL,
    MKL,
    QNPKL,
    VSKL,
    HessianMKL,
    KernelSVC,
    SimpleMKL,
    UniformMKL,
)
from mklbench.algorithms import mkl, simplemkl
from mklbench.estimators.base import KernelEstimator
from mklbench.estimators.learners import KernelLearner
from mklbench.kernels import Bank, Precomputed, feature_gaussians
from mklbench.kernels.base import Array
from mklbench.solution import Solution

# Those whose equations are solved, and those that take no weights.
_TO_THE_LAST_DIGITS = {"KRR", "KRRClassifier", "NKRR", "NKRRClassifier", "EasyMKL"}


def expected_failures(estimator: KernelEstimator) -> dict[str, str]:
    """Return the checks that cannot hold, with the reason; test_weights.py has what does."""
    if type(estimator).__name__ in _TO_THE_LAST_DIGITS:
        return {}
    reason = (
        "it compares to 1e-7 what is solved to svm_tol or a gap; unit traces, alignments and "
        "folds count a row of weight 2 once"
    )
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


@pytest.mark.parametrize("name", KINDS_FIRST)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_checks(name: str) -> None:
    estimator = getattr(mklbench, name)(**QUICK.get(name, {}))
    check_estimator(estimator, expected_failed_checks=expected_failures(estimator))


@pytest.fixture(scope="module")
def binary() -> tuple[Array, NDArray[np.str_]]:
    X, y = make_classification(n_samples=80, n_features=6, n_informative=3, random_state=0)
    return StandardScaler().fit_transform(X), np.where(y == 1, "yes", "no")


def test_estimator_returns_the_solution_of_the_algorithm(
    binary: tuple[Array, NDArray[np.str_]],
) -> None:
    X, y = binary
    estimator = SimpleMKL(kernel="feature_gaussians", C=5.0).fit(X, y)
    solution = simplemkl.solve(feature_gaussians(X), np.where(y == "yes", 1.0, -1.0), C=5.0)
    np.testing.assert_array_equal(estimator.weights_, solution.weights)
    np.testing.assert_array_equal(estimator.dual_coef_, solution.dual_coef)
    assert estimator.solutions_[0].gap == solution.gap


def test_single_gaussian_equals_scikit_learns_svc(binary: tuple[Array, NDArray[np.str_]]) -> None:
    X, y = binary
    ours = KernelSVC(kernel="gaussian", C=2.0, svm_tol=1e-6).fit(X, y)
    theirs = SVC(C=2.0, gamma=1.0 / X.shape[1], tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("learner", [SimpleMKL, UniformMKL, KernelSVC, GMKL])
def test_one_gram_matrix_behaves_as_scikit_learns_pairwise_input(
    binary: tuple[Array, NDArray[np.str_]], learner: type[KernelLearner]
) -> None:
    X, y = binary
    gram = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    scores = cross_val_score(learner(kernel="precomputed"), gram, y, cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > 0.7


def test_stack_of_gram_matrices_equals_the_bank_it_came_from(
    binary: tuple[Array, NDArray[np.str_]],
) -> None:
    X, y = binary
    stack = np.exp(-((X.T[:, :, None] - X.T[:, None, :]) ** 2))
    dense = SimpleMKL(kernel="precomputed", C=5.0, tol=1e-4).fit(stack[:, :60, :60], y[:60])
    factored = SimpleMKL(kernel="feature_gaussians", C=5.0, tol=1e-4).fit(X[:60], y[:60])
    np.testing.assert_allclose(
        dense.decision_function(stack[:, 60:, :60]),
        factored.decision_function(X[60:]),
        atol=1e-3,
    )


def test_rows_of_a_whole_stack_work_in_a_grid_search(
    binary: tuple[Array, NDArray[np.str_]],
) -> None:
    X, y = binary
    stack = np.exp(-((X.T[:, :, None] - X.T[:, None, :]) ** 2))
    rows = np.arange(len(y))[:, None]
    search = GridSearchCV(SimpleMKL(kernel=Precomputed(stack)), {"C": [0.1, 10.0]}, cv=3)
    search.fit(rows, y)
    on_features = GridSearchCV(SimpleMKL(kernel="feature_gaussians"), {"C": [0.1, 10.0]}, cv=3)
    on_features.fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"],
        on_features.cv_results_["mean_test_score"],
        atol=0.03,
    )


def test_kernels_found_in_a_family(binary: tuple[Array, NDArray[np.str_]]) -> None:
    X, y = binary
    learner = IKL(C=1.0, samples=0).fit(X, y)
    assert isinstance(learner.thetas_, np.ndarray)
    assert learner.thetas_.shape == (len(learner.weights_), X.shape[1])
    assert learner.score(X, y) > 0.9


def test_each_class_finds_its_own_kernels() -> None:
    X, y = load_iris(return_X_y=True)
    learner = make_pipeline(StandardScaler(), IKL(samples=0)).fit(X, y)
    weights, thetas = learner[-1].weights_, learner[-1].thetas_
    assert [len(each) for each in weights] == [len(each) for each in thetas]
    assert len(weights) == 3
    assert learner.score(X, y) > 0.95


def test_three_classes_by_one_versus_rest_in_a_pipeline() -> None:
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), SimpleMKL(kernel="feature_gaussians", C=10.0))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    pipeline.fit(X, y)
    assert pipeline[-1].weights_.shape == (3, 4)
    assert pipeline.decision_function(X).shape == (150, 3)


def test_kernel_may_be_any_builder(binary: tuple[Array, NDArray[np.str_]]) -> None:
    X, y = binary
    builder = partial(feature_gaussians, gammas=[0.1, 1.0])
    assert np.shape(SimpleMKL(kernel=builder).fit(X, y).weights_) == (12,)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SimpleMKL(C=0), "C=0"),
        (MKL(C=0), "C=0"),
        (MKL(tol=0.0), "tol=0"),
        (MKL(kernel="product"), "needs a bank"),
        (SimpleMKL(kernel="simplmkl"), "did you mean simplemkl"),
        (SimpleMKL(kernel="product"), "needs a bank"),
        (QNPKL(kernel="feature_gaussians"), "needs a continuous family"),
        (QNPKL(variant="papper"), "did you mean paper"),
        (GMKL(regulariser="l3"), "did you mean"),
        (GMKL(tol=-1.0), "tol=-1.0"),
        (HessianMKL(kernel="product"), "needs a bank"),
        (VSKL(q=0.5), r"q=0\.5 is not accepted"),
        (VSKL(groups="feature"), "did you mean features"),
        (CKL(q=1.0), r"q=1\.0 is not accepted"),
        (CKL(groups=[[0, 1]]), "do not name each of the"),
        (SimpleMKL(max_iter=0), "max_iter=0"),
        (KernelSVC(kernel="feature_gaussians", weights=[1.0]), "6 kernels"),
        (KernelSVC(kernel="feature_gaussians", weights=[-1.0] * 6), "-1"),
    ],
)
def test_a_wrong_parameter_is_named(
    binary: tuple[Array, NDArray[np.str_]], estimator: KernelEstimator, message: str
) -> None:
    X, y = binary
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)


def test_default_solver_agrees_with_simplemkl(binary: tuple[Array, NDArray[np.str_]]) -> None:
    X, y = binary
    ours = MKL(kernel="feature_gaussians", C=5.0).fit(X, y).solutions_[0]
    theirs = SimpleMKL(kernel="feature_gaussians", C=5.0, tol=1e-4).fit(X, y).solutions_[0]
    assert ours.gap <= 1e-4
    assert ours.objective == pytest.approx(theirs.objective, rel=2e-4)


@pytest.mark.parametrize("learner", [HessianMKL, VSKL, CKL])
def test_one_group_of_kernels_is_mkl(
    binary: tuple[Array, NDArray[np.str_]], learner: type[KernelLearner]
) -> None:
    X, y = binary
    ours = learner(kernel="feature_gaussians", C=5.0, tol=1e-3).fit(X, y).solutions_[0]
    exact = MKL(kernel="feature_gaussians", C=5.0).fit(X, y).solutions_[0]
    assert ours.objective == pytest.approx(exact.objective, rel=1e-3)


@pytest.mark.parametrize("learner", [VSKL(q=np.inf), CKL(q=0.6)])
def test_groups_by_feature(binary: tuple[Array, NDArray[np.str_]], learner: KernelLearner) -> None:
    X, y = binary
    builder = partial(feature_gaussians, gammas=[0.1, 1.0, 10.0])
    fitted = learner.set_params(kernel=builder, C=5.0, groups="features").fit(X, y)
    assert (fitted.weights_.reshape(6, 3).sum(axis=1) > 0).all()
    assert fitted.score(X, y) > 0.9


def test_a_warm_start_along_the_path_of_C_saves_svm_calls(
    binary: tuple[Array, NDArray[np.str_]],
) -> None:
    X, y = binary
    warm = MKL(kernel="feature_gaussians", warm_start=True)
    calls = {"warm": 0, "cold": 0}
    for C in np.geomspace(1.0, 1000.0, 4):
        path = warm.set_params(C=C).fit(X, y).solutions_[0]
        alone = MKL(kernel="feature_gaussians", C=C).fit(X, y).solutions_[0]
        assert path.gap <= 1e-4
        assert path.objective == pytest.approx(alone.objective, rel=2e-4)
        calls["warm"] += path.n_svm_calls
        calls["cold"] += alone.n_svm_calls
    assert calls["warm"] < calls["cold"]


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[Array | None]:
    """The starts that the estimators pass to the default solver."""
    noted = []
    solve = mkl.solve

    def noting(
        operator: Bank, y: Array, *, start: Array | None = None, **hyperparameters: Any
    ) -> Solution:
        noted.append(start)
        return solve(operator, y, start=start, **hyperparameters)

    monkeypatch.setattr(mkl, "solve", noting)
    return noted


@pytest.fixture(scope="module")
def stack(binary: tuple[Array, NDArray[np.str_]]) -> Array:
    """Gram matrices of a Gaussian on each of the 6 features."""
    X, _ = binary
    return np.exp(-((X.T[:, :, None] - X.T[:, None, :]) ** 2))


def test_a_warm_start_sets_out_from_the_fit_before_and_new_kernels_enter_with_0(
    binary: tuple[Array, NDArray[np.str_]], stack: Array, starts: list[Array | None]
) -> None:
    _, y = binary
    model = MKL(kernel="precomputed", C=5.0, warm_start=True).fit(stack[:4], y)
    before = model.weights_
    model.fit(stack[:4], y).fit(stack, y)
    assert starts[0] is None
    np.testing.assert_array_equal(starts[1], before)
    entering = present(starts[2])
    np.testing.assert_allclose(entering, [*before, 0.0, 0.0], atol=0.05)
    np.testing.assert_array_equal(entering[4:], 0.0)
    alone = MKL(kernel="precomputed", C=5.0).fit(stack, y).solutions_[0]
    assert model.solutions_[0].objective == pytest.approx(alone.objective, rel=2e-4)


def test_a_warm_start_that_does_not_fit_is_none(
    binary: tuple[Array, NDArray[np.str_]], stack: Array, starts: list[Array | None]
) -> None:
    _, y = binary
    model = MKL(kernel="precomputed", C=5.0, warm_start=True).fit(stack, y)
    model.fit(stack[:4], y)  # fewer kernels
    model.fit(stack[:4], np.where(y == "yes", "maybe", y))  # another class
    model.set_params(warm_start=False).fit(stack[:4], y)
    assert starts == [None] * 4


def test_every_class_starts_at_its_own_weights(starts: list[Array | None]) -> None:
    X, y = load_iris(return_X_y=True)
    model = MKL(kernel="feature_gaussians", C=10.0, warm_start=True).fit(X, y)
    before = model.weights_
    model.fit(X, y)
    assert starts[:3] == [None] * 3
    np.testing.assert_array_equal(starts[3:], before)


def test_an_iteration_limit_warns(binary: tuple[Array, NDArray[np.str_]]) -> None:
    X, y = binary
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        SimpleMKL(kernel="feature_gaussians", C=100.0, tol=1e-6, max_iter=1).fit(X, y)


def test_unknown_attribute_of_the_package() -> None:
    with pytest.raises(AttributeError, match="NoSuchMKL"):
        mklbench.NoSuchMKL  # type: ignore[attr-defined]  # noqa: B018
