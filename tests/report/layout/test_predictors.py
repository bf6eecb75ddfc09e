"""What choosing by cross-validation brings."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from ranking_fakes import table
from report_fakes import found, plain, record

from mklbench.report.analysis.assemble import SlotRecords, assemble
from mklbench.report.layout.page import lay_out
from mklbench.report.table.paper_table import Ranking, Row, Slot

SETS = tuple("abcdefghijkl")
RANKING = Ranking("accuracy", "once", ("plain",), ("good", "bad"))


@cache
def page(promise: float = 0.0, sets: tuple[str, ...] = SETS, rule: tuple[str, ...] = ()) -> str:
    """Lay out a table in which `good` gains half a point for every set further down.

    `promise` times its gain is that of its cross-validated accuracy.
    """

    def find(slot: Slot) -> SlotRecords:
        place = sets.index(slot.row.name)
        gain = {"good": 0.005 * place, "plain": 0.0, "same": 0.0, "bad": -0.1}[slot.column.name]
        records = []
        for i in range(5):
            at = 0.8 + 0.002 * i + gain
            one = record(i, accuracy=at, search_accuracy=0.8 + promise * gain)
            records.append(replace(one, n_train=1000, n_test=300))
        return found(records, n_splits=5)

    rows = tuple(Row(name, name.upper(), ()) for name in sets)
    made = table(rows=rows, ranking=replace(RANKING, rule=rule), figures=())
    return plain(lay_out(assemble(made, find)))


def test_choosing_by_an_honest_cross_validation_gains() -> None:
    text = page(promise=1.0)
    share, gain = re.findall(r"another than the former on (\d+) % .* gains ([+-]\d\.\d\d)", text)[0]
    assert share == "92"  # on the first set nothing is promised, and a tie goes to the plain one
    assert float(gain) == pytest.approx(100 * 0.005 * np.mean(range(12)), abs=0.01)


def test_choosing_by_a_lying_one_loses() -> None:
    text = page(promise=-1.0)
    (gain,) = re.findall(r"and gains ([+-]\d+\.\d\d)", text)
    assert float(gain) == pytest.approx(-10.0)


def test_few_sets_say_nothing() -> None:
    assert "## Where it pays" not in page(sets=SETS[:7])


def test_a_rule_is_tested_on_the_sets_that_did_not_make_it() -> None:
    text = page(promise=1.0, rule=SETS[::2])
    assert "made on 6 of the sets and is tested on the others" in text
    # With an honest promise the smallest margin is the best where the rule is made.
    assert "more than 0 points ahead" in text
    (gain,) = re.findall(r"100 % of the splits, and gains ([+-]\d\.\d\d)", text)
    assert float(gain) == pytest.approx(100 * 0.005 * np.mean(range(1, 12, 2)), abs=0.01)
    # With a lying one it is the largest, and does harm where that is not enough.
    assert "more than 5 points ahead" in page(promise=-0.4, rule=SETS[::2])
    assert "A rule" not in page(promise=1.0)
