"""On which CPU models the times of a table were measured, and which of them can be compared.

Seconds on one CPU model say nothing of seconds on another. So quotients, differences, ranks and
growth of times are formed of the records of one model alone, and not at all where the runs have
none in common. All other quantities are compared as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from mklbench.experiments.record import Record
from mklbench.report.table.metrics import Metric

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


Values = list[dict[int, float]]


def comparable(runs: Sequence[Sequence[Record]], metric: Metric) -> Values | None:
    """Return the values by split of runs that are compared; None where there are none.

    Of times they are those of the splits that all of the runs have on the same CPU model.
    """
    values = [metric.by_split(run) for run in runs]
    if metric.is_time:
        models = [{record.split: cpu_model(record) for record in run} for run in runs]
        common = sorted(set(values[0]).intersection(*values))
        alike = [split for split in common if len({of[split] for of in models}) == 1]
        if len(alike) < len(common) or not common:
            values = [{split: of_run[split] for split in alike} for of_run in values]
    return values if all(values) else None


@dataclass(frozen=True)
class TimedOn:
    """The CPU models of the runs of a table that show times.

    Attributes
    ----------
    runs : mapping of (str, str, str) to tuple of str
        Models of the finished records, by the names of row, column and protocol.
    main : str or None
        The model of most of these records; None where there are none.
    """

    runs: Mapping[tuple[str, str, str], Models]
    main: str | None

    @classmethod
    def of(cls, runs: Mapping[tuple[str, str, str], Sequence[Record]]) -> TimedOn:
        """Read it from the finished records of the runs that show times."""
        counts = Counter(map(cpu_model, chain.from_iterable(runs.values())))
        return cls(
            {place: cpu_models(records) for place, records in runs.items() if records},
            min(counts, key=lambda name: (-counts[name], name), default=None),
        )

    @property
    def others(self) -> list[Models]:
        """What other runs than those of `main` alone were timed on; mixtures come last."""
        found = {models for models in self.runs.values() if models != (self.main,)}
        return sorted(found, key=lambda models: (len(models), models))
