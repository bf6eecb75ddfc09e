"""A kernel's name says which kernel it is: computed from its name alone, it is the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from every_kernel import BOUNDED, UNBOUNDED, problem

from mklbench.errors import InputError
from mklbench.kernels import (
    BUILDERS,
    Bank,
    Combination,
    ConcatenatedBank,
    DenseBank,
    Descriptors,
    Family,
    FamilyBank,
    Gaussian,
    KernelOperator,
    KernelSubset,
    Normalised,
    Polynomial,
    Precomputed,
    feature_gaussians,
    gaussians,
    linear_features,
)
from mklbench.kernels.base import Array
from mklbench.kernels.naming import column_names, function_names, product_names, unique

COLUMNS = ["age", "income", "heart rate", "x, y (mm)"]
EVERY = {**BOUNDED, **UNBOUNDED}


def gram_of(name: str, X: Array, columns: Sequence[str]) -> Array:
    """Return the Gram matrix (n, n) that a name stands for, by its words alone."""
    found = re.fullmatch(r"(\w+) ?([0-9.e-]*) on (.+)", name)
    assert found is not None, name
    function, number, where = found.groups()
    chosen = X if where == "all columns" else X[:, [list(columns).index(where)]]
    if function == "gaussian":
        distances = ((chosen[:, None] - chosen[None]) ** 2).sum(axis=2)
        return np.exp(-float(number) * distances)
    if function == "linear":
        return chosen @ chosen.T
    assert function == "polynomial"
    return (chosen @ chosen.T + 1.0) ** int(number)


@pytest.mark.parametrize(
    "name",
    ["gaussian", "feature_gaussians", "feature_widths", "single", "separate", "simplemkl",
     "linear_features", "gaussians"],
)  # fmt: skip
def test_the_kernel_computed_from_its_name_is_the_kernel(name: str) -> None:
    X, _, _ = problem()
    bank = EVERY[name](X)
    assert isinstance(bank, Bank)
    names = bank.kernel_names(COLUMNS)
    assert len(names) == bank.n_kernels
    for m, unit in enumerate(np.eye(bank.n_kernels)):
        ours, told = bank.combine(unit), gram_of(names[m], X, COLUMNS)
        cosine = np.vdot(ours, told) / np.linalg.norm(ours) / np.linalg.norm(told)
        assert cosine > 1.0 - 1e-5, names[m]  # up to its scale and the digits of gamma


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_kernel_has_a_name_which_a_restriction_keeps(name: str) -> None:
    X, _, _ = problem()
    operator: KernelOperator = EVERY[name](X)
    names = operator.kernel_names(COLUMNS)
    assert len(names) == operator.n_kernels
    assert len(set(names)) == len(names)
    assert operator.take(np.arange(10)).kernel_names(COLUMNS) == names


def test_columns_go_by_their_numbers_where_they_have_no_names() -> None:
    X, _, _ = problem()
    assert linear_features(X).kernel_names()[:2] == ("linear on column 0", "linear on column 1")
    with pytest.raises(InputError, match="columns has 3 names, but the kernels are on 4 columns"):
        linear_features(X).kernel_names(COLUMNS[:3])


def test_a_name_has_as_many_digits_as_tell_kernels_apart() -> None:
    near = [Gaussian(0.5), Gaussian(0.50001)]
    assert function_names(near) == ["gaussian 0.5", "gaussian 0.50001"]
    assert function_names([Polynomial(1, 0.0), Polynomial(2, 3.0)]) == [
        "linear",
        "polynomial 2 offset 3",
    ]
    assert function_names([Gaussian(1 / 3), Gaussian(1 / 3)]) == ["gaussian 0.333"] * 2


class OwnFunction:
    def __call__(self, X: Array, Z: Array) -> Array:
        return X @ Z.T

    def diagonal(self, X: Array) -> Array:
        return np.einsum("ij,ij->i", X, X)


def test_a_function_of_somebody_else_goes_by_its_own_name() -> None:
    X, _, _ = problem()
    assert DenseBank(X, [OwnFunction()]).kernel_names() == ("OwnFunction on all columns",)


def test_banks_made_of_banks() -> None:
    X, _, _ = problem()
    parts = ConcatenatedBank([gaussians(X, [0.5]), linear_features(X)])
    assert parts.kernel_names(COLUMNS)[:2] == ("gaussian 0.5 on all columns", "linear on age")
    assert KernelSubset(parts, [2, 0]).kernel_names(COLUMNS) == (
        "linear on income",
        "gaussian 0.5 on all columns",
    )
    plain = feature_gaussians(X).kernel_names(COLUMNS)
    assert Normalised("feature_gaussians")(X).kernel_names(COLUMNS) == plain
    polynomial = Combination("linear_features", how="polynomial", degree=3)(X)
    assert polynomial.kernel_names() == ("polynomial 3 of 4 kernels",)
    assert Combination("gaussian")(X).kernel_names() == ("sum of gaussian 0.25 on all columns",)


def test_views_have_names_of_their_own() -> None:
    class View:
        name, start, stop, distance = "edges", 0, 2, "chi2"

    X, _, _ = problem()
    assert Descriptors(gammas=[0.1, 1.0])(X, [View()]).kernel_names(COLUMNS) == (
        "chi2 0.1 on edges",
        "chi2 1 on edges",
    )


def test_gram_matrices_go_by_their_numbers() -> None:
    stack = np.array([np.eye(5), np.ones((5, 5))])
    assert Precomputed(stack)(np.arange(4)).kernel_names(["row"]) == ("kernel 0", "kernel 1")
    assert BUILDERS["precomputed"](stack).kernel_names() == ("kernel 0", "kernel 1")


def test_kernels_found_in_a_family() -> None:
    X, _, _ = problem()
    thetas = np.array([[0.5, 0, 0, 0], [1, 2, 0, 0], [1, 2, 3, 4], [0, 0, 0, 0]])
    bank = FamilyBank(_family("products", X), thetas)
    assert bank.kernel_names(COLUMNS) == (
        "gaussian 0.5 on age",
        "gaussian 2 on income and 1 on age",
        "gaussian 4 on x, y (mm), 3 on heart rate, 2 on income and 1 more",
        "constant",
    )
    isotropic = FamilyBank(_family("isotropic", X), [[0.5]])
    assert isotropic.kernel_names(COLUMNS) == ("gaussian 0.5 on all columns",)


def _family(name: str, X: Array) -> Family:
    family = BUILDERS[name](X)
    assert isinstance(family, Family)
    return family


def test_products_that_differ_little_have_more_digits() -> None:
    near = product_names([[0.1, 0.5], [0.1, 0.500001]], ["a", "b"])
    assert near[0] != near[1]


def test_names_that_come_again_get_a_number() -> None:
    assert unique(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]


def test_names_of_columns_may_be_of_numpy() -> None:
    assert column_names(2, np.array(["a", "b"], dtype=object)) == ("a", "b")  # type: ignore[arg-type]
