"""What `mklbench run` takes of the processor for the default solver on the sets of its reference.

The whole command is measured, from its start to its end: four runs of twenty splits.
"""

from __future__ import annotations

import csv
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import Result

SETS = ("sonar", "ionosphere", "pima", "wpbc")
_REPEATS = 3


def run() -> list[Result]:
    """Return the seconds of the four runs, and what building kernels takes beside fitting."""
    measured = [_measured() for _ in range(_REPEATS)]
    seconds, ratio = (statistics.median(some) for some in zip(*measured, strict=True))
    name = f"mklbench run, algo=mkl on {', '.join(SETS)}, 20 splits each"
    return [
        Result(f"{name}, user and system", f"{seconds:.1f} s", "", None),
        Result(f"{name}, building kernels / fitting", f"{ratio:.2f}", "<= 1", ratio <= 1.0),
    ]


def start(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start the command, which writes ``store`` and ``rows.csv`` in a folder."""
    command = [sys.executable, "-m", "mklbench", "run", "-m", "algo=mkl", "progress=none"]
    places = [f"data={','.join(SETS)}", f"results_dir={folder}/store", f"out={folder}/rows.csv"]
    folder.mkdir(exist_ok=True)
    return subprocess.Popen([*command, *places, *options], stdout=subprocess.DEVNULL)


def finish(*commands: subprocess.Popen[bytes]) -> None:
    """Wait for commands.

    Raises
    ------
    RuntimeError
        If one of them has failed.
    """
    statuses = [command.wait() for command in commands]
    if any(statuses):
        raise RuntimeError("mklbench run has failed, see above")


def _measured() -> tuple[float, float]:
    """Return the seconds of the processor, and those of building over those of fitting."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        finish(start(Path(folder)))
        after = os.times()
        with (Path(folder) / "rows.csv").open(newline="") as handle:
            splits = list(csv.DictReader(handle))
    built, fitted = (
        sum(float(split[name]) for split in splits) for name in ("kernel_seconds", "fit_seconds")
    )
    used = after.children_user + after.children_system
    return used - before.children_user - before.children_system, built / fitted
