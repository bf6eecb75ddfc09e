"""How the fits behind a table ended, as the table tells it."""

from __future__ import annotations

from report_fakes import FakeFinder, found, plain, record, table1

from mklbench.report.analysis.assemble import SlotRecords, assemble
from mklbench.report.layout.entries import Ending
from mklbench.report.layout.page import lay_out

SONAR_GMKL = ("sonar", "gmkl", "fixed")
PIMA_MKL = ("pima", "mkl", "cv")
N_FITS = 20 * len(list(table1().slots()))


def with_gaps(met: float, stopped: float | None = None, n_stopped: int = 0) -> SlotRecords:
    """Twenty fits, the last of which has the largest gap of those that met their rule."""
    early = [record(s, converged=False, gap=stopped) for s in range(n_stopped)]
    rest = [record(s, gap=met if s == 19 else met / 10) for s in range(n_stopped, 20)]
    return found([*early, *rest])


def markdown_of(**runs: SlotRecords) -> str:
    places = {"gmkl": SONAR_GMKL, "mkl": PIMA_MKL}
    finder = FakeFinder({places[name]: run for name, run in runs.items()})
    return plain(lay_out(assemble(table1(), finder)))


def test_the_page_says_how_many_fits_ended_early_and_at_which_gap() -> None:
    markdown = markdown_of(
        gmkl=with_gaps(1e-3, stopped=0.42, n_stopped=3),
        mkl=with_gaps(1e-3, stopped=0.07, n_stopped=1),
    )
    assert (
        f"4 of {N_FITS:,} fits ended before their stopping rule was met, at gaps of up to 0.42;"
        in markdown
    )


def test_a_gap_that_is_not_known_is_no_small_one() -> None:
    broken = with_gaps(1e-3, stopped=None, n_stopped=2)
    assert Ending.of([broken]).stopped_gap is None
    said = f"2 of {N_FITS:,} fits ended before their stopping rule was met; the others met it"
    assert said in markdown_of(gmkl=broken)
