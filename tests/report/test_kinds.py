"""A new kind of figure is one module in its package, and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from report_fakes import FakeFinder

from mklbench.errors import InputError
from mklbench.report import figures
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.figures.draw import write_figure
from mklbench.report.loading import import_kinds, read_table
from mklbench.report.table.paper_table import Figure

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

TABLE = """\
title: A table
citation: Someone
rows: [{name: a, label: A, overrides: [data=twonorm, data.n_samples=40]}]
columns: [{name: b, label: B, overrides: [algo=svm]}]
protocols: [{name: c, label: C}]
figures: [{name: tart, kind: pie, title: Tart, slices: SLICES}]
"""


@pytest.fixture(autouse=True)
def _own_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import_kinds()
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "own_pie.py").write_text(PIE, encoding="utf-8")
    monkeypatch.setattr(figures, "__path__", [*figures.__path__, str(folder)])
    monkeypatch.setattr(Figure, "kinds", dict(Figure.kinds))
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


def test_it_is_found_and_drawn(tmp_path: Path) -> None:
    made = report(tmp_path)
    write_figure(made, made.table.figures[0], [tmp_path / "tart.png"])
    assert (tmp_path / "tart.png").stat().st_size > 1000


def test_its_own_options_are_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"figures\[0\]: slices=0 must be a whole number of"):
        report(tmp_path, "0")
