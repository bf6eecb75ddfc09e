"""How the fits behind a table ended, as the table tells it."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from report_fakes import FakeFinder, ListedRecords, found, plain, record, table1

from mklbench.experiments.cell import Cell
from mklbench.report.analysis.assemble import SlotRecords, assemble
from mklbench.report.analysis.places import slot_records
from mklbench.report.formats import to_csv
from mklbench.report.layout.notes import Ending, ending_summary
from mklbench.report.layout.page import lay_out

SONAR_GMKL = ("sonar", "gmkl", "fixed")
PIMA_MKL = ("pima", "mkl", "cv")
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


def test_the_page_says_how_many_fits_ended_early_and_at_which_gap() -> None:
    markdown = markdown_of(
        gmkl=with_gaps(1e-3, stopped=0.42, n_stopped=3, tol=1e-3),
        mkl=with_gaps(1e-3, stopped=0.07, n_stopped=1, tol=1e-3),
    )
    assert (
        f"4 of {N_FITS:,} fits ended before their stopping rule was met, at gaps of up to 0.42."
        in markdown
    )


def test_a_gap_that_is_not_known_is_no_small_one() -> None:
    broken = with_gaps(1e-3, stopped=None, n_stopped=2, tol=1e-3)
    assert Ending.of(broken).stopped_gap is None
    said = f"2 of {N_FITS:,} fits ended before their stopping rule was met."
    assert said in markdown_of(gmkl=broken)


def test_a_gap_above_the_tolerance_shows_that_the_rule_was_another() -> None:
    assert (
        f"All {N_FITS:,} fits met their stopping rule. 1 of 5 methods stops by another rule than "
        "the duality gap; the largest gap of a fit that met it is 0.99."
    ) in markdown_of(gmkl=with_gaps(0.99, tol=1e-9, objective_tol=1e-4))


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


def test_the_csv_says_it_run_by_run() -> None:
    special = {SONAR_GMKL: with_gaps(1e-3, stopped=0.42, n_stopped=3, tol=1e-3)}
    report = assemble(table1(), FakeFinder(special))
    lines = {
        (line["row"], line["column"], line["protocol"]): line
        for line in csv.DictReader(io.StringIO(to_csv(report)))
    }
    line = lines[SONAR_GMKL]
    assert (line["n_stopped"], line["stopped_gap"], line["met_gap"]) == ("3", "0.42", "0.001")
    assert lines[PIMA_MKL]["n_stopped"] == "0"
