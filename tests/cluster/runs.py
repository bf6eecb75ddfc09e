"""Runs of a small table on an engine, as a user starts them, and what has to be true in the end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import engines
import obedient
import psutil

import mklbench
from mklbench.experiments.record import Record
from mklbench.experiments.store import Store

# Holds the folder of a run, in the environment of all its processes but those of Dask's workers.
MARK = "MKLBENCH_TEST_RUN"
# For steps to import, on whatever worker.
PYTHONPATH = os.pathsep.join([str(Path(__file__).parent), str(Path(mklbench.__file__).parents[1])])

CELLS, SPLITS = (0.5, 1.0, 2.0, 4.0), 3
STEPS = len(CELLS) * SPLITS
PROBLEM = ["data=twonorm", "data.n_samples=60", "split.scaling=minmax", f"split.n_splits={SPLITS}"]
TABLE = """\
title: Four runs
citation: "Nobody."
common: [{common}]
rows:
  - {{name: twonorm, label: Twonorm}}
columns:
{columns}
protocols:
  - {{name: fixed, label: fixed, overrides: []}}
"""

# What says how an algorithm went, of the fields of a record.
RESULTS = (
    "status", "error", "accuracy", "objective", "gap", "weights", "n_kernels", "n_iter",
    "svm_calls", "converged", "n_train", "n_test", "seed", "data_digest",
)  # fmt: skip

# How each split went, by C and its number.
Results = dict[tuple[float | None, int], dict[str, Any]]

# Seconds that a run may take on a machine that is busy with other things.
PATIENCE = 240.0


class Run:
    """The run of a table of four runs with three splits each, in a folder of its own.

    Parameters
    ----------
    folder
        For the store, the configs, the orders to the algorithm, and what the driver prints.
    executor
        How the user chooses the executor.
    """

    def __init__(self, folder: Path, *executor: str) -> None:
        self.folder, self.executor = folder.resolve(), list(executor)
        self.store = Store(self.folder / "store")
        self.driver: subprocess.Popen[bytes] | None = None
        self._orders = self.folder / "orders"
        self._orders.mkdir(parents=True)
        self._write_configs()

    def order(self, *names: str) -> None:
        """Order something from the algorithm, see `obedient`."""
        for name in names:
            (self._orders / name).touch()

    def start(self) -> None:
        """Start the driver, by the options of the runs."""
        runs = [*PROBLEM, "algo=obedient", f"algo.folder={self._orders}"]
        swept = f"algo.C={','.join(f'{C:g}' for C in CELLS)}"
        self._start("run", "-m", *runs, swept, "results_dir=store")

    def reproduce(self) -> None:
        """Start the driver, by the name of the table."""
        self._start("reproduce", "four", "--results-dir", "store", "--out-dir", "written")

    def status(self) -> str:
        """Return what `mklbench status` says of the run."""
        return subprocess.run(
            self._mklbench("status", "--results-dir", "store", config_dir=False),
            cwd=self.folder, env=self._environment, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip

    def held(self) -> psutil.Process:
        """Return the process of the step that holds, as ordered."""
        path = obedient.taken(self._orders / "hold")
        engines.wait_for(
            lambda: path.exists() or self.has_ended(), "no step has found the order", PATIENCE
        )
        assert path.exists(), self.log()
        return psutil.Process(int(path.read_text(encoding="ascii")))

    def has_ended(self) -> bool:
        """Tell whether the driver has ended."""
        return self.driver is None or self.driver.poll() is not None

    def kill_driver(self) -> None:
        """End the driver as by a laptop that is switched off."""
        assert self.driver is not None
        assert self.driver.poll() is None, self.log()
        self.driver.kill()
        self.driver.wait()

    def end(self) -> int:
        """Wait for the driver and return its exit status."""
        assert self.driver is not None
        engines.wait_for(self.has_ended, "the driver has not ended", PATIENCE)
        assert "Traceback" not in self.log(), self.log()
        return self.driver.wait()

    def log(self) -> str:
        """Return what the driver has printed."""
        path = self.folder / "driver.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def begun(self) -> int:
        """Return how many steps have been begun, those that came to nothing included."""
        path = self._orders / "begun"
        return len(path.read_text(encoding="ascii").splitlines()) if path.exists() else 0

    def records(self) -> list[Record]:
        """Return what the store has."""
        return list(self.store.all_records())

    def results(self) -> Results:
        """Return how each split went, by C and its number."""
        return {
            (record.C, record.split): {name: getattr(record, name) for name in RESULTS}
            for record in self.records()
        }

    def processes(self) -> list[psutil.Process]:
        """Return what runs of this run."""
        return list(engines.living_with({MARK: str(self.folder)}))

    def assert_nothing_left(self) -> None:
        """See that a run has left its records, and nothing else."""
        engines.wait_for(
            lambda: not self.processes(), f"left running: {self.processes()}", seconds=20
        )
        files = {path.name for path in self.store.path.rglob("*") if path.is_file()}
        assert files == {"cell.json", *(f"split-{split:03d}.json" for split in range(SPLITS))}
        assert not list(self.store.path.rglob("*.lock"))
        assert not (self.store.path / "jobs").exists()

    def stop(self) -> None:
        """End what is left of a run that did not come to its end."""
        engines.kill_all(self.processes)

    def _start(self, *command: str) -> None:
        with (self.folder / "driver.log").open("ab") as log:
            self.driver = subprocess.Popen(
                self._mklbench(*command, *self.executor),
                cwd=self.folder, env=self._environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def _mklbench(self, *command: str, config_dir: bool = True) -> list[str]:
        options = ["--config-dir", "configs"] if config_dir else []
        return [sys.executable, "-m", "mklbench", *command, *options]

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": PYTHONPATH, MARK: str(self.folder)}

    def _write_configs(self) -> None:
        configs = self.folder / "configs"
        for group in ("algo", "table"):
            (configs / group).mkdir(parents=True)
        (configs / "algo" / "obedient.yaml").write_text(obedient.YAML, encoding="utf-8")
        common = [*PROBLEM, "algo=obedient", f"algo.folder={self._orders}"]
        columns = [
            f"  - {{name: c{number}, label: C{number}, overrides: [algo.C={C:g}]}}"
            for number, C in enumerate(CELLS)
        ]
        table = TABLE.format(common=", ".join(common), columns="\n".join(columns))
        (configs / "table" / "four.yaml").write_text(table, encoding="utf-8")


def undisturbed(folder: Path) -> Results:
    """Return how each split goes on this machine."""
    run = Run(folder, "executor=local", "jobs=2")
    run.start()
    assert run.end() == 0, run.log()
    run.assert_nothing_left()
    assert run.begun() == STEPS
    results = run.results()
    assert len(results) == STEPS
    return results


def assert_came_through(run: Run, expected: Results, n_begun: int) -> None:
    """See that a run has ended well, with the results that are expected, and nothing left."""
    assert run.end() == 0, run.log()
    run.assert_nothing_left()
    assert run.results() == expected
    assert run.begun() == n_begun


def assert_one_failed(run: Run, expected: Results) -> str:
    """See that all but one split are done, and return what its record says of that one."""
    assert run.end() == 1, run.log()
    [failed] = [record for record in run.records() if not record.is_done]
    done = {place: found for place, found in run.results().items() if found["status"] == "done"}
    assert done.items() <= expected.items()
    assert len(done) == STEPS - 1
    assert failed.error is not None
    return failed.error


def parent_of(step: psutil.Process) -> psutil.Process:
    """Return the process of the job that has started a step."""
    found = step.parent()
    assert found is not None
    return found
