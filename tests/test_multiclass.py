"""More than two classes by one-versus-rest."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mklbench import multiclass
from mklbench.algorithms import mkl, qnpkl, simplemkl, svm
from mklbench.contract import Solver
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank, feature_gaussians, gaussian, product_gaussians
from mklbench.solution import Mixture, Solution


@pytest.fixture
def three_classes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 15)
    centres = np.array([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]])
    return centres[codes] + 0.4 * rng.standard_normal((45, 2)), codes


class TestManyClasses:
    def test_solutions_on_nodes_decide_as_those_on_samples(
        self, three_classes: tuple[np.ndarray, np.ndarray]
    ) -> None:
        X, codes = three_classes
        bank = feature_gaussians(X)
        on_nodes, on_samples = (
            multiclass.fit(partial(mkl.solve, method=method, tol=1e-6), bank, codes, 3)
            for method in ("joint", "libsvm")
        )
        assert all(solution.expansion is not None for solution in on_nodes)
        ours, theirs = (
            multiclass.decision_function(bank, solutions, X.tolist())
            for solutions in (on_nodes, on_samples)
        )
        assert_allclose(ours, theirs, atol=0.02)

    def test_decision_values_are_those_of_each_class(
        self, three_classes: tuple[np.ndarray, np.ndarray]
    ) -> None:
        X, codes = three_classes
        bank = feature_gaussians(X)
        solutions = multiclass.fit(simplemkl.solve, bank, codes, 3)
        Z = X[::4] + 0.1
        decision = multiclass.decision_function(bank, solutions, Z)
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

    def test_a_class_that_is_absent_from_the_training_part(self) -> None:
        with pytest.raises(InputError, match="one class only"):
            multiclass.fit(svm.solve, gaussian(np.eye(4)), [0, 1, 0, 1], 3)


class TestTwoClasses:
    def test_one_solution_whose_positive_class_is_code_one(self) -> None:
        rng = np.random.default_rng(1)
        X = rng.standard_normal((30, 2))
        codes = (X[:, 0] > 0).astype(int)
        family = product_gaussians(X)
        solutions = multiclass.fit(qnpkl.solve, family, codes, 2)
        assert len(solutions) == 1
        assert (solutions[0].dual_coef[codes == 1] >= 0).all()
        decision = multiclass.decision_function(family, solutions, X)
        assert decision.shape == (30,)
        assert (multiclass.predict(decision) == codes).mean() > 0.9


def test_predict_of_given_decision_values() -> None:
    assert_array_equal(multiclass.predict(np.array([-0.1, 0.2, 3.0])), [0, 1, 1])
    three = np.array([[0.1, -2.0, 0.0], [-3.0, -2.0, -1.0]])
    assert_array_equal(multiclass.predict(three), [0, 2])


def test_a_tie_goes_to_the_first_class() -> None:
    """As in scikit-learn: the decision value 0 is no vote for class 1."""
    assert_array_equal(multiclass.predict(np.array([0.0, -0.0, 5e-324])), [0, 0, 1])
    tied = np.array([[1.0, 1.0, 0.5], [-2.0, 0.0, 0.0], [3.0, 3.0, 3.0]])
    assert_array_equal(multiclass.predict(tied), [0, 1, 0])


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
def test_a_solver_takes_a_start_if_it_says_so(solve: Solver, expected: bool) -> None:
    assert multiclass.takes_start(solve) is expected


def test_what_overflows_in_a_stack_of_gram_matrices_is_named_by_its_row() -> None:
    bank = PrecomputedBank(np.stack([np.eye(4), 2.0 * np.eye(4)]))
    solutions = multiclass.fit(svm.solve, bank, [0, 1, 0, 1], 2)
    weighty = [replace(solution, weights=np.array([1e10, 1e10])) for solution in solutions]
    crosses = np.ones((2, 3, 4))
    crosses[1, 2, 3] = 1e305
    with pytest.raises(InputError, match="row 2 of the new samples is where"):
        multiclass.decision_function(bank, weighty, crosses)


def test_votes_by_hand() -> None:
    """Three machines on four samples: the mean of the signs, and a ninth of mean / (1 + |mean|)."""
    values = np.array([[2.0, -1.0, 0.5, 0.0], [1.0, -4.0, 0.5, 3.0], [-6.0, 2.0, 0.5, -3.0]])
    expected = [1 / 3 - 0.5 / 9, -1 / 3 - 0.5 / 9, 1.0 + 1 / 3 / 9, 0.0]
    assert_allclose(multiclass.vote(values), expected, rtol=1e-15)


def a_solution(weights: list[float], **others: Any) -> Solution:
    numbers = {"dual_coef": np.zeros(2), "intercept": 0.0, "objective": 1.0, "gap": 0.0}
    counts = {"n_svm_calls": 1, "n_iter": 1, "converged": True}
    return Solution(weights=np.array(weights), **{**numbers, **counts, **others})


def test_the_kernel_of_a_solution_is_to_its_degree() -> None:
    squared = a_solution([1.0], dual_coef=np.array([1.0, -2.0]), degree=2)
    block = np.array([[3.0, 1.0], [0.5, 2.0]])
    outputs = multiclass.outputs_from(lambda weights: weights[0] * block, squared)
    assert_allclose(outputs, [9.0 - 2.0, 0.25 - 8.0])


def test_an_ensemble_is_the_mean_of_its_machines_or_their_vote() -> None:
    members = tuple(a_solution([1.0], intercept=b) for b in (0.0, 1.0, -7.0))
    values = np.array([2.0, 8.0])  # of every machine, without the intercept
    for vote, expected in (
        (False, values - 2.0),
        (True, multiclass.vote(np.add.outer([0.0, 1.0, -7.0], values))),
    ):
        ensemble = a_solution([1.0], members=members, vote=vote)
        assert_allclose(multiclass.decision_values([ensemble], lambda machine: values), expected)


def test_new_samples_are_taken_in_blocks_of_what_memory_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.arange(10.0).reshape(5, 2)
    bank = gaussian(X)
    solutions = multiclass.fit(svm.solve, bank, [0, 1, 0, 1, 1], 2)
    Z = np.linspace(-1.0, 9.0, 60).reshape(30, 2)
    whole = multiclass.decision_function(bank, solutions, Z)
    sizes: list[int] = []
    decision_values = multiclass.decision_values

    def noting(*given: Any) -> np.ndarray:
        sizes.append(len(values := decision_values(*given)))
        return values

    monkeypatch.setattr(multiclass, "decision_values", noting)
    monkeypatch.setattr(multiclass, "_CROSS", 8 * 5 * 15)  # fifteen rows of five doubles
    assert_array_equal(multiclass.decision_function(bank, solutions, Z), whole)
    assert sizes == [15, 15]


class TestMeanStarts:
    def test_without_neighbours_there_is_none(self) -> None:
        assert multiclass.mean_starts([]) is None

    def test_the_mean_of_the_weights_problem_by_problem(self) -> None:
        one = [a_solution([1.0, 0.0]), a_solution([0.2, 0.8])]
        other = [a_solution([0.0, 1.0]), a_solution([0.6, 0.4])]
        starts = multiclass.mean_starts([one, other])
        assert starts is not None
        assert_allclose(np.array(starts), [[0.5, 0.5], [0.4, 0.6]])
        with pytest.raises(ValueError, match="shorter"):
            multiclass.mean_starts([one, other[:1]])

    def test_all_kernels_that_were_found_with_their_share(self) -> None:
        one = [a_solution([0.4, 0.6], thetas=np.array([[1.0], [2.0]]))]
        other = [a_solution([1.0], thetas=np.array([[3.0]]))]
        (start,) = multiclass.mean_starts([one, other]) or []
        assert isinstance(start, Mixture)
        assert_allclose(start.weights, [0.2, 0.3, 0.5])
        assert_array_equal(start.thetas, [[1.0], [2.0], [3.0]])
