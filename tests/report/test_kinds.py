"""A new kind of figure is one module in its package, one of claim a class, and nothing else."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from report_fakes import FakeFinder, plain

from mklbench.errors import InputError
from mklbench.report import figures
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.claims import judge_claims
from mklbench.report.figures.draw import write_figure
from mklbench.report.layout.page import lay_out
from mklbench.report.loading import import_kinds, read_table
from mklbench.report.table.paper_table import Claim, Figure

PIE = """
from dataclasses import dataclass

from mklbench.report.table.paper_table import Figure


@dataclass(frozen=True, kw_only=True)
class Pie(Figure):
    kind: str = "pie"
    slices: int = 3

    def check(self, table, where):
        pass

    def needs(self, report):
        return ()

    def draw(self, report):
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas()
        canvas.subplots().pie([1] * self.slices)
        return canvas
"""

COUNT = """
from dataclasses import dataclass

from mklbench.report.table.paper_table import Claim


@dataclass(frozen=True, kw_only=True)
class Count(Claim):
    kind: str = "count"

    def measure(self, report):
        return "number of rows", {"all": len(report.table.rows)}
"""

TABLE = """\
title: A table
citation: Someone
rows: [{name: a, label: A, overrides: [data=twonorm, data.n_samples=40]}]
columns: [{name: b, label: B, overrides: [algo=svm]}]
protocols: [{name: c, label: C}]
figures: [{name: tart, kind: pie, title: Tart, slices: SLICES}]
claims: [{text: There is one row., kind: count, metric: accuracy, columns: [b], at_most: 1}]
"""


@pytest.fixture(autouse=True)
def _own_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import_kinds()
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "own_pie.py").write_text(PIE, encoding="utf-8")
    monkeypatch.setattr(figures, "__path__", [*figures.__path__, str(folder)])
    monkeypatch.setattr(Figure, "kinds", dict(Figure.kinds))
    monkeypatch.setattr(Claim, "kinds", dict(Claim.kinds))
    (tmp_path / "own_count.py").write_text(COUNT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_count", raising=False)
    importlib.import_module("own_count")
    import_kinds.cache_clear()
    yield
    import_kinds.cache_clear()
    sys.modules.pop(f"{figures.__name__}.own_pie", None)
    if hasattr(figures, "own_pie"):
        delattr(figures, "own_pie")


def report(tmp_path: Path, slices: str = "5") -> Report:
    path = tmp_path / "table.yaml"
    path.write_text(TABLE.replace("SLICES", slices), encoding="utf-8")
    return assemble(read_table(path), FakeFinder())


def test_they_are_found_drawn_and_judged(tmp_path: Path) -> None:
    made = report(tmp_path)
    write_figure(made, made.table.figures[0], [tmp_path / "tart.png"])
    assert (tmp_path / "tart.png").stat().st_size > 1000
    (judged,) = judge_claims(made)
    assert judged.measured == 1
    assert judged.holds
    assert "number of rows" in plain(lay_out(made))


def test_their_own_options_are_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"figures\[0\]: slices=0 must be a whole number, 1 or"):
        report(tmp_path, "0")
