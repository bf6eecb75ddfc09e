"""A table of four methods on six sets, which differ more than the methods do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from report_fakes import found, record

from mklbench.report.analysis.assemble import Report, SlotRecords, assemble
from mklbench.report.table.paper_table import (
    Column,
    Comparison,
    PaperTable,
    Protocol,
    Ranking,
    Row,
    Slot,
)

SETS = ("a", "b", "c", "d", "e", "f")
LEVELS = {"good": 0.9, "plain": 0.8, "same": 0.8, "bad": 0.7}


def table(**changes: object) -> PaperTable:
    made = PaperTable(
        name="methods",
        title="Methods",
        citation="Nobody, nowhere.",
        url="",
        common=(),
        rows=tuple(Row(name, name.upper(), ()) for name in SETS),
        columns=tuple(Column(name, f"The {name} one", (), ("accuracy",)) for name in LEVELS),
        protocols=(Protocol("once", "measured", ()),),
        published={},
        published_n_splits=20,
        comparisons=(Comparison("does good beat plain?", "good", "plain", "accuracy"),),
        ranking=Ranking("accuracy", "once", ("plain",), ("good", "bad")),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def run(slot: Slot) -> SlotRecords:
    """Return ten splits around the level of the method; sets differ more than methods do."""
    noise = np.random.default_rng(100 + SETS.index(slot.row.name)).normal(0, 0.01, 10)
    own = np.random.default_rng(len(slot.column.name)).normal(0, 0.002, 10)
    level = LEVELS[slot.column.name] - 0.05 * SETS.index(slot.row.name)
    if slot.column.name == "same":
        own = np.random.default_rng(5).normal(0, 0.002, 10)
    accuracies = level + noise + own
    return found([record(i, accuracy=float(accuracies[i])) for i in range(10)], n_splits=10)


def report(**changes: object) -> Report:
    return assemble(table(**changes), run)
