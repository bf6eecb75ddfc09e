"""The example of an algorithm from outside, as its README says it is used."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from example_runs import EXAMPLES, python

EXAMPLE = EXAMPLES / "own_algorithm"


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_it_runs_beside_the_algorithms_of_the_package(tmp_path: Path, jobs: int) -> None:
    overrides = ["algo=mine,svm", "data=wdbc", "split.n_splits=2", "out=rows.csv", f"jobs={jobs}"]
    words = ["-m", "mklbench", "run", "-m", *overrides, "--config-dir", str(EXAMPLE)]
    python([*words, "progress=none"], tmp_path)
    with (tmp_path / "rows.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["algo"] for row in rows] == ["mine", "mine", "svm", "svm"]
    assert {row["status"] for row in rows} == {"done"}
    assert all(float(row["accuracy"]) > 0.9 for row in rows)


@pytest.mark.slow
def test_a_wrong_option_is_refused_before_there_are_kernels(tmp_path: Path) -> None:
    overrides = ["algo=mine", "algo.power=-1", "data=wdbc"]
    words = ["-m", "mklbench", "run", *overrides, "--config-dir", str(EXAMPLE)]
    finished = python(words, tmp_path, status=2)
    assert "power=-1" in finished.stderr
    assert "Traceback" not in finished.stderr


def test_its_own_tests_pass(tmp_path: Path) -> None:
    words = ["-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(EXAMPLE), str(EXAMPLE)]
    assert "2 passed" in python(words, tmp_path, EXAMPLE).stdout
