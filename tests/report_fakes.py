"""Synthetic records for the tests of the report layer."""

from __future__ import annotations

import random
from typing import Any

from mklbench.report.assemble import SlotRecords
from mklbench.report.paper_table import PaperTable, Slot
from mklbench.report.table_loading import load_table

Place = tuple[str, str, str]

PROVENANCE = {
    "cpu": "Test CPU",
    "versions": {"numpy": "2.0", "python": "3.12"},
    "git_revision": "0123abc",
    "time": "2024-05-06T07:08:09+00:00",
}


def record(split: int, **changes: Any) -> dict[str, Any]:
    """One record as the store keeps it."""
    generator = random.Random(split)
    made: dict[str, Any] = {
        "schema": 1,
        "key": "0" * 12,
        "split": split,
        "status": "done",
        "error": None,
        "accuracy": 0.80 + 0.01 * (split % 5),
        "fit_seconds": 0.02,
        "kernel_seconds": 0.01,
        "search_seconds": 0.0,
        "relevant_weight": 0.75,
        "n_kernels": 12,
        "objective": 50.0,
        "n_train": 100,
        "n_test": 50,
        "C": 1.0,
        "converged": True,
        "weights": [generator.random() for _ in range(60)],
        "provenance": PROVENANCE,
    }
    return {**made, **changes}


def records(n: int = 20, **changes: Any) -> list[dict[str, Any]]:
    """`n` records with the same changes."""
    return [record(split, **changes) for split in range(n)]


class FakeSource:
    """Every place has 20 finished splits, but for those given otherwise."""

    def __init__(self, special: dict[Place, SlotRecords] | None = None) -> None:
        self.special = special or {}

    def records(self, slot: Slot) -> SlotRecords:
        return self.special.get(slot.place, SlotRecords.of(records(), 20))


def table1() -> PaperTable:
    """The first table of the paper."""
    return load_table("picard2012_table1")
