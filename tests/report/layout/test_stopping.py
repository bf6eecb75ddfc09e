"""How the fits behind a table ended, as the table tells it."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest
from report_fakes import FakeFinder, ListedRecords, found, plain, record, table1

from mklbench.experiments.cell import Cell
from mklbench.report.analysis.assemble import SlotRecords, assemble
from mklbench.report.analysis.places import slot_records
from mklbench.report.document import to_html
from mklbench.report.formats import to_csv
from mklbench.report.layout.notes import Ending, ending_summary
from mklbench.report.layout.page import lay_out

SONAR_GMKL = ("sonar", "gmkl", "fixed")
PIMA_MKL = ("pima", "mkl", "cv")
STOPPED = "## Fits that ended before their rule"
NO_GAP = "## Fits that stopped by another rule than the duality gap"
N_FITS = 20 * len(list(table1().slots()))


def with_gaps(
    met: float, stopped: float | None = None, n_stopped: int = 0, **tolerances: float
) -> SlotRecords:
    """Twenty fits, the last of which has the largest gap of those that met their rule."""
    early = [record(s, converged=False, gap=stopped) for s in range(n_stopped)]
    rest = [record(s, gap=met if s == 19 else met / 10) for s in range(n_stopped, 20)]
    return replace(found([*early, *rest]), tolerances=tolerances)


def markdown_of(**cells: SlotRecords) -> str:
    places = {"gmkl": SONAR_GMKL, "mkl": PIMA_MKL}
    finder = FakeFinder({places[name]: cell for name, cell in cells.items()})
    return plain(lay_out(assemble(table1(), finder)))


def block(markdown: str, heading: str) -> str:
    return markdown.partition(heading)[2].partition("\n## ")[0]


def test_fits_that_ended_early_stand_by_cell_with_their_largest_gap() -> None:
    markdown = markdown_of(
        gmkl=with_gaps(1e-3, stopped=0.42, n_stopped=3, tol=1e-3),
        mkl=with_gaps(1e-3, stopped=0.07, n_stopped=1, tol=1e-3),
    )
    listed = block(markdown, STOPPED)
    assert re.search(r"\| Sonar +\| GMKL +\| as printed, C = 1 +\| +3/20 \| +0.42 \|", listed)
    assert re.search(r"\| Pima +\| MKL +\| as printed, C by CV +\| +1/20 \| +0.07 \|", listed)
    assert listed.count("/20") == 2  # cells whose fits all met their rule are not listed
    assert (
        f"4 of {N_FITS:,} fits ended before their stopping rule was met, at gaps of up to 0.42."
        in markdown
    )
    assert NO_GAP not in markdown


def test_a_gap_that_is_not_known_is_no_small_one() -> None:
    broken = with_gaps(1e-3, stopped=None, n_stopped=2, tol=1e-3)
    assert Ending.of(broken).stopped_gap is None
    markdown = markdown_of(gmkl=broken)
    assert re.search(r"\| GMKL +\| as printed, C = 1 +\| +2/20 \| +– \|", block(markdown, STOPPED))
    assert f"2 of {N_FITS:,} fits ended before their stopping rule was met." in markdown


def test_a_gap_above_the_tolerance_shows_that_the_rule_was_another() -> None:
    markdown = markdown_of(gmkl=with_gaps(0.99, tol=1e-9, objective_tol=1e-4))
    shown = block(markdown, NO_GAP)
    assert (
        "- **GMKL**: 0.99 (Sonar, as printed, C = 1); tol = 0.001 or 1e-09, objective_tol = 0.0001."
        in shown
    )
    assert (
        f"All {N_FITS:,} fits met their stopping rule. 1 of 5 methods stops by another rule than "
        "the duality gap; the largest gap of a fit that met it is 0.99."
    ) in markdown
    assert STOPPED not in markdown


@pytest.mark.parametrize(
    ("gap", "tolerances", "another"),
    [
        (1.0e-3, {"tol": 1e-3}, False),
        (1.1e-3, {"tol": 1e-3}, True),
        (1.1e-3, {"tol": 1e-2, "svm_tol": 1e-3}, False),  # that of the method, not of LIBSVM
        (1.1e-3, {"svm_tol": 1e-3}, True),
        (0.9e-3, {"svm_tol": 1e-3}, False),
        (1e-12, {}, False),  # in closed form
        (1e-3, {}, True),
    ],
)
def test_which_rule_it_was(gap: float, tolerances: dict[str, float], another: bool) -> None:
    assert Ending.of(with_gaps(gap, None, 0, **tolerances)).by_another_rule is another


def test_splits_without_a_result_count_as_no_fits() -> None:
    failed = [record(s, status="failed", converged=None, gap=None) for s in range(5)]
    ending = Ending.of(found([*failed, *(record(s, gap=0.1) for s in range(5, 20))]))
    assert (ending.n_fits, ending.n_stopped, ending.met_gap) == (15, 0, 0.1)
    report = assemble(table1(), lambda slot: found([]))
    assert ending_summary(report) == ""


def test_the_tolerances_are_those_of_the_cell() -> None:
    cell = Cell.from_overrides(["algo=vskl", "data=wdbc", "algo.tol=1e-9", "algo.max_iter=7"])
    tolerances = slot_records(cell, ListedRecords([])).tolerances
    assert tolerances == {"tol": 1e-9, "svm_tol": 1e-3}  # objective_tol is null


def test_csv_and_page_say_the_same() -> None:
    special = {SONAR_GMKL: with_gaps(1e-3, stopped=0.42, n_stopped=3, tol=1e-3)}
    report = assemble(table1(), FakeFinder(special))
    lines = {
        (line["row"], line["column"], line["protocol"]): line
        for line in csv.DictReader(io.StringIO(to_csv(report)))
    }
    line = lines[SONAR_GMKL]
    assert (line["n_stopped"], line["stopped_gap"], line["met_gap"]) == ("3", "0.42", "0.001")
    assert lines[PIMA_MKL]["n_stopped"] == "0"
    page = to_html(plain(lay_out(report)))
    assert "<td>3/20</td>\n<td>0.42</td>" in page
