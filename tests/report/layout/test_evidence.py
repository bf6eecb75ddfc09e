"""What is printed of Bayesian tests, groups of sets, intervals and power below a ranking."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from ranking_fakes import report, run, table
from report_fakes import found, plain, record

from mklbench.report.analysis.assemble import Report, SlotRecords, assemble
from mklbench.report.analysis.significance import upper_end
from mklbench.report.layout.evidence import Pair, discoveries, outcome, pair_of, verdict
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


def gains(*means: float, spread: float = 0.3) -> Pair:
    """Ten splits a set, around a mean gain."""
    noise = np.random.default_rng(0).normal(0, spread, (len(means), 10))
    noise -= noise.mean(axis=1, keepdims=True)
    rows = tuple(tuple(row.tolist()) for row in noise + np.array(means)[:, None])
    return Pair(rows, (0.4,) * len(means))


def test_the_end_of_the_interval_is_that_of_student() -> None:
    # mean 2, standard deviation 1, and 2.920 is the 95 % quantile of t with two degrees of freedom
    assert upper_end([1.0, 2.0, 3.0]) == pytest.approx(2.0 + 2.91999 / 3**0.5, abs=1e-4)


def test_a_few_of_many_tests_at_the_level_are_no_discoveries() -> None:
    clear, nothing = gains(5.0, -5.0, 0.0), gains(*[0.0] * 30)
    assert discoveries({"clear": clear, "nothing": nothing}) == {
        "clear": "1 / 1",
        "nothing": "0 / 0",
    }
    # 0.43 is found at the 5 % level alone, and not as one of 31 tests
    close = gains(0.43)
    assert discoveries({"close": close}) == {"close": "1 / 0"}
    assert discoveries({"close": close, "nothing": nothing})["close"] == "0 / 0"


def test_the_verdict_is_one_of_three() -> None:
    better, alike, open_ = gains(*[3.0] * 8), gains(*[0.1] * 8), gains(*[3.0, -3.0] * 4)
    assert "a method is better" in verdict([better, alike], 1.0)
    assert "each method is alike or worse" in verdict([alike], 1.0)
    assert "do not tell" in verdict([open_, alike], 1.0)


def test_choices_at_the_border_are_counted_by_method() -> None:
    def find(slot: Slot) -> SlotRecords:
        ends = ["algo.C"] if slot.column.name == "good" else []
        done = [replace(one, params={"algo.C": 1.0}, at_border=ends) for one in run(slot).done]
        done[0] = replace(done[0], at_border=[])
        return found(done, 10)

    text = plain(lay_out(assemble(table(), find)))
    assert re.search(r"\| The good one +\| +60 \| +C 90 % \|", text)
    assert re.search(r"\| The bad one +\| +60 \| +–? *\|", text)


def test_another_protocol_is_looked_at_too() -> None:
    other = table().protocols[0]
    twice = (other, replace(other, name="again", label="again"))
    ranking = replace(RANKING, also=("again",))
    text = plain(lay_out(report(ranking=ranking, protocols=twice)))
    assert "Against The plain one, on all sets, measured:" in text
    assert "Against The plain one, on all sets, again:" in text
