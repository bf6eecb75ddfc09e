"""The figure of NKRR's objective over two kernels, computed from the data of a row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from report_fakes import FakeFinder

from mklbench.errors import DataError
from mklbench.experiments.run import Run
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.figures import computed as surface
from mklbench.report.figures.draw import write_figure
from mklbench.report.loading import read_table
from mklbench.report.results import write_figures

TABLE = """\
title: A table
citation: Nobody, nowhere.
common: [algo=krr]
rows:
  - {name: easy, label: Easy, overrides: [data=twonorm, data.n_samples=40]}
columns: [{name: one, label: One, overrides: []}]
protocols: [{name: once, label: once, overrides: []}]
figures: [{name: bowl, kind: surface, title: F, row: ROW}]
"""


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.setattr(surface, "N_GRID", 3)
    path = tmp_path / "table.yaml"
    path.write_text(TABLE.replace("ROW", "easy"))
    return assemble(read_table(path), FakeFinder())


def test_shows_the_objective_on_features_from_0_to_1(report: Report) -> None:
    data = Run.from_overrides(["data=twonorm", "data.n_samples=40"]).dataset()
    X = data.X[:, :2]
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    y = np.where(data.y == 1, 1.0, -1.0)
    canvas = report.table.figures[0].draw(report)
    for panel, lam in zip(canvas.axes, (1.0, 10.0, 100.0), strict=True):
        at_ends = [
            y @ np.linalg.solve((mu * X @ X.T) ** 2 + lam * np.eye(40), y) for mu in (0.0, 1.0)
        ]
        assert_allclose(panel.zz_dataLim.intervalx, at_ends[::-1])


def test_is_left_out_where_the_data_are_not_at_hand(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(run: Run) -> None:
        raise DataError("not at hand")

    monkeypatch.setattr(Run, "dataset", absent)
    assert write_figures(report, tmp_path) == {}
    with pytest.raises(DataError):
        write_figure(report, report.table.figures[0], [tmp_path / "bowl.png"])
