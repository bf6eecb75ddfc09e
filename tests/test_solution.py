"""A solution with a value that is not finite cannot be constructed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from mklbench.errors import InputError, NotFiniteError
from mklbench.solution import Solution

SOUND = Solution(
    weights=np.ones(2),
    dual_coef=np.array([0.5, -0.5]),
    intercept=0.1,
    objective=1.0,
    gap=1e-3,
    n_svm_calls=1,
    n_iter=1,
    converged=True,
    thetas=np.zeros((2, 3)),
)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["objective", "gap", "intercept"])
def test_a_number_that_is_not_finite(name: str, value: float) -> None:
    with pytest.raises(NotFiniteError, match=rf"^the solution has {name}={value}, [^.]+\.$"):
        partial(replace, **{name: value})(SOUND)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["weights", "dual_coef", "thetas"])
def test_an_array_that_is_not_finite(name: str, value: float) -> None:
    array = getattr(SOUND, name).copy()
    array.flat[-1] = value
    with pytest.raises(NotFiniteError, match=rf"^the solution has {name}={value}, [^.]+\.$"):
        replace(SOUND, **{name: array})


def test_it_is_no_mistake_of_the_user() -> None:
    """The command line ends with status 2 for those, and records nothing."""
    assert not issubclass(NotFiniteError, InputError)
