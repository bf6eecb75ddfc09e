"""Bounds of at most k weights of the simplex, against each set of k of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from mklbench.certify.sparse import best_weights, cut_bound


def value(d: np.ndarray, forms: np.ndarray, lam: float) -> float:
    return float(lam * d @ d - 0.5 * forms @ d)


@pytest.mark.parametrize("lam", [1e-3, 0.3, 50.0])
@pytest.mark.parametrize("cardinality", [1, 2, 4])
def test_best_weights_are_the_best_of_every_set(lam: float, cardinality: int) -> None:
    forms = np.random.default_rng(0).gamma(2.0, 3.0, 5)
    found = best_weights(forms, lam, cardinality)
    assert np.count_nonzero(found) <= cardinality
    assert (found >= 0).all()
    assert_allclose(found.sum(), 1.0)
    least = np.inf
    for chosen in itertools.combinations(range(5), cardinality):
        q = forms[list(chosen)]
        solved = minimize(
            value,
            np.full(len(q), 1.0 / len(q)),
            (q, lam),
            bounds=[(0.0, 1.0)] * len(q),
            constraints={"type": "eq", "fun": lambda d: d.sum() - 1.0},
            tol=1e-12,
        )
        least = min(least, solved.fun)
    assert_allclose(value(found, forms, lam), least, rtol=1e-6, atol=1e-6)
    assert_allclose(cut_bound(7.0, forms, lam, cardinality), 7.0 + least, rtol=1e-6, atol=1e-6)


def test_forms_of_a_million_and_a_small_factor_lose_no_weight() -> None:
    forms = np.array([1e6, 1e6 - 1e-3, 1.0])
    assert_allclose(best_weights(forms, 0.01, 2).sum(), 1.0)
