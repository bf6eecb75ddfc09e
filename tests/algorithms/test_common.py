"""What holds for every algorithm: found by their modules and configs, so that a new one is tested.

Most of it is `mklbench.testing.check_algorithm`, which ships; here is what asks for Gaussians, or
for the wording of this package.
"""

from __future__ import annotations

import inspect
from functools import partial

import numpy as np
import pytest
from cases import rest_slow
from numpy.testing import assert_allclose
from problems import random_problem

from mklbench import multiclass, resources
from mklbench.algorithms import all_algorithms
from mklbench.contract import Solver
from mklbench.errors import InputError
from mklbench.kernels import (
    Bank,
    Family,
    KernelBuilder,
    KernelOperator,
    feature_gaussians,
    gaussian,
    product_gaussians,
)
from mklbench.solution import Solution
from mklbench.testing import check_algorithm

ALGORITHMS = all_algorithms()
CONFIGS = resources.choices("algo")
# Where an algorithm needs other kernels than its annotation says.
KERNELS: dict[str, tuple[KernelBuilder, ...]] = {
    "early_fusion": (gaussian,),  # a bank of one
    "ikl": (feature_gaussians,),  # or a family, whose searches are tested with the solver
}
BY_KIND: dict[type, tuple[KernelBuilder, ...]] = {
    Bank: (feature_gaussians,),
    Family: (product_gaussians,),
    KernelOperator: (feature_gaussians, product_gaussians),
}


def classifies(name: str) -> bool:
    """Tell whether an algorithm is a classifier, or its second stage is one by default."""
    learner = inspect.signature(ALGORITHMS[name].solve).parameters.get("learner")
    by_learner = learner is not None and learner.default == "svm"
    return not ALGORITHMS[name].regression or by_learner


def solvers() -> dict[str, tuple[Solver, KernelBuilder]]:
    return {
        f"{name} on {build.__name__}": (algorithm.solve, build)
        for name, algorithm in ALGORITHMS.items()
        for build in KERNELS.get(name, BY_KIND[algorithm.takes])
        if classifies(name)
    }


@pytest.fixture(params=solvers())
def solver(request: pytest.FixtureRequest) -> tuple[Solver, KernelBuilder]:
    return solvers()[request.param]


@pytest.fixture
def solve(solver: tuple[Solver, KernelBuilder]) -> Solver:
    return solver[0]


@pytest.fixture
def build(solver: tuple[Solver, KernelBuilder]) -> KernelBuilder:
    return solver[1]


# Those called as a module are that, which is tested below; IKL takes minutes in its family.
@pytest.mark.parametrize("name", rest_slow(CONFIGS, "mkl", *(set(CONFIGS) - set(ALGORITHMS))))
def test_every_config_with_the_kernels_it_chooses(name: str) -> None:
    check_algorithm(name)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_module_with_the_kernels_it_takes(name: str) -> None:
    for kernels in KERNELS.get(name, (None,)):
        check_algorithm(ALGORITHMS[name].solve, kernels=kernels)


def test_shift_of_the_features(solve: Solver, build: KernelBuilder) -> None:
    """Gaussians see differences only."""
    X, y = random_problem(40)
    Z = random_problem(50, seed=9)[0]
    shift = np.array([5.0, -3.0, 100.0, 0.5])
    parameters = inspect.signature(solve).parameters
    options = {"svm_tol" if "svm_tol" in parameters else "tol": 1e-8}
    if "C" in parameters:
        options["C"] = 2.0
    decisions = []
    for move in (0.0, shift):
        operator = build(X + move)
        solution = solve(operator, y, **options)
        decisions.append(multiclass.decision_function(operator, [solution], Z + move))
    assert_allclose(decisions[1], decisions[0], atol=1e-2)


class TestWording:
    def test_labels(self, solve: Solver, build: KernelBuilder) -> None:
        X, y = random_problem(10)
        with pytest.raises(InputError, match="y has one class only"):
            solve(build(X), np.ones(10))
        with pytest.raises(InputError, match="y has 9 labels, but the kernels are on 10 samples"):
            solve(build(X), y[1:])
        with pytest.raises(InputError, match=r"takes (labels )?-1 and \+1 only.* real targets"):
            solve(build(X), X[:, 0])

    def test_a_bank_is_not_a_family_and_a_family_not_a_bank(self) -> None:
        X, y = random_problem(10)
        others: dict[type, KernelBuilder] = {Bank: product_gaussians, Family: feature_gaussians}
        for algorithm in ALGORITHMS.values():
            other = others.get(algorithm.takes)
            if other is not None:
                with pytest.raises(InputError, match="choose"):
                    algorithm.solve(other(X), y)


def test_every_algorithm_of_a_module_is_made_by_its_config() -> None:
    """What is bound by a config does not keep the suite from looking at the function."""
    with pytest.raises(AssertionError, match="calls its second parameter labels"):
        check_algorithm(partial(_misnamed, C=1.0))


def _misnamed(operator: KernelOperator, labels: np.ndarray, C: float = 1.0) -> Solution:
    raise NotImplementedError
