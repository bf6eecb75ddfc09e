"""The example of an algorithm from outside, as its README says it is used."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mklbench

ROOT = Path(mklbench.__file__).parents[1]
EXAMPLE = ROOT / "examples" / "own_algorithm"


def run(arguments: list[str], directory: Path, *found_in: Path) -> subprocess.CompletedProcess[str]:
    """Run a module of Python in a directory; modules are found in this package and as is said."""
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, *found_in)))},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_it_runs_beside_the_algorithms_of_the_package(tmp_path: Path, jobs: int) -> None:
    finished = run(
        ["mklbench", "run", "-m", "algo=mine,svm", "data=wdbc", "split.n_splits=2", "out=rows.csv",
         f"jobs={jobs}",
         "--config-dir", str(EXAMPLE), "progress=none"],
        tmp_path,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    with (tmp_path / "rows.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["algo"] for row in rows] == ["mine", "mine", "svm", "svm"]
    assert {row["status"] for row in rows} == {"done"}
    assert all(float(row["accuracy"]) > 0.9 for row in rows)


@pytest.mark.slow
def test_a_wrong_option_is_refused_before_there_are_kernels(tmp_path: Path) -> None:
    overrides = ["algo=mine", "algo.power=-1", "data=wdbc"]
    finished = run(["mklbench", "run", *overrides, "--config-dir", str(EXAMPLE)], tmp_path)
    assert finished.returncode == 2
    assert "power=-1" in finished.stderr
    assert "Traceback" not in finished.stderr


def test_its_own_tests_pass(tmp_path: Path) -> None:
    finished = run(
        ["pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(EXAMPLE), str(EXAMPLE)],
        tmp_path,
        EXAMPLE,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "2 passed" in finished.stdout
