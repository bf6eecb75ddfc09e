"""``mklbench run``: the runs that overrides describe, from the first check to the summary."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mklbench import config as configs
from mklbench import interruption, multiclass
from mklbench.config import ComposedRun, RunOptions
from mklbench.errors import InputError, missing
from mklbench.experiments.evaluation import decision_again
from mklbench.experiments.execution.plan import Executor, run_all
from mklbench.experiments.files import check_writable_file
from mklbench.experiments.progress import progress
from mklbench.experiments.record import Record
from mklbench.experiments.records import RunRecords, border_text
from mklbench.experiments.rows import csv_text, settings, summary
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store
from mklbench.grids import AUTO
from mklbench.report.formats import write_result

if TYPE_CHECKING:
    from pandas import DataFrame


def run(arguments: Sequence[str]) -> int:
    """Run what overrides and Hydra's flags describe, and say what came of it.

    Returns
    -------
    The exit status: 2 if something could not be run as it was asked for, else 1 if a run is not
    done, else 0.

    Raises
    ------
    InputError
        If nothing could be run, for the first reason.
    KeyboardInterrupt
        With a sentence on what is kept and how to go on.
    """
    runs = _Runs()
    status = configs.run_hydra(arguments, runs)
    return runs.report() if runs.results else status


def run_of(job: ComposedRun) -> Run:
    """Return the run of a job; what its overrides set is not searched for."""
    return Run(configs.run_config(job.config, job.overrides))


def run_missing(
    runs: Sequence[Run], store: Store, executor: Executor, shown: str = "auto"
) -> list[RunRecords]:
    """Run what the store lacks, and return all that it has; who interrupts hears what is kept.

    Parameters
    ----------
    runs : sequence of Run
        What is asked for.
    store : Store
        Where records are kept.
    executor : Executor
        Takes the steps.
    shown : str, default="auto"
        How the progress is shown.
    """
    kept = f"finished splits are kept in {store.path}; the same command goes on from there."
    with interruption.saying(kept):
        return run_all(runs, store, executor=executor, progress=progress(shown))


class _Runs:
    """What has been run: the jobs of one command, which a sweeper may give in several batches."""

    def __init__(self) -> None:
        self.options: RunOptions | None = None
        self.results: list[RunRecords] = []
        self._as_given: dict[str, float] = {}  # C by algorithm, where nobody has chosen it

    def __call__(self, jobs: Sequence[ComposedRun]) -> list[float]:
        """Run jobs, and return their mean accuracies, or of real targets their mean RMSE."""
        runs = []
        for job in jobs:
            self.options = configs.run_options(job.config)
            runs.append(run := run_of(job))
            given = configs.by_key(job.overrides)
            is_chosen = run.config.search.grid or "algo.C" in given or "search" in given
            if "C" in run.config.algo and not is_chosen:
                self._as_given[run.algo] = run.config.algo["C"]
        assert self.options is not None
        for option in ("out", "predictions"):
            if (path := getattr(self.options, option)) is not None:
                check_writable_file(option, path)
        executor = configs.executor(self.options.executor, self.options.jobs, self.options.timeout)
        store = Store(self.options.results_dir)
        results = run_missing(runs, store, executor, self.options.progress)
        self.results += results
        return [_mean(result) for result in results]

    def report(self) -> int:
        """Write the CSV file and print the summary; return the exit status."""
        assert self.options is not None
        usable = [result for result in self.results if result.error is None or result.records]
        if not usable:
            raise InputError(next(str(result.error) for result in self.results))
        out = self.options.out
        if out is not None:
            write_result(Path(out), csv_text(usable).encode())
        if self.options.predictions is not None:
            _write_predictions(self.options.predictions, usable)
        print(summary(usable))
        for sentence in (*_not_searched(self._as_given), *_borders(usable), *_published(usable)):
            print(sentence)
        rows = "" if out is None else f"   Rows: {out}"
        print(f"Records: {Store(self.options.results_dir).path}{rows}")
        refused = [result for result in self.results if result.error is not None]
        for result in refused:
            print(f"mklbench: error: {result.run.label}: {result.error}", file=sys.stderr)
        if refused:
            return 2
        return 0 if all(result.status == "done" for result in self.results) else 1


def _mean(result: RunRecords) -> float:
    measured = [one.rmse if one.accuracy is None else one.accuracy for one in result.done]
    return float(np.mean(np.array(measured, dtype=float))) if measured else math.nan


def _not_searched(as_given: dict[str, float]) -> Iterator[str]:
    """Yield which C was neither set nor searched: with another scale of kernels it may be bad."""
    if as_given:
        values = ", ".join(f"{value:g} of {name}" for name, value in as_given.items())
        yield f"C is the config's, {values}: search=cv chooses it inside the training part."


def _borders(results: list[RunRecords]) -> Iterator[str]:
    """Yield a sentence for each run with choices at the border of what was tried."""
    for result in results:
        grid = result.run.config.search.grid
        if text := border_text(result.done, grid):
            plain = any(values != AUTO for values in grid.values())
            remedy = ": widen the grid" if plain else ""
            yield f"{result.run.label}: {text}{remedy}."


def _published(results: list[RunRecords]) -> Iterator[str]:
    """Yield what the papers print for each finished run that they have, beside its own number."""
    from mklbench.report.position import position_of

    for result in results:
        position = position_of(result.run) if result.status == "done" else None
        if position is not None:
            label = f"{result.run.label}: " if len(results) > 1 else ""
            yield label + position.beside(result.records)


def _write_predictions(path: str, results: list[RunRecords]) -> None:
    """Fit the finished splits again, as they were recorded, and write what they predict.

    A line is a test row: its run, the setting that tells it from others, split and row number in
    the table, from 0, the name of the sample where the table has one, the label, the prediction
    and the decision value, or one of each class.
    """
    import pandas as pd

    if path.endswith(".parquet") and (asked := missing("files", f"predictions={path}", "pyarrow")):
        raise InputError(asked)
    frames = []
    for one, setting in zip(results, settings([one.run for one in results]), strict=True):
        for record in (record for record in one.records if record.is_done):
            frames.append(_predicted(one.run, record))
            if setting:
                frames[-1].insert(3, "setting", setting)
    frame = pd.concat(frames) if frames else pd.DataFrame()
    as_csv = path.endswith(".csv")
    content = frame.to_csv(index=False).encode() if as_csv else frame.to_parquet(index=False)
    write_result(Path(path), content)


def _predicted(run: Run, record: Record) -> DataFrame:
    """Return the rows of a split: where they are from, and what is predicted of them."""
    import pandas as pd

    data, test = run.dataset(), run.rows(record.split)[1]
    decision = decision_again(run, record)
    columns: dict[str, Any] = {
        **{name: getattr(record, name) for name in ("algo", "kernel", "data", "split")},
        "row": test if data.rows is None else np.asarray(data.rows)[test],
    }
    if data.sample_names:
        columns["sample"] = np.asarray(data.sample_names[0])[test]
    if data.targets is not None:
        columns |= {"label": data.targets[test], "prediction": decision}
    else:
        classes = np.asarray(data.classes)
        predicted = classes[multiclass.predict(decision)]
        columns |= {"label": classes[data.y[test]], "prediction": predicted}
        names = [f"decision_{name}" for name in classes] if decision.ndim == 2 else ["decision"]
        columns |= dict(zip(names, np.atleast_2d(decision.T), strict=True))
    return pd.DataFrame(columns)
