"""The runs as the page knows them: what was run, and the numbers of every split, rounded."""

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
            told = describe(found.records, found.status, found.n_splits, found.message)
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
        told = describe(records, DONE if done else "incomplete", len(records), message)
        self.content.append(told | {"key": records[0].key, "command": "", "own": True})
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


def describe(
    records: Sequence[Record], status: str, n_splits: int, message: str = ""
) -> dict[str, Any]:
    """Return what the page knows of one run.

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
    first = next(iter(done or records), None)
    told: dict[str, Any] = {
        name: getattr(first, name, "") for name in ("algo", "kernel", "data", "search")
    }
    told |= {
        "status": status,
        "message": message,
        "n": n_splits,
        "n_train": first.n_train if first else None,
        "cpu": "; ".join(cpu_models(done)),
        "splits": _counted([record.split for record in done]),
        "C": _shortened([rounded(record.C, 3) for record in done]),
        "mean": {},
        "split": {},
    }
    for name, digits in SHOWN.items():
        values = [METRICS[name].value(record) for record in done]
        if sample := Sample.of([value for value in values if value is not None]):
            # Methods are ranked by the mean, which has all of its digits.
            told["mean"][name] = [rounded(sample.mean, 17), rounded(sample.std, 3)]
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


def _counted(splits: Sequence[int]) -> Any:
    """Return the number of splits where they are 0, 1, 2, ...; or else the list of them."""
    return len(splits) if list(splits) == list(range(len(splits))) else list(splits)
