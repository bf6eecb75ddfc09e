"""The C-SVC against an independent quadratic programme; labels and options that it refuses."""

from __future__ import annotations

import conic_twins
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import gram_and_labels, no_line_separates

from mklbench.errors import InputError
from mklbench.libsvm import SVM, SVR, Machine

TIGHT = 1e-6


def slacks(K: np.ndarray, y: np.ndarray, dual_coef: np.ndarray, intercept: float) -> np.ndarray:
    """Return y_i f(x_i) - 1."""
    return y * (K @ dual_coef + intercept) - 1.0


class TestOptimum:
    @pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_objective_equals_that_of_a_conic_solver(self, C: float, seed: int) -> None:
        K, y = gram_and_labels(seed=seed)
        solution = SVM(y, C, tol=TIGHT).solve(K)
        assert_allclose(solution.dual_objective(K), conic_twins.svm(K, y, C).value, rtol=1e-5)

    @pytest.mark.parametrize("C", [0.3, 10.0])
    def test_kkt_conditions(self, C: float) -> None:
        K, y = gram_and_labels()
        solution = SVM(y, C, tol=TIGHT).solve(K)
        alpha = y * solution.dual_coef
        assert (alpha >= 0).all()
        assert (alpha <= C).all()
        assert_allclose(solution.dual_coef.sum(), 0.0, atol=1e-9 * C)
        slack = slacks(K, y, solution.dual_coef, solution.intercept)
        inside = (alpha > 0) & (alpha < C)
        assert inside.any()
        assert_allclose(slack[inside], 0.0, atol=1e-4)
        assert (slack[alpha == 0] >= -1e-4).all()
        assert (slack[alpha == C] <= 1e-4).all()
        assert_array_equal(solution.support, np.flatnonzero(alpha))

    @pytest.mark.parametrize("class_weight", [{-1: 0.2, 1: 3.0}, {1: 0.1}, {-1: 7}])
    def test_class_weights_are_boxes_of_the_classes(self, class_weight: dict[int, float]) -> None:
        K, y = gram_and_labels()
        machine = SVM(y, 0.8, tol=TIGHT, class_weight=class_weight)
        box = 0.8 * np.where(y > 0, class_weight.get(1, 1.0), class_weight.get(-1, 1.0))
        assert_allclose(machine.upper, box)
        solution = machine.solve(K)
        assert (np.abs(solution.dual_coef) <= box * (1 + 1e-12)).all()
        assert_allclose(solution.dual_objective(K), conic_twins.svm(K, y, box).value, rtol=1e-5)

    def test_a_smaller_tolerance_gives_a_higher_dual_value(self) -> None:
        K, y = gram_and_labels(60)
        machine = SVM(y, 100.0, tol=0.5)
        rough = machine.solve(K).dual_objective(K)
        assert machine.solve(K, tol=TIGHT).dual_objective(K) > rough
        assert machine.solve(K).dual_objective(K) == rough


class TestSigns:
    def test_the_first_sample_does_not_choose_the_positive_class(self) -> None:
        K, y = gram_and_labels()
        for first in (np.flatnonzero(y > 0)[0], np.flatnonzero(y < 0)[0]):
            order = np.roll(np.arange(len(y)), -first)
            turned = K[np.ix_(order, order)]
            solution = SVM(y[order], 1.0, tol=TIGHT).solve(turned)
            assert (solution.dual_coef * y[order] >= 0).all()
            margins = 1.0 + slacks(turned, y[order], solution.dual_coef, solution.intercept)
            assert (margins > 0).mean() > 0.7

    def test_the_intercept_follows_the_larger_class(self) -> None:
        y = np.array([1.0, 1.0, 1.0, 1.0, -1.0])
        assert SVM(y, 0.1).solve(np.eye(5)).intercept > 0
        assert SVM(-y, 0.1).solve(np.eye(5)).intercept < 0


class TestLimit:
    """Ten points that no line separates: 10^7 iterations, a second, are not enough."""

    @pytest.mark.parametrize(("kind", "factors"), [(SVM, None), (SVR, np.arange(1.0, 11.0))])
    def test_ends_it_whichever_libsvm_solves(
        self, kind: type[SVM] | type[SVR], factors: np.ndarray | None
    ) -> None:
        """That inside of scikit-learn, which takes a bound for each sample, has none of its own."""
        X, y = no_line_separates()
        is_done, is_at_limit = self.end(kind(y, 1e9, sample_weight=factors), X @ X.T)
        assert not is_done
        assert is_at_limit

    def test_is_not_met_on_ordinary_data(self) -> None:
        K, y = gram_and_labels()
        _, is_at_limit = self.end(SVM(y, 10.0), K)
        assert not is_at_limit

    def test_is_not_met_where_single_precision_is_too_coarse(self) -> None:
        """LIBSVM ends by the kernel values that it has, which are not those it was given."""
        K, y = gram_and_labels()
        is_done, is_at_limit = self.end(SVM(y, 1.0), 1e5 + K)
        assert not is_done
        assert not is_at_limit

    def end(self, machine: Machine, K: np.ndarray) -> tuple[bool, bool]:
        """Return whether LIBSVM is done, and whether it is at its limit."""
        a = machine.solve(K).dual_coef
        return machine.is_done(K @ a, a), machine.is_at_limit(K @ a, a)


class TestBadInput:
    def test_many_labels_are_not_all_printed(self) -> None:
        with pytest.raises(InputError, match=r"labels 0, 1, 2, 3, \.\.\.: a binary"):
            SVM(range(50))
