"""The typical changes of CONTRIBUTING, made in a copy of the program with the files it names."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mklbench

ROOT = Path(mklbench.__file__).parents[1]

KERNEL = '''
"""A linear and a Gaussian kernel side by side."""

from mklbench.kernels import ConcatenatedBank, gaussian, linear_features


def linear_and_gaussian(X, gamma=1.0):
    """Return the linear kernels of all features, and a Gaussian."""
    return ConcatenatedBank([linear_features(X), gaussian(X, gamma)])
'''
EXECUTOR = '''
"""The executor of this machine, which notes how much it is given."""

from mklbench.experiments.execution.local import Local


class Noting(Local):
    """Takes steps on this machine, and notes their number in a file."""

    def __init__(self, jobs, timeout, note):
        super().__init__(jobs, timeout)
        self.note = note

    def run(self, steps, store, progress):
        """Take the steps."""
        with open(self.note, "w") as file:
            file.write(str(len(steps)))
        return super().run(steps, store, progress)
'''
ESTIMATOR = '''

class FirstKernel(KernelLearner):
    """An SVM on the first kernel of a bank.

    Parameters
    ----------
    kernel : str or KernelBuilder, default="feature_gaussians"
        Name or callable of a bank.
    C : float, default=1.0
        Box constraint.
    """

    _algorithm = "mklbench.algorithms.svm"

    def __init__(self, kernel="feature_gaussians", C=1.0):
        self.kernel = kernel
        self.C = C


__all__ += ["FirstKernel"]
'''
TABLE = """
title: The typical changes together
citation: Measured here.
common: [search=fixed, split.n_splits=2, kernel=mine]
rows:
  - {name: mine, label: Mine, overrides: [data=mine]}
protocols: [{name: once, label: measured, overrides: []}]
columns:
  - {name: svm, label: SVM, overrides: [algo=svm], metrics: [accuracy, prediction]}
"""
METRIC = '        Metric("prediction", "prediction", "ms", "predict_seconds", scale=1000.0),\n'


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with a kernel, a data set, a table, an executor, an estimator and a metric more.

    An algorithm is added in `tests/examples`, a penalty in `tests/penalties/test_base.py`.
    """
    root = tmp_path_factory.mktemp("checkout")
    for name in ("mklbench", "hydra_plugins", "configs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    package, configs = root / "mklbench", root / "configs"
    rows = [f"{i % 7},{i % 5},{'ab'[i % 7 > 3]}" for i in range(60)]
    (root / "mirror").mkdir()
    (root / "mirror" / "mine.csv").write_text("\n".join(rows) + "\n")

    (package / "kernels" / "builders" / "mine.py").write_text(KERNEL)
    (configs / "kernel" / "mine.yaml").write_text(
        "name: mine\n_target_: mklbench.kernels.builders.mine.linear_and_gaussian\ngamma: 0.5\n"
    )
    (configs / "data" / "mine.yaml").write_text(
        "name: mine\ntitle: mine\nsources: [{mirror: mine.csv}]\nlabel: last\n"
        "licence: mine\ncitation: mine\n"
    )
    (configs / "table" / "mine.yaml").write_text(TABLE)
    (package / "experiments" / "execution" / "mine.py").write_text(EXECUTOR)
    (configs / "executor" / "mine.yaml").write_text(
        "name: mine\n_target_: mklbench.experiments.execution.mine.Noting\nnote: note.txt\n"
    )
    family = package / "estimators" / "simplex.py"
    family.write_text(family.read_text() + ESTIMATOR)
    metrics = package / "report" / "table" / "metrics.py"
    line = '        Metric("relevant_weight"'
    metrics.write_text(metrics.read_text().replace(line, METRIC + line))
    return root


def python(copy: Path, *arguments: str) -> str:
    """Return what the interpreter prints that runs the copy."""
    finished = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy), "MKLBENCH_MIRROR": str(copy / "mirror")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_a_kernel_a_data_set_and_an_executor(copy: Path) -> None:
    overrides = ["algo=mkl", "kernel=mine", "data=mine", "executor=mine", "split.n_splits=3"]
    python(copy, "-m", "mklbench", "run", *overrides, "out=rows.csv", "progress=none")
    with (copy / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["done"] * 3
    assert {row["n_base_kernels"] for row in rows} == {"3"}
    assert (copy / "note.txt").read_text() == "3"


@pytest.mark.slow
def test_a_table_and_a_metric(copy: Path) -> None:
    python(copy, "-m", "mklbench", "reproduce", "mine", "--out-dir", "results")
    shown = python(copy, "-m", "mklbench", "table", "mine", "--all")
    assert "prediction ms" in shown
    assert "1 of 1 runs are done" in shown


@pytest.mark.slow
def test_an_estimator(copy: Path) -> None:
    program = """
import numpy as np
from sklearn.model_selection import GridSearchCV
from mklbench import FirstKernel
X = np.random.default_rng(0).standard_normal((60, 3))
search = GridSearchCV(FirstKernel(), {"C": [0.1, 10.0]}, cv=2).fit(X, X[:, 0] > 0)
print(search.score(X, X[:, 0] > 0))
"""
    assert float(python(copy, "-W", "ignore", "-c", program)) > 0.9
