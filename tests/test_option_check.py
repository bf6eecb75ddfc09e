"""Options of an algorithm are checked before there are kernels, in every algorithm."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import random_problem, random_stack
from sklearn.svm import SVC

import mklbench
from mklbench.algorithms import all_algorithms, ikl, mkl, svm
from mklbench.contract import check_options
from mklbench.errors import InputError
from mklbench.experiments.run import Run
from mklbench.experiments.run_checks import check_run
from mklbench.kernels import PrecomputedBank, product_gaussians

# A value that no algorithm with this option accepts.
WRONG: dict[str, Any] = {
    "C": -1.0,
    "lam": -1.0,
    "final_lam": -1.0,
    "delta": -1.0,
    "tol": 0.0,
    "svm_tol": 1e-300,
    "max_iter": 0,
    "max_evals": 0,
    "objective_tol": -1.0,
    "class_weight": {0: 2.0},
    "epsilon": -1.0,
    "groups": [1, 2],
    "weights": "abc",
    "mu0": "abc",
    "q": "x",
    "learner": "svn",
    "programme": "x",
    "regulariser": "l3",
    "strength": -1.0,
    "random_state": -1,
    "seed": -1,
    "folds": 1,
    "n_draws": 0,
    "step_size": 0.0,
    "line_search_tol": -1.0,
    "variant": "x",
    "initial_rate": -1.0,
    "shun_identity": "x",
    "iterations": -1,
    "width": 0.0,
    "pricing": 0,
    "samples": -1,
    "master": "x",
    "degree": 0,
    "radius": -1.0,
    "norm": 3,
}


def solvers() -> dict[str, Callable[..., Any]]:
    return {name: algorithm.solve for name, algorithm in all_algorithms().items()}


OPTIONS = [
    (name, option)
    for name, solve in solvers().items()
    for option in list(inspect.signature(solve).parameters)[2:]
    if option in WRONG
]


class TestCheckOptions:
    @pytest.mark.parametrize("name", solvers())
    def test_accepts_what_is_right(self, name: str) -> None:
        check_options(solvers()[name])

    @pytest.mark.parametrize(("name", "option"), OPTIONS)
    def test_refuses_what_is_wrong(self, name: str, option: str) -> None:
        others = {"epsilon": {"learner": "svr"}, "lam": {"learner": "krr"}}.get(option, {})
        taken = inspect.signature(solvers()[name]).parameters
        others = {key: value for key, value in others.items() if key in taken}
        with pytest.raises(InputError, match=rf"{option}|q >= 1|1/2 <= q"):
            check_options(partial(solvers()[name], **others, **{option: WRONG[option]}))


class TestBeforeTheKernels:
    @pytest.mark.parametrize(
        "estimator", [mklbench.MKL(C=-1), mklbench.SimpleMKL(tol=0.0), mklbench.KernelSVR(C=1e308)]
    )
    def test_estimators(self, estimator: Any) -> None:
        def never(X: object) -> None:
            raise AssertionError("the kernels were built")

        X, y = random_problem(10)
        with pytest.raises(InputError, match="is not accepted"):
            estimator.set_params(kernel=never).fit(X, y)

    @pytest.mark.parametrize(
        ("overrides", "message"),
        [
            (["algo=vskl", "algo.groups=[1,2]"], r"groups=\[1, 2\] is not accepted"),
            (["algo=mkl", "search.grid.algo.C=[1,-1]", "search=cv"], "C=-1 is not accepted"),
        ],
    )
    def test_the_command_line(self, overrides: list[str], message: str) -> None:
        with pytest.raises(InputError, match=message):
            check_run(Run.from_overrides(["data=wdbc", "split.n_splits=1", *overrides]))


class TestClassWeight:
    def test_keys_as_the_command_line_has_them(self) -> None:
        stack, y = random_stack(n=40)
        bank = PrecomputedBank(stack)
        expected = svm.solve(bank, y, class_weight={-1: 2.0, 1: 0.5})
        for keys in (("-1", "1"), (-1.0, 1.0), ("-1", "+1")):
            given = dict(zip(keys, (2.0, 0.5), strict=True))
            solution = svm.solve(bank, y, class_weight=given)  # type: ignore[arg-type]
            assert_allclose(solution.dual_coef, expected.dual_coef)

    def test_balanced_is_that_of_scikit_learn(self) -> None:
        stack, y = random_stack(n=40)
        y = np.where(np.arange(40) < 6, 1.0, -1.0)
        K = stack.mean(axis=0)
        ours = svm.solve(PrecomputedBank(stack), y, svm_tol=1e-6, class_weight="balanced")
        theirs = SVC(kernel="precomputed", class_weight="balanced", tol=1e-6).fit(K, y)
        assert_allclose(K @ ours.dual_coef + ours.intercept, theirs.decision_function(K), atol=1e-4)

    def test_balanced_is_of_all_samples(self) -> None:
        """IKL's masters see some of the samples only."""
        X, _ = random_problem(60)
        y = np.where(X[:, 0] > 0.8, 1.0, -1.0)
        positive = int((y > 0).sum())
        factors = {1: 60 / (2 * positive), -1: 60 / (2 * (60 - positive))}
        family = product_gaussians(X, gamma_max=30.0)
        given = ikl.solve(family, y, C=5.0, samples=0, class_weight=factors)
        balanced = ikl.solve(family, y, C=5.0, samples=0, class_weight="balanced")
        assert balanced.objective == given.objective

    @pytest.mark.parametrize("value", ["balance", [1, 2], 3.0, {0: 1.0}, {"a": 1.0}, {1: 0.0}])
    def test_anything_else_is_refused(self, value: Any) -> None:
        stack, y = random_stack()
        with pytest.raises(InputError, match="class_weight"):
            mkl.solve(PrecomputedBank(stack), y, class_weight=value)
