"""An estimator has the parameters of the `solve` that it calls, mostly with the same defaults."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest
from every_kernel import NAMES

import mklbench
import mklbench.estimators

# Other defaults than those of the papers make a classifier as constructed as good as an SVC
# (benchmarks/defaults.py), and what a classification has by default is no regression.
OTHER_DEFAULTS: dict[str, dict[str, Any]] = {
    **{
        name: {"C": 3.0}
        for name in (
            "ElasticNetMKL", "PWMK", "FHeuristic", "GRAM", "MEMO", "RadiusMarginMKL", "UniformMKL",
            "Align", "AlignF", "AlignSDP", "BestKernel", "CKA", "LateFusion", "SMKL",
        )
    },
    "GMKL": {"start": "uniform"},
    "KRRClassifier": {"lam": 0.5},
    "NKRRClassifier": {"lam": 100.0},
    "AlignRegressor": {"learner": "krr"},
    "AlignFRegressor": {"learner": "krr"},
}  # fmt: skip
# What they choose by cross-validation.
CHOSEN = {"GMKL": {"C", "iterations"}, "QNPKL": {"C", "iterations"}}


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the default values of a function by parameter."""
    parameters = inspect.signature(function).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_defaults_are_those_of_solve(name: str) -> None:
    estimator = getattr(mklbench, name)
    given = estimator()._hyperparameters()  # as `solve` names them
    taken = dict(list(defaults(estimator()._module.solve).items())[2:])  # after kernels and labels
    theirs = {
        key: value
        for key, value in taken.items()
        if not (value is None and key in ("start", "class_weight", "sample_weight"))
        and key not in CHOSEN.get(name, ())
    }
    assert given == theirs | OTHER_DEFAULTS.get(name, {})


def test_every_estimator_is_listed_by_its_module() -> None:
    """A new one is a class in a module of the family, and nothing else."""
    families = pkgutil.iter_modules(mklbench.estimators.__path__, "mklbench.estimators.")
    modules = [importlib.import_module(found.name) for found in families]
    defined = {
        name
        for module in modules
        for name, item in vars(module).items()
        if inspect.isclass(item) and item.__module__ == module.__name__ and name[0] != "_"
    }
    bases = {"KernelEstimator", "KernelLearner", "KernelRegressor", "ReadableModel", "SVMLearner"}
    assert defined - bases - {
        "EndsEarly",
        "Frames",
        "KernelTransformer",
        "RawTable",
        "WithoutSampleWeight",
        "Printer",
        "TakesMethod",
        "TrainingSet",
    } == set(NAMES)
    assert set(NAMES) < set(dir(mklbench))
