"""How the time of every solver of MKL to a gap of 1e-3 grows with the samples and the kernels.

The problems are generated: Gaussians on single features (`mklbench.kernels.feature_gaussians`,
whose making is not counted), labels as in the synthetic reference problem, C = 10. A solver that
takes longer than `LIMIT_SECONDS` for one problem is not asked for larger ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.output import publish, save_figure, table, write_csv
from benchmarks.processes import Send, limited
from benchmarks.reference import synthetic_samples
from benchmarks.solving import NO_LIMIT, Array, mkl_solvers
from benchmarks.timing import Result, median_of
from mklbench.kernels import Bank, feature_gaussians
from mklbench.report.analysis.growth import power_law
from mklbench.report.figures.draw import COLOURS, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIMIT_SECONDS = 120.0
TOL = 1e-3
C = 10.0


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

        def timed(n: int = n, M: int = M, bank: Bank = bank, y: Array = y) -> Timing:
            started = perf_counter()
            found = solve(bank, y, C, tol=TOL, max_iter=NO_LIMIT)
            seconds = perf_counter() - started
            return Timing(n, M, seconds, found.svm_seconds, found.n_svm_calls, found.converged)

        middle = median_of(timed, lambda one: one.seconds, enough=1.0)
        send(middle)
        if not middle.reached:
            break


SWEEPS = (
    Sweep("n", tuple((n, 20) for n in (145, 300, 600, 1200, 2000, 3000))),
    Sweep("M", tuple((145, M) for M in (20, 60, 200, 600, 2000))),
)

_NAMES = {"n": "samples n", "M": "kernels M"}
_MARKERS = "osD^v"


def run() -> list[Result]:
    """Measure; print and write the table, the figure and its data. There is no target."""
    growths = [
        Growth(sweep, solver, tuple(limited(measure, solver, sweep, seconds=LIMIT_SECONDS)))
        for sweep in SWEEPS
        for solver in mkl_solvers()
    ]
    publish("scaling.md", "Growth of time with samples and with kernels", _table(growths))
    write_csv("bench_scaling.csv", _records(growths), folder="figures")
    _write_figure(growths)
    return []


def _table(growths: Sequence[Growth]) -> str:
    runs = []
    for growth in growths:
        reached, law = growth.reached, growth.law
        sizes = [size for size, _ in reached]
        limit = growth.sweep.sizes[-1]
        full = limit[0] if growth.sweep.axis == "n" else limit[1]
        runs.append(
            (
                f"{_NAMES[growth.sweep.axis]} ({growth.sweep.fixed})",
                growth.solver,
                "-" if law is None else f"{law[0]:.2f}",
                f"{sizes[0]} to {sizes[-1]}" if reached else "-",
                f"{reached[-1][1]:.3g}" if reached else "-",
                "" if reached and sizes[-1] == full else f"no: {full} asked for",
            )
        )
    headers = (
        "growing", "solver", "exponent", "measured range", "seconds at its end", "whole range",
    )  # fmt: skip
    legend = (
        f"Seconds to a gap of {TOL:g} as size^exponent, fitted by least squares on the logarithms. "
        f"Gaussians on single features, C = {C:g}; the bank is given. A solver that takes more "
        f"than {LIMIT_SECONDS:.0f} s for a problem, or finds no way to go on, is not asked for "
        f"larger ones."
    )
    return f"{legend}\n\n{table(runs, headers, n_labels=2)}"


def _records(growths: Sequence[Growth]) -> list[dict[str, object]]:
    return [
        {
            "growing": growth.sweep.axis,
            "solver": growth.solver,
            "tol": TOL,
            "C": C,
            **asdict(point),
            "exponent": growth.law and growth.law[0],
        }
        for growth in growths
        for point in growth.points
    ]


def _write_figure(growths: Sequence[Growth]) -> None:
    """Draw the times, one panel a sweep, on logarithmic axes with the fitted lines."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(fname=STYLE):
        canvas = Figure(figsize=(7.2, 3.1), layout="constrained")
        axes = canvas.subplots(1, len(SWEEPS), sharey=True)
        for axis, sweep in zip(axes, SWEEPS, strict=True):
            _panel(axis, sweep, [growth for growth in growths if growth.sweep == sweep])
        axes[0].set_ylabel(f"seconds to a gap of 10$^{{{np.log10(TOL):.0f}}}$")
        save_figure(canvas, "bench_scaling")


def _panel(axis: Axes, sweep: Sweep, growths: Sequence[Growth]) -> None:
    for growth, colour, marker in zip(growths, COLOURS, _MARKERS, strict=False):
        if not growth.reached:
            continue
        sizes, seconds = (np.array(column) for column in zip(*growth.reached, strict=True))
        label = growth.solver
        if growth.law is not None:
            exponent, constant = growth.law
            axis.plot(sizes, constant * sizes**exponent, color=colour, linewidth=1.2)
            label += f": ${sweep.axis}^{{{exponent:.2f}}}$"
        axis.plot(
            sizes, seconds, color=colour, marker=marker, markersize=4, linestyle="none", label=label
        )
    axis.set_xscale("log")
    axis.set_yscale("log")
    ticks = [n if sweep.axis == "n" else M for n, M in sweep.sizes]
    axis.set_xticks(ticks, [str(tick) for tick in ticks])
    axis.minorticks_off()
    axis.set_xlabel(_NAMES[sweep.axis])
    axis.set_title(sweep.fixed, loc="left")
    if axis.has_data():
        axis.legend(loc="upper left", fontsize=8, handletextpad=0.2, borderaxespad=0.1)
