"""What algorithms and builders declare is read in one place, once, and checked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mklbench.algorithms import ikl, krr, mkl, qnpkl, simplemkl
from mklbench.config.callables import check_arguments
from mklbench.contract import DEFAULT_MATRICES, algorithm_of
from mklbench.errors import InputError
from mklbench.kernels import (
    BUILDERS,
    Bank,
    Family,
    KernelOperator,
    Normalised,
    Precomputed,
    feature_gaussians,
)
from mklbench.kernels.contract import builder_of, on_few

NAME = "algorithm_from_outside"
SOLVE = """
from mklbench.algorithms import svm

def solve(operator, y, C=1.0, *, lam=2.0, start=None):
    return svm.solve(operator, y, C)

def solve_path(operator, y, values, **options):
    return [svm.solve(operator, y) for _ in values]

def other(operator, y):
    return svm.solve(operator, y)
"""


@pytest.fixture
def module() -> Iterator[Any]:
    """An algorithm of somebody else, of which nothing has been read yet."""
    made = ModuleType(NAME)
    sys.modules[NAME] = made
    exec(SOLVE, vars(made))
    yield made
    del sys.modules[NAME]


class TestAlgorithm:
    def test_of_this_package(self) -> None:
        found = algorithm_of(partial(qnpkl.solve, C=3.0))
        assert found.solve is qnpkl.solve
        assert (found.version, found.takes, found.path_option) == (2, Family, "iterations")
        assert found.solve_path is qnpkl.solve_path
        assert found.new_options == {"max_evals": None}
        assert algorithm_of(ikl.solve).new_options == {
            "n_global_ascents": 0,
            "n_joint_steps": 0,
            "n_round_ascents": None,
            "n_product_starts": 0,
        }
        assert found.options[:2] == ("C", "start")
        assert not found.takes_start  # its start is a name
        assert algorithm_of(mkl.solve).exact
        assert algorithm_of(mkl.solve).takes is Bank
        assert algorithm_of(mkl.solve).takes_start
        assert algorithm_of(krr.solve).regression
        assert algorithm_of(simplemkl.solve).matrices == 7.0

    def test_is_read_once(self) -> None:
        assert algorithm_of(mkl.solve) is algorithm_of(partial(mkl.solve, C=1.0))

    def test_from_outside_need_say_nothing(self, module: Any) -> None:
        found = algorithm_of(module.solve)
        assert (found.version, found.exact, found.regression) == (1, False, False)
        assert (found.takes, found.matrices) == (KernelOperator, DEFAULT_MATRICES)
        assert found.path_option is None
        assert not found.options_first
        assert algorithm_of(lambda bank, y: None).version == 1

    def test_from_outside_may_say_all(self, module: Any) -> None:
        vars(module).update(VERSION=3, REGRESSION=True, NEW_OPTIONS=["lam"], OPTIONS_FIRST=True)
        vars(module).update(PATH_OPTION="lam", MATRICES=3, EXACT=True)
        found = algorithm_of(module.solve)
        assert (found.version, found.regression, found.new_options) == (3, True, {"lam": 2.0})
        assert (found.path_option, found.solve_path) == ("lam", module.solve_path)
        assert (found.matrices, found.exact, found.options_first) == (3, True, True)

    def test_another_function_of_a_module_has_none_of_what_is_of_solve(self, module: Any) -> None:
        vars(module).update(VERSION=3, PATH_OPTION="lam", EXACT=True)
        found = algorithm_of(module.other)
        assert (found.version, found.path_option, found.exact) == (3, None, False)
        assert found.solve_path is None

    def test_a_path_is_in_an_option(self, module: Any) -> None:
        module.PATH_OPTION = "lamda"
        with pytest.raises(InputError, match=rf"{NAME}\.PATH_OPTION='lamda' is not accepted: it"):
            algorithm_of(module.solve)

    def test_a_path_needs_a_function(self, module: Any) -> None:
        module.PATH_OPTION = "lam"
        del module.solve_path
        with pytest.raises(InputError, match="with a function solve_path beside it"):
            algorithm_of(module.solve)


class TestBuilder:
    def test_of_this_package(self) -> None:
        assert builder_of(BUILDERS["simplemkl"]).version == 3
        assert builder_of(BUILDERS["products"]).name == "ProductGaussians"
        assert builder_of(Precomputed(np.eye(3)[None])).takes_rows
        assert builder_of(Precomputed(np.eye(3)[None])).n_samples == 3
        assert builder_of(Normalised("views")).takes_views
        assert builder_of(Normalised).name == "Normalised"

    def test_from_outside_need_say_nothing(self) -> None:
        found = builder_of(partial(lambda X, gamma: X, gamma=1.0))
        assert (found.takes_rows, found.takes_views, found.version) == (False, False, 1)
        assert not found.takes_few

    def test_few_samples_are_for_builders_that_take_them(self) -> None:
        X = np.ones((2, 3))
        assert on_few(partial(feature_gaussians, gammas=[0.5, 2.0]), X).n_kernels == 6
        assert on_few(lambda X: 1 / 0, X) is None
        assert on_few(BUILDERS["chi2"], -X) is None  # as the kernels on all samples will say


class TestTypesOfOptions:
    def test_of_a_module_whose_names_are_for_type_checkers_are_left_to_it(
        self, module: Any
    ) -> None:
        module.solve.__annotations__["C"] = "OnlyWhenTypeChecking"
        check_arguments("algo", {"_target_": f"{NAME}.solve"}, {"C": "anything"})
