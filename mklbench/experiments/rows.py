"""Records as people and programs read them: the CSV of a run, data frames, and the summary."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from mklbench import config as configs
from mklbench import terminal
from mklbench.config.schemas import MEASURES
from mklbench.experiments.record import Record
from mklbench.experiments.records import RunRecords
from mklbench.experiments.run import Run

if TYPE_CHECKING:
    from pandas import DataFrame

Row = dict[str, Any]

# Columns of the summary that a terminal too narrow is spared, the first first.
_SPARED = ("in svm", "svm calls", "fit s", "kernels", "gap")

# Attributes of a record, but for "error", the error rate, "message", what went wrong, and "params",
# which are JSON.
COLUMNS = (
    "algo", "kernel", "data", "split", "status", "n_train", "n_test", "C", "accuracy", "error",
    "rmse", "n_kernels", "objective", "gap", "svm_calls", "fit_seconds", "svm_seconds",
    "fit_cpu_seconds", "kernel_seconds", "search_seconds", "predict_seconds", "search",
    "n_base_kernels", "relevant_weight", "n_iter", "converged", "search_accuracy", "split_source",
    "search_rmse", "params", "message", "key", "cpu", "search_score", "n_support", "n_evaluations",
    "family_gap",
)  # fmt: skip

# What a column of a record's values is in a data frame, where some of them may be missing.
_DTYPES = {
    "int": "int64",
    "int | None": "Int64",
    "float | None": "float64",
    "bool | None": "boolean",
}


def csv_text(results: Iterable[RunRecords]) -> str:
    """Return the CSV of runs: a row for each split of each, also where there is no result.

    Where runs have the same names, the last column has the setting that tells them apart.
    """
    results = list(results)
    rows = [
        row | ({"setting": setting} if setting else {})
        for r, setting in zip(results, settings([r.run for r in results]), strict=True)
        for row in run_rows(r.run, r.run.key, r.records)
    ]
    text = io.StringIO()  # not by pandas, which takes longer to load than many a run
    writer = csv.DictWriter(text, [*COLUMNS, *_scores_of(rows)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _scores_of(rows: Iterable[Row]) -> list[str]:
    """Return the columns of rows that are scores by scorers, which only some records have."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [name for name in names if name not in COLUMNS]


def frame(rows: Sequence[Row], before: Sequence[str] = ()) -> DataFrame:
    """Return rows as a data frame, with other columns before those of a record."""
    from pandas import DataFrame

    stated = {**Record.__annotations__, "error": "float | None"}
    dtypes = {name: _DTYPES[stated[name]] for name in COLUMNS if stated.get(name) in _DTYPES}
    scores = [name for name in _scores_of(rows) if name not in before]
    dtypes |= dict.fromkeys(scores, "float64")
    return DataFrame(rows, columns=[*before, *COLUMNS, *scores]).astype(dtypes)


def run_rows(run: Run, key: str | None, records: Iterable[Record]) -> list[Row]:
    """Return a row for each split of a run, also where there is no record."""
    names = {name: getattr(run, name) for name in ("algo", "kernel", "data", "search")}
    absent = {**names, "status": "missing", "key": key}
    there = {record.split: record_row(record) for record in records}
    return [there.get(split, {**absent, "split": split}) for split in range(run.n_splits)]


def record_row(record: Record) -> Row:
    """Return the values of a record by column."""
    own = {
        "error": None if record.accuracy is None else 1.0 - record.accuracy,
        "params": json.dumps(record.params, sort_keys=True) if record.params else None,
        "message": record.error,
    }
    stated = {name: own[name] if name in own else getattr(record, name) for name in COLUMNS}
    return stated | dict(record.scores or {})


def summary(results: Sequence[RunRecords]) -> str:
    """Return an aligned table: a line for each run, with means over its finished splits.

    It is as wide as the terminal, if there is one, and has no column that is empty.
    """
    lines = [
        _line(result) | {"setting": setting}
        for result, setting in zip(results, settings([r.run for r in results]), strict=True)
    ]
    scores = list(dict.fromkeys(name for result in results for name in result.run.metrics))
    headings = [
        "data", "algo", "kernel", "setting", "C", "splits", "status", "accuracy %", "rmse",
        *scores, "kernels", "gap", "svm calls", "fit s", "in svm",
    ]  # fmt: skip
    shown = [name for name in headings if any(line.get(name) for line in lines)]
    body = [[line.get(name, "") for name in shown] for line in lines]
    return terminal.table(shown, body, terminal.width(), wraps=("setting",), spared=_SPARED)


def settings(runs: Sequence[Run]) -> list[str]:
    """Return for each run what tells it from the others of its label, apart from C."""
    choices = [choices_of(run.config.as_dict()) | {"algo.C": None} for run in runs]
    return differences([run.label for run in runs], choices)


def differences(labels: Sequence[str], choices: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return for each run what tells it from the others of its label, as overrides.

    Parameters
    ----------
    labels : sequence of str
        Of the runs.
    choices : sequence of mapping
        Their values by dotted path (`choices_of`).
    """
    firsts: dict[str, Mapping[str, Any]] = {}
    varied: dict[str, set[str]] = {}
    for label, mine in zip(labels, choices, strict=True):
        first = firsts.setdefault(label, mine)
        varied.setdefault(label, set()).update(
            path for path in {**first, **mine} if first.get(path) != mine.get(path)
        )
    return [
        " ".join(f"{path}={value}" for path, value in mine.items() if path in varied[label])
        for label, mine in zip(labels, choices, strict=True)
    ]


def choices_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a run's config by dotted path; of the search its name only.

    Parameters
    ----------
    config : mapping
        As it is recorded (`RunConfig.as_dict`).
    """
    values = {
        f"{group}.{name}": value
        for group in ("algo", "kernel", "data", "split")
        for name, value in config[group].items()
        if name not in ("name", "title")
    }
    return values | {"search": config["search"]["name"]}


def _line(result: RunRecords) -> dict[str, str]:
    """Return the columns of a line of the summary that there is anything for."""
    run, rows = result.run, [record_row(record) for record in result.done]
    known = {
        name: [row[name] for row in rows if row.get(name) is not None]
        for name in (*COLUMNS, *run.metrics)
    }
    line = {
        "data": run.data, "algo": run.algo, "kernel": run.kernel, "C": _range(known["C"]),
        "splits": f"{len(rows)}/{run.n_splits}", "status": result.status,
    }  # fmt: skip
    if not rows:
        return line
    # Without values where only some of the splits have one.
    whole = {name: values for name, values in known.items() if len(values) == len(rows)}
    for name in run.metrics:
        line[name] = _spread(whole.get(name, []), 0 if name in MEASURES else 4)
    if configs.declared(run.config.algo).regression:
        line["rmse"] = _spread(whole.get("rmse", []), 4)
    fit, svm = fmean(known["fit_seconds"]), fmean(known["svm_seconds"])
    n_base = rows[0]["n_base_kernels"]  # None where there is no end of them
    return line | {
        "accuracy %": _spread([100 * value for value in whole.get("accuracy", [])], 2),
        "kernels": f"{fmean(known['n_kernels']):.3g}" + ("" if n_base is None else f"/{n_base}"),
        "gap": f"{max(known['gap']):.1e}",
        "svm calls": f"{fmean(known['svm_calls']):.3g}",
        "fit s": f"{fit:.3g}",
        "in svm": f"{100 * svm / fit:.0f} %" if fit > 0 else "",
    }


def _range(values: Sequence[float]) -> str:
    """Return a value if there is but one, else the smallest and the largest."""
    return "..".join(f"{value:g}" for value in sorted({min(values), max(values)})) if values else ""


def _spread(values: Sequence[float], decimals: int) -> str:
    """Return mean and standard deviation, as far as there are any."""
    deviation = f" ± {stdev(values):.{decimals}f}" if len(values) > 1 else ""
    return f"{fmean(values):.{decimals}f}{deviation}" if values else ""
