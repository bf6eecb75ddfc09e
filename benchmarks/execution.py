"""What executors add to a step beside its work, and what a second worker saves.

A step is an SVM on 60 samples, so that next to nothing but what is added is left. Between the first
and the last record of a run there are no starts of Python or of an engine. What else the machine
does only adds to a time: of several repeats in turn the least counts, and the median stands beside.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from threadpoolctl import threadpool_limits

from benchmarks.output import publish, table
from benchmarks.running import SETS, finish, start
from benchmarks.timing import Result
from mklbench import config as configs
from mklbench.errors import InputError
from mklbench.experiments.evaluation import run_split
from mklbench.experiments.execution.plan import Executor, run_all
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store

_STEPS = 100
_REPEATS = 5
_MOST_RATIO = 1.85

_SHORT = ("algo=svm", "data=twonorm", "data.n_samples=60", f"split.n_splits={_STEPS}")


@dataclass(frozen=True)
class _Engine:
    """A way of taking steps: what is typed for it, and the ms that it may add to a step, if any."""

    name: str
    typed: tuple[str, ...]
    most: float | None

    @property
    def aim(self) -> str:
        """What it may add, as it is shown."""
        return "" if self.most is None else f"< {self.most:g}"


_ONE_WORKER = "executor.workers=1"
_ENGINES = (
    _Engine("local", ("executor=local",), 10.0),
    _Engine("Dask, one worker", ("executor=dask", _ONE_WORKER), 10.0),
    _Engine("Slurm, one job", ("executor=slurm", "executor.poll=1", "executor.array=1"), None),
)


def run() -> list[Result]:
    """Measure, print and write the tables; return what is added to a step, and the two ratios."""
    load = os.getloadavg()[0]
    engines, left_out = _at_hand()
    added = _added(engines)
    jobs = _with_jobs()
    shown = [
        (engine.name, *(f"{value:.1f}" for value in added[engine.name]), engine.aim)
        for engine in engines
    ]
    headers = ("executor", "work, ms", "added, ms", "median, ms", "aim, ms")
    publish(
        "execution.md",
        "Executors",
        f"The load of the machine was {load:.1f} on {os.cpu_count()} processors before, and "
        f"{os.getloadavg()[0]:.1f} after. The least of {_REPEATS} repeats in turn, as what else "
        "the machine does only adds to a time.",
        f"## Added to a step\n\n{_STEPS} steps of an SVM on 60 samples, written to a store, from "
        "the first record to the last, so that the start of a job is not counted; beside the same "
        "splits without any executor.",
        table(shown, headers, n_labels=1),
        *(f"Left out: {sentence}" for sentence in left_out),
        f"## Two workers\n\n`mklbench run -m algo=mkl data={','.join(SETS)}`, 20 splits each.",
        jobs.shown(),
    )
    return [
        *(
            Result(
                f"added to a step by {engine.name}",
                f"{added[engine.name][1]:.1f} ms",
                f"{engine.aim} ms" if engine.aim else "",
                None if engine.most is None else added[engine.name][1] < engine.most,
            )
            for engine in engines
        ),
        *jobs.results(),
    ]


def _at_hand() -> tuple[list[_Engine], list[str]]:
    """Return the engines that take two steps, and a sentence for each of the others."""
    run = Run.from_overrides([*_SHORT, "split.n_splits=2"])
    found, left_out = [], []
    for engine in _ENGINES:
        try:
            _between_records(run, _executor(engine))
        except InputError as error:
            left_out.append(f"{engine.name}: {error}")
        else:
            found.append(engine)
    return found, left_out


def _executor(engine: _Engine) -> Executor:
    options = configs.run_options(configs.compose([*_SHORT, *engine.typed]))
    made: Executor = configs.executor(options.executor, options.jobs, options.timeout)
    return made


def _added(engines: Sequence[_Engine]) -> dict[str, tuple[float, float, float]]:
    """Return by engine the ms of a step's work and what is added, and the median of that."""
    run = Run.from_overrides(_SHORT)
    run_split(run, 0)
    work: list[float] = []
    taken: dict[str, list[float]] = {engine.name: [] for engine in engines}
    for _ in range(_REPEATS):
        work.append(_of_work(run))
        for engine in engines:
            taken[engine.name].append(_between_records(run, _executor(engine)))
    usual = statistics.median(work)
    return {
        name: (min(work), min(some) - min(work), statistics.median(some) - usual)
        for name, some in taken.items()
    }


def _of_work(run: Run) -> float:
    """Return the ms of a step without an executor and a store."""
    with threadpool_limits(1):
        started = perf_counter()
        for split in range(_STEPS):
            run_split(run, split)
        return 1e3 * (perf_counter() - started) / _STEPS


def _between_records(run: Run, executor: Executor) -> float:
    """Return the ms from one record of a run to the next."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store")
        (result,) = run_all([run], store, executor=executor)
        if result.status != "done":
            raise RuntimeError(f"a benchmark was not carried out: {result.error or result.status}")
        return 1e3 * _record_seconds(store.path) / (run.n_splits - 1)


def _record_seconds(store: Path) -> float:
    """Return the seconds between the first and the last record of a store."""
    written = [path.stat().st_mtime_ns for path in store.glob("*/split-*.json")]
    return (max(written) - min(written)) / 1e9


@dataclass(frozen=True)
class _Jobs:
    """Seconds of the whole command, and from its first record to the last, of each repeat.

    Attributes
    ----------
    alone, both : list of tuple of float
        By jobs=1, and by jobs=2.
    """

    alone: list[tuple[float, float]]
    both: list[tuple[float, float]]

    def ratio(self, which: int) -> float:
        """Return how many times as fast jobs=2 is."""
        return _least(self.alone, which) / _least(self.both, which)

    def shown(self) -> str:
        """Return the table of both, and of the ratio."""
        rows = [
            (name, *(f"{_least(some, which):.2f}" for which in (0, 1)))
            for name, some in (("jobs=1", self.alone), ("jobs=2", self.both))
        ]
        rows.append(("jobs=1 / jobs=2", f"{self.ratio(0):.2f}", f"{self.ratio(1):.2f}"))
        return table(rows, ("", "whole command, s", "first to last record, s"), n_labels=1)

    def results(self) -> list[Result]:
        """Return the ratios beside what they are to be."""
        return [
            Result(
                f"jobs=2 against jobs=1, algo=mkl on {', '.join(SETS)}: {name}",
                f"{self.ratio(which):.2f}",
                f">= {_MOST_RATIO}",
                self.ratio(which) >= _MOST_RATIO,
            )
            for which, name in enumerate(("the whole command", "from the first record to the last"))
        ]


def _least(runs: list[tuple[float, float]], which: int) -> float:
    return min(run[which] for run in runs)


def _with_jobs() -> _Jobs:
    measured = _Jobs([], [])
    for _ in range(_REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            one, two = (Path(folder) / name for name in "12")
            measured.alone.append(_timed(lambda: finish(start(one)), one))  # noqa: B023
            measured.both.append(_timed(lambda: finish(start(two, "jobs=2")), two))  # noqa: B023
    return measured


def _timed(work: Callable[[], None], folder: Path) -> tuple[float, float]:
    """Return the seconds of runs, and those between the first and the last record of one."""
    started = perf_counter()
    work()
    return perf_counter() - started, _record_seconds(folder / "store")
