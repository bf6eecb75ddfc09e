"""On which CPU models the times of a table were measured, and which of them can be compared.

Seconds on one CPU model say nothing of seconds on another. So quotients, differences, ranks and
growth of times are formed of the records of one model alone, and not at all where the cells have
none in common. All other quantities are compared as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from mklbench.experiments.record import Record
from mklbench.report.table.metrics import Metric
from mklbench.report.table.verdict import Sample

# What records stand for that name no CPU. Those of one machine all name none, and can be compared
# with one another, but with no others.
NOT_NAMED = "a CPU that is not named"

Models = tuple[str, ...]


def cpu_model(record: Record) -> str:
    """Return the CPU model on which a record was timed."""
    return record.cpu or NOT_NAMED


def cpu_models(records: Iterable[Record]) -> Models:
    """Return the CPU models of records, each once, in alphabetical order."""
    return tuple(sorted(set(map(cpu_model, records))))


class Side(NamedTuple):
    """The finished records of a cell that is compared with others, and what to call it."""

    label: str
    records: Sequence[Record]


@dataclass(frozen=True)
class Compared:
    """What of some cells can be compared with one another.

    Attributes
    ----------
    values : tuple of mapping of int to float
        By split, of each cell.
    limit : str
        Which records these are of, if not of all, or why there is nothing to compare.
    """

    values: tuple[Mapping[int, float], ...]
    limit: str = ""

    @property
    def samples(self) -> tuple[Sample, ...] | None:
        """Mean and spread of each cell; None unless each of them has a value."""
        samples = [Sample.of(list(of_cell.values())) for of_cell in self.values]
        known = tuple(sample for sample in samples if sample is not None)
        return known if len(known) == len(samples) else None


def on_one_model(sides: Sequence[Side], metric: Metric) -> Compared:
    """Return the values of cells whose means are to be compared.

    Of times it is those of one CPU model: of the models that all cells have the one that leaves
    the most records to the cell with the fewest.
    """
    if not metric.is_time:
        return Compared(tuple(metric.by_split(side.records) for side in sides))
    timed = [_timed(side, metric) for side in sides]
    counts = [Counter(map(cpu_model, side.records)) for side in timed]
    shared = set(chain.from_iterable(counts)).intersection(*counts)
    if not shared and all(counts):
        return _nothing(timed)
    model = min(shared, key=lambda name: (-min(c[name] for c in counts), name), default=None)
    kept = [Side(s.label, [r for r in s.records if cpu_model(r) == model]) for s in timed]
    parts = [
        f"{len(few.records)} of {len(every.records)} of {few.label}"
        for few, every in zip(kept, timed, strict=True)
        if len(few.records) < len(every.records)
    ]
    limit = f"only the splits timed on {model}: {', '.join(parts)}" if parts else ""
    return Compared(tuple(metric.by_split(side.records) for side in kept), limit)


def split_by_split(pair: Sequence[Side], metric: Metric) -> Compared:
    """Return the values of two cells that are to be compared split by split.

    Of times it is those of the splits that both have on the same CPU model.
    """
    sides = [_timed(side, metric) for side in pair]
    values = tuple(metric.by_split(side.records) for side in sides)
    if not metric.is_time:
        return Compared(values)
    models = [{record.split: cpu_model(record) for record in side.records} for side in sides]
    common = values[0].keys() & values[1].keys()
    alike = {split for split in common if models[0][split] == models[1][split]}
    if alike == common:
        return Compared(values)
    if not alike:
        have_some = set(cpu_models(sides[0].records)) & set(cpu_models(sides[1].records))
        return _nothing(sides, ", but no split of both on one" if have_some else "")
    kept = tuple({split: of_side[split] for split in sorted(alike)} for of_side in values)
    return Compared(kept, f"only {len(alike)} of {len(common)} splits, each timed on one CPU model")


def _timed(side: Side, metric: Metric) -> Side:
    """Leave out the records that have no value."""
    return Side(side.label, [r for r in side.records if metric.value(r) is not None])


def _nothing(sides: Sequence[Side], further: str = "") -> Compared:
    """Say that cells cannot be compared, and why."""
    names = [(side.label, " and ".join(cpu_models(side.records))) for side in sides]
    (first, models), *others = names
    text = ", ".join([f"{first} was timed on {models}", *(f"{a} on {b}" for a, b in others)])
    return Compared(tuple({} for _ in sides), f"not formed: {text}{further}")


@dataclass(frozen=True)
class TimedOn:
    """The CPU models of the cells of a table that show times.

    Attributes
    ----------
    cells : mapping of (str, str, str) to tuple of str
        Models of the finished records, by the names of row, column and protocol.
    main : str or None
        The model of most of these records; None where there are none.
    """

    cells: Mapping[tuple[str, str, str], Models]
    main: str | None

    @classmethod
    def of(cls, cells: Mapping[tuple[str, str, str], Sequence[Record]]) -> TimedOn:
        """Read it from the finished records of the cells that show times."""
        counts = Counter(map(cpu_model, chain.from_iterable(cells.values())))
        return cls(
            {place: cpu_models(records) for place, records in cells.items() if records},
            min(counts, key=lambda name: (-counts[name], name), default=None),
        )

    @property
    def others(self) -> list[Models]:
        """What other cells than those of `main` alone were timed on; mixtures come last."""
        found = {models for models in self.cells.values() if models != (self.main,)}
        return sorted(found, key=lambda models: (len(models), models))
