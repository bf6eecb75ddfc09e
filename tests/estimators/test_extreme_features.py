"""Features at the ends of the range of doubles: computed, or refused with row, column and value."""

from __future__ import annotations

import re

import numpy as np
import pytest
from every_kernel import BOUNDED, KINDS_FIRST, QUICK, UNBOUNDED, decisions, problem
from numpy.typing import NDArray

import mklbench
from mklbench.errors import InputError
from mklbench.kernels import (
    KernelBuilder,
    feature_gaussians,
    gaussian,
    linear_features,
    simplemkl_bank,
)
from mklbench.kernels.base import Array

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SCALES = (1e-300, 1e-160, 1e-100, 1e-20, 1e20, 1e100, 1e155, 1e300)
# One sentence that says which value, where it is, and what is to be done.
NAMED = re.compile(
    r"X holds (nothing larger than )?-?[\d.]+(e[+-]\d+)? at row \d+, column \d[:,] .* rescale .*\."
)
# What the kernels say of themselves: constant ones have no alignment with anything, and what a
# product of them comes to is not that of one value.
OTHERS = re.compile(
    r"none of the 4 kernels has a positive alignment with y: .*\."
    r"|all 4 kernels are constant, their samples all the same: choose kernels that are not\."
    r"|K holds [\d.]+e\+\d+ at row \d+, column \d+: LIBSVM takes .*, rescale .*\."
)


def assert_computed_or_refused(
    name: str, X: Array, y: NDArray[np.int64], kernel: str | KernelBuilder | None = None
) -> bool:
    """Return whether it is computed."""
    parameters = QUICK.get(name, {}) | ({} if kernel is None else {"kernel": kernel})
    try:
        model = getattr(mklbench, name)(**parameters).fit(X, y)
    except InputError as error:
        message = str(error)
    else:
        assert np.isfinite(decisions(model, X)).all()
        assert all(np.isfinite(solution.gap) for solution in model.solutions_)
        return True
    assert NAMED.fullmatch(message) or OTHERS.fullmatch(message), message
    return False


@pytest.mark.parametrize("name", KINDS_FIRST)
def test_every_estimator_at_every_scale(name: str) -> None:
    X, y, _ = problem(n=40)
    computed = [assert_computed_or_refused(name, X * scale, y) for scale in SCALES]
    assert computed[4]  # 1e20, where all squares are in range


@pytest.mark.parametrize("name", ["Align", "AlignF", "MKL", "KRR"])
def test_features_far_from_the_origin(name: str) -> None:
    """Polynomials of them, centred, are rounding: a norm squared may come out below 0."""
    X, y, _ = problem(n=30)
    assert assert_computed_or_refused(name, 1e8 + X[:, :3], y, "simplemkl")


@pytest.mark.parametrize(
    "kernel", ["standardised", "standardised widths", "standardised simplemkl"]
)
@pytest.mark.parametrize("scale", [1e-60, 1e-20, 1e20, 1e40])
def test_standardised_kernels_are_the_same_at_every_scale(kernel: str, scale: float) -> None:
    X = problem(n=40)[0]
    build = {**BOUNDED, **UNBOUNDED}[kernel]
    bank, scaled = build(X), build(X * scale)
    weights = bank.uniform_weights()
    np.testing.assert_allclose(scaled.gram(weights), bank.gram(weights), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        scaled.cross(weights, X[:5] * scale), bank.cross(weights, X[:5]), rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize(
    ("build", "value", "said"),
    [
        (
            gaussian,
            1e155,
            r"X holds 1e\+155 at row 3, column 2: this kernel takes features up to 1",
        ),
        (feature_gaussians, -1e60, r"X holds -1e\+60 at row 3, column 2: this kernel takes"),
        (linear_features, 1e16, r"X holds 1e\+16 at row 3, column 2: .* up to 1e\+15, "),
        (simplemkl_bank, 1e30, r"X holds 1e\+30 at row 3, column 2, and Polynomial.* is 1e\+180 t"),
    ],
)
def test_one_value_that_is_too_large_is_named(
    build: KernelBuilder, value: float, said: str
) -> None:
    X = problem()[0].copy()
    X[3, 2] = value
    with pytest.raises(InputError, match=said):
        build(X)
