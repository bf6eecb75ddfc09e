"""Methods ranked over data sets, and whether one does better than another, from the records."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.report.analysis.assemble import Report, compared, compared_means
from mklbench.report.analysis.significance import (
    LEVEL,
    corrected_p_value,
    critical_difference,
    holm,
    signed_rank_p_value,
)
from mklbench.report.document import NOTHING, Grid, Part, definitions
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import Column, Ranking, Row

Array = NDArray[np.float64]

RULE = (
    f"Better and worse are where a corrected resampled t-test over the splits of a set finds a "
    f"difference at the {100 * LEVEL:.0f} % level, alike is where it finds none."
)


@dataclass(frozen=True)
class Tally:
    """Labels of the rows where a method is better than another, alike and worse."""

    better: list[str]
    alike: list[str]
    worse: list[str]

    @property
    def text(self) -> str:
        """The three counts, better first; a dash without a row where both can be compared."""
        counts = [len(self.better), len(self.alike), len(self.worse)]
        return " / ".join(map(str, counts)) if any(counts) else NOTHING


def tally(report: Report, column: str, against: str, protocol: str, metric: Metric) -> Tally:
    """Compare two columns on every row where both are done and can be compared."""
    found = Tally([], [], [])
    for row in report.table.rows:
        places = [(row.name, name, protocol) for name in (column, against)]
        values = compared(report.slots, places, metric)
        if values is None:
            continue
        one, other = values
        if corrected_p_value(one, other, report.slots[places[0]][1].test_share) >= LEVEL:
            found.alike.append(row.label)
            continue
        first, second = (statistics.fmean(side.values()) for side in (one, other))
        is_better = (first < second) == metric.lower_is_better
        (found.better if is_better else found.worse).append(row.label)
    return found


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
    mean_ranks : ndarray of shape (n_methods,)
        Over the sets; 1 for the best method of a set, and methods that tie share the mean.
    p_value : float
        Of Friedman's test that all methods have the same mean rank.
    critical_difference : float
        Of two mean ranks, by Nemenyi's test.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    means: Array
    mean_ranks: Array
    p_value: float
    critical_difference: float


def rank_methods(report: Report, ranking: Ranking | None) -> Ranks | None:
    """Rank the methods of a table; None unless there are two complete sets and three methods."""
    if ranking is None:
        return None
    from scipy.stats import friedmanchisquare, rankdata

    table, metric = report.table, METRICS[ranking.metric]
    names = [column.name for column in table.columns]
    found = {row: of for row in table.rows if (of := _means(report, ranking, row, names))}
    if len(found) < 2 or len(names) < 3:
        return None
    means = np.array(list(found.values()))
    ranks = rankdata(-metric.sign * means, axis=1)
    return Ranks(
        columns=table.columns,
        rows=tuple(found),
        means=means,
        mean_ranks=ranks.mean(axis=0),
        p_value=float(friedmanchisquare(*ranks.T).pvalue),
        critical_difference=critical_difference(len(names), len(found)),
    )


def ranking_parts(report: Report) -> Iterator[Part]:
    """Yield the ranks, and how each method does against those that it is held against."""
    table, ranking = report.table, report.table.ranking
    found = rank_methods(report, ranking)
    if ranking is None or found is None:
        return
    metric = METRICS[ranking.metric]
    headings = ["Method", "rank", metric.heading]
    lines = {
        column.name: [column.label, f"{rank:.2f}", metric.format(float(mean))]
        for column, rank, mean in zip(
            found.columns, found.mean_ranks, found.means.mean(axis=0), strict=True
        )
    }
    for reference in ranking.references:
        headings += [f"vs. {table.label_of(reference)}", "p"]
        p_values = _p_values(report, ranking, reference)
        for name, line in lines.items():
            against = tally(report, name, reference, ranking.protocol, metric)
            line.append("" if name == reference else against.text)
            line.append(f"{p_values[name]:.2g}" if name in p_values else "")
    order = np.argsort(found.mean_ranks, kind="stable")
    yield "## Ranks"
    yield Grid(headings, [list(lines.values())[at] for at in order])
    yield _about(report, ranking, found)
    yield (
        "vs. a method: on how many sets better / alike / worse, and for methods that learn a "
        "combination the p-value of Wilcoxon's signed-rank test over the sets, Holm-corrected for "
        f"the number of these. {RULE}"
    )


def _p_values(report: Report, ranking: Ranking, reference: str) -> dict[str, float]:
    """Return the corrected p-value of each learner against a method, over the sets of both."""
    raw = {}
    for name in ranking.learners:
        if name != reference:
            means = [_means(report, ranking, row, (name, reference)) for row in report.table.rows]
            raw[name] = signed_rank_p_value(*zip(*filter(None, means), strict=True))
    return dict(zip(raw, holm(list(raw.values())), strict=True))


def _means(
    report: Report, ranking: Ranking, row: Row, columns: Sequence[str]
) -> list[float] | None:
    """Return the mean of each column on a row; None unless all are done and can be compared."""
    places = [(row.name, name, ranking.protocol) for name in columns]
    samples = compared_means(report.slots, places, METRICS[ranking.metric])
    # Without the last digits, which would turn a tie into a difference.
    return None if samples is None else [round(sample.mean, 9) for sample in samples]


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


def comparison_parts(report: Report) -> Iterator[Part]:
    """Yield the questions of the table, with one answer for each protocol."""
    table = report.table
    if not table.comparisons:
        return
    yield "## Comparisons"
    yield f"On how many sets the first is better / alike / worse. {RULE}"
    items = []
    for comparison in table.comparisons:
        metric = METRICS[comparison.metric]
        answers = []
        for protocol in table.protocols:
            found = tally(report, comparison.column, comparison.against, protocol.name, metric)
            better = f"better on {', '.join(found.better)}" if found.better else ""
            worse = f"worse on {', '.join(found.worse)}" if found.worse else ""
            names = "; ".join(filter(None, [better, worse]))
            answers.append(f"{protocol.label}: {found.text}{f' ({names})' if names else ''}")
        items.append((f"{comparison.label} ({metric.heading})", answers))
    yield definitions(items)
