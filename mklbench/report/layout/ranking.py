"""Methods ranked over data sets, and the answer to whether learning a combination pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.report.analysis.assemble import Report, compared_means
from mklbench.report.analysis.cpu_models import Compared
from mklbench.report.analysis.significance import (
    LEVEL,
    critical_difference,
    holm,
    signed_rank_p_value,
)
from mklbench.report.document.blocks import Block, Entry, Grid, Heading, Paragraph
from mklbench.report.layout.comparisons import RULE, Tally, tally
from mklbench.report.layout.timed_on import limit_notes
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Column, Ranking, Row

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ranks:
    """Methods on the data sets where all of them are done.

    Attributes
    ----------
    columns : tuple of Column
        The methods.
    rows : tuple of Row
        The data sets.
    means : ndarray of shape (n_sets, n_methods)
        Mean of the metric over the splits.
    ranks : ndarray
        (n_sets, n_methods) 1 for the best method of a set; methods that tie share the mean.
    p_value : float
        Of Friedman's test that all methods have the same mean rank.
    critical_difference : float
        Of two mean ranks, by Nemenyi's test.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    means: Array
    ranks: Array
    p_value: float
    critical_difference: float

    @property
    def mean_ranks(self) -> Array:
        """(n_methods,) mean over the sets."""
        return self.ranks.mean(axis=0)


def rank_methods(
    report: Report, ranking: Ranking | None, among: Sequence[Row] | None = None
) -> Ranks | None:
    """Rank the methods of a table; None unless there are two complete sets and three methods.

    Parameters
    ----------
    report : Report
        The table with its records.
    ranking : Ranking or None
        What it is ranked by; None: it is not.
    among : sequence of Row or None, default=None
        The sets that count; None: all of them.
    """
    if ranking is None:
        return None
    from scipy.stats import friedmanchisquare, rankdata

    table, metric = report.table, METRICS[ranking.metric]
    given = table.rows if among is None else among
    rows = tuple(row for row in given if _means(report, ranking, row, table.columns))
    if len(rows) < 2 or len(table.columns) < 3:
        return None
    means = np.array([_means(report, ranking, row, table.columns) for row in rows])
    ranks = rankdata(-metric.sign * means, axis=1)
    return Ranks(
        columns=table.columns,
        rows=rows,
        means=means,
        ranks=ranks,
        p_value=float(friedmanchisquare(*ranks.T).pvalue),
        critical_difference=critical_difference(len(table.columns), len(rows)),
    )


def ranking_blocks(report: Report) -> Iterator[Block]:
    """Yield the ranks and, for each method they are held against, an answer."""
    ranking = report.table.ranking
    if ranking is None:
        return
    found = rank_methods(report, ranking)
    limits = _limits(report, ranking)
    if found is None:
        if limits:
            yield Heading(2, "Ranks")
            yield from limit_notes(limits)
        return
    held = [_HeldAgainst(report, ranking, reference) for reference in ranking.references]
    yield Heading(2, "Ranks")
    yield Paragraph(_about(report, ranking, found))
    yield _grid(ranking, found, held)
    for one in held:
        for column in one.others:
            of_pair = one.tallies[column.name].limits
            where = f"{column.label} against {one.reference.label}"
            limits |= {f"{where}, {row}": limit for row, limit in of_pair.items()}
    yield from limit_notes(limits)
    yield Paragraph(
        "Against a method: on how many sets better / alike / worse, and for methods that learn a "
        "combination the p-value of Wilcoxon's signed-rank test over the sets, Holm-corrected for "
        f"the number of these. {RULE}"
    )
    yield Heading(2, "Does learning the combination pay?")
    for one in held:
        yield Paragraph(_answer(ranking, one))


class _HeldAgainst:
    """All methods held against one of them, on the sets where both are done."""

    def __init__(self, report: Report, ranking: Ranking, reference: str) -> None:
        metric = METRICS[ranking.metric]
        by_name = {column.name: column for column in report.table.columns}
        self.reference = by_name.pop(reference)
        self.others = list(by_name.values())
        self.tallies: dict[str, Tally] = {
            name: tally(report, name, reference, ranking.protocol, metric) for name in by_name
        }
        pairs = {name: _paired(report, ranking, by_name[name], self.reference) for name in by_name}
        sign = metric.sign
        self.gains = {
            name: sign * (np.array(mine) - np.array(theirs))
            for name, (mine, theirs) in pairs.items()
        }
        learners = [name for name in ranking.learners if name in pairs]
        raw = [signed_rank_p_value(*pairs[name]) for name in learners]
        self.p_values = dict(zip(learners, holm(raw), strict=True))
        self.n_sets = max(len(gain) for gain in self.gains.values())


def _means(
    report: Report, ranking: Ranking, row: Row, columns: Sequence[Column]
) -> list[float] | None:
    """Return the mean of each column on a row; None unless all are done and can be compared."""
    compared = _compared(report, ranking, row, columns)
    samples = None if compared is None else compared.samples
    return None if samples is None else [sample.mean for sample in samples]


def _compared(
    report: Report, ranking: Ranking, row: Row, columns: Sequence[Column]
) -> Compared | None:
    places = [(row.name, column.name, ranking.protocol) for column in columns]
    return compared_means(report.slots, places, METRICS[ranking.metric])


def _limits(report: Report, ranking: Ranking) -> dict[str, str]:
    """Return by row which times of other CPU models do not count in its ranks."""
    table = report.table
    found = {row.label: _compared(report, ranking, row, table.columns) for row in table.rows}
    return {label: one.limit for label, one in found.items() if one is not None and one.limit}


def _paired(report: Report, ranking: Ranking, *columns: Column) -> tuple[list[float], ...]:
    """Return the means of each of the columns on the sets where all of them are done."""
    found = [_means(report, ranking, row, columns) for row in report.table.rows]
    return tuple(map(list, zip(*(means for means in found if means), strict=True)))


def _about(report: Report, ranking: Ranking, found: Ranks) -> str:
    metric = METRICS[ranking.metric]
    ranked = ", ".join(row.label for row in found.rows)
    rest = [row.label for row in report.table.rows if row not in found.rows]
    text = f"Of the mean {metric.label} on the sets on which every method is done: {ranked}"
    text += f" (not on {', '.join(rest)}). " if rest else ". "
    return text + (
        f"Friedman's test of equal ranks: p = {found.p_value:.2g}. Two mean ranks differ by "
        f"Nemenyi's test at the {100 * LEVEL:.0f} % level where they are "
        f"{found.critical_difference:.1f} or more apart."
    )


def _grid(ranking: Ranking, found: Ranks, held: Sequence[_HeldAgainst]) -> Grid:
    metric = METRICS[ranking.metric]
    headings = ["Method", "mean rank", f"mean {metric.heading}"]
    for one in held:
        headings += [f"against {one.reference.label}", "p"]
    lines = []
    for i in np.argsort(found.mean_ranks, kind="stable"):
        column = found.columns[i]
        line = [Entry(column.label), Entry(f"{found.mean_ranks[i]:.2f}")]
        line.append(Entry(metric.format(float(found.means[:, i].mean()))))
        for one in held:
            is_itself = column.name == one.reference.name
            line.append(Entry("" if is_itself else one.tallies[column.name].text))
            p_value = one.p_values.get(column.name)
            line.append(Entry("" if p_value is None else f"{p_value:.2g}"))
        lines.append(line)
    return Grid(headings, lines)


def _answer(ranking: Ranking, held: _HeldAgainst) -> str:
    """Say in how far the methods that learn a combination beat the one they are held against."""
    learners = [column for column in held.others if column.name in ranking.learners]
    ahead = [c.label for c in learners if _majority(held.gains[c.name]) > 0]
    behind = [c.label for c in learners if _majority(held.gains[c.name]) < 0]
    tallies = [held.tallies[column.name] for column in learners]
    n_better, n_worse = (sum(len(t.better) for t in tallies), sum(len(t.worse) for t in tallies))
    n_pairs = n_better + n_worse + sum(len(t.alike) for t in tallies)
    different = [c for c in learners if held.p_values[c.name] < LEVEL]
    better = [c.label for c in different if _majority(held.gains[c.name]) > 0]
    worse = [c.label for c in different if _majority(held.gains[c.name]) <= 0]
    reference, n_tests = held.reference.label, len(learners)
    conclusion = (
        f"{', '.join(better)} beat it" if better else "these records do not show that learning pays"
    )
    return (
        f"Against {reference}: of {len(learners)} methods that learn a combination or its kernels, "
        f"{len(ahead)} are ahead on more sets than they are behind{_named(ahead)}, and "
        f"{len(behind)} are behind on more{_named(behind)}. Set by set they are better in "
        f"{n_better} of {n_pairs} comparisons, worse in {n_worse} and alike in the rest. Over the "
        f"sets the corrected signed-rank test finds {len(better)} better{_named(better)} and "
        f"{len(worse)} worse{_named(worse)}; from {held.n_sets} sets its p-value is never below "
        f"{2.0 ** (1 - held.n_sets):.2g}, and of {n_tests} tests the smallest counts {n_tests} "
        f"times. So {conclusion}."
    )


def _majority(gain: Array) -> float:
    """Return on how many more sets a gain is positive than negative."""
    return float(np.sign(gain).sum())


def _named(labels: Sequence[str]) -> str:
    return f" ({', '.join(labels)})" if labels else ""
