"""Methods ranked over data sets, and whether one does better than another, from the records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.experiments.record import Record
from mklbench.report.analysis.assemble import Report, compared_means, compared_splits
from mklbench.report.analysis.cpu_models import Compared
from mklbench.report.analysis.significance import (
    LEVEL,
    corrected_p_value,
    critical_difference,
    holm,
    signed_rank_p_value,
)
from mklbench.report.document import NOTHING, Grid, Part, definitions
from mklbench.report.layout.notes import limit_notes
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import Column, Comparison, Ranking, Row

Array = NDArray[np.float64]

RULE = (
    f"Better and worse are where a corrected resampled t-test over the splits of a set finds a "
    f"difference at the {100 * LEVEL:.0f} % level, alike is where it finds none."
)


@dataclass(frozen=True)
class Tally:
    """Labels of the rows where a method is better than another, alike and worse.

    `limits` say by row which times of other CPU models do not count
    (`mklbench.report.analysis.cpu_models.Compared`).
    """

    better: tuple[str, ...]
    alike: tuple[str, ...]
    worse: tuple[str, ...]
    limits: Mapping[str, str]

    @property
    def text(self) -> str:
        """The three counts, better first."""
        return " / ".join(str(len(rows)) for rows in (self.better, self.alike, self.worse))

    @property
    def is_empty(self) -> bool:
        """Whether there is no row where both are done and can be compared."""
        return not (self.better or self.alike or self.worse)


def tally(report: Report, column: str, against: str, protocol: str, metric: Metric) -> Tally:
    """Compare two columns on every row where both are done and can be compared."""
    found: dict[int, list[str]] = {1: [], 0: [], -1: []}
    limits = {}
    for row in report.table.rows:
        places = ((row.name, column, protocol), (row.name, against, protocol))
        compared = compared_splits(report.slots, *places, metric)
        if compared is None:
            continue
        if compared.limit:
            limits[row.label] = compared.limit
        if compared.samples is not None:
            _, run = report.slots[places[0]]
            outcome = _outcome(compared, run.done[0], metric)
            found[outcome].append(row.label)
    return Tally(tuple(found[1]), tuple(found[0]), tuple(found[-1]), limits)


def _outcome(compared: Compared, record: Record, metric: Metric) -> int:
    """Return 1 if the first of two runs is better, -1 if it is worse, 0 if they are alike."""
    assert compared.samples is not None
    assert record.n_test is not None
    assert record.n_train is not None
    one, other = compared.values
    if corrected_p_value(one, other, record.n_test / record.n_train) >= LEVEL:
        return 0
    first, second = (sample.mean for sample in compared.samples)
    return 1 if (first < second) == metric.lower_is_better else -1


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


def rank_methods(report: Report, ranking: Ranking | None) -> Ranks | None:
    """Rank the methods of a table; None unless there are two complete sets and three methods."""
    if ranking is None:
        return None
    from scipy.stats import friedmanchisquare, rankdata

    table, metric = report.table, METRICS[ranking.metric]
    rows = tuple(row for row in table.rows if _means(report, ranking, row, table.columns))
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


def ranking_parts(report: Report) -> Iterator[Part]:
    """Yield the ranks and, for each method they are held against, an answer."""
    ranking = report.table.ranking
    if ranking is None:
        return
    found = rank_methods(report, ranking)
    limits = _limits(report, ranking)
    if found is None:
        if limits:
            yield "## Ranks"
            yield from limit_notes(limits)
        return
    held = [_HeldAgainst(report, ranking, reference) for reference in ranking.references]
    yield "## Ranks"
    yield _grid(ranking, found, held)
    yield _about(report, ranking, found)
    for one in held:
        for column in one.others:
            of_pair = one.tallies[column.name].limits
            where = f"{column.label} against {one.reference.label}"
            limits |= {f"{where}, {row}": limit for row, limit in of_pair.items()}
    yield from limit_notes(limits)
    yield (
        "vs. a method: on how many sets better / alike / worse, and for methods that learn a "
        "combination the p-value of Wilcoxon's signed-rank test over the sets, Holm-corrected for "
        f"the number of these. {RULE}"
    )
    yield "## Does learning the combination pay?"
    for one in held:
        yield _answer(ranking, one)


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
    headings = ["Method", "rank", metric.heading]
    for one in held:
        headings += [f"vs. {one.reference.label}", "p"]
    lines = []
    for i in np.argsort(found.mean_ranks, kind="stable"):
        column = found.columns[i]
        line = [column.label, f"{found.mean_ranks[i]:.2f}"]
        line.append(metric.format(float(found.means[:, i].mean())))
        for one in held:
            is_itself = column.name == one.reference.name
            line.append("" if is_itself else one.tallies[column.name].text)
            p_value = one.p_values.get(column.name)
            line.append("" if p_value is None else f"{p_value:.2g}")
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


def comparison_parts(report: Report) -> Iterator[Part]:
    """Yield the questions of the table, with one answer for each protocol."""
    table = report.table
    if not table.comparisons:
        return
    yield "## Comparisons"
    yield f"On how many sets the first is better / alike / worse. {RULE}"
    items, limits = [], {}
    for comparison in table.comparisons:
        metric = METRICS[comparison.metric]
        tallies = {
            protocol.label: tally(
                report, comparison.column, comparison.against, protocol.name, metric
            )
            for protocol in table.protocols
        }
        answers = [f"{label}: {_tally_text(one)}" for label, one in tallies.items()]
        if len(tallies) > 1:
            answers.insert(0, f"{_in_short(comparison, list(tallies.values()))}.")
        items.append((f"{comparison.label} ({metric.heading})", answers))
        for label, one in tallies.items():
            for row, limit in one.limits.items():
                limits[f"{comparison.label}, {label}, {row}"] = limit
    yield definitions(items)
    yield from limit_notes(limits)


def _tally_text(found: Tally) -> str:
    if found.is_empty:
        return NOTHING
    names = [
        f"{word} on {', '.join(rows)}"
        for word, rows in (("better", found.better), ("worse", found.worse))
        if rows
    ]
    return f"{found.text} ({'; '.join(names)})" if names else found.text


def _in_short(comparison: Comparison, tallies: list[Tally]) -> str:
    """Say what holds under every protocol."""
    known = [one for one in tallies if not one.is_empty]
    if len(known) < len(tallies):
        return "not formed" if any(one.is_empty and one.limits for one in tallies) else "not done"
    gains = any(one.better for one in known)
    losses = any(one.worse for one in known)
    if gains and losses:
        return "depends on the set or the protocol"
    if not gains and not losses:
        return "no difference found"
    word = "better" if gains else "worse"
    everywhere = all((one.better if gains else one.worse) for one in known)
    protocols = "every" if everywhere else "some"
    return f"{word} on some set under {protocols} protocol, never the other way"
