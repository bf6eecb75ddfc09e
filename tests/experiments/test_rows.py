"""The CSV of a run and data frames say on which CPU models the times were measured."""

from __future__ import annotations

import csv
import io

from experiment_fakes import tiny_run
from report_fakes import record

from mklbench.experiments.records import RunRecords
from mklbench.experiments.rows import csv_text, frame, record_row


def test_rows_say_the_model_of_every_split() -> None:
    records = [record(0, provenance={"cpu": "Old CPU"}), record(1, provenance={})]
    rows = csv.DictReader(io.StringIO(csv_text([RunRecords(tiny_run(), records)])))
    assert [row["cpu"] for row in rows] == ["Old CPU", "", "", ""]
    models = frame([record_row(one) for one in records]).cpu
    assert models.isna().tolist() == [False, True]
