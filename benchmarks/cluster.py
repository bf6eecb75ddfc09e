"""How much of a cluster's time is work: a simulation (`benchmarks.simulated_cluster`)."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.output import publish, table
from benchmarks.simulated_cluster import STATED, Faults, Outcome, Size, drawn_cells, simulate
from benchmarks.timing import Result
from mklbench.experiments.execution.dispatch import Options

_LEAST = 0.9


@dataclass(frozen=True)
class _Run:
    """One line of the table."""

    what: str
    n_cells: int
    seconds: float
    size: Size
    faults: Faults


_SLOW = Faults(slow=STATED.slow)
_DASK = Size(200, 400, start=0.1, poll=2.0, tells=True)
_RUNS = (
    _Run("nothing goes wrong", 100, 60.0, Size(200, 250), Faults()),
    _Run("slow nodes", 100, 60.0, Size(200, 250), _SLOW),
    _Run("the failures below", 100, 60.0, Size(200, 250), STATED),
    _Run("the same, array of 200", 100, 60.0, Size(200), STATED),
    _Run("the same, as Dask", 100, 60.0, _DASK, STATED),
    _Run("shorter steps, nothing goes wrong", 100, 20.0, Size(200, 250), Faults()),
    _Run("shorter steps, the failures below", 100, 20.0, Size(200, 250), STATED),
    _Run("a small cluster, the failures below", 20, 60.0, Size(20, 25), STATED),
)
_STATED = _RUNS[2]


def run() -> list[Result]:
    """Simulate, print and write the table; return the efficiency under the stated failures."""
    outcomes = {one: _simulated(one) for one in _RUNS}
    headers = (
        "run", "steps", "mean s", "workers", "array", "jobs", "jobs hit", "ideal min", "min",
        "efficiency",
    )  # fmt: skip
    rows = [_row(one, outcome) for one, outcome in outcomes.items()]
    faults = (
        f"In an hour of a job's running it is killed {STATED.killed:g} times, told to end "
        f"{STATED.cancelled:g} times, falls silent for five minutes {STATED.silent:g} times, is "
        f"killed and forgotten {STATED.forgotten:g} times, and is lost sight of and goes on "
        f"{STATED.orphaned:g} times. {STATED.large:.0%} of the steps need more memory than was "
        f"estimated, {STATED.slow:.0%} of the nodes take three times as long. In an hour the "
        f"driver is killed once, for 90 s, and the scheduler does not answer for two minutes "
        f"{STATED.unreachable:g} times."
    )
    legend = (
        "The program's planning, packing, driver, journal, claims and store on a cluster that is "
        "simulated. A job takes 5 s to start, and the scheduler is asked every 10 s (as Dask: 0.1 "
        "s, and it tells). The steps of a cell have a log-normal distribution of width 0.3 around "
        "a mean that itself has one of width 1, and which is known before to a factor of width "
        "0.5. Efficiency: seconds in steps that were recorded, over workers x time from the start "
        "of the driver to its end. Every step was recorded, and nothing was left."
    )
    publish("cluster.md", "A simulated cluster", legend, table(rows, headers, n_labels=1), faults)
    stated = outcomes[_STATED].efficiency
    return [
        Result(
            "work over slots x time, 10,000 steps on 200 workers with failures, simulated",
            f"{stated:.3f}",
            f">= {_LEAST}",
            stated >= _LEAST,
        )
    ]


def _simulated(one: _Run) -> Outcome:
    cells = drawn_cells(one.n_cells, 100, one.seconds, 1)
    outcome = simulate(cells, one.size, one.faults, Options(), 1)
    assert (outcome.wrong, outcome.left) == ([], []), one
    assert all(result.status == "done" for result in outcome.results), one
    return outcome


def _row(one: _Run, outcome: Outcome) -> tuple[str, ...]:
    n_hit = outcome.hit.total() - outcome.hit["unreachable"] - outcome.hit["driver"]
    return (
        one.what,
        f"{len(outcome.attempts):,}",
        f"{one.seconds:g}",
        str(one.size.workers),
        str(one.size.array or one.size.workers),
        f"{outcome.n_jobs:,}",
        str(n_hit),
        f"{outcome.work / one.size.workers / 60:.1f}",
        f"{outcome.seconds / 60:.1f}",
        f"{outcome.efficiency:.3f}",
    )
