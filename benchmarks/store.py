"""How long it takes to say what is in a large store: of 100,000 records."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

from benchmarks.generated_store import generate
from benchmarks.output import publish, table
from benchmarks.timing import Result
from mklbench.experiments.execution.overview import Overview
from mklbench.experiments.sealing import sealed
from mklbench.experiments.store import Store

_N_CELLS, _N_SPLITS = 1000, 100
_MOST_SECONDS = 10.0


def run() -> list[Result]:
    """Return the seconds of `mklbench status`, and of what it consists of."""
    with tempfile.TemporaryDirectory() as folder:
        store, _ = generate(Path(folder) / "store", _N_CELLS, _N_SPLITS)
        before, _ = generate(Path(folder) / "before", _N_CELLS, _N_SPLITS, sealed)
        _forget(store)
        overview = Overview(store)
        results = [
            _measured("mklbench status, nothing of it in memory", partial(_status, store)),
            _measured("mklbench status", partial(_status, store)),
            _measured("mklbench status, records laid out as before", partial(_status, before)),
            _measured("a first look of mklbench status --watch", overview.look),
            _measured("a further look, when nothing has changed", overview.look),
            _measured("Store.all_records, each as a whole", partial(_list, store)),
        ]
    load = f"The load of the machine was {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors."
    made = (
        f"A generated store: {_N_CELLS} cells of {_N_SPLITS} splits, a file each, on a local disk. "
        "In brackets the seconds of the clock; the others are those of the processor."
    )
    rows = [(result.name, result.measured, result.target) for result in results]
    shown = table(rows, ["figure", "measured", "target"], n_labels=1)
    publish("store.md", "A store of 100,000 splits", f"{made} {load}", shown)
    return results


def _measured(name: str, work: Callable[[], object]) -> Result:
    started, before = perf_counter(), os.times()
    work()
    elapsed, after = perf_counter() - started, os.times()
    used = sum(after[:4]) - sum(before[:4])  # user and system, of this process and its children
    shown = f"{used:.1f} s ({elapsed:.1f} s)"
    return Result(name, shown, f"< {_MOST_SECONDS:.0f} s", used < _MOST_SECONDS)


def _status(store: Store) -> None:
    command = [sys.executable, "-m", "mklbench", "status", "--results-dir", str(store.path)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def _list(store: Store) -> None:
    for _ in store.all_records():
        pass


def _forget(store: Store) -> None:
    """Have the system forget the content of the files of a store."""
    os.sync()
    for path in store.path.glob("*/*.json"):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
