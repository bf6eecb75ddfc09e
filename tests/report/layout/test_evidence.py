"""What is printed of Bayesian tests, groups of sets, intervals and power below a ranking."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from ranking_fakes import report, run, table
from report_fakes import found, plain, record

from mklbench.report.analysis.assemble import Report, SlotRecords, assemble
from mklbench.report.layout.evidence import outcome, pair_of
from mklbench.report.layout.page import lay_out
from mklbench.report.table.paper_table import Ranking, Slot

RANKING = table().ranking or Ranking("", "")


def with_groups(**groups: tuple[str, ...]) -> Report:
    return report(ranking=replace(RANKING, groups=groups))


def test_a_pair_has_the_gains_of_the_splits_in_percentage_points() -> None:
    made = with_groups()
    pair = pair_of(made, RANKING, made.table.rows, "good", "plain")
    assert len(pair.gains) == 6
    for row, gains in zip(made.table.rows, pair.gains, strict=True):
        good, plain = (
            [one.accuracy for one in made.slots[row.name, name, "once"][1].done]
            for name in ("good", "plain")
        )
        expected = [100 * (a - b) for a, b in zip(good, plain, strict=True) if a and b]
        np.testing.assert_allclose(gains, expected)
    assert outcome(pair, 1.0).better > 0.99
    assert outcome(pair, 50.0).alike > 0.99


def test_what_is_certain_is_bold_and_what_is_better_stands_last() -> None:
    text = plain(lay_out(with_groups()))
    line = next(
        line for line in text.splitlines() if line.startswith("| The good one") and "**" in line
    )
    assert re.search(r"\*\*0\.00 / 0\.00 / 1\.00\*\*", line)
    line = next(
        line for line in text.splitlines() if line.startswith("| The bad one") and "**" in line
    )
    assert re.search(r"\*\*1\.00 / 0\.00 / 0\.00\*\*", line)


def test_groups_of_sets_are_looked_at_apart() -> None:
    def find(slot: Slot) -> SlotRecords:
        there = run(slot)
        if slot.column.name != "good" or slot.row.name in "abc":
            return there
        plain = run(replace(slot, column=replace(slot.column, name="plain")))
        return found([record(i, accuracy=one.accuracy) for i, one in enumerate(plain.done)], 10)

    ranking = replace(RANKING, groups={"single sets": ("a", "b", "c"), "many": ("d", "e", "f")})
    made = assemble(table(ranking=ranking), find)
    text = plain(lay_out(made))
    first, second = re.findall(r"^\| The good one +\| +3 \| +([+-]\d+\.\d\d)", text, re.MULTILINE)
    assert float(first) > 5.0
    assert float(second) == 0.0
    assert "on single sets:" in text
    assert "on many:" in text


def test_too_few_sets_are_not_judged() -> None:
    text = plain(lay_out(with_groups(two=("a", "b"))))
    assert "Against The plain one, on two:" not in text
