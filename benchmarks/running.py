"""What `mklbench run` takes of the processor for the default solver on the sets of its reference.

The whole command is measured, from its start to its end: four cells of twenty splits.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

from benchmarks.timing import Result

_SETS = ("sonar", "ionosphere", "pima", "wpbc")
_REPEATS = 3


def run() -> list[Result]:
    """Return the user and system seconds of the four cells, the median of a few runs."""
    seconds = statistics.median(_seconds() for _ in range(_REPEATS))
    return [
        Result(
            f"mklbench run, algo=mkl on {', '.join(_SETS)}, 20 splits each, user and system",
            f"{seconds:.1f} s",
            "",
            None,
        )
    ]


def _seconds() -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mklbench", "run", "-m", "algo=mkl"]
        options = [f"data={','.join(_SETS)}", f"results_dir={folder}"]
        before = os.times()
        subprocess.run([*command, *options], stdout=subprocess.DEVNULL, check=True)
        after = os.times()
    return (
        after.children_user - before.children_user + after.children_system - before.children_system
    )
