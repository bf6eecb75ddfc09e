"""More than two classes by one-versus-rest."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mklbench import one_vs_rest
from mklbench.algorithms import mkl, qnpkl, simplemkl, svm
from mklbench.errors import InputError
from mklbench.kernels import feature_gaussians, gaussian, product_gaussians


@pytest.fixture
def three_classes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 15)
    centres = np.array([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]])
    return centres[codes] + 0.4 * rng.standard_normal((45, 2)), codes


class TestManyClasses:
    def test_one_solution_a_class(self, three_classes: tuple[np.ndarray, np.ndarray]) -> None:
        X, codes = three_classes
        bank = feature_gaussians(X)
        solutions = one_vs_rest.fit(simplemkl.solve, bank, codes, 3)
        assert len(solutions) == 3
        for code, solution in enumerate(solutions):
            alone = simplemkl.solve(bank, np.where(codes == code, 1.0, -1.0))
            assert_array_equal(solution.dual_coef, alone.dual_coef)
            assert_array_equal(solution.weights, alone.weights)

    def test_decision_values_are_those_of_each_class(
        self, three_classes: tuple[np.ndarray, np.ndarray]
    ) -> None:
        X, codes = three_classes
        bank = feature_gaussians(X)
        solutions = one_vs_rest.fit(simplemkl.solve, bank, codes, 3)
        Z = X[::4] + 0.1
        decision = one_vs_rest.decision_function(bank, solutions, Z)
        assert decision.shape == (len(Z), 3)
        for column, solution in zip(decision.T, solutions, strict=True):
            expected = [
                sum(
                    weight * np.exp(-((z[m] - X[:, m]) ** 2)) @ solution.dual_coef
                    for m, weight in enumerate(solution.weights)
                )
                + solution.intercept
                for z in Z
            ]
            assert_allclose(column, expected, atol=1e-8)

    @pytest.mark.parametrize("solve", [svm.solve, simplemkl.solve])
    def test_predictions(
        self, three_classes: tuple[np.ndarray, np.ndarray], solve: one_vs_rest.Solver
    ) -> None:
        X, codes = three_classes
        bank = feature_gaussians(X)
        solutions = one_vs_rest.fit(solve, bank, codes, 3)
        decision = one_vs_rest.decision_function(bank, solutions, X)
        assert (one_vs_rest.predict(decision) == codes).mean() > 0.95

    def test_a_class_that_is_absent_from_the_training_part(self) -> None:
        with pytest.raises(InputError, match="one class only"):
            one_vs_rest.fit(svm.solve, gaussian(np.eye(4)), [0, 1, 0, 1], 3)


class TestTwoClasses:
    def test_one_solution_whose_positive_class_is_code_one(self) -> None:
        rng = np.random.default_rng(1)
        X = rng.standard_normal((30, 2))
        codes = (X[:, 0] > 0).astype(int)
        family = product_gaussians(X)
        solutions = one_vs_rest.fit(qnpkl.solve, family, codes, 2)
        assert len(solutions) == 1
        assert (solutions[0].dual_coef[codes == 1] >= 0).all()
        decision = one_vs_rest.decision_function(family, solutions, X)
        assert decision.shape == (30,)
        assert (one_vs_rest.predict(decision) == codes).mean() > 0.9

    def test_swapping_the_codes_swaps_the_predictions(self) -> None:
        rng = np.random.default_rng(2)
        X, Z = rng.standard_normal((30, 2)), rng.standard_normal((50, 2))
        codes = (X[:, 0] + 0.5 * rng.standard_normal(30) > 0).astype(int)
        bank = gaussian(X)
        solve = partial(svm.solve, svm_tol=1e-6)
        decisions = [
            one_vs_rest.decision_function(bank, one_vs_rest.fit(solve, bank, labels, 2), Z)
            for labels in (codes, 1 - codes)
        ]
        assert_allclose(decisions[0], -decisions[1], atol=1e-4)


def test_predict_of_given_decision_values() -> None:
    assert_array_equal(one_vs_rest.predict(np.array([-0.1, 0.2, 3.0])), [0, 1, 1])
    three = np.array([[0.1, -2.0, 0.0], [-3.0, -2.0, -1.0]])
    assert_array_equal(one_vs_rest.predict(three), [0, 2])


def test_a_tie_goes_to_the_first_class() -> None:
    """As in scikit-learn: the decision value 0 is no vote for class 1."""
    assert_array_equal(one_vs_rest.predict(np.array([0.0, -0.0, 5e-324])), [0, 0, 1])
    tied = np.array([[1.0, 1.0, 0.5], [-2.0, 0.0, 0.0], [3.0, 3.0, 3.0]])
    assert_array_equal(one_vs_rest.predict(tied), [0, 1, 0])


def test_each_problem_gets_its_own_start(three_classes: tuple[np.ndarray, np.ndarray]) -> None:
    X, codes = three_classes
    given: list[np.ndarray] = []

    def solve(bank: object, y: np.ndarray, *, start: np.ndarray) -> object:
        given.append(start)
        return svm.solve(bank, y, weights=start)

    starts = list(np.eye(3)[:, :2] + 0.5)
    solutions = one_vs_rest.fit(solve, feature_gaussians(X), codes, 3, starts=starts)
    assert_array_equal(given, starts)
    assert_array_equal([solution.weights for solution in solutions], starts)
    with pytest.raises(ValueError, match="shorter"):
        one_vs_rest.fit(solve, feature_gaussians(X), codes, 3, starts=starts[:2])


class StartedCallable:
    def __call__(self, bank: object, y: object, *, start: object = None) -> None: ...


@pytest.mark.parametrize(
    ("solve", "expected"),
    [
        (mkl.solve, True),
        (partial(mkl.solve, C=2.0), True),
        (partial(mkl.solve, start=[1.0]), False),  # the start that was chosen counts
        (StartedCallable(), True),
        (simplemkl.solve, False),
        (lambda bank, y, **anything: None, False),
    ],
)
def test_a_solver_takes_a_start_if_it_says_so(solve: one_vs_rest.Solver, expected: bool) -> None:
    assert one_vs_rest.takes_start(solve) is expected
