"""How a metric grows along the sweep of a table: points and a power law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Report
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Protocol, Row, Sweep
from mklbench.report.table.verdict import Sample


@dataclass(frozen=True)
class Curve:
    """A metric of one column on one row, along the cells of the sweep that are done.

    Attributes
    ----------
    sizes : tuple of float
        What the metric is shown against (`Sweep.axis`), one a cell.
    samples : tuple of Sample
        Mean and spread of the metric over the splits of the cell.
    """

    sizes: tuple[float, ...]
    samples: tuple[Sample, ...]

    @property
    def exponent(self) -> float | None:
        """The p of mean = c size^p; None for less than two points, or a mean that is not > 0."""
        means = [sample.mean for sample in self.samples]
        if len(means) < 2 or min(means) <= 0.0:
            return None
        return power_law(self.sizes, means)[0]


def power_law(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Return p and c of value = c size^p, by least squares on the logarithms."""
    exponent, logarithm = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(exponent), float(np.exp(logarithm))


def size_at(report: Report, sweep: Sweep, row: Row, position: int) -> float | None:
    """Return what stands on the axis for the value of the sweep at `position`, on one row.

    None where the axis is a metric of which there is no record yet.
    """
    if sweep.axis is None:
        return sweep.values[position]
    protocol, metric = report.table.protocols[position], METRICS[sweep.axis]
    values = [
        value
        for column in report.table.columns
        if (row.name, column.name, protocol.name) in report.slots
        for value in report.slots[row.name, column.name, protocol.name][1].values(metric)
    ]
    return float(np.mean(values)) if values else None


def curve(report: Report, sweep: Sweep, row: Row, column: str, metric: str) -> Curve:
    """Return the curve of a metric from the records of a report."""
    points = []
    for position, protocol in enumerate(report.table.protocols):
        size = size_at(report, sweep, row, position)
        sample = _sample(report, row, column, protocol, metric)
        if size is not None and sample is not None:
            points.append((size, sample))
    return Curve(tuple(size for size, _ in points), tuple(sample for _, sample in points))


def _sample(
    report: Report, row: Row, column: str, protocol: Protocol, metric: str
) -> Sample | None:
    _, found = report.slots.get((row.name, column, protocol.name), (None, None))
    if found is None or found.status != DONE:
        return None
    return Sample.of(found.values(METRICS[metric]))
