"""``mklbench report`` as a user types it, with a store of their own."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import report_pages
from experiment_fakes import TINY
from report_fakes import TINY_TABLE

from mklbench import cli
from mklbench.experiments.store import Store, copy_records
from mklbench.report.analysis.places import CellFinder, recorded_source
from mklbench.report.loading import load_table
from mklbench.report.site.collected import collect

# What building may take beside reading all records once, both in seconds of the processor, which a
# busy machine stretches alike: 3 where it was measured, 12 seconds of a quiet one.
MOST = 8.0


def test_it_lays_a_store_of_ones_own_beside_all_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own" / "table").mkdir(parents=True)
    (tmp_path / "own" / "table" / "tiny.yaml").write_text(TINY_TABLE, encoding="utf-8")
    table = load_table("picard2012_speed")
    finder = CellFinder(recorded_source(table))
    copy_records([finder.cell(next(table.slots()))], finder.source, Store("store"))
    assert cli.main(["run", *TINY, "algo=svm", "results_dir=store", "progress=none"]) == 0
    capsys.readouterr()

    before = time.process_time()
    collect(Store("store"), "own")
    reading = time.process_time() - before
    before = time.process_time()
    arguments = ["--out", "mine.html", "--results-dir", "store", "--config-dir", "own"]
    assert cli.main(["report", *arguments]) == 0
    assert time.process_time() - before < MOST * reading
    assert capsys.readouterr().out == "Wrote mine.html\n"

    html = Path("mine.html").read_text(encoding="utf-8")
    assert len(html.encode()) < 5_000_000
    states = re.findall(r'<tr data-state="(\w+)">', html)
    assert states.count("same") >= 2
    assert "moved" not in states
    assert '<article class="table" id="tiny"' in html
    assert "mklbench run split.n_splits=2 algo=svm search=fixed" in html  # what is missing of it
    data = report_pages.data_of(html)
    (loose,) = (shown for shown in data["tables"] if not shown["name"])
    assert [data["cells"][place[3]]["own"] for place in loose["places"]] == [True]
