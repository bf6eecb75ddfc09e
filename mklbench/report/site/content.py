"""What the scripts of the page read, as one JSON object: tables, runs, data sets, and numbers.

A run has the numbers of every split, rounded.
"""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mklbench import resources
from mklbench.experiments.record import DONE, Record
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Number, Report, SlotRecords, cpu_models
from mklbench.report.analysis.significance import critical_difference
from mklbench.report.document import NOTHING
from mklbench.report.layout.entries import (
    Ending,
    format_count,
    format_difference,
    format_sample,
)
from mklbench.report.site.collected import Collected
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Slot
from mklbench.report.table.verdict import Sample

# What is told of every split, and with how many significant digits.
SHOWN: Mapping[str, int] = {
    "accuracy": 5, "rmse": 4, "time": 3, "gap": 2, "n_kernels": 5, "svm_calls": 7,
}  # fmt: skip


class Runs:
    """The runs of all tables, each once; their numbers are their places in `content`."""

    def __init__(self) -> None:
        self.content: list[dict[str, Any]] = []
        self._numbers: dict[tuple[str, int, bool], int] = {}

    def number(self, slot: Slot, found: SlotRecords, *, own: bool = False) -> int:
        """Return the number of the run at a position of a table; it is added if it is new.

        Parameters
        ----------
        slot : Slot
            Its position in the table.
        found : SlotRecords
            Its records.
        own : bool, default=False
            Whether they are of the reader's own store.
        """
        key = found.key or (found.records[0].key if found.records else None)
        # Two tables may have different numbers of splits of a run.
        identity = (key or run_command(slot), found.n_splits, own)
        if identity not in self._numbers:
            told = describe(found)
            if "accuracy" in told["mean"] and "rmse" not in slot.column.metrics:
                for name in ("mean", "split"):  # of decision values: nobody asks for it
                    told[name].pop("rmse", None)
            if not found.records:
                given = dict(override.split("=", 1) for override in slot.overrides)
                told |= {name: given.get(name, "") for name in ("algo", "kernel", "data", "search")}
            chosen = next((record.params or {} for record in found.done), {})
            told |= {"key": key, "command": run_command(slot, chosen), "own": own}
            self._numbers[identity] = len(self.content)
            self.content.append(told)
        return self._numbers[identity]

    def add(self, records: Sequence[Record]) -> int:
        """Add a run of the reader's own store that stands in no table; return its number."""
        done = all(record.is_done for record in records)
        message = next((record.reason for record in records if not record.is_done), "")
        found = SlotRecords(DONE if done else "incomplete", records, len(records), message)
        self.content.append(describe(found) | {"key": records[0].key, "command": "", "own": True})
        return len(self.content) - 1


def run_command(slot: Slot, chosen: Iterable[str] = ()) -> str:
    """Return the command of the run at a position of a table.

    Options that its search chooses (by their dotted paths) are left out: what a table states of
    them for all its columns has no effect there, and `mklbench run` refuses it.
    """
    without = tuple(f"{path}=" for path in chosen)
    given = [text for text in slot.overrides if not (without and text.startswith(without))]
    words = ["mklbench", "run", *given]
    if slot.config_dir is not None:
        words += ["--config-dir", slot.config_dir]
    return shlex.join(words)


def describe(found: SlotRecords) -> dict[str, Any]:
    """Return what the page knows of one run.

    Parameters
    ----------
    found : SlotRecords
        What there is of it.

    Returns
    -------
    A JSON object. ``mean`` and ``split`` have, by the name of a metric of `SHOWN`, the mean and
    standard deviation over the finished splits and the values by split: one value where all are
    equal. ``splits`` are the numbers of the finished splits. ``descent`` is the course of the fit
    on the first split that has one, with the number of that ``split``; absent where none has.
    """
    done = found.done
    first = next(iter(done or found.records), None)
    told: dict[str, Any] = {
        name: getattr(first, name, "") for name in ("algo", "kernel", "data", "search")
    }
    told |= {
        "status": found.status,
        "message": found.message,
        "n": found.n_splits,
        "n_train": first.n_train if first else None,
        "cpu": "; ".join(cpu_models(done)),
        "splits": [record.split for record in done],
        "C": _shortened([rounded(record.C, 3) for record in done]),
        "mean": {},
        "split": {},
    }
    for name, digits in SHOWN.items():
        values = [METRICS[name].value(record) for record in done]
        if sample := Sample.of([value for value in values if value is not None]):
            # Methods are ranked by the mean, which has enough digits to tell what is no tie.
            told["mean"][name] = [rounded(sample.mean, 9), rounded(sample.std, 3)]
            told["split"][name] = _shortened([rounded(value, digits) for value in values])
    if followed := next((record for record in done if record.descent), None):
        told["descent"] = {"split": followed.split, **(followed.descent or {})}
    return told


def rounded(value: float | None, digits: int) -> float | int | None:
    """Return a number with so many significant digits, a whole number as such."""
    if value is None:
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e9 else short


def _shortened(values: Sequence[Any]) -> Any:
    """Return one value where all are equal, as of a parameter that was not searched."""
    return values[0] if values and all(value == values[0] for value in values) else list(values)


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
        known = {run["key"] for run in runs.content}
        stored = (list(store.records_in(directory)) for directory in store.directories())
        loose = [runs.add(of) for of in stored if of and of[0].key not in known]
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
        "sets": _n_views(sorted({run["data"] for run in runs.content}), config_dir),
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
    """Return a table of the runs of a store that stand in no other, each a row."""
    found = [runs.content[number] for number in numbers]
    return {
        "name": "",
        "title": "Runs of your store that stand in no table",
        "rows": [run["data"] for run in found],
        "columns": [f"{run['algo']}, {run['kernel']}" for run in found],
        "protocols": ["as you ran it"],
        "places": [[at, at, 0, number] for at, number in enumerate(numbers)],
    }


def _n_views(names: Iterable[str], config_dir: str | None) -> dict[str, dict[str, int]]:
    """Return of data sets, by the name of their config, how many views they have, at least 1."""
    files = resources.choices("data", config_dir)
    configs = {name: resources.read_yaml(files[name]) for name in names if name in files}
    return {name: {"n_views": len(read.get("views") or ()) or 1} for name, read in configs.items()}


def _classes(algorithms: Iterable[str], config_dir: str | None) -> dict[str, str]:
    """Return the classifier of each algorithm that has one, by the name of its config."""
    from sklearn.base import ClassifierMixin

    estimators = importlib.import_module("mklbench.estimators")
    by_module = {}
    for class_name in sorted(estimators.__all__, reverse=True):
        estimator = getattr(estimators, class_name)
        if issubclass(estimator, ClassifierMixin):
            by_module[getattr(estimator, "_algorithm")] = class_name  # noqa: B009
    files, found = resources.choices("algo", config_dir), {}
    for name in files.keys() & set(algorithms):
        module = resources.read_yaml(files[name])["_target_"].rpartition(".")[0]
        if module in by_module:
            found[name] = by_module[module]
    return found


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
    A JSON object. Its place says where it stands; ``verdict`` is that, or the state of its run;
    ``ledger`` are the entries of the table's ledger that speak of this number alone
    or of few; those that hold for the whole table are left out.
    """
    metric, measured = number.metric, number.measured
    _, found = report.slots[number.slot.place]
    spread = None if measured is None else measured.std
    told: dict[str, Any] = {
        "mean": NOTHING if measured is None else f"{measured.mean:.6g}",
        "sd": NOTHING if spread is None else f"{spread:.6g}",
        "splits": format_count(number),
        "verdict": number.verdict or number.status,
        "run": run,
    }
    ledger = report.table.ledger
    place = (*number.slot.place, metric.name)
    concerned = [at for at, entry in enumerate(ledger) if entry.concerns(*place)]
    if concerned:
        told["ledger"] = concerned
    if number.published is not None:
        told["published"] = format_sample(metric, number.published)
        told["published_splits"] = number.published_n_splits
        told["difference"] = format_difference(number)
    ending = Ending.of([found])
    if ending.n_stopped:
        gap = NOTHING if ending.stopped_gap is None else f"{ending.stopped_gap:.1e}"
        told["stopped"] = f"{ending.n_stopped} of {ending.n_fits}, with gaps of up to {gap}"
    return told
