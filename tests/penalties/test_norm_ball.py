"""The sets of weights of NKRR: all their numbers against a conic solver, and their geometry."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from penalty_checks import Described, WeightChecks

from mklbench.penalties.norm_ball import NormBall

CENTRES = {
    "ones": np.ones(5),
    "zero": np.zeros(5),
    "some zero": np.array([0.0, 2.0, 0.3, 0.0, 1.0]),
}


@pytest.fixture(params=CENTRES)
def centre(request: pytest.FixtureRequest) -> np.ndarray:
    return CENTRES[request.param]


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("radius", [0.3, 2.0])
class TestNormBall(WeightChecks):
    @pytest.fixture
    def penalty(self, centre: np.ndarray, radius: float, norm: int) -> NormBall:
        return NormBall(centre, radius, norm)

    @pytest.fixture
    def described(self, centre: np.ndarray, radius: float, norm: int) -> Described:
        return lambda d: (cp.Constant(0.0), [cp.norm(d - centre, norm) <= radius])


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("radius", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("scale", [0.5, 4.0, 1e4])
def test_projection_is_the_conic_solvers(
    centre: np.ndarray, norm: int, radius: float, scale: float
) -> None:
    ball = NormBall(centre, radius, norm)
    weights = scale * np.random.default_rng(0).standard_normal(5)
    ours = ball.project(weights)
    assert (ours >= 0).all()
    assert ball.distance(ours) <= radius + 1e-14 * scale
    nearest = cp.Variable(5)
    within = [nearest >= 0, cp.norm(nearest - centre, norm) <= radius]
    distance = cp.Problem(cp.Minimize(cp.norm(nearest - weights)), within)
    distance.solve(solver=cp.CLARABEL)
    assert_allclose(np.linalg.norm(ours - weights), distance.value, rtol=1e-6)
    assert_allclose(ball.project(ours), ours, atol=1e-14 * scale)  # a point of the set stays


@pytest.mark.parametrize("norm", [1, 2])
def test_the_even_point_is_on_the_boundary(centre: np.ndarray, norm: int) -> None:
    ball = NormBall(centre, 0.7, norm)
    assert_allclose(ball.distance(ball.even()), 0.7)
    assert_allclose(np.ptp(ball.even() - centre), 0.0, atol=1e-15)
    assert_array_equal(NormBall(centre, 0.0, norm).even(), centre)
