"""The interior-point method against a conic solver."""

from __future__ import annotations

from dataclasses import replace

import conic_twins
import numpy as np
import pytest
from numpy.testing import assert_allclose

from mklbench.optim.interior_point import InteriorPoint, Programme, interior, maximise

Array = np.ndarray


def random_programme(seed: int, rank: int | None = None, n: int = 15, w: int = 4) -> Programme:
    """Return a programme with a solution, with Q of the given rank (full where not given)."""
    rng = np.random.default_rng(seed)
    half = rng.standard_normal((n if rank is None else rank, n))
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    upper = 10.0 ** rng.uniform(-2, 1, n)
    return Programme(
        Q=half.T @ half,
        X=rng.standard_normal((n, w)) + 0.3,
        p=rng.normal(1.0, 1.0, n),
        y=y,
        upper=upper,
        offset=rng.normal(0.5, 0.5, w),
        balance=float(y @ (rng.uniform(size=n) * upper)),
    )


def started(programme: Programme) -> InteriorPoint:
    """Return a start that knows nothing of the solution."""
    w = len(programme.offset)
    unit = float(programme.upper.mean())
    return interior(programme, 0.5 * programme.upper, np.full(w, 1.0 / w), 0.0, unit)


def value(programme: Programme, alpha: Array) -> float:
    """Return the objective at alpha, with the best tau."""
    tau = max(0.0, float((programme.offset + programme.X.T @ alpha).max()))
    return float(programme.p @ alpha - 0.5 * (alpha @ programme.Q @ alpha) - 0.5 * tau**2)


def twin(programme: Programme) -> conic_twins.ProgrammeSolution:
    return conic_twins.programme(**vars(programme))


def check_feasible(programme: Programme, point: InteriorPoint) -> None:
    assert (point.alpha >= 0).all()
    assert (point.alpha <= programme.upper).all()
    assert programme.y @ point.alpha == pytest.approx(programme.balance, abs=1e-8)


def check_optimal(programme: Programme) -> InteriorPoint:
    """Solve a programme, compare its value with the conic solver's, and return the point."""
    point = maximise(programme, started(programme), 1e-10)
    check_feasible(programme, point)
    best = twin(programme).value
    assert value(programme, point.alpha) == pytest.approx(best, rel=1e-7, abs=1e-7)
    return point


class TestMaximise:
    @pytest.mark.parametrize("seed", range(10))
    def test_equals_a_conic_solver(self, seed: int) -> None:
        programme = random_programme(seed)
        point, best = check_optimal(programme), twin(programme)
        assert_allclose(point.alpha, best.alpha, atol=1e-4)
        assert_allclose(point.multipliers, best.multipliers, atol=1e-4)

    @pytest.mark.parametrize("rank", [0, 1, 5, 14])
    def test_singular_Q(self, rank: int) -> None:
        check_optimal(random_programme(3, rank))

    @pytest.mark.parametrize("seed", [1, 3])
    def test_Q_made_indefinite_by_rounding(self, seed: int) -> None:
        """Every sample is there four times, and the rounding is exaggerated."""
        once = random_programme(seed, n=6)
        four = np.tile(np.arange(6), 4)
        programme = replace(
            once,
            Q=once.Q[np.ix_(four, four)],
            X=once.X[four],
            p=once.p[four],
            y=once.y[four],
            upper=once.upper[four],
        )
        check_optimal(programme)
        rounded = programme.Q - 1e-7 * np.abs(programme.Q).max() * np.eye(24)
        point = maximise(replace(programme, Q=rounded), started(programme), 1e-10)
        assert value(programme, point.alpha) == pytest.approx(twin(programme).value, rel=1e-7)

    def test_bounds_of_very_different_size(self) -> None:
        programme = random_programme(8)
        upper = np.geomspace(1e-5, 1e4, 15)
        check_optimal(replace(programme, upper=upper, balance=0.1))
