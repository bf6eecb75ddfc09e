"""The estimators keep scikit-learn's rules and agree with the functions they wrap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from every_kernel import KINDS_FIRST, QUICK
from narrowing import present
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import mklbench
from mklbench import (
    GMKL,
    IKL,
    MKL,
    KernelSVC,
    SimpleMKL,
    UniformMKL,
)
from mklbench.algorithms import mkl, simplemkl
from mklbench.estimators.base import KernelEstimator
from mklbench.estimators.learners import KernelLearner
from mklbench.kernels import Bank, feature_gaussians
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


@pytest.mark.parametrize("learner", [SimpleMKL, UniformMKL, KernelSVC, GMKL])
def test_one_gram_matrix_behaves_as_scikit_learns_pairwise_input(
    binary: tuple[Array, NDArray[np.str_]], learner: type[KernelLearner]
) -> None:
    X, y = binary
    gram = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    scores = cross_val_score(learner(kernel="precomputed"), gram, y, cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > 0.7


def test_kernels_found_in_a_family(binary: tuple[Array, NDArray[np.str_]]) -> None:
    X, y = binary
    learner = IKL(C=1.0, samples=0).fit(X, y)
    assert isinstance(learner.thetas_, np.ndarray)
    assert learner.thetas_.shape == (len(learner.weights_), X.shape[1])
    assert learner.score(X, y) > 0.9


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
