"""Ranks of methods over data sets, comparisons, and the tests of significance behind them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from ranking_fakes import LEVELS, SETS, report, run, table
from report_fakes import found, plain
from scipy import stats

from mklbench.report.analysis.assemble import SlotRecords, assemble
from mklbench.report.analysis.significance import (
    corrected_p_value,
    critical_difference,
    holm,
    signed_rank_p_value,
)
from mklbench.report.layout.page import lay_out
from mklbench.report.layout.ranking import rank_methods, tally
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import (
    Slot,
)


def test_the_corrected_t_test_widens_the_error_by_the_test_share() -> None:
    differences = np.array([0.3, -0.1, 0.4, 0.2, 0.25])
    first = dict(enumerate(1 + differences))
    second = dict.fromkeys(range(5), 1.0)
    plain = stats.ttest_1samp(differences, 0.0)
    assert corrected_p_value(first, second, 0.0) == pytest.approx(plain.pvalue)
    t = plain.statistic * math.sqrt((1 / 5) / (1 / 5 + 3 / 7))
    assert corrected_p_value(first, second, 3 / 7) == pytest.approx(2 * stats.t.sf(t, 4))
    assert corrected_p_value(second, first, 3 / 7) == corrected_p_value(first, second, 3 / 7)


def test_no_difference_and_too_few_splits_are_no_evidence() -> None:
    same = {0: 1.0, 1: 2.0}
    assert corrected_p_value(same, same, 0.5) == 1.0
    assert corrected_p_value({0: 1.0}, {0: 5.0}, 0.5) == 1.0
    assert corrected_p_value({0: 1.0, 1: 2.0}, {2: 1.0}, 0.5) == 1.0
    assert signed_rank_p_value([1, 2, 3], [1, 2, 3]) == 1.0


def test_holm_is_the_smallest_level_at_which_the_procedure_rejects() -> None:
    p_values = np.array([0.01, 0.04, 0.03, 0.005, 0.6])
    corrected = holm(p_values.tolist())
    for level in np.linspace(0.001, 1.0, 400):
        rejected, order = set(), np.argsort(p_values)
        for step, i in enumerate(order):
            if p_values[i] > level / (len(p_values) - step):
                break
            rejected.add(int(i))
        assert rejected == {i for i in range(5) if corrected[i] <= level + 1e-12}


def test_the_critical_difference_of_demsar() -> None:
    # Section 3.2.2 of the paper: four methods on fourteen sets.
    assert critical_difference(4, 14) == pytest.approx(
        2.569 * math.sqrt(4 * 5 / (6 * 14)), rel=1e-3
    )
    assert critical_difference(4, 14, level=0.10) == pytest.approx(1.12, abs=0.01)


def test_ranks_begin_with_the_best_and_ties_share() -> None:
    made = report()
    ranks = rank_methods(made, made.table.ranking)
    assert ranks is not None
    by_name = dict(zip(LEVELS, ranks.mean_ranks, strict=True))
    assert by_name["good"] == 1.0
    assert by_name["bad"] == 4.0
    assert by_name["plain"] + by_name["same"] == pytest.approx(5.0)
    assert ranks.p_value == pytest.approx(stats.friedmanchisquare(*ranks.means.T).pvalue)


def test_a_row_that_is_not_complete_counts_in_no_rank() -> None:
    def find(slot: Slot) -> SlotRecords:
        there = run(slot)
        absent = slot.row.name == "a" and slot.column.name == "bad"
        return found([], n_splits=10) if absent else there

    made = assemble(table(), find)
    ranks = rank_methods(made, made.table.ranking)
    assert ranks is not None
    assert [row.name for row in ranks.rows] == list(SETS[1:])
    text = plain(lay_out(made))
    assert "(not on A)" in text
    few = assemble(table(rows=table().rows[:2]), find)
    assert rank_methods(few, few.table.ranking) is None
    assert "Ranks" not in plain(lay_out(few))


def test_a_method_is_better_only_where_the_splits_say_so() -> None:
    made = report()
    for metric in ("accuracy", "error"):  # the same, seen from the other side
        counts = tally(made, "good", "plain", "once", METRICS[metric])
        assert (len(counts.better), len(counts.alike), len(counts.worse)) == (6, 0, 0)
        counts = tally(made, "bad", "plain", "once", METRICS[metric])
        assert (len(counts.better), len(counts.alike), len(counts.worse)) == (0, 0, 6)
    counts = tally(made, "same", "plain", "once", METRICS["accuracy"])
    assert len(counts.alike) == 6
    assert tally(made, "good", "plain", "never", METRICS["accuracy"]).text == "–"
