"""Descents that end early: C and the iterations by cross-validation, unless they are given."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score

from mklbench import GMKL, QNPKL
from mklbench.algorithms import qnpkl
from mklbench.kernels import product_gaussians

X, Y = make_classification(120, 6, n_informative=3, flip_y=0.2, random_state=1)


@pytest.mark.parametrize("estimator", [QNPKL, GMKL])
def test_as_constructed_they_predict_where_the_end_of_the_descent_does_not(
    estimator: type[QNPKL | GMKL],
) -> None:
    chosen = cross_val_score(estimator(), X, Y, cv=3).mean()
    to_the_end = estimator(C=10.0, iterations=None, start="uniform")
    assert to_the_end.fit(X, Y).score(X, Y) > 0.99
    assert chosen > cross_val_score(to_the_end, X, Y, cv=3).mean() + 0.03


def test_what_is_given_is_used() -> None:
    fitted = QNPKL(C=3.0, iterations=1).fit(X, Y)
    alone = qnpkl.solve(product_gaussians(X), np.where(Y == 1, 1.0, -1.0), C=3.0, iterations=1)
    assert (fitted.C_, fitted.iterations_) == (3.0, 1)
    np.testing.assert_array_equal(fitted.weights_, alone.weights)
    assert QNPKL(C=3.0).fit(X, Y).C_ == 3.0
    assert QNPKL(iterations=None).fit(X[:40], Y[:40]).iterations_ is None


def test_a_class_of_one_sample_cannot_be_held_out() -> None:
    y = np.arange(20) == 3
    with pytest.raises(ValueError, match="1 sample of a class: give both"):
        QNPKL().fit(X[:20], y)
    assert QNPKL(C=1.0, iterations=0).fit(X[:20], y).C_ == 1.0
