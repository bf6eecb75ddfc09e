"""Synthetic records and tables for the tests of the report layer."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mklbench import resources
from mklbench.config.schemas import RunConfig, SearchConfig, SplitConfig
from mklbench.experiments.files import with_checksum
from mklbench.experiments.record import Record
from mklbench.experiments.records import RecordSource, RunRecords
from mklbench.experiments.run import Run
from mklbench.report.analysis.assemble import Place, Report, SlotRecords
from mklbench.report.analysis.places import slot_records
from mklbench.report.document import Document
from mklbench.report.formats import to_csv
from mklbench.report.loading import load_table
from mklbench.report.table.paper_table import Baseline, Column, PaperTable, Protocol, Row, Slot
from mklbench.report.table.verdict import Published

PROVENANCE = {
    "cpu": "Test CPU",
    "versions": {"numpy": "2.0", "python": "3.12"},
    "git": "0123abc",
    "time": "2024-05-06T07:08:09+00:00",
}

# A table whose four runs run in a moment, on sets that need no download.
TINY_TABLE = """\
title: "A tiny table"
citation: "Nobody, nowhere."
published_n_splits: 20
common: [split.n_splits=2, algo=svm, search=fixed]
rows:
  - {name: minmax, label: scaled, overrides: [data=twonorm, data.n_samples=60]}
  - {name: none, label: raw, overrides: [data=ringnorm, data.n_samples=60, split.scaling=none]}
columns:
  - {name: one, label: C of one, overrides: [algo.C=1.0], metrics: [accuracy, time]}
  - {name: ten, label: C of ten, overrides: [algo.C=10.0], metrics: [accuracy]}
protocols:
  - {name: fixed, label: fixed, overrides: [kernel=gaussian]}
published:
  minmax: {one: {accuracy: [96.0, 2.0], time: [1.0]}}
"""


def record(split: int, **changes: Any) -> Record:
    """One record as the store keeps it."""
    generator = random.Random(split)
    made: dict[str, Any] = {
        "key": "0" * 12,
        **dict.fromkeys(("algo", "kernel", "data", "search"), "fake"),
        "split": split,
        "status": "done",
        "error": None,
        "accuracy": 0.80 + 0.01 * (split % 5),
        "fit_seconds": 0.02,
        "kernel_seconds": 0.01,
        "search_seconds": 0.0,
        "relevant_weight": 0.75,
        "predict_seconds": 0.0,
        "svm_seconds": 0.01,
        "n_iter": 1,
        "rmse": None,
        "gap": 1e-4,
        "n_kernels": 12,
        "n_base_kernels": 60,
        "objective": 50.0,
        "n_train": 100,
        "n_test": 50,
        "C": 1.0,
        "params": {},
        "converged": True,
        "weights": [generator.random() for _ in range(60)],
        "provenance": PROVENANCE,
    }
    return Record(**{**made, **changes})


def records(n: int = 20, **changes: Any) -> list[Record]:
    """`n` records with the same changes."""
    return [record(split, **changes) for split in range(n)]


class ListedRecords(RecordSource):
    """The records given, whatever the run."""

    def __init__(self, listed: Sequence[Record]) -> None:
        self._listed = list(listed)

    def read(self, run: Run) -> RunRecords:
        return RunRecords(run, self._listed, {})


def found(listed: Sequence[Record], n_splits: int = 20) -> SlotRecords:
    """What a source with the records given has of a run of `n_splits` splits."""
    some, split = {"name": "any"}, SplitConfig(n_splits=n_splits)
    run = Run(RunConfig({**some, "tol": 1e-3}, some, some, split, SearchConfig()))
    return slot_records(run, ListedRecords(listed))


class FakeFinder:
    """Every place has 20 finished splits, but for those given otherwise."""

    def __init__(self, special: Mapping[Place, SlotRecords] | None = None) -> None:
        self.special = special or {}

    def __call__(self, slot: Slot) -> SlotRecords:
        return self.special.get(slot.place) or found(records())


def table1() -> PaperTable:
    """The first table of the paper."""
    return load_table("picard2012_table1")


def comparison() -> PaperTable:
    """A table that holds one column against another, on rows with 100 and with 20 published splits.

    Of the published errors that of `easy` is within the margin and that of `hard` much lower; the
    paper has nothing on `unseen`.
    """
    return PaperTable(
        name="comparison",
        title="A comparison",
        citation="Nobody, nowhere.",
        rows=(
            Row("easy", "Easy", (), published_n_splits=20),
            Row("hard", "Hard", ()),
            Row("unseen", "Unseen", ()),
        ),
        columns=(
            Column("plain", "Plain", (), ("error",)),
            Column("new", "New", (), ("error", "n_kernels")),
        ),
        protocols=(Protocol("once", "measured", ()),),
        published={
            ("easy", "plain", "error"): Published(20.0, 2.0),
            ("easy", "new", "error"): Published(20.5, 2.0),
            ("easy", "new", "n_kernels"): Published(12.0),
            ("hard", "plain", "error"): Published(20.0, 2.0),
            ("hard", "new", "error"): Published(15.0, 2.0),
        },
        published_n_splits=100,
        baseline=Baseline("plain", "error", 1.0),
    )  # fmt: skip


def only_tables(monkeypatch: pytest.MonkeyPatch, directory: Path, **contents: str) -> None:
    """Make tables of these names and YAML the only ones there are."""
    files = {name: directory / f"{name}.yaml" for name in contents}
    for name, path in files.items():
        path.write_text(contents[name], encoding="utf-8")
    choices = resources.choices

    def chosen(group: str, config_dir: Path | str | None = None) -> dict[str, Path]:
        return files if group == "table" else choices(group, config_dir)

    monkeypatch.setattr(resources, "choices", chosen)


def edit_lines(path: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Apply a change to each line of a file of records."""
    changed = [change(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text(
        "".join(with_checksum(item) for item in changed if item is not None), encoding="utf-8"
    )


def plain(document: Document) -> str:
    """Return a page with its lines and tables as long as they are, to look something up in it."""
    return "\n\n".join(map(str, document)) + "\n"


def csv_lines(report: Report, *keys: str) -> dict[tuple[str, ...], dict[str, str]]:
    """Return the lines of the CSV of a report by some of their entries."""
    lines = csv.DictReader(io.StringIO(to_csv(report)))
    return {tuple(line[key] for key in keys): line for line in lines}
