"""What executors add to a step beside its work, and what a second worker saves.

A step is an SVM on 60 samples, so that next to nothing but what is added is left. Between the first
and the last record of a run there are no starts of Python or of an engine. What else the machine
does only adds to a time: of several repeats in turn the least counts.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.output import publish, table, table_of
from benchmarks.running import SETS, finish, start
from benchmarks.timing import FIGURES, Result
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
    most: float | None = None


_ENGINES = (
    _Engine("local", ("executor=local",), 10.0),
    _Engine("Dask, one worker", ("executor=dask", "executor.workers=1"), 10.0),
    _Engine("Slurm, one job", ("executor=slurm", "executor.poll=1", "executor.array=1")),
)


def run() -> list[Result]:
    """Measure, print and write the tables; return what is added to a step, and the two ratios."""
    load = os.getloadavg()[0]
    engines, left_out = _at_hand()
    added = _added(engines)
    jobs, ratios = _with_jobs()
    results = [
        Result(
            f"added to a step by {engine.name}",
            f"{added[engine.name]:.1f} ms",
            "" if engine.most is None else f"< {engine.most:g} ms",
            None if engine.most is None else added[engine.name] < engine.most,
        )
        for engine in engines
    ]
    publish(
        "execution.md",
        "Executors",
        f"The load of the machine was {load:.1f} on {os.cpu_count()} processors before, and "
        f"{os.getloadavg()[0]:.1f} after. The least of {_REPEATS} repeats in turn, as what else "
        "the machine does only adds to a time.",
        f"## Added to a step\n\n{_STEPS} steps of an SVM on 60 samples, written to a store, from "
        "the first record to the last, so that the start of a job is not counted; beside the same "
        "splits without any executor.",
        table_of(results, FIGURES, n_labels=1),
        *(f"Left out: {sentence}" for sentence in left_out),
        f"## Two workers\n\n`mklbench run -m algo=mkl data={','.join(SETS)}`, 20 splits each.",
        jobs,
    )
    return [*results, *ratios]


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


def _added(engines: Sequence[_Engine]) -> dict[str, float]:
    """Return by engine the ms that are added to a step's work."""
    run = Run.from_overrides(_SHORT)
    run_split(run, 0)
    work: list[float] = []
    taken: dict[str, list[float]] = {engine.name: [] for engine in engines}
    for _ in range(_REPEATS):
        work.append(_of_work(run))
        for engine in engines:
            taken[engine.name].append(_between_records(run, _executor(engine)))
    return {name: min(some) - min(work) for name, some in taken.items()}


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


def _with_jobs() -> tuple[str, list[Result]]:
    """Return the table of one and of two workers, and the ratios beside what they are to be."""
    taken: dict[str, list[tuple[float, float]]] = {"jobs=1": [], "jobs=2": []}
    for _ in range(_REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            for jobs, seconds in taken.items():
                seconds.append(_timed(Path(folder) / jobs, jobs))
    least = [np.min(seconds, axis=0) for seconds in taken.values()]
    rows = zip([*taken, "jobs=1 / jobs=2"], [*least, least[0] / least[1]], strict=True)
    shown = [(name, *(f"{value:.2f}" for value in values)) for name, values in rows]
    parts = ("the whole command", "from the first record to the last")
    results = [
        Result(
            f"jobs=2 against jobs=1, algo=mkl on {', '.join(SETS)}: {part}",
            f"{ratio:.2f}",
            f">= {_MOST_RATIO}",
            bool(ratio >= _MOST_RATIO),
        )
        for part, ratio in zip(parts, least[0] / least[1], strict=True)
    ]
    return table(shown, ("", *(f"{part}, s" for part in parts)), n_labels=1), results


def _timed(folder: Path, jobs: str) -> tuple[float, float]:
    """Return the seconds of a command, and those between its first and its last record."""
    started = perf_counter()
    finish(start(folder, jobs))
    return perf_counter() - started, _record_seconds(folder / "store")
