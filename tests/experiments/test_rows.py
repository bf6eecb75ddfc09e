"""The CSV of a run and its summary say on which CPU models the times were measured."""

from __future__ import annotations

import csv
import io

import pytest
from experiment_fakes import tiny_run
from report_fakes import record

from mklbench.experiments.records import RunRecords
from mklbench.experiments.rows import csv_text, frame, record_row, summary


def result(*models: str | None) -> RunRecords:
    records = [
        record(split, svm_calls=1, provenance={} if model is None else {"cpu": model})
        for split, model in enumerate(models)
    ]
    return RunRecords(tiny_run(f"split.n_splits={len(models)}"), records)


def test_the_summary_names_the_models_where_there_are_several() -> None:
    lines = summary([result("Old CPU", "Old CPU"), result("Old CPU", "New CPU")]).splitlines()
    assert lines[0].endswith("  cpu")
    assert lines[2].endswith("  Old CPU")
    assert lines[3].endswith("  New CPU, Old CPU")


@pytest.mark.parametrize("model", ["Old CPU", None])
def test_the_summary_of_one_model_has_no_such_column(model: str | None) -> None:
    text = summary([result(model, model), result(model)])
    assert "cpu" not in text
    assert "CPU" not in text


def test_a_model_that_is_not_named_is_another_one() -> None:
    lines = summary([result("Old CPU"), result(None)]).splitlines()
    assert [line.rpartition("  ")[2] for line in lines[2:]] == ["Old CPU", "not named"]


def test_rows_say_the_model_of_every_split() -> None:
    made = result("Old CPU", None, "New CPU")
    rows = csv.DictReader(io.StringIO(csv_text([made])))
    assert [row["cpu"] for row in rows] == ["Old CPU", "", "New CPU"]
    models = frame([record_row(one) for one in made.records]).cpu
    assert models.isna().tolist() == [False, True, False]
