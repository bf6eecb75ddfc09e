"""From records to Markdown, HTML, CSV and figures."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report_fakes import FakeFinder, csv_lines, found, plain, record, records, table1

from mklbench.errors import InputError
from mklbench.report.analysis.assemble import SlotRecords, assemble
from mklbench.report.document import to_html
from mklbench.report.figures.draw import write_figure
from mklbench.report.figures.weights import normalised_weights
from mklbench.report.formats import to_csv
from mklbench.report.layout.page import lay_out
from mklbench.report.loading import load_table
from mklbench.report.table.verdict import Verdict

SONAR_GMKL = ("sonar", "gmkl", "fixed")


PLACE = ("row", "column", "protocol", "metric")


def test_measured_numbers_are_summarised_in_the_printed_unit() -> None:
    report = assemble(table1(), FakeFinder())
    number = report.numbers["sonar", "svm", "fixed", "accuracy"]
    assert number.measured is not None
    assert number.measured.mean == pytest.approx(82.0)
    assert number.difference == pytest.approx(82.0 - 81.3)
    assert number.verdict is Verdict.MATCH


def test_a_row_that_is_not_at_hand_has_the_numbers_of_the_paper_alone() -> None:
    table = table1()
    absent = replace(table.rows[0], at_hand=False)
    table = replace(table, rows=(absent, *table.rows[1:]))
    report = assemble(table, FakeFinder())
    assert absent.name not in {place[0] for place in report.numbers}
    lines = plain(lay_out(report)).splitlines()
    number = next(i for i, line in enumerate(lines) if line.startswith(f"| {absent.label} "))
    assert "published" in lines[number]
    assert set(lines[number + 1].replace("data not at hand", "")) <= {"|", " ", "–"}
    assert table.rows[1].label in lines[number + 2]


def test_times_are_compared_by_ratio_only() -> None:
    slow = found(records(fit_seconds=0.06))
    report = assemble(table1(), FakeFinder({("sonar", "mkl", "fixed"): slow}))
    number = report.numbers["sonar", "mkl", "fixed", "time"]
    assert number.verdict is Verdict.RATIO_ONLY
    assert number.difference is None
    assert number.ratio == pytest.approx(0.06 / 6.2)


@pytest.mark.parametrize(
    ("run", "status"),
    [
        (found(records(7)), "incomplete"),
        (
            found([*records(19), record(19, status="failed", error="it broke")]),
            "failed",
        ),
        (found([*records(19), record(19, status="timeout")]), "timeout"),
    ],
)
def test_unfinished_runs_are_shown_and_never_judged(run: SlotRecords, status: str) -> None:
    complete = assemble(table1(), FakeFinder())
    report = assemble(table1(), FakeFinder({SONAR_GMKL: run}))
    number = report.numbers[(*SONAR_GMKL, "accuracy")]
    assert number.status == status
    assert number.verdict is None
    assert number.difference is None
    assert report.verdict_counts[None] == complete.verdict_counts[None] + 3
    line = csv_lines(report, *PLACE)[(*SONAR_GMKL, "accuracy")]
    assert (line["status"], line["verdict"], line["difference"]) == (status, "", "")
    markdown = plain(lay_out(report))
    n_runs = len(list(table1().slots()))
    assert f"{n_runs - 1} of {n_runs} runs are done" in markdown
    not_done = markdown.partition("## Not done")[2].partition("## ")[0]
    assert f"- **Sonar, GMKL, as printed, C = 1**: {status}, " in not_done


def test_markdown_holds_the_paper_s_lines_ledger_and_counts() -> None:
    table = table1()
    markdown = plain(lay_out(assemble(table, FakeFinder())))
    assert re.search(r"\| Sonar +\| published +\| +77.9 ± 5.5 \| +\*\*86.6 ± 3.4\*\* ", markdown)
    assert "mklbench reproduce picard2012_table1" in markdown
    assert "Test CPU" in markdown
    assert "2024-05-06" in markdown
    for entry in table.ledger:
        assert entry.point in markdown


def test_searched_runs_list_what_was_chosen() -> None:
    chosen = [{"algo.C": 1.0 if s < 5 else 10, "kernel.gamma": 1 / 9} for s in range(20)]
    searched = found([record(s, params=params) for s, params in enumerate(chosen)])
    searched = replace(searched, border="C at the border in 15 of 20 splits")
    report = assemble(table1(), FakeFinder({("sonar", "svm", "cv"): searched}))
    markdown = plain(lay_out(report))
    listed = markdown.partition("## Chosen on the training parts")[2].partition("## ")[0]
    assert "C = 1, gamma = 0.111 (5); C = 10, gamma = 0.111 (15)" in listed
    assert "; C at the border in 15 of 20 splits\n" in listed
    assert listed.count("Sonar") == 1  # runs that did not search are not listed


def test_csv_has_every_number_once() -> None:
    report = assemble(table1(), FakeFinder())
    text = to_csv(report)
    assert len(text.splitlines()) == 1 + len(report.numbers)
    line = csv_lines(report, *PLACE)["sonar", "mkl", "fixed", "accuracy"]
    assert float(line["published_mean"]) == 77.9
    assert float(line["measured_mean"]) - 77.9 == pytest.approx(float(line["difference"]))


def test_html_is_one_escaped_self_contained_page(tmp_path: Path) -> None:
    run = found([record(0, status="failed", error="<script>alert(1)</script>")])
    report = assemble(table1(), FakeFinder({SONAR_GMKL: run}))
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG")
    page = to_html(plain(lay_out(report, {"picard2012_figure1": picture})))
    assert page.startswith("<!DOCTYPE html>")
    assert "<script>" not in page
    assert "data:image/png;base64," in page
    assert not re.search(r'(src|href)="(?!data:|https://hal\.science)', page)


def test_pictures_are_linked_relative_to_the_markdown_file(tmp_path: Path) -> None:
    figures = {"picard2012_figure1": tmp_path / "figures" / "one.png"}
    document = lay_out(assemble(table1(), FakeFinder()), figures, tmp_path / "tables")
    assert "](../figures/one.png)" in plain(document)


def test_weights_are_normalised_and_void_splits_left_out() -> None:
    run = found([record(0, weights=[1.0, 3.0]), record(1, weights=[0.0, 0.0])], n_splits=2)
    np.testing.assert_allclose(normalised_weights(run), [[0.25, 0.75]])


@pytest.mark.parametrize("name", ["picard2012_table1", "picard2012_path"])
def test_figures_are_drawn_and_equal_records_give_equal_files(tmp_path: Path, name: str) -> None:
    report = assemble(load_table(name), FakeFinder())
    figure = report.table.figures[0]
    first, second, vector = (tmp_path / n for n in ("a.png", "b.png", "c.pdf"))
    write_figure(report, figure, [first, vector])
    write_figure(report, figure, [second])
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes().startswith(b"\x89PNG")
    assert vector.read_bytes().startswith(b"%PDF")


def test_figure_of_an_unfinished_run_is_refused(tmp_path: Path) -> None:
    run = found(records(3))
    report = assemble(table1(), FakeFinder({("sonar", "qnpkl", "fixed"): run}))
    with pytest.raises(InputError, match="Sonar, QN-PKL, as printed, C = 1 is not done"):
        write_figure(report, report.table.figures[0], [tmp_path / "a.png"])
