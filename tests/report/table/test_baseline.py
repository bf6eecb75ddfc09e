"""Numbers held against a baseline: the rule, the pairing of splits, and how it is shown."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import numpy as np
import pytest
from report_fakes import FakeFinder, comparison, csv_lines, found, plain, record

from mklbench.report.analysis.assemble import Report, SlotRecords, assemble
from mklbench.report.document import to_html
from mklbench.report.layout.page import lay_out
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.verdict import (
    Difference,
    Standing,
    Verdict,
    paired_difference,
    standing,
)

HARD_NEW = ("hard", "new", "once")


def with_errors(errors: Sequence[float], n_splits: int, **changes: object) -> SlotRecords:
    """A run of `n_splits` splits whose first ones have the test errors given, in per cent."""
    listed = [record(s, accuracy=1 - error / 100, **changes) for s, error in enumerate(errors)]
    return found(listed, n_splits)


def hard_row(n_new: int = 20, lower_by: float = 5.0) -> dict[tuple[str, str, str], SlotRecords]:
    """A row on which every split is hard or easy for both columns, and the new one is better."""
    generator = random.Random(0)
    plain = [generator.uniform(10.0, 30.0) for _ in range(100)]
    new = [error - lower_by - generator.uniform(-0.5, 0.5) for error in plain[:n_new]]
    return {("hard", "plain", "once"): with_errors(plain, 100), HARD_NEW: with_errors(new, 20)}


def report_of(runs: dict[tuple[str, str, str], SlotRecords]) -> Report:
    return assemble(comparison(), FakeFinder(runs))


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        (Difference(-3.0, 1.0), Standing.BETTER),
        (Difference(3.0, 1.0), Standing.WORSE),
        (Difference(-2.0, 1.0), None),  # no more than two standard errors
        (Difference(-0.9, 0.1), None),  # below the margin, however certain
        (Difference(25.2 - 24.2, 0.1), Standing.WORSE),  # 1.0 but for rounding: at the margin
        (None, None),
    ],
)
def test_standing_needs_two_standard_errors_and_the_margin(
    difference: Difference | None, expected: Standing | None
) -> None:
    assert standing(difference, 1.0, METRICS["error"]) is expected


def test_differences_are_paired_over_the_common_splits() -> None:
    first = {0: 3.0, 1: 9.0, 2: 5.0, 7: 100.0}
    second = {2: 4.5, 1: 8.0, 0: 1.0, 5: -100.0}
    difference = paired_difference(first, second)
    assert difference is not None
    expected = np.array([2.0, 1.0, 0.5])
    assert difference.value == pytest.approx(expected.mean())
    assert difference.standard_error == pytest.approx(expected.std(ddof=1) / np.sqrt(3))


def test_pairing_finds_what_the_spread_over_the_splits_would_hide() -> None:
    """1.5 points are less than two standard errors of independent means with these spreads."""
    report = report_of(hard_row(lower_by=1.5))
    assert report.standings == {(*HARD_NEW, "error"): Standing.BETTER}


@pytest.mark.parametrize("n_new", [0, 7])
def test_an_unfinished_run_has_no_standing(n_new: int) -> None:
    assert not report_of(hard_row(n_new=n_new)).standings


def test_standings_are_shown_in_every_format() -> None:
    worse = with_errors([40.0 + s % 2 for s in range(20)], 20)
    report = report_of({**hard_row(), ("easy", "new", "once"): worse})
    markdown, lines = plain(lay_out(report)), csv_lines(report, "row", "column", "metric")
    page = to_html(markdown)
    assert re.search(r"\| Hard +\| published +\| +20.0 ± 2.0 \| +\*\*15.0 ± 2.0\*\* \|", markdown)
    assert re.search(r"\*\*1\d\.\d ± \d\.\d \(20\) [✓≈▲▼]\*\* \|", markdown)
    assert "*40.5 ± 0.5 ▲*" in markdown
    assert "at least 1.0 percentage points of error" in markdown
    assert "<strong>15.0 ± 2.0</strong></td>" in page
    assert "<em>40.5 ± 0.5 ▲</em></td>" in page
    assert lines["hard", "new", "error"]["standing"] == "much better"
    assert lines["hard", "new", "error"]["published_standing"] == "much better"
    assert lines["easy", "new", "error"]["standing"] == "much worse"
    assert lines["easy", "new", "error"]["published_standing"] == ""
    assert lines["hard", "new", "n_kernels"]["standing"] == ""


def test_number_of_splits_stands_in_runs_with_fewer_than_the_paper() -> None:
    markdown = plain(lay_out(report_of(hard_row())))
    easy, hard = (re.search(rf"\| {row} .*\n(.*)\n", markdown) for row in ("Easy", "Hard"))
    assert easy
    assert hard
    assert "(20)" not in easy[1]  # the row's own 20 published splits
    assert hard[1].count("(20)") == 2
    assert "(100)" not in hard[1]
    assert "taken as one over 100 splits (20 on Easy)" in markdown


def test_verdicts_use_the_published_splits_of_the_row() -> None:
    """Two standard errors are 0.89 with 20 published splits and 0.40 with 100; 0.65 is between."""
    flat = {
        (row, "plain", "once"): with_errors([20.6 + 0.1 * (s % 2) for s in range(20)], 20)
        for row in ("easy", "hard")
    }
    numbers = report_of(flat).numbers
    assert numbers["easy", "plain", "once", "error"].verdict is Verdict.MATCH
    assert numbers["hard", "plain", "once", "error"].verdict is Verdict.CLOSE
