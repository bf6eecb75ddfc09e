"""Records as people and programs read them: the CSV of a run, and its summary."""

from __future__ import annotations

import csv
import io
import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mklbench.experiments.evaluation import Record
from mklbench.experiments.executor import CellResult

# Column -> the record's value; "error" is the error rate, "message" what went wrong.
_COLUMNS: dict[str, Callable[[Record], Any]] = {
    **{
        name: lambda record, name=name: record.get(name)  # type: ignore[misc]
        for name in (
            "algo", "kernel", "data", "split", "status", "n_train", "n_test", "C", "accuracy",
        )
    },
    "error": lambda record: _error_rate(record),
    **{
        name: lambda record, name=name: record.get(name)  # type: ignore[misc]
        for name in (
            "rmse", "n_kernels", "objective", "gap", "svm_calls", "fit_seconds", "svm_seconds",
            "fit_cpu_seconds", "kernel_seconds", "search_seconds", "predict_seconds", "search",
            "n_base_kernels", "relevant_weight", "n_iter", "converged", "search_accuracy",
        )
    },
    "params": lambda record: json.dumps(record["params"]) if record.get("params") else None,
    "message": lambda record: record.get("error"),
    "key": lambda record: record.get("key"),
}  # fmt: skip


def csv_text(results: Iterable[CellResult]) -> str:
    """Return the CSV of a run: a row for each split of each cell, also where there is no result."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for result in results:
        for record in _every_split(result):
            writer.writerow([column(record) for column in _COLUMNS.values()])
    return text.getvalue()


def _every_split(result: CellResult) -> list[Record]:
    cell = result.cell
    there = {record["split"]: record for record in result.records}
    absent = {
        "algo": cell.algo,
        "kernel": cell.kernel,
        "data": cell.data,
        "search": cell.search,
        "status": "missing",
        "key": cell.key,
    }
    return [there.get(split, {**absent, "split": split}) for split in range(cell.n_splits)]


def _error_rate(record: Record) -> float | None:
    accuracy = record.get("accuracy")
    return None if accuracy is None else 1.0 - accuracy


def summary(results: Sequence[CellResult]) -> str:
    """Return an aligned table: a line for each cell, with means over its finished splits."""
    from tabulate import tabulate

    headers = [
        "data", "algo", "kernel", "C", "splits", "status", "accuracy %", "kernels", "gap",
        "svm calls", "fit s", "in svm",
    ]  # fmt: skip
    body = [_summary_row(result) for result in results]
    return str(tabulate(body, headers, disable_numparse=True, colalign=["left"] * 3))


def _summary_row(result: CellResult) -> list[str]:
    cell = result.cell
    done = [record for record in result.records if record["status"] == "done"]
    first = [cell.data, cell.algo, cell.kernel, _values(done, "C")]
    splits = [f"{len(done)}/{cell.n_splits}", result.status]
    if not done:
        return [*first, *splits]
    fit, svm = _mean(done, "fit_seconds"), _mean(done, "svm_seconds")
    return [
        *first,
        *splits,
        _mean_and_deviation([100 * record["accuracy"] for record in done]),
        f"{_mean(done, 'n_kernels'):.3g}/{done[0]['n_base_kernels']}",
        _worst_gap(done),
        f"{_mean(done, 'svm_calls'):.3g}",
        f"{fit:.3g}",
        f"{100 * svm / fit:.0f} %" if fit > 0 else "",
    ]


def _values(records: Sequence[Record], name: str) -> str:
    """Return the value of a column if it is one, else its range."""
    values = sorted({record[name] for record in records if record[name] is not None})
    if not values:
        return ""
    return f"{values[0]:g}" if len(values) == 1 else f"{values[0]:g}..{values[-1]:g}"


def _mean(records: Sequence[Record], name: str) -> float:
    return statistics.fmean(record[name] for record in records)


def _mean_and_deviation(values: Sequence[float]) -> str:
    mean = f"{statistics.fmean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if len(values) > 1 else mean


def _worst_gap(records: Sequence[Record]) -> str:
    gaps = [record["gap"] for record in records if record["gap"] is not None]
    return f"{max(gaps):.1e}" if gaps else ""
