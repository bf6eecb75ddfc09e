"""What is told of one number where the reader points at it: all that its place has no room for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from mklbench.report.analysis.assemble import Number, Report
from mklbench.report.document import NOTHING
from mklbench.report.layout.entries import (
    format_count,
    format_difference,
    format_sample,
    setting,
)
from mklbench.report.layout.notes import Ending
from mklbench.report.table.metrics import Metric
from mklbench.report.table.paper_table import LedgerEntry
from mklbench.report.table.verdict import Sample, Verdict

# What may be said of a number: its verdict, or without one the state of its cell.
VERDICTS = [*map(str, Verdict), "incomplete", "failed", "timeout", "missing", "done"]


def number_content(report: Report, number: Number, cell: int) -> dict[str, Any]:
    """Return what is told of a number, as texts.

    Parameters
    ----------
    report : Report
        Its table.
    number : Number
        The number.
    cell : int
        The number of its cell among those of the page.

    Returns
    -------
    A JSON object. Its place says where it stands; ``verdict`` is its number in `VERDICTS`;
    ``ledger`` are the entries of the table's ledger that speak of this number alone
    or of few; those that hold for the whole table are left out.
    """
    metric = number.metric
    _, found = report.slots[number.slot.place]
    told: dict[str, Any] = {
        "mean": NOTHING if number.measured is None else exact(metric, number.measured.mean),
        "sd": _spread(metric, number.measured),
        "splits": format_count(number),
        "verdict": VERDICTS.index(number.verdict or number.status),
        "cell": cell,
    }
    if ledger := ledger_of(report.table.ledger, number):
        told["ledger"] = ledger
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


def exact(metric: Metric, value: float) -> str:
    """Print a value with two digits more than its table has."""
    return f"{value:.4g}" if metric.decimals is None else f"{value:.{metric.decimals + 2}f}"


def _spread(metric: Metric, measured: Sample | None) -> str:
    if measured is None or measured.std is None:
        return NOTHING
    return exact(metric, measured.std)


def _chosen(report: Report, number: Number) -> str:
    """Print the hyperparameters that the search chose, the most frequent first."""
    _, found = report.slots[number.slot.place]
    counts = Counter(tuple(sorted((record.params or {}).items())) for record in found.done)
    most = [(params, count) for params, count in counts.most_common(3) if params]
    texts = [f"{setting(params)} ({count})" for params, count in most]
    return "; ".join(texts) + ("; …" if len(counts) > len(most) and texts else "")


def ledger_of(ledger: Sequence[LedgerEntry], number: Number) -> list[int]:
    """Return the places in the ledger of what concerns a number, but not the whole table."""
    return [
        place
        for place, entry in enumerate(ledger)
        if not entry.is_general and concerns(entry, number)
    ]


def concerns(entry: LedgerEntry, number: Number) -> bool:
    """Tell whether an entry of the ledger speaks of a number, perhaps among others."""
    slot = number.slot
    limits = (
        (entry.rows, slot.row.name),
        (entry.columns, slot.column.name),
        (entry.protocols, slot.protocol.name),
        (entry.metrics, number.metric.name),
    )
    return all(names is None or name in names for names, name in limits)
