"""How the time of a solver grows with one size of the problem: points, and a power law on them."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from benchmarks.processes import Send
from benchmarks.reference import synthetic_samples
from benchmarks.solving import NO_LIMIT, mkl_solvers
from mklbench.kernels import feature_gaussians
from mklbench.report.analysis.growth import power_law

TOL = 1e-3
C = 10.0

# A short solve is repeated so often, or until all repeats together have taken so long.
_REPEATS = 5
_ENOUGH_SECONDS = 1.0


@dataclass(frozen=True)
class Sweep:
    """Problems that differ in one size.

    Attributes
    ----------
    axis : "n" or "M", what grows.
    sizes : n_samples, n_kernels of each problem, ascending.
    """

    axis: str
    sizes: tuple[tuple[int, int], ...]

    @property
    def fixed(self) -> str:
        """The size that stays, such as ``M = 20``."""
        n, M = self.sizes[0]
        return f"M = {M}" if self.axis == "n" else f"n = {n}"


@dataclass(frozen=True)
class Timing:
    """One solver on one problem of a sweep: its solve of median time.

    `reached` is False where the solver found no way to go on before the gap.
    """

    n_samples: int
    n_kernels: int
    seconds: float
    svm_seconds: float
    svm_calls: int
    reached: bool


@dataclass(frozen=True)
class Growth:
    """The times of one solver along one sweep, and seconds = constant * size^exponent.

    The fit is to the points that reached the gap; it is None for less than two of them.
    """

    sweep: Sweep
    solver: str
    points: tuple[Timing, ...]

    @property
    def reached(self) -> tuple[tuple[int, float], ...]:
        """Size and seconds of every point that reached the gap."""
        return tuple(
            (point.n_samples if self.sweep.axis == "n" else point.n_kernels, point.seconds)
            for point in self.points
            if point.reached
        )

    @property
    def law(self) -> tuple[float, float] | None:
        """Exponent and constant."""
        return power_law(*zip(*self.reached, strict=True)) if len(self.reached) > 1 else None


def measure(send: Send, solver: str, sweep: Sweep) -> None:
    """Send a `Timing` for every problem of a sweep, in order, until one is not solved."""
    solve = mkl_solvers()[solver]
    solve(feature_gaussians(synthetic_samples(145, 6)[0]), synthetic_samples(145, 6)[1], C, tol=0.1)
    for n, M in sweep.sizes:
        X, y = synthetic_samples(n, M)
        bank = feature_gaussians(X)
        timings: list[Timing] = []
        while len(timings) < _REPEATS and sum(one.seconds for one in timings) < _ENOUGH_SECONDS:
            started = perf_counter()
            found = solve(bank, y, C, tol=TOL, max_iter=NO_LIMIT)
            seconds = perf_counter() - started
            timings.append(
                Timing(n, M, seconds, found.svm_seconds, found.n_svm_calls, found.converged)
            )
        middle = sorted(timings, key=lambda one: one.seconds)[len(timings) // 2]
        send(middle)
        if not middle.reached:
            break
