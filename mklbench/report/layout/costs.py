"""What the methods of a ranking cost beside what they gain: time of selection and training."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from mklbench.report.analysis.assemble import Report, compared_splits
from mklbench.report.document.blocks import Block, Entry, Grid, Heading, Paragraph
from mklbench.report.layout.evidence import pair_of
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Column, Ranking

TIME = METRICS["total_time"]


@dataclass(frozen=True)
class Cost:
    """What one method takes and gains, held against another on the sets where both are done.

    Attributes
    ----------
    column : Column
        The method.
    hours : float
        Of selection and training, over all splits of all its sets.
    n_sets : int
        On which both are done.
    ratio : float
        Median over these sets of the mean time of a split over that of the other method.
    gain : float
        Mean over these sets, in the printed unit; positive where the method is better.
    """

    column: Column
    hours: float
    n_sets: int
    ratio: float
    gain: float


def costs_of(report: Report, ranking: Ranking, reference: str) -> list[Cost]:
    """Return what each method costs that shares a set with `reference`, cheapest first."""
    found = []
    for column in report.table.columns:
        ratios = list(_ratios(report, ranking, column, reference))
        gains = pair_of(report, ranking, report.table.rows, column.name, reference).means
        if ratios and gains:
            cost = Cost(
                column=column,
                hours=_hours(report, ranking, column),
                n_sets=len(ratios),
                ratio=statistics.median(ratios),
                gain=statistics.fmean(gains),
            )
            found.append(cost)
    return sorted(found, key=lambda cost: cost.ratio)


def cost_blocks(report: Report) -> Iterator[Block]:
    """Yield what each method costs, held against the first of the references."""
    ranking = report.table.ranking
    if ranking is None or ranking.rope is None or not ranking.references:
        return
    reference = ranking.references[0]
    costs = costs_of(report, ranking, reference)
    if len(costs) < 2:
        return
    label = report.table.label_of(reference)
    metric = METRICS[ranking.metric]
    yield Heading(2, "What it costs")
    yield Paragraph(
        "Time of selection and training: the search of the hyperparameters, the kernels and the "
        "fit of every split. It is summed over the cells that are done, and held against that of "
        f"{label}, set by set, where both are done: the median over the sets of the quotient of "
        "two means. Cells that were stopped are not in it."
    )
    headings = [
        "Method", "sets", "hours", f"times {label}", f"mean gain, {metric.difference_unit}"
    ]  # fmt: skip
    yield Grid(headings, [_line(cost, cost.column.name == reference) for cost in costs])


def _line(cost: Cost, is_reference: bool) -> list[Entry]:
    return [
        Entry(cost.column.label),
        Entry(str(cost.n_sets)),
        Entry(f"{cost.hours:.2g}"),
        Entry(f"{cost.ratio:.2g}" if cost.ratio < 100 else f"{cost.ratio:.0f}"),
        Entry("" if is_reference else f"{cost.gain:+.2f}"),
    ]


def _hours(report: Report, ranking: Ranking, column: Column) -> float:
    places = ((row.name, column.name, ranking.protocol) for row in report.table.rows)
    cells = [report.slots[place][1] for place in places if place in report.slots]
    return sum(sum(found.values(TIME)) for found in cells) / 3600.0


def _ratios(report: Report, ranking: Ranking, column: Column, reference: str) -> Iterator[float]:
    """Yield, set by set, the mean time of a method over that of the reference, on one CPU model."""
    for row in report.table.rows:
        first, second = ((row.name, name, ranking.protocol) for name in (column.name, reference))
        compared = compared_splits(report.slots, first, second, TIME)
        samples = None if compared is None else compared.samples
        if samples is not None and samples[1].mean > 0.0:
            yield samples[0].mean / samples[1].mean
