"""What goes wrong in an algorithm of the user's own is told with its place, and recorded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from narrowing import present

from mklbench import cli
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store

CONFIG = """
name: own_mine
title: mine
defaults:
  - override /kernel@_global_.kernel: linear_features
_target_: own_mine.solve
C: 1.0
"""
MODULE = """
from mklbench.algorithms import svm
from mklbench.kernels import Bank

VERSION = 1


def helper(operator, y, C):
    {statement}


def solve(operator: Bank, y, C=1.0):
    return helper(operator, y, C)
"""
# A statement, and what is said of it.
MISTAKES = [
    (
        "return svm.solve(operator, y, C, weights=operator.gram(3))",
        "InputError: weights have shape (), but there are 30 kernels: pass a vector (30,) of one "
        "weight a kernel, such as numpy.eye(30)[m] for kernel m alone (own_mine.py, line 9, in "
        "helper)",
    ),
    ("return nothing", "NameError: name 'nothing' is not defined (own_mine.py, line 9, in"),
    (
        "return 3",
        "TypeError: own_mine.solve returned an object of type int: it "
        "must return a mklbench.solution.Solution",
    ),
    (
        "import dataclasses as d; return d.replace(svm.solve(operator, y, C), dual_coef=[1.0])",
        "and dual_coef of shape (1,) in place of (",
    ),
]


@pytest.mark.parametrize("search", ["fixed", "cv"])
@pytest.mark.parametrize(("statement", "said"), MISTAKES)
def test_a_mistake_is_told_with_its_place_and_recorded(
    statement: str,
    said: str,
    search: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.delitem(sys.modules, "own_mine", raising=False)
    (tmp_path / "algo").mkdir()
    Path("algo/own_mine.yaml").write_text(CONFIG)
    Path("own_mine.py").write_text(MODULE.format(statement=statement))
    run = ["algo=own_mine", "data=wdbc", "split.n_splits=1", f"search={search}"]
    run += ["search.grid.algo.C=[1,10]"] if search == "cv" else []
    assert cli.main(["run", *run, "results_dir=store", "--config-dir", "."]) == 1
    told = capsys.readouterr().err
    assert said in told
    record = present(Store("store").record(Run.from_overrides(run, config_dir="."), 0))
    assert said in present(record.error)
    assert record.status == "failed"
