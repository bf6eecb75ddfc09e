"""By which sources the cells of a table were measured: those at hand now, or others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from mklbench.experiments.record import Record
from mklbench.report.analysis.assemble import Place, Report, SlotRecords
from mklbench.report.table.paper_table import Slot

# The parts of a fingerprint as they are called in a sentence.
_PARTS = {"algorithm": "the algorithm", "kernel": "the kernel", "runner": "what runs them"}

# What is said of a rerun, by its outcome (`mklbench.report.analysis.confirmed.Confirmation`).
_OUTCOMES = {
    "same": "and the same to the digits",
    "within": "and the same within its stopping rule",
    "moved": "which gave other numbers than are shown here",
}


class Origin(StrEnum):
    """What the records of a cell say of the sources that made them."""

    AT_HAND = "the sources at hand"
    OTHER = "other sources"
    NOT_RECORDED = "sources not recorded"


def origin(records: Iterable[Record], sources: Mapping[str, str]) -> Origin:
    """Return by which sources finished records of one cell were made.

    Parameters
    ----------
    records : iterable of Record
        At least one.
    sources : mapping of str to str
        The fingerprint of the cell's sources at hand (`mklbench.experiments.sources`).
    """
    recorded = [record.sources for record in records]
    if all(item == sources for item in recorded):
        return Origin.AT_HAND
    return Origin.OTHER if all(recorded) else Origin.NOT_RECORDED


def describe_origins(report: Report) -> Iterator[str]:
    """Yield sentences on the sources of the finished records, none where no cell has any."""
    cells: dict[Origin, list[Place]] = {}
    for place, (_, found) in report.slots.items():
        if found.done and found.sources is not None:
            cells.setdefault(origin(found.done, found.sources), []).append(place)
    if places := cells.get(Origin.AT_HAND):
        yield f"those at hand: {cells_text(report, places)}"
    if places := cells.get(Origin.OTHER):
        parts = _differing([report.slots[place][1] for place in places])
        yield (f"others than those at hand, which differ in {parts}: {cells_text(report, places)}")
    if places := cells.get(Origin.NOT_RECORDED):
        yield f"not recorded: {cells_text(report, places)}"
    yield from _reruns(report, [*cells.get(Origin.OTHER, ()), *cells.get(Origin.NOT_RECORDED, ())])


def _reruns(report: Report, places: Sequence[Place]) -> Iterator[str]:
    """Yield what reruns by the sources at hand have found of cells that others measured."""
    found: dict[str, list[Place]] = {}
    dates: dict[str, list[str]] = {}
    for place in places:
        if (known := report.slots[place][1].confirmation) is not None:
            found.setdefault(known.outcome, []).append(place)
            dates.setdefault(known.outcome, []).append(known.date)
    for outcome, meaning in _OUTCOMES.items():
        if outcome in found:
            first, last = min(dates[outcome]), max(dates[outcome])
            date = first if first == last else f"{first} to {last}"
            yield (
                f"one split run again by those at hand, {date}, {meaning}: "
                f"{cells_text(report, found[outcome])}"
            )


def _differing(found: Iterable[SlotRecords]) -> str:
    """Name the parts of the fingerprint in which any of the cells differs from what is at hand."""
    recorded = [
        (item.sources or {}, record.sources or {}) for item in found for record in item.done
    ]
    names = [
        name
        for part, name in _PARTS.items()
        if any(now.get(part) != then.get(part) for now, then in recorded)
    ]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def cells_text(report: Report, places: Sequence[Place]) -> str:
    """Name cells of a table with their number, in as few words as they allow.

    Columns of which all cells are meant are named alone, and a whole table is its number.
    """
    if len(places) == len(report.slots):
        return f"all {len(places)} cells" if len(places) > 1 else "the only cell"
    wanted = set(places)
    names = []
    for column in report.table.columns:
        of_column = [slot for slot, _ in report.slots.values() if slot.column == column]
        chosen = [slot for slot in of_column if slot.place in wanted]
        if chosen and len(chosen) == len(of_column):
            names.append(column.label)
        elif chosen:
            names.append(f"{column.label} ({'; '.join(_by_row(report, chosen))})")
    return f"{len(places)} of {len(report.slots)} cells: {', '.join(names)}"


def _by_row(report: Report, slots: Sequence[Slot]) -> Iterator[str]:
    """Yield the rows of some cells of one column, with their protocols where there are several."""
    protocols: dict[str, list[str]] = {}
    for slot in slots:
        protocols.setdefault(slot.row.label, []).append(slot.protocol.label)
    for row, labels in protocols.items():
        yield row if len(report.table.protocols) == 1 else f"{row}, {' and '.join(labels)}"
