"""The cells as the page knows them: what was run, and the numbers of every split, rounded."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mklbench.experiments.record import DONE, Record
from mklbench.report.analysis.assemble import SlotRecords
from mklbench.report.analysis.cpu_models import cpu_models
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Slot
from mklbench.report.table.verdict import Sample

# What is told of every split, and with how many significant digits.
SHOWN: Mapping[str, int] = {
    "accuracy": 5, "rmse": 4, "time": 3, "gap": 2, "n_kernels": 5, "svm_calls": 7, "objective": 4,
}  # fmt: skip


class Cells:
    """The cells of all tables, each once; their numbers are their places in `content`."""

    def __init__(self) -> None:
        self.content: list[dict[str, Any]] = []
        self._numbers: dict[tuple[str | None, int, bool], int] = {}

    def number(self, slot: Slot, found: SlotRecords, *, own: bool = False) -> int:
        """Return the number of a cell of a table; the cell is added if it is new.

        Parameters
        ----------
        slot : Slot
            Its place in the table.
        found : SlotRecords
            Its records.
        own : bool, default=False
            Whether they are of the reader's own store.
        """
        key = found.key or (found.records[0].key if found.records else None)
        # Two tables may have different numbers of splits of a cell.
        identity = (key, found.n_splits, own)
        if key is None or identity not in self._numbers:
            described = describe(found.records, found.status, found.n_splits, found.message)
            if "accuracy" in described["mean"] and "rmse" not in slot.column.metrics:
                for name in ("mean", "split"):  # of decision values: nobody asks for it
                    described[name].pop("rmse", None)
            if not found.records:
                described |= _asked_for(slot)
            chosen = next((record.params or {} for record in found.done), {})
            described |= {"key": key, "run": run_command(slot, chosen), "own": own}
            self._numbers[identity] = len(self.content)
            self.content.append(described)
        return self._numbers[identity]

    def add(self, records: Sequence[Record]) -> int:
        """Add a cell of the reader's own store that stands in no table; return its number."""
        done = all(record.is_done for record in records)
        message = next((record.reason for record in records if not record.is_done), "")
        described = describe(records, DONE if done else "incomplete", len(records), message)
        described |= {"key": records[0].key, "run": "", "own": True}
        self.content.append(described)
        return len(self.content) - 1


def run_command(slot: Slot, chosen: Iterable[str] = ()) -> str:
    """Return the command that runs the cell of a place of a table.

    Options that its search chooses (by their dotted paths) are left out: what a table states of
    them for all its columns has no effect there, and `mklbench run` refuses it.
    """
    without = tuple(f"{path}=" for path in chosen)
    given = [text for text in slot.overrides if not (without and text.startswith(without))]
    words = ["mklbench", "run", *given]
    if slot.config_dir is not None:
        words += ["--config-dir", slot.config_dir]
    return shlex.join(words)


def _asked_for(slot: Slot) -> dict[str, str]:
    """Return the names of the configs of a cell that has no record to tell them."""
    given = dict(override.split("=", 1) for override in slot.overrides)
    return {name: given[name] for name in ("algo", "kernel", "data", "search") if name in given}


def describe(
    records: Sequence[Record], status: str, n_splits: int, message: str = ""
) -> dict[str, Any]:
    """Return what the page knows of one cell.

    Parameters
    ----------
    records : sequence of Record
        One a split that was tried.
    status, n_splits, message
        As of `SlotRecords`.

    Returns
    -------
    A JSON object. ``mean`` and ``split`` have, by the name of a metric of `SHOWN`, the mean and
    standard deviation over the finished splits and the values by split: one value where all are
    equal. ``splits`` are the numbers of the finished splits. ``descent`` is the course of the fit
    on the first split that has one, with the number of that ``split``; absent where none has.
    """
    done = [record for record in records if record.is_done]
    first = done[0] if done else (records[0] if records else None)
    metrics = {name: METRICS[name] for name in SHOWN}
    values = {name: [metric.value(r) for r in done] for name, metric in metrics.items()}
    samples = {
        name: Sample.of([value for value in of_metric if value is not None])
        for name, of_metric in values.items()
    }
    described: dict[str, Any] = {
        "algo": first.algo if first else "",
        "kernel": first.kernel if first else "",
        "data": first.data if first else "",
        "search": first.search if first else "",
        "status": status,
        "message": message,
        "n": n_splits,
        "n_train": first.n_train if first else None,
        "n_test": first.n_test if first else None,
        "cpu": "; ".join(cpu_models(done)),
        "splits": _numbers([record.split for record in done]),
        "C": _packed([rounded(record.C, 3) for record in done]),
        "mean": {
            name: [rounded(sample.mean, 17), rounded(sample.std, 3)]  # methods are ranked by it
            for name, sample in samples.items()
            if sample is not None
        },
        "split": {
            name: _packed([rounded(value, SHOWN[name]) for value in of_metric])
            for name, of_metric in values.items()
            if samples[name] is not None
        },
    }
    if (followed := next((record for record in done if record.descent), None)) is not None:
        described["descent"] = {"split": followed.split, **(followed.descent or {})}
    return described


def rounded(value: float | None, digits: int) -> float | int | None:
    """Return a number with so many significant digits, a whole number as such."""
    if value is None:
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e9 else short


def _packed(values: Sequence[Any]) -> Any:
    """Return one value where all are equal, as of a parameter that was not searched."""
    return values[0] if values and all(value == values[0] for value in values) else list(values)


def _numbers(splits: Sequence[int]) -> Any:
    """Return the number of splits where they are 0, 1, 2, ...; or else the list of them."""
    return len(splits) if list(splits) == list(range(len(splits))) else list(splits)
