"""MKL with the elastic net: against a conic solver, on Gram matrices and on factors."""

from __future__ import annotations

from typing import Any

import conic_twins
import cvxpy as cp
import numpy as np
import pytest
from certificates import bank_bounds
from numpy.testing import assert_allclose
from problems import categories, random_problem, random_stack

from mklbench.algorithms import elastic_net
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank, feature_gaussians
from mklbench.optim import joint_method
from mklbench.penalties.elastic_net import ElasticNet
from mklbench.solution import Solution

Array = np.ndarray


def solve(stack: Array, y: Array, C: float, mix: float, **options: Any) -> Solution:
    """Solve, and certify the numbers returned with nothing else of the solver's."""
    bank, penalty = PrecomputedBank(stack), ElasticNet(mix)
    solution = elastic_net.solve(bank, y, C, mix=mix, **options)
    bounds = bank_bounds(bank, y, solution, C, penalty)
    assert bounds.relative_gap == pytest.approx(solution.gap, rel=1e-6, abs=1e-12)
    assert bounds.lower <= solution.objective * (1 + 1e-9)
    assert solution.objective <= bounds.upper * (1 + 1e-9)
    return solution


def twin(stack: Array, y: Array, C: float, mix: float) -> tuple[float, Array]:
    """Return the optimum of the primal problem as it is printed, and the lengths (M,)."""
    roots = [conic_twins.root(K) for K in stack]
    w = [cp.Variable(len(root)) for root in roots]
    b = cp.Variable()
    f = sum(root.T @ part for root, part in zip(roots, w, strict=True)) + b
    price = sum((1 - mix) * cp.norm(part) + 0.5 * mix * cp.sum_squares(part) for part in w)
    problem = cp.Problem(cp.Minimize(price + C * cp.sum(cp.pos(1 - cp.multiply(y, f)))))
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value), np.array([np.linalg.norm(part.value) for part in w])


@pytest.mark.parametrize(("C", "mix"), [(0.1, 0.05), (1.0, 0.5), (100.0, 0.9), (1.0, 1.0)])
def test_optimum_of_a_conic_solver(C: float, mix: float) -> None:
    stack, y = random_stack(seed=1)
    tol = 1e-6 if C < 100 else 2e-5  # what is left of LIBSVM's single precision
    solution = solve(stack, y, C, mix, tol=tol)
    assert solution.converged
    value, lengths = twin(stack, y, C, mix)
    assert solution.objective == pytest.approx(value, rel=4.0 * tol + 1e-6)
    forms = np.einsum("i,mij,j->m", solution.dual_coef, stack, solution.dual_coef)
    assert_allclose(solution.weights * np.sqrt(forms), lengths, atol=0.02 * max(1.0, lengths.max()))


def test_ends_where_svms_and_weights_in_turn_do_not() -> None:
    """Samples are equal and their labels are not, and C is large."""
    stack, y = categories(0, 60)
    C, mix, tol = 1e3, 0.1, 1e-5
    solution = solve(stack, y, C, mix, tol=tol, max_iter=40)
    assert solution.converged
    *_, before, last = solution.history
    assert last["gap"] <= tol < before["gap"]
    assert last["n_svm_calls"] == before["n_svm_calls"] + 1 <= 15
    value, _ = twin(stack, y, C, mix)
    assert solution.objective == pytest.approx(value, rel=1e-4)


def test_exact_factors_with_few_columns_need_one_svm() -> None:
    X, y = random_problem(400)
    bank = feature_gaussians(X[:, :2])
    solution = elastic_net.solve(bank, y, 100.0, tol=1e-5)
    assert solution.converged
    assert solution.n_svm_calls == 1
    assert solution.expansion is None
    stack = np.array([bank.gram(unit) for unit in np.eye(bank.n_kernels)])
    assert solution.objective == pytest.approx(twin(stack, y, 100.0, 0.5)[0], rel=1e-4)


def test_on_factors_there_is_no_gram_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an `Objective` begins with is LIBSVM's buffer for one."""
    X, y = random_problem(100)
    bank = feature_gaussians(X)
    expected = elastic_net.solve(bank, y, 10.0, tol=1e-5, method="libsvm").objective
    monkeypatch.setattr(elastic_net, "Objective", None)
    solution = elastic_net.solve(bank, y, 10.0, tol=1e-5, method="joint")
    assert solution.objective == pytest.approx(expected, rel=3e-5)
    plain = elastic_net.solve(bank, y, 10.0, mix=1.0, tol=1e-5, method="joint")
    assert_allclose(plain.weights, 1.0)


@pytest.mark.parametrize("most", [3, 30])
def test_at_most_as_many_changes_as_asked_for(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_method, "_MOST_NUMBERS", 0)  # no joint method
    stack, y = random_stack()
    solution = elastic_net.solve(PrecomputedBank(stack), y, 1.0, mix=0.2, tol=1e-15, max_iter=most)
    assert not solution.converged
    calls = [entry["n_svm_calls"] for entry in solution.history]
    assert calls == sorted(calls)
    assert len(set(calls)) <= most + 2  # the first, and the one with which it goes on
    assert (solution.n_iter, solution.n_svm_calls) == (len(calls) - 1, calls[-1])


@pytest.mark.parametrize("mix", [0.0, -1.0, 1.5, np.nan, "a", None, True])
def test_mix_is_a_share(mix: Any) -> None:
    stack, y = random_stack()
    with pytest.raises(
        InputError, match=r"mix=.* is not accepted: it must be a number in \(0, 1\]"
    ):
        elastic_net.solve(PrecomputedBank(stack), y, mix=mix)
