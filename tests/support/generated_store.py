"""A store of any size, in seconds: real runs, with records in the shape of recorded ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

from benchmarks.output import RESULTS
from mklbench.experiments.checksum import with_checksum
from mklbench.experiments.record import Record
from mklbench.experiments.records import read_records
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store
from mklbench.resources import write_atomically

# Of every so many splits one has failed, and another has no record yet.
ONE_IN = 50

_RECORDED = RESULTS / "records" / "picard2012_table1.jsonl"
_N_SHAPES = 500

_CELL = ("algo=svm", "data=wdbc")


def generate(path: Path, n_runs: int, n_splits: int) -> tuple[Store, list[Run]]:
    """Make a store of `n_runs` runs with `n_splits` splits each; return it with its runs.

    The runs are those of a sweep over C. Their records are those of a paper's table, in turn,
    under the key of the run: nothing is fitted.
    """
    store = Store(path)
    short = ["algo=svm", "data=wdbc", f"split.n_splits={n_splits}"]
    runs = [Run.from_overrides([*short, f"algo.C={C}"]) for C in range(1, n_runs + 1)]
    shapes = cycle(islice(read_records(_RECORDED), _N_SHAPES))
    for run in runs:
        store.describe(run)
        for record in _records(run, shapes):
            place = store.record_path(run, record.split)
            write_atomically(place, with_checksum(record.to_json()), durable=False)
    return store, runs


def _records(run: Run, shapes: Iterator[Record]) -> Iterator[Record]:
    for split in range(run.n_splits):
        record = replace(
            next(shapes),
            key=run.key,
            algo=run.algo,
            kernel=run.kernel,
            data=run.data,
            search=run.search,
            split=split,
        )
        if split % ONE_IN == 1:
            yield replace(record, status="failed", error="ZeroDivisionError: made up")
        elif split % ONE_IN != 2:
            yield record
