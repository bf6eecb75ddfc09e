"""What a fitted model tells agrees with its solutions, for every estimator."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from every_kernel import KINDS_FIRST, NAMES, fitted_to_flowers, flowers
from sklearn.exceptions import NotFittedError

import mklbench
from mklbench import MKL
from mklbench.kernels import feature_gaussians

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", KINDS_FIRST)
def test_what_is_told_agrees_with_the_solutions(name: str, n_classes: int) -> None:
    model = fitted_to_flowers(name, n_classes)
    solutions = model.solutions_
    table = model.kernel_weights()
    assert table.index.is_unique
    if len(solutions) == 1:
        assert list(table.index) == model.kernel_names_
        np.testing.assert_array_equal(table, model.weights_)
        assert isinstance(model.objective_, float)
        assert (model.objective_, model.gap_) == (solutions[0].objective, solutions[0].gap)
        assert model.history_ is solutions[0].history
    else:
        assert list(table.columns) == model.classes_.tolist() == sorted(set(flowers(3)[1]))
        for label, solution in zip(table, solutions, strict=True):
            own = table[label][table[label] != 0]
            np.testing.assert_array_equal(
                np.sort(own), np.sort(solution.weights[solution.weights != 0])
            )
        np.testing.assert_array_equal(model.gap_, [each.gap for each in solutions])
        np.testing.assert_array_equal(model.objective_, [each.objective for each in solutions])
        assert model.history_ == [each.history for each in solutions]
    used = np.atleast_2d(model.dual_coef_).any(axis=0)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(used))


@pytest.mark.parametrize("name", KINDS_FIRST)
def test_names_are_of_the_columns_of_a_frame(name: str) -> None:
    X, y = flowers(2)
    model = fitted_to_flowers(name, 2)
    told = " ".join(model.kernel_names_)
    assert "column " not in told
    assert "all columns" in told or "petal width" in told
    unnamed = mklbench.MKL(kernel="linear_features").fit(X.to_numpy(), y)
    assert unnamed.kernel_names_ == [f"linear on column {j}" for j in range(4)]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_told_before_a_fit(name: str) -> None:
    model = getattr(mklbench, name)()
    for attribute in ("kernel_names_", "support_", "objective_", "gap_", "history_"):
        assert not hasattr(model, attribute)
    with pytest.raises(NotFittedError, match=f"This {name} instance is not fitted yet"):
        model.kernel_weights()


def test_the_largest_come_first_if_asked_for() -> None:
    for n_classes in (2, 3):
        model = fitted_to_flowers("MKL", n_classes)
        plain, ordered = model.kernel_weights(), model.kernel_weights(sort=True)
        sizes = ordered.to_numpy().reshape(len(ordered), -1).mean(axis=1)
        assert (np.diff(sizes) <= 0).all()
        assert sizes[0] > sizes[-1]
        pd.testing.assert_frame_equal(
            pd.DataFrame(ordered.loc[plain.index]), pd.DataFrame(plain), check_names=False
        )


def test_kernels_with_the_same_name_are_numbered() -> None:
    X, y = flowers(2)
    model = MKL(kernel=partial(feature_gaussians, gammas=[1.0, 1.0])).fit(X, y)
    assert model.kernel_names_[:2] == [
        "gaussian 1 on sepal length",
        "gaussian 1 on sepal length (2)",
    ]


def test_each_class_has_names_for_the_kernels_that_it_found() -> None:
    model = fitted_to_flowers("IKL", 3)
    assert [len(names) for names in model.kernel_names_] == [len(each) for each in model.weights_]
    assert [thetas.shape for thetas in model.thetas_] == [(len(each), 4) for each in model.weights_]
    table = model.kernel_weights()
    for label, names, weights in zip(table, model.kernel_names_, model.weights_, strict=True):
        np.testing.assert_array_equal(table.loc[names, label], weights)
        assert table[label].sum() == pytest.approx(weights.sum())
