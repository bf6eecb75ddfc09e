"""The notes on a page: how fits ended, on which CPU times were measured, what made the records.

All of them come from the records alone. A fit that met its rule has a certified gap of at most the
tolerance of its run where the rule is the certificate; a larger gap shows that it was another rule,
such as a small change of the objective.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mklbench.experiments.record import Record
from mklbench.report.analysis.assemble import Report, SlotRecords
from mklbench.report.analysis.cpu_models import Models
from mklbench.report.document import NOTHING, Part, definitions
from mklbench.report.layout.entries import letter
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import Column


def time_note(report: Report, metrics: Iterable[Metric]) -> Iterator[Part]:
    """Yield what the letters in a grid of `metrics` mean, if there is a time among these."""
    others = report.timed_on.others
    if others and any(metric.is_time for metric in metrics):
        parts = [f"{letter(i)} on {_named(models)}" for i, models in enumerate(others)]
        yield (
            f"Times without a letter were measured on {report.timed_on.main}; {'; '.join(parts)}. "
            "Times on two CPU models cannot be compared."
        )


def _named(models: Models) -> str:
    if len(models) == 1:
        return models[0]
    return f"{' and '.join(models)}, each in some splits"


_REPEATED = (
    "The numbers are those of the records. ● with a number: so many splits were run again here, "
    "and agree with their records within the stopping rule; ✗: a split gives something else, which "
    "is listed below; ○: recorded, and not compared, as no time is."
)


def repeat_blocks(report: Report) -> Iterator[Part]:
    """Yield what the marks mean, and all that moved."""
    if report.repeated is None:
        return
    yield _REPEATED
    moved = [
        (f"moved: {' '.join(place)}", found.moved)
        for place, found in report.repeated.items()
        if found.moved
    ]
    if moved:
        yield definitions(moved)


# Other in every run, or the date, which is shown as a range.
NOT_SHOWN = frozenset({"time", "started", "finished", "pid", "hostname", "host", "node", "job"})


def provenance_items(records: Sequence[Record]) -> list[tuple[str, Sequence[str]]]:
    """List every provenance field with its distinct values, and the range of the dates."""
    values: dict[str, dict[str, None]] = {}
    dates: set[str] = set()
    for record in records:
        for name, value in _flatten(record.provenance):
            if name.rpartition(".")[2] in NOT_SHOWN:
                if name == "time":
                    dates.add(str(value)[:10])
                continue
            values.setdefault(name, {})[_text(value)] = None
    items: list[tuple[str, Sequence[str]]] = [
        (name.replace("_", " "), ("; ".join(found),)) for name, found in sorted(values.items())
    ]
    if dates:
        first, last = min(dates), max(dates)
        items.append(("date", (first if first == last else f"{first} to {last}",)))
    return items


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and name != "versions":
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {version}" for name, version in value.items() if version)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return str(value)


# Of a solution in closed form, which has no tolerance, the gap is rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Ending:
    """How the finished fits of one run ended.

    Attributes
    ----------
    n_fits : int
        How many there are.
    n_stopped : int
        How many of them ended before their rule was met.
    stopped_gap : float or None
        The largest gap of those, or None where there are none or a gap is not known.
    met_gap : float or None
        The same of those that met their rule.
    tolerance : float
        The gap up to which the rule may have been the certificate.
    """

    n_fits: int
    n_stopped: int
    stopped_gap: float | None
    met_gap: float | None
    tolerance: float

    @classmethod
    def of(cls, found: SlotRecords) -> Ending:
        """Read it from the records of a run."""
        stopped = [record for record in found.done if record.converged is False]
        met = [record for record in found.done if record.converged is True]
        return cls(
            n_fits=len(found.done),
            n_stopped=len(stopped),
            stopped_gap=_largest_gap(stopped),
            met_gap=_largest_gap(met),
            tolerance=_tolerance(found.tolerances),
        )

    @property
    def by_another_rule(self) -> bool:
        """Whether a fit that met its rule has a gap that no rule on the gap would have left."""
        return self.met_gap is not None and self.met_gap > self.tolerance


def ending_summary(report: Report) -> str:
    """Say how many fits met their rule, and where it is not the gap; empty where none is done."""
    endings = [Ending.of(found) for _, found in report.slots.values()]
    n_fits, n_stopped = sum(e.n_fits for e in endings), sum(e.n_stopped for e in endings)
    if n_fits == 0:
        return ""
    largest = _largest([ending.stopped_gap for ending in endings if ending.n_stopped])
    gaps = "" if largest is None else f", at gaps of up to {_gap(largest)}"
    text = f"{n_stopped:,} of {n_fits:,} fits ended before their stopping rule was met{gaps}."
    if n_stopped == 0:
        text = f"All {n_fits:,} fits met their stopping rule."
    others = _columns_by_another_rule(report)
    if others:
        of_others = (found for slot, found in report.slots.values() if slot.column in others)
        met = max(Ending.of(found).met_gap or 0.0 for found in of_others)
        text += (
            f" {len(others)} of {len(report.table.columns)} methods "
            f"{'stops' if len(others) == 1 else 'stop'} by another rule than the duality gap; the "
            f"largest gap of a fit that met it is {_gap(met)}."
        )
    return text


def _columns_by_another_rule(report: Report) -> list[Column]:
    names = {
        slot.column.name
        for slot, found in report.slots.values()
        if Ending.of(found).by_another_rule
    }
    return [column for column in report.table.columns if column.name in names]


def _tolerance(tolerances: Mapping[str, float]) -> float:
    """Return the tolerance on the gap: `tol`, or LIBSVM's where a method is one SVM."""
    return tolerances.get("tol", tolerances.get("svm_tol", _ROUNDING))


def _largest_gap(records: Sequence[Record]) -> float | None:
    return _largest([record.gap for record in records])


def _largest(gaps: Sequence[float | None]) -> float | None:
    known = [gap for gap in gaps if gap is not None]
    return max(known) if known and len(known) == len(gaps) else None


def _gap(value: float | None) -> str:
    return NOTHING if value is None else METRICS["gap"].format(value)
