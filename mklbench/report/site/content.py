"""What the scripts of the page read, as one JSON object: tables, runs, data sets, and numbers."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import mklbench
from mklbench import resources
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Number, Report
from mklbench.report.analysis.significance import critical_difference
from mklbench.report.document import NOTHING
from mklbench.report.layout.entries import (
    format_count,
    format_difference,
    format_sample,
    setting,
)
from mklbench.report.layout.notes import Ending
from mklbench.report.site.collected import Collected, loose_records
from mklbench.report.site.runs import SHOWN, Runs, rounded
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import LedgerEntry
from mklbench.report.table.verdict import Verdict

# What may be said of a number: its verdict, or without one the state of its run.
VERDICTS = [*map(str, Verdict), "incomplete", "failed", "timeout", "missing", "done"]


def content(
    collected: Sequence[Collected],
    runs: Runs,
    numbers: Sequence[dict[str, object]],
    store: Store | None,
    config_dir: str | None,
) -> dict[str, Any]:
    """Return what the page knows, to be embedded as JSON.

    Parameters
    ----------
    collected : sequence of Collected
        The tables.
    runs : Runs
        Those of all tables; runs of `store` that stand in none are added.
    numbers : sequence of dict
        What is told of each number (`number_content`).
    store : Store or None
        The reader's own results, if there are any.
    config_dir : str or None
        A directory of the reader's own configs.
    """
    tables = [_table(one, runs) for one in collected]
    if store is not None:
        loose = [runs.add(records) for records in loose_records(store, collected)]
        if loose:
            tables.append(_own_table(runs, loose))
    n_methods = max(len(table["columns"]) for table in tables)
    return {
        "tables": tables,
        "metrics": {
            name: {"heading": METRICS[name].heading, "lower": METRICS[name].lower_is_better}
            for name in SHOWN
        },
        "runs": runs.content,
        "numbers": list(numbers),
        "verdicts": VERDICTS,
        "sets": describe_sets(sorted({run["data"] for run in runs.content}), config_dir),
        "classes": _classes(sorted({run["algo"] for run in runs.content}), config_dir),
        # Of two mean ranks over one set, by the number of methods: over N sets it is the square
        # root of N times smaller.
        "critical": {n: rounded(critical_difference(n, 1), 6) for n in range(2, n_methods + 1)},
    }


def _table(one: Collected, runs: Runs) -> dict[str, Any]:
    """Return the labels of a table, and its runs as [row, column, protocol, run]."""
    table = one.table
    at = [list(table.names[what]).index for what in ("row", "column", "protocol")]
    places = [
        [*(index(name) for index, name in zip(at, slot.place, strict=True)),
         runs.number(slot, found, own=own)]
        for report, own in ((one.recorded, False), (one.own, True)) if report is not None
        for slot, found in report.slots.values() if found.records or not own or one.recorded is None
    ]  # fmt: skip
    return {
        "name": table.name,
        "title": table.title,
        "rows": [row.label for row in table.rows],
        "columns": [column.label for column in table.columns],
        "protocols": [protocol.label for protocol in table.protocols],
        "places": places,
    }


def _own_table(runs: Runs, numbers: Sequence[int]) -> dict[str, Any]:
    """Return a table of the runs of a store that stand in no other."""
    labels = [
        (run["data"], f"{run['algo']}, {run['kernel']}", f"{run['search']}, {run['key']}")
        for run in (runs.content[number] for number in numbers)
    ]
    rows, columns, protocols = (list(dict.fromkeys(names)) for names in zip(*labels, strict=True))
    return {
        "name": "",
        "title": "Runs of your store that stand in no table",
        "rows": rows,
        "columns": columns,
        "protocols": protocols,
        "places": [
            [rows.index(row), columns.index(column), protocols.index(protocol), number]
            for (row, column, protocol), number in zip(labels, numbers, strict=True)
        ],
    }


def describe_sets(names: Iterable[str], config_dir: str | None = None) -> dict[str, dict[str, int]]:
    """Return of data sets, by the name of their config, how many views they have.

    A set whose samples are one table of features has 1.
    """
    files = resources.choices("data", config_dir)
    configs = {name: resources.read_yaml(files[name]) for name in names if name in files}
    return {name: {"n_views": len(read.get("views") or ()) or 1} for name, read in configs.items()}


def _classes(algorithms: Iterable[str], config_dir: str | None) -> dict[str, str]:
    """Return the classifier of each algorithm that has one, by the name of its config."""
    from sklearn.base import ClassifierMixin

    estimators = importlib.import_module("mklbench.estimators")
    by_module = {
        getattr(estimator, "_algorithm"): name  # noqa: B009
        for name in sorted(estimators.__all__, reverse=True)
        for estimator in [getattr(mklbench, name)]
        if issubclass(estimator, ClassifierMixin)
    }
    files = resources.choices("algo", config_dir)
    targets = {
        name: resources.read_yaml(files[name])["_target_"] for name in algorithms if name in files
    }
    modules = {name: target.rpartition(".")[0] for name, target in targets.items()}
    return {name: by_module[module] for name, module in modules.items() if module in by_module}


def number_content(report: Report, number: Number, run: int) -> dict[str, Any]:
    """Return what is told of one number where the reader points at it, as texts.

    Parameters
    ----------
    report : Report
        Its table.
    number : Number
        The number.
    run : int
        The number of its run among those of the page.

    Returns
    -------
    A JSON object. Its place says where it stands; ``verdict`` is its number in `VERDICTS`;
    ``ledger`` are the entries of the table's ledger that speak of this number alone
    or of few; those that hold for the whole table are left out.
    """
    metric, measured = number.metric, number.measured
    _, found = report.slots[number.slot.place]
    spread = None if measured is None else measured.std
    told: dict[str, Any] = {
        "mean": NOTHING if measured is None else _exact(metric, measured.mean),
        "sd": NOTHING if spread is None else _exact(metric, spread),
        "splits": format_count(number),
        "verdict": VERDICTS.index(number.verdict or number.status),
        "run": run,
    }
    ledger = report.table.ledger
    concerned = [at for at, e in enumerate(ledger) if not e.is_general and concerns(e, number)]
    if concerned:
        told["ledger"] = concerned
    if number.published is not None:
        told["published"] = format_sample(metric, number.published)
        told["published_splits"] = number.published_n_splits
        told["difference"] = format_difference(number)
    if found.message:
        told["message"] = found.message
    if chosen := _chosen(report, number):
        told["chosen"] = chosen
    ending = Ending.of(found)
    if ending.n_stopped:
        gap = NOTHING if ending.stopped_gap is None else f"{ending.stopped_gap:.1e}"
        told["stopped"] = f"{ending.n_stopped} of {ending.n_fits}, with gaps of up to {gap}"
    return told


def _exact(metric: Metric, value: float) -> str:
    """Print a value with two digits more than its table has."""
    return f"{value:.4g}" if metric.decimals is None else f"{value:.{metric.decimals + 2}f}"


def _chosen(report: Report, number: Number) -> str:
    """Print the hyperparameters that the search chose, the most frequent first."""
    _, found = report.slots[number.slot.place]
    counts = Counter(tuple(sorted((record.params or {}).items())) for record in found.done)
    texts = [f"{setting(params)} ({n})" for params, n in counts.most_common(3) if params]
    return "; ".join(texts) + ("; …" if len(counts) > 3 and texts else "")


def concerns(entry: LedgerEntry, number: Number) -> bool:
    """Tell whether an entry of the ledger speaks of a number, perhaps among others."""
    row, column, protocol = number.slot.place
    names = {"row": row, "column": column, "protocol": protocol, "metric": number.metric.name}
    return all(limits is None or names[what] in limits for what, limits in entry.scope.items())
