"""Runs on regression sets: what they record, how they are shown, and what they refuse."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from narrowing import present

from mklbench import kernels
from mklbench.algorithms import krr
from mklbench.data.splits import random_split
from mklbench.errors import InputError
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.progress import outcome
from mklbench.experiments.records import RunRecords
from mklbench.experiments.rows import csv_text, summary
from mklbench.experiments.run import Run
from mklbench.experiments.run_checks import check_run
from mklbench.experiments.store import Store

ARM = ("data=arm", "data.n_samples=80", "split.scaling=none", "split.n_splits=2", "algo=krr")


def ran(tmp_path: Path, *overrides: str) -> RunRecords:
    (result,) = run_all([Run.from_overrides([*ARM, *overrides])], Store(tmp_path))
    assert result.status == "done", result.error
    return result


def test_the_recorded_rmse_is_that_of_the_plain_way(tmp_path: Path) -> None:
    result = ran(tmp_path, "kernel=gaussian", "kernel.gamma=0.2", "algo.lam=0.01")
    data = result.run.dataset()
    targets = present(data.targets)
    for split, record in enumerate(result.records):
        train, test = random_split(data.y, data.digest, split, result.run.config.split)
        bank = kernels.gaussian(data.X[train], 0.2)
        solution = krr.solve(bank, targets[train], 0.01)
        errors = bank.cross([1.0], data.X[test]) @ solution.dual_coef - targets[test]
        assert record.rmse == pytest.approx(np.sqrt(np.mean(errors**2)))
        assert record.accuracy is None
        assert record.svm_calls == 0


def test_a_regression_is_shown_by_its_rmse(tmp_path: Path) -> None:
    result = ran(tmp_path)
    heading, _, line = summary([result]).splitlines()
    assert "rmse" in heading
    assert "accuracy" not in heading
    mean = np.mean([record.rmse for record in result.records])
    assert f"{mean:.4f} ±" in line
    assert f"rmse {mean:.4g}" in outcome(result.records)
    rows = list(csv.DictReader(io.StringIO(csv_text([result]))))
    assert [row["accuracy"] + row["error"] for row in rows] == ["", ""]
    assert float(rows[0]["rmse"]) == result.records[0].rmse


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["algo=svm"], "algo=svm needs classes, and data=arm has real numbers to predict"),
        (["split.stratified=true"], "split.stratified=true and search.score=accuracy need classes"),
        (["search=ridge", "search.score=accuracy"], "search.score=accuracy need classes"),
        (["search=ridge", "search.folds=70"], "search.folds=70 is more than"),
    ],
)
def test_what_a_regression_cannot_be_asked(overrides: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_run(Run.from_overrides([*ARM, *overrides]))


def test_the_number_of_features_changes_the_key() -> None:
    keys = {
        Run.from_overrides([*ARM, *more]).key
        for more in ([], ["+data.n_features=5"], ["+data.n_features=6"])
    }
    assert len(keys) == 3
