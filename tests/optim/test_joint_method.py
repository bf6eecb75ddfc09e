"""The joint method as a fallback and as a choice: what it finds, and what it says."""

from __future__ import annotations

import conic_twins
import numpy as np
import pytest
from problems import categories, random_problem, random_stack

from mklbench import MKL
from mklbench.algorithms import mkl
from mklbench.kernels import PrecomputedBank, feature_gaussians, linear_features
from mklbench.libsvm import SVM, OneClassSVM
from mklbench.optim import joint_method, svm_dual
from mklbench.optim.svm_dual import InnerSVM


def test_begins_with_some_kernels_and_ends_with_all_that_count() -> None:
    stack, y = categories(28)
    bank, tol = PrecomputedBank(stack), 1e-5
    svm = InnerSVM(bank, SVM(y, 100.0), svm_dual.of_classes(y, np.full(len(y), 100.0)))
    optimum = conic_twins.mkl(stack, y, 100.0).value
    found = list(joint_method.candidates(bank, svm, np.array([0]), tol))
    assert svm.machine.calls == 0
    assert min(each.gap for each in found) <= tol
    for each in found:
        assert each.bounds.lower <= optimum * (1 + 1e-6)
        assert each.bounds.upper >= optimum * (1 - 1e-6)
        assert each.weights.sum() == pytest.approx(1.0)
        alpha = y * each.dual_coef
        assert alpha.min() >= -1e-9
        assert alpha.max() <= 100 * (1 + 1e-9)
        assert each.dual_coef.sum() == pytest.approx(0.0, abs=1e-6)
    # The first of each pair has its alpha at the bounds that they are near to.
    at_bounds = [np.count_nonzero(np.isin(np.abs(each.dual_coef), [0, 100])) for each in found]
    assert at_bounds[-2] > at_bounds[-1]


def test_takes_exact_factors_with_few_columns() -> None:
    X, y = random_problem(400)
    bank, tol = feature_gaussians(X[:, :2]), 1e-5
    assert joint_method.narrow_factors(bank, 1e-4) is not None
    svm = InnerSVM(bank, SVM(y, 100.0), svm_dual.of_classes(y, np.full(len(y), 100.0)))
    found = list(joint_method.candidates(bank, svm, np.array([0]), tol))
    assert len(found) == 2
    assert min(each.gap for each in found) <= tol
    optimum = mkl.solve(bank, y, 100.0, tol=1e-6, method="libsvm").objective
    assert min(each.bounds.upper for each in found) == pytest.approx(optimum, rel=2 * tol)


def test_factors_with_many_columns_or_of_many_kernels_are_not_narrow() -> None:
    X, _ = random_problem(60)
    assert joint_method.narrow_factors(feature_gaussians(X), 1e-4) is None
    assert joint_method.narrow_factors(linear_features(np.tile(X, 6)), 1e-4) is None
    assert joint_method.narrow_factors(PrecomputedBank(random_stack(n=20)[0]), 1e-4) is None


def test_nothing_of_one_class_nor_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    stack, y = random_stack(n=20)
    bank, kernels = PrecomputedBank(stack), np.arange(len(stack))
    machine = OneClassSVM(20, 0.5)
    one_class = InnerSVM(bank, machine, svm_dual.of_one_class(20, 1.0, 10.0, -1.0))
    assert list(joint_method.candidates(bank, one_class, kernels, 1e-4)) == []
    monkeypatch.setattr(joint_method, "_MOST_NUMBERS", 1999)
    svm = InnerSVM(bank, SVM(y, 1.0), svm_dual.of_classes(y, np.full(len(y), 1.0)))
    assert list(joint_method.candidates(bank, svm, kernels, 1e-4)) == []


def test_auto_says_that_it_takes_gram_matrices_where_a_feature_is_too_rough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joint_method, "MANY", 2000)
    X, _ = random_problem(2000, 2)
    bank = feature_gaussians(X, [1e6])
    with pytest.warns(UserWarning, match="auto takes Gram matrices of all 2000 .* column 0"):
        assert joint_method.factors_for(bank, "auto", 1e-3) is None
    assert joint_method.factors_for(bank, "libsvm", 1e-3) is None


@pytest.mark.parametrize(("noise", "told"), [(0.0, True), (1.0, False)])
def test_says_where_it_separates_the_classes(
    noise: float, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    y = np.sign(X[:, 0] + noise * rng.standard_normal(200))
    model = MKL(kernel="linear_features", C=1e4, method="joint", verbose=1)
    model.fit(X[np.abs(X[:, 0]) > 0.1], y[np.abs(X[:, 0]) > 0.1])
    assert ("the kernels separate the two classes" in capsys.readouterr().out) is told
