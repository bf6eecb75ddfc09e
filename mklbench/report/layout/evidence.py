"""How much the records of a ranking say: Bayesian tests, intervals of ranks, cliques, power."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mklbench.report.analysis.assemble import Report, compared_splits
from mklbench.report.analysis.bayesian import Regions, hierarchical_draws, signed_rank_draws
from mklbench.report.analysis.power import (
    POWER,
    cliques,
    detectable_on_a_set,
    detectable_over_sets,
    mean_rank_intervals,
)
from mklbench.report.analysis.significance import LEVEL
from mklbench.report.document.blocks import Block, Entry, Grid, Heading, Paragraph
from mklbench.report.layout.ranking import Ranks, rank_methods
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import Column, Ranking, Row

EVIDENCE = "How much these records say"
# Sets from which a distribution over sets can be learned at all.
LEAST_SETS = 3
# A region is called certain from this probability on.
CERTAIN = 0.95


@dataclass(frozen=True)
class Pair:
    """The gains of one method over another, split by split, on each set where both are done.

    Attributes
    ----------
    gains : tuple of tuple of float
        By set and split, in the printed unit; positive where the first method is better.
    test_shares : tuple of float
        Of each set, test samples divided by training samples.
    """

    gains: tuple[tuple[float, ...], ...]
    test_shares: tuple[float, ...]

    @property
    def means(self) -> list[float]:
        """Mean gain of each set."""
        return [statistics.fmean(gain) for gain in self.gains]


# A table is laid out once for each of its formats.
@lru_cache(maxsize=512)
def outcomes(pair: Pair, rope: float) -> tuple[Regions, Regions]:
    """Return the outcomes of the Bayesian signed-rank test and of the hierarchical t-test."""
    correlations = [share / (1.0 + share) for share in pair.test_shares]
    return (
        Regions.of(signed_rank_draws(pair.means, rope)),
        Regions.of(hierarchical_draws(pair.gains, correlations, rope)),
    )


def pair_of(report: Report, ranking: Ranking, rows: Sequence[Row], *names: str) -> Pair:
    """Return the gains of the first of two columns over the second on `rows`.

    Sets on which they have fewer than two splits in common are left out.
    """
    metric = METRICS[ranking.metric]
    sign = metric.sign
    gains, shares = [], []
    for row in rows:
        first, second = ((row.name, name, ranking.protocol) for name in names)
        compared = compared_splits(report.slots, first, second, metric)
        if compared is None or compared.samples is None:
            continue
        mine, theirs = compared.values
        common = sorted(mine.keys() & theirs.keys())
        record = report.slots[first][1].done[0]
        if len(common) < 2 or not record.n_train or not record.n_test:
            continue
        gains.append(tuple(sign * (mine[split] - theirs[split]) for split in common))
        shares.append(record.n_test / record.n_train)
    return Pair(tuple(gains), tuple(shares))


def evidence_blocks(report: Report, *, heading_only: bool = False) -> Iterator[Block]:
    """Yield, for each group of sets apart, what the records say and what they cannot say."""
    ranking = report.table.ranking
    if ranking is None or ranking.rope is None:
        return
    yield Heading(2, EVIDENCE)
    if heading_only:
        return
    yield Paragraph(_rule(ranking, ranking.rope))
    for label, rows in groups_of(report, ranking):
        for reference in ranking.references:
            yield from _against(report, ranking, label, rows, reference)
        ranks = rank_methods(report, ranking, rows)
        if ranks is not None:
            yield from _of_ranks(label, ranks)


def _rule(ranking: Ranking, rope: float) -> str:
    metric = METRICS[ranking.metric]
    return (
        f"Differences of less than {rope:g} {_unit(metric, rope)} count as none in "
        "practice. The three numbers are the probabilities that a method is worse, alike or better "
        "in this sense: by the Bayesian signed-rank test over the means of the sets (Benavoli et "
        "al. 2014), and by the hierarchical correlated t-test over all splits, which speaks of a "
        f"set not seen yet (Corani et al. 2017). From {CERTAIN:g} on an outcome is in bold. To be "
        f"found is to be found at the {100 * LEVEL:.0f} % level with probability {POWER:g}."
    )


def _unit(metric: Metric, value: float) -> str:
    return metric.difference_unit.removesuffix("s" if value == 1.0 else "")


def groups_of(report: Report, ranking: Ranking) -> Iterator[tuple[str, tuple[Row, ...]]]:
    """Yield the groups of sets that are looked at apart, by label; one of all sets without any."""
    if not ranking.groups:
        yield "all sets", report.table.rows
    for label, names in ranking.groups.items():
        yield label, tuple(row for row in report.table.rows if row.name in names)


def _against(
    report: Report, ranking: Ranking, label: str, rows: Sequence[Row], reference: str
) -> Iterator[Block]:
    """Yield the grid of the learners against one method on a group of sets, and its power."""
    columns = {column.name: column for column in report.table.columns}
    pairs = {
        name: pair_of(report, ranking, rows, name, reference)
        for name in ranking.learners
        if name != reference
    }
    pairs = {name: pair for name, pair in pairs.items() if len(pair.gains) >= LEAST_SETS}
    if not pairs:
        return
    metric = METRICS[ranking.metric]
    yield Paragraph(f"Against {columns[reference].label}, on {label}:")
    headings = [
        "Method", "sets", f"mean gain, {metric.difference_unit}", "signed-rank", "hierarchical"
    ]  # fmt: skip
    yield Grid(headings, [_line(columns[n], pair, ranking) for n, pair in pairs.items()])
    yield Paragraph(_power(pairs, metric.difference_unit))


def _line(column: Column, pair: Pair, ranking: Ranking) -> list[Entry]:
    assert ranking.rope is not None
    return [
        Entry(column.label),
        Entry(str(len(pair.gains))),
        Entry(f"{statistics.fmean(pair.means):+.2f}"),
        *map(_entry, outcomes(pair, ranking.rope)),
    ]


def _entry(found: Regions) -> Entry:
    values = (found.worse, found.alike, found.better)
    text = " / ".join(f"{value:.2f}" for value in values)
    return Entry(text, emphasis="bold" if max(values) >= CERTAIN else "")


def _power(pairs: Mapping[str, Pair], unit: str) -> str:
    over_sets = [detectable_over_sets(pair.means, len(pairs)) for pair in pairs.values()]
    on_a_set = [
        detectable_on_a_set(gain, share)
        for pair in pairs.values()
        for gain, share in zip(pair.gains, pair.test_shares, strict=True)
        if any(gain)
    ]
    alone = statistics.median(on_a_set) if on_a_set else math.nan
    return (
        f"What could have been found: a mean gain over such sets of "
        f"{statistics.median(over_sets):.1f} {unit} by the signed-rank test, corrected for "
        f"{len(pairs)} methods, and one of {alone:.1f} on a single set by the corrected resampled "
        "t-test (medians over the methods)."
    )


def _of_ranks(label: str, ranks: Ranks) -> Iterator[Block]:
    """Yield the mean ranks with their intervals, and which methods no test tells apart."""
    intervals = mean_rank_intervals(ranks.ranks)
    order = sorted(range(len(ranks.columns)), key=lambda i: float(ranks.mean_ranks[i]))
    yield Paragraph(
        f"Mean ranks on {label} ({len(ranks.rows)} on which every method is done), with 95 % "
        "intervals from resampling the sets:"
    )
    yield Grid(
        ["Method", "mean rank", "interval"],
        [
            [
                Entry(ranks.columns[i].label),
                Entry(f"{ranks.mean_ranks[i]:.2f}"),
                Entry(f"{intervals[i, 0]:.1f} to {intervals[i, 1]:.1f}"),
            ]
            for i in order
        ],
    )
    found = cliques(ranks.means, ranks.mean_ranks.tolist())
    if len(found) == 1 and len(found[0]) == len(ranks.columns):
        said = "No two methods are told apart"
    else:
        named = "; ".join(", ".join(ranks.columns[i].label for i in clique) for clique in found)
        said = f"Groups within which no two methods are told apart: {named or 'none'}"
    yield Paragraph(
        f"{said} by Wilcoxon's signed-rank test of every pair with Holm's correction for "
        f"{len(order) * (len(order) - 1) // 2} pairs."
    )
