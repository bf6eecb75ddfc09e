"""The benchmark of gaps against time."""

from __future__ import annotations

import pytest

from benchmarks import gaps
from benchmarks.gaps import Fit
from benchmarks.problems import Split
from benchmarks.reference import synthetic_samples
from benchmarks.solving import mkl_solvers


@pytest.fixture
def split() -> Split:
    X, y = synthetic_samples(80, 6)
    return Split("synthetic", X, y, X[:0], y[:0])


class TestGaps:
    @pytest.mark.slow
    @pytest.mark.parametrize("solver", mkl_solvers())
    def test_every_fit_ends_at_the_gap_asked_for(
        self, solver: str, split: Split, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gaps, "GAPS", (1.0, 1e-2))
        fits: list[Fit] = []
        gaps.measure(fits.append, solver, split, 3)
        asked = [fit for fit in fits if fit.tol is not None]
        assert [fit.tol for fit in asked] == [1.0, 1e-2]
        assert all(fit.converged and 0 <= fit.gap <= fit.tol + 1e-6 for fit in asked if fit.tol)
        by_rule = [fit for fit in fits if fit.tol is None]
        assert len(by_rule) == (solver in ("hessianmkl", "simplemkl", "vskl"))
