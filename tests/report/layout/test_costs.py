"""What methods cost beside what they gain: quotients of times, and hours."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from ranking_fakes import SETS, run, table
from report_fakes import found, plain

from mklbench.report.analysis.assemble import SlotRecords, assemble
from mklbench.report.layout.evidence import costs_of
from mklbench.report.layout.page import lay_out
from mklbench.report.table.paper_table import PaperTable, Ranking, Slot

RANKING = Ranking("accuracy", "once", ("plain",), ("good", "bad"), rope=1.0)
FACTORS = {"good": 8.0, "plain": 1.0, "same": 2.0, "bad": 0.5}


def timed(slot: Slot) -> SlotRecords:
    """Return records that take (set + 1) seconds a split times the factor of the method."""
    seconds = FACTORS[slot.column.name] * (SETS.index(slot.row.name) + 1)
    # Half is the search, a quarter the kernels and a quarter the fit.
    return found(
        [
            replace(
                one,
                search_seconds=seconds / 2,
                kernel_seconds=seconds / 4,
                fit_cpu_seconds=seconds / 4,
            )
            for one in run(slot).done
        ],
        n_splits=10,
    )


def ranked() -> PaperTable:
    return table(ranking=RANKING)


def test_the_whole_time_is_held_against_the_reference_set_by_set() -> None:
    made = assemble(ranked(), timed)
    costs = {cost.column.name: cost for cost in costs_of(made, RANKING, "plain")}
    assert list(costs) == ["bad", "plain", "same", "good"]  # cheapest first
    for name, cost in costs.items():
        assert cost.ratio == pytest.approx(FACTORS[name])
        assert cost.hours == pytest.approx(FACTORS[name] * 10 * sum(range(1, 7)) / 3600)
        assert cost.n_sets == 6
    assert costs["good"].gain == pytest.approx(10.0, abs=0.5)
    assert costs["plain"].gain == 0.0


def test_the_page_says_it_and_a_table_without_a_region_does_not() -> None:
    text = plain(lay_out(assemble(ranked(), timed)))
    assert re.search(r"^\| The good one +\| +6 \| +0\.47 \| +8 \| +\+\d+\.\d\d \|$", text, re.M)
    without = replace(ranked(), ranking=replace(RANKING, rope=None))
    assert "What it costs" not in plain(lay_out(assemble(without, timed)))


def test_times_of_another_cpu_make_no_quotient() -> None:
    def find(slot: Slot) -> SlotRecords:
        there = timed(slot)
        if slot.column.name != "good":
            return there
        moved = [
            replace(one, provenance={**(one.provenance or {}), "cpu": "Another"})
            for one in there.done
        ]
        return found(moved, n_splits=10)

    costs = costs_of(assemble(ranked(), find), RANKING, "plain")
    assert [cost.column.name for cost in costs] == ["bad", "plain", "same"]
