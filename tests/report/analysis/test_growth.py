"""Metrics along a sweep and the claims on them: exponents, ratios, the figure, the document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from report_fakes import FakeFinder, found, plain, record, records

from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.analysis.growth import Curve, curve
from mklbench.report.claims import Judged, judge_claims, rise_above_a_chord
from mklbench.report.figures.draw import write_figure
from mklbench.report.figures.sweep import GrowthCurves
from mklbench.report.layout.page import lay_out
from mklbench.report.table.paper_table import Claim, Column, PaperTable, Row, Sweep
from mklbench.report.table.verdict import Sample

SWEEP = Sweep("kernel.n_widths", "widths", (2, 10), axis="n_base_kernels")
METRICS = ("svm_calls", "cpu_time")


def claim(kind: str, metric: str, *columns: str, at_most: float | None = None) -> Claim:
    bound: dict[str, Any] = {"at_least": 2.0} if at_most is None else {"at_most": at_most}
    return Claim(text="So it is said.", kind=kind, metric=metric, columns=columns, **bound)


def table(*claims: Claim) -> PaperTable:
    return PaperTable(
        name="growing",
        title="Growing",
        citation="Nobody, nowhere.",
        rows=(Row("few", "Few", ()), Row("many", "Many", ())),
        columns=(
            Column("slow", "Slow", (), METRICS),
            Column("fast", "Fast", (), METRICS),
        ),
        protocols=SWEEP.protocols(),
        claims=claims,
        figures=(
            GrowthCurves(name="calls", title="Calls", metric="svm_calls", columns=("slow", "fast")),
        ),
        sweep=SWEEP,
    )  # fmt: skip


def measured(*claims: Claim, without: tuple[str, str, str] | None = None) -> Report:
    """Slow's calls grow with the kernels on "many" and with their root on "few", fast's never."""
    special = {}
    for row, n_features, power in (("few", 10, 0.5), ("many", 100, 1.0)):
        for n_widths in SWEEP.values:
            n_kernels = int(n_widths) * n_features
            slow = records(
                n_base_kernels=n_kernels, svm_calls=3 * n_kernels**power, fit_cpu_seconds=6.0
            )
            fast = records(n_base_kernels=n_kernels, svm_calls=7, fit_cpu_seconds=20 / n_kernels)
            special[row, "slow", f"widths={n_widths}"] = found(slow)
            special[row, "fast", f"widths={n_widths}"] = found(fast)
    if without is not None:
        special[without] = found([])
    return assemble(table(*claims), FakeFinder(special))


def judged(one: Claim, **options: tuple[str, str, str]) -> Judged:
    (only,) = judge_claims(measured(one, **options))
    return only


class TestGrowth:
    def test_a_curve_is_against_the_axis_of_the_sweep(self) -> None:
        line = curve(measured(), Row("many", "Many", ()), "slow", "svm_calls")
        assert line.sizes == (200.0, 1000.0)
        assert [sample.mean for sample in line.samples] == pytest.approx([600.0, 3000.0])
        assert line.exponent == pytest.approx(1.0)

    def test_runs_that_are_not_done_are_left_out(self) -> None:
        report = measured(without=("few", "slow", "widths=2"))
        line = curve(report, Row("few", "Few", ()), "slow", "svm_calls")
        assert line.sizes == (100.0,)
        assert line.exponent is None


class TestClaims:
    @pytest.mark.parametrize(("bound", "holds"), [(0.9, False), (1.1, True)])
    def test_growth_is_that_of_the_worst_row(self, bound: float, holds: bool) -> None:
        one = judged(claim("growth", "svm_calls", "slow", at_most=bound))
        assert one.measured == pytest.approx(1.0)
        assert one.holds is holds
        assert one.details == "0.5 (Few) to 1 (Many), 2 in all"

    def test_ratio_is_the_largest_there_is(self) -> None:
        one = judged(claim("ratio", "cpu_time", "slow", "fast"))
        assert one.measured == pytest.approx(6.0 * 1000 / 20)
        assert one.holds is True
        assert one.details == "6 (Few, widths = 2) to 3e+02 (Many, widths = 10), 4 in all"

    def test_largest_is_of_any_split(self) -> None:
        special = found([*records(19, svm_calls=1), record(19, svm_calls=40)])
        base = table(claim("largest", "svm_calls", "fast", at_most=39))
        other = found([record(0, svm_calls=5), *records()[1:]])
        places = {("few", "fast", "widths=2"): special, ("many", "fast", "widths=2"): other}
        report = assemble(base, FakeFinder(places))
        (one,) = judge_claims(report)
        assert one.measured == 40
        assert one.holds is False

    def test_a_median_difference_is_that_of_all_rows(self) -> None:
        one = judged(claim("median_difference", "svm_calls", "slow", "fast", at_most=300))
        assert one.measured == pytest.approx((3 * 100**0.5 + 600) / 2 - 7)
        assert one.holds is False

    @pytest.mark.parametrize(
        "kind",
        ["growth", "ratio", "median_ratio", "largest", "median_difference", "mean_difference"],
    )
    def test_without_records_nothing_is_judged(self, kind: str) -> None:
        columns = ("slow",) if kind in ("growth", "largest") else ("slow", "fast")
        base = table(claim(kind, "svm_calls", *columns))
        (one,) = judge_claims(assemble(base, lambda slot: found([])))
        assert one.measured is None
        assert one.holds is None

    def test_they_stand_in_the_document_with_their_verdict(self) -> None:
        report = measured(
            claim("ratio", "cpu_time", "slow", "fast"),
            claim("growth", "svm_calls", "slow", at_most=0.5),
        )
        text = plain(lay_out(report))
        lines = [line for line in text.splitlines() if line.startswith("- **So it is said.**")]
        assert [line.rpartition("; ")[2] for line in lines] == ["holds.", "does not hold."]


class TestDocumentAndFigure:
    def test_methods_stand_beside_each_other_for_every_size(self) -> None:
        lines = plain(lay_out(measured())).splitlines()
        row = next(line for line in lines if "widths = 10" in line and " 3000 " in line)
        assert [entry.strip() for entry in row.split("|")[3:-1]] == ["3000 ± 0", "7 ± 0"]

    def test_the_figure_leaves_out_what_is_not_done(self, tmp_path: Path) -> None:
        whole, less = tmp_path / "whole.png", tmp_path / "less.png"
        complete, partial = measured(), measured(without=("few", "slow", "widths=2"))
        write_figure(complete, complete.table.figures[0], [whole])
        write_figure(partial, partial.table.figures[0], [less])
        assert whole.read_bytes() != less.read_bytes()


@pytest.mark.parametrize(
    ("values", "expected"),
    [((4.0, 1.0, 2.0), -0.7), ((4.0, 3.0, 1.0), 0.0), ((1.0, 4.0, 3.0), 1.4)],
)
def test_the_rise_above_a_chord(values: tuple[float, ...], expected: float) -> None:
    """At 1, 2 and 4, where the chord is two thirds of the left value and one of the right."""
    line = Curve((1.0, 2.0, 4.0), tuple(Sample(value, None, 1) for value in values), ())
    assert rise_above_a_chord(line) == pytest.approx(expected)
