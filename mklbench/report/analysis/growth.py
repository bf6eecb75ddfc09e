"""How a metric grows along the sweep of a table: points and a power law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Report, comparable
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Row, Sweep
from mklbench.report.table.verdict import Sample


@dataclass(frozen=True)
class Curve:
    """A metric of one column on one row, along the runs of the sweep that are done.

    Attributes
    ----------
    sizes : tuple of float
        What the metric is shown against (`Sweep.axis`), one a run.
    samples : tuple of Sample
        Mean and spread of the metric over the splits of the run.
    comparable : tuple of Sample
        The same, of times over the splits on one CPU model; empty where the runs have none in
        common.
    """

    sizes: tuple[float, ...]
    samples: tuple[Sample, ...]
    comparable: tuple[Sample, ...]

    @property
    def exponent(self) -> float | None:
        """The p of mean = c size^p; None for less than two points, or a mean that is not > 0."""
        means = [sample.mean for sample in self.comparable]
        if len(means) < 2 or min(means) <= 0.0:
            return None
        return power_law(self.sizes, means)[0]


def power_law(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Return p and c of value = c size^p, by least squares on the logarithms."""
    exponent, logarithm = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(exponent), float(np.exp(logarithm))


def sweep_of(report: Report) -> Sweep:
    """Return the sweep of a table that has one, as was checked when it was read."""
    assert report.table.sweep is not None
    return report.table.sweep


def curve(report: Report, row: Row, column: str, metric: str) -> Curve:
    """Return the curve of a metric from the records of a report."""
    sweep, sizes, samples, runs = sweep_of(report), [], [], []
    for value, protocol in zip(sweep.values, report.table.protocols, strict=True):
        _, found = report.slots.get((row.name, column, protocol.name), (None, None))
        if found is None or found.status != DONE:
            continue
        axis = found.values(METRICS[sweep.axis]) if sweep.axis else [value]
        sample = Sample.of(found.values(METRICS[metric]))
        if sample is not None and axis:
            sizes.append(float(np.mean(axis)))
            samples.append(sample)
            runs.append(found.done)
    alike = comparable(runs, METRICS[metric]) if runs else None
    means = (Sample.of(list(values.values())) for values in alike or ())
    known = tuple(sample for sample in means if sample is not None)
    return Curve(tuple(sizes), tuple(samples), known)
