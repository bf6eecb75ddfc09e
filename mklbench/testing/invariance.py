"""What must not matter: a second call, the order and the signs of labels, the start, company."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from mklbench import multiclass
from mklbench.kernels import Bank
from mklbench.solution import Solution
from mklbench.testing.case import Case, problem
from mklbench.testing.claims import agree, require


def determinism(case: Case) -> None:
    """A second call returns the same numbers, and changes nothing that it is given."""
    X, y = problem()
    X_before, y_before = X.copy(), y.copy()
    first, second = case(X, y), case(X, y)
    for name in ("weights", "dual_coef"):
        require(
            np.array_equal(getattr(first, name), getattr(second, name)),
            f"{case.name} returns other {name} when it is called again: fix its random numbers.",
        )
    require(
        np.array_equal(X, X_before) and np.array_equal(y, y_before),
        f"{case.name} changes the samples or the labels that it is given.",
    )


def order_of_the_samples(case: Case) -> None:
    """The samples may come in any order."""
    if "folds" in case.algorithm.options:  # the order decides which samples are held out together
        return
    X, y = problem()
    order = np.random.default_rng(0).permutation(len(y))
    there = case(X, y, **case.precise())
    _same(case, case(X[order], y[order], **case.precise()), there, order, 1.0, "in another order")


def label_flip(case: Case) -> None:
    """Which class is the positive one decides no more than signs."""
    X, y = problem()
    there, every = case(X, y, **case.precise()), np.arange(len(y))
    _same(case, case(X, -y, **case.precise()), there, every, -1.0, "with the signs of y turned")


def _same(case: Case, now: Solution, there: Solution, order: Any, sign: float, how: str) -> None:
    change = abs(now.objective - there.objective) / abs(there.objective)
    require(
        change <= 2e-3,
        f"{case.name} returns another objective for the samples {how}: it changes by {change:.2g}, "
        "and 2e-3 of it is accepted.",
    )
    if now.thetas is not None:  # a search in a family may end at other kernels as good
        return
    agree(
        f"dual_coef of {case.name} for the samples {how}", now.dual_coef,
        sign * there.dual_coef[order], 0.02 * float(np.abs(there.dual_coef).max()), "what it was",
    )  # fmt: skip


def start(case: Case) -> None:
    """From the start of its own weights it returns the same objective."""
    X, y = problem()
    if not multiclass.takes_start(case.solve) or not isinstance(case.build(X), Bank):
        return
    cold = case(X, y, **case.precise())
    warm = case(X, y, start=cold.weights, **case.precise())
    change = abs(warm.objective - cold.objective) / abs(cold.objective)
    require(
        change <= 1e-5,
        f"{case.name} returns another objective from the start of its own weights: it changes by "
        f"{change:.2g}, and 1e-5 of it is accepted.",
    )


def together(case: Case) -> None:
    """What is solved side by side or along a path is what `solve` returns one by one."""
    X, y = problem()
    operator, algorithm = case.build(X), case.algorithm
    if algorithm.solve_all is not None:
        labels = [y, -y, np.roll(y, 3)]
        one_by_one = [algorithm.solve(operator, each) for each in labels]
        _check_alike(case, "solve_all", algorithm.solve_all(operator, labels), one_by_one)
    if algorithm.path_option is not None and algorithm.solve_path is not None:
        option = algorithm.path_option
        default = inspect.signature(algorithm.solve).parameters[option].default
        values = [default or 1, 2 * (default or 1)]
        one_by_one = [algorithm.solve(operator, y, **{option: value}) for value in values]
        _check_alike(case, "solve_path", algorithm.solve_path(operator, y, values), one_by_one)


def _check_alike(case: Case, name: str, together: list[Solution], alone: list[Solution]) -> None:
    now, before = ([solution.objective for solution in each] for each in (together, alone))
    scale = 1e-6 * max(map(abs, before))
    agree(f"the objectives of {name} beside {case.name}", now, before, scale, "those of solve")
