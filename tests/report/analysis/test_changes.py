"""What a protocol changes of a table's numbers, held against the first one on the same splits."""

from __future__ import annotations

from report_fakes import FakeFinder, found, plain, record

from mklbench.report.analysis.agreement import changes, unmatched
from mklbench.report.analysis.assemble import SlotRecords, assemble
from mklbench.report.layout.page import lay_out
from mklbench.report.table.paper_table import Column, PaperTable, Protocol, Row
from mklbench.report.table.verdict import Published


def errors(mean: float, n: int, n_later: int = 0, later: float = 0.0) -> SlotRecords:
    values = [mean + 0.1 * (split % 2) for split in range(n)] + [later] * n_later
    return found([record(s, accuracy=1 - e / 100) for s, e in enumerate(values)], len(values))


def test_numbers_are_gained_and_lost_on_the_splits_of_the_protocol() -> None:
    table = PaperTable(
        name="made",
        title="Made",
        citation="Nobody.",
        rows=(Row("a", "A"), Row("b", "B"), Row("c", "C")),
        columns=(
            Column("svm", "SVM", metrics=("error",)),
            Column("mkl", "MKL", metrics=("error",)),
        ),
        protocols=(
            Protocol("paper", "measured"),
            Protocol("other", "another", rows=("a", "b"), left_out={"b": ("mkl",)}),
        ),
        published={
            (row, column, "error"): Published(10.0, 1.0)
            for row in "abc"
            for column in ("svm", "mkl")
        },
    )
    places = {
        ("a", "svm", "paper"): errors(15.0, 10),
        ("a", "svm", "other"): errors(10.0, 5),
        # Its later splits take it away from the published number; the other has the first alone.
        ("a", "mkl", "paper"): errors(10.0, 5, n_later=20, later=20.0),
        ("a", "mkl", "other"): errors(15.0, 5),
        ("b", "svm", "paper"): errors(10.0, 10),
        ("b", "svm", "other"): errors(10.1, 5),
        ("b", "mkl", "paper"): errors(15.0, 10),
        ("c", "svm", "paper"): errors(10.0, 10),
        ("c", "mkl", "paper"): errors(10.0, 10),
    }
    report = assemble(table, FakeFinder(places))
    assert ("b", "mkl", "other") not in report.slots
    (one,) = changes(report)
    assert (one.gained, one.lost) == (["A, SVM"], ["A, MKL"])
    assert (one.n_matching(one.before), one.n_matching(one.after)) == (2, 2)
    assert (one.n_others, one.n_others_match) == (3, 2)
    left = {two.as_printed.slot.place: len(two.matching) for two in unmatched(report)}
    assert left == {("a", "svm", "paper"): 1, ("a", "mkl", "paper"): 0, ("b", "mkl", "paper"): 0}
    page = plain(lay_out(report))
    assert "## What each protocol changes" in page
    assert "another (10.0)" in page
