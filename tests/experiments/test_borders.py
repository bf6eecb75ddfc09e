"""What was chosen at the border of a search is named, of older records by their grid."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiment_fakes import TINY
from report_fakes import record

from mklbench import cli
from mklbench.experiments.records import border_text

GRID = {"algo.C": [1, 10, 100], "kernel.gamma": [0.1, 1.0]}


def test_records_say_it_or_else_the_grid_does() -> None:
    older = [record(s, params={"algo.C": C, "kernel.gamma": 0.5}) for s, C in enumerate([1, 10])]
    assert border_text(older, GRID) == "C at the border in 1 of 2 splits"
    newer = [record(s, params={"algo.C": 1}, at_border=["kernel.gamma"]) for s in range(3)]
    assert border_text(newer, GRID) == "gamma at the border in 3 of 3 splits"
    assert border_text(newer, {"algo.C": "auto"}) == "gamma at the border in 3 of 3 splits"


def test_a_run_names_it_below_its_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = "search.grid.algo.C=[0.1,1]"
    searched = ["algo=svm", "search=cv", grid, "split.n_splits=1", f"results_dir={tmp_path}"]
    assert cli.main(["run", *TINY, *searched, "progress=none"]) == 0
    said = "C at the border in 1 of 1 splits: widen the grid."
    assert said in capsys.readouterr().out
