"""How much the records of a ranking say, what the methods cost, and where learning pays.

That is Bayesian tests, intervals of ranks, groups that no test tells apart and power; the time of
selection and training; and on which sets learning a combination gains, and whether one can tell.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mklbench.experiments.record import DONE, Record
from mklbench.report.analysis.assemble import Report, compared_splits
from mklbench.report.analysis.bayesian import Regions, hierarchical_draws, signed_rank_draws
from mklbench.report.analysis.power import (
    POWER,
    cliques,
    detectable_on_a_set,
    detectable_over_sets,
    mean_rank_intervals,
)
from mklbench.report.analysis.significance import LEVEL, holm
from mklbench.report.document import Grid, Part
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


def evidence_parts(report: Report, *, draws: bool = True) -> Iterator[Part]:
    """Yield what the records of a ranking say and cannot say, what methods cost, where one pays.

    Without `draws` the first of the three sections, whose draws take seconds, is a heading alone.
    """
    ranking = report.table.ranking
    if ranking is None or ranking.rope is None:
        return
    yield f"## {EVIDENCE}"
    if draws:
        yield _rule(ranking, ranking.rope)
        for label, rows in groups_of(report, ranking):
            for reference in ranking.references:
                yield from _against(report, ranking, label, rows, reference)
            ranks = rank_methods(report, ranking, rows)
            if ranks is not None:
                yield from _of_ranks(label, ranks)
    if ranking.references:
        yield from _cost_parts(report, ranking)
        yield from predictor_parts(report, ranking)


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
) -> Iterator[Part]:
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
    yield f"Against {columns[reference].label}, on {label}:"
    headings = [
        "Method", "sets", f"mean gain, {metric.difference_unit}", "signed-rank", "hierarchical"
    ]  # fmt: skip
    yield Grid(headings, [_line(columns[n], pair, ranking) for n, pair in pairs.items()])
    yield _power(pairs, metric.difference_unit)


def _line(column: Column, pair: Pair, ranking: Ranking) -> list[str]:
    assert ranking.rope is not None
    return [
        column.label,
        str(len(pair.gains)),
        f"{statistics.fmean(pair.means):+.2f}",
        *map(_outcome_text, outcomes(pair, ranking.rope)),
    ]


def _outcome_text(found: Regions) -> str:
    values = (found.worse, found.alike, found.better)
    text = " / ".join(f"{value:.2f}" for value in values)
    return f"**{text}**" if max(values) >= CERTAIN else text


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


def _of_ranks(label: str, ranks: Ranks) -> Iterator[Part]:
    """Yield the mean ranks with their intervals, and which methods no test tells apart."""
    intervals = mean_rank_intervals(ranks.ranks)
    order = sorted(range(len(ranks.columns)), key=lambda i: float(ranks.mean_ranks[i]))
    yield (
        f"Mean ranks on {label} ({len(ranks.rows)} on which every method is done), with 95 % "
        "intervals from resampling the sets:"
    )
    yield Grid(
        ["Method", "mean rank", "interval"],
        [
            [
                ranks.columns[i].label,
                f"{ranks.mean_ranks[i]:.2f}",
                f"{intervals[i, 0]:.1f} to {intervals[i, 1]:.1f}",
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
    yield (
        f"{said} by Wilcoxon's signed-rank test of every pair with Holm's correction for "
        f"{len(order) * (len(order) - 1) // 2} pairs."
    )


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


def _cost_parts(report: Report, ranking: Ranking) -> Iterator[Part]:
    """Yield what each method costs, held against the first of the references."""
    reference = ranking.references[0]
    costs = costs_of(report, ranking, reference)
    if len(costs) < 2:
        return
    label = report.table.label_of(reference)
    metric = METRICS[ranking.metric]
    yield "## What it costs"
    yield (
        "Time of selection and training: the search of the hyperparameters, the kernels and the "
        "fit of every split. It is summed over the runs that are done, and held against that of "
        f"{label}, set by set, where both are done: the median over the sets of the quotient of "
        "two means. Runs that were stopped are not in it."
    )
    headings = [
        "Method", "sets", "hours", f"times {label}", f"mean gain, {metric.difference_unit}"
    ]  # fmt: skip
    yield Grid(headings, [_cost_line(cost, cost.column.name == reference) for cost in costs])


def _cost_line(cost: Cost, is_reference: bool) -> list[str]:
    return [
        cost.column.label,
        str(cost.n_sets),
        f"{cost.hours:.2g}",
        f"{cost.ratio:.2g}" if cost.ratio < 100 else f"{cost.ratio:.0f}",
        "" if is_reference else f"{cost.gain:+.2f}",
    ]


def _hours(report: Report, ranking: Ranking, column: Column) -> float:
    places = ((row.name, column.name, ranking.protocol) for row in report.table.rows)
    runs = [report.slots[place][1] for place in places if place in report.slots]
    return sum(sum(found.values(TIME)) for found in runs) / 3600.0


def _ratios(report: Report, ranking: Ranking, column: Column, reference: str) -> Iterator[float]:
    """Yield, set by set, the mean time of a method over that of the reference, on one CPU model."""
    for row in report.table.rows:
        first, second = ((row.name, name, ranking.protocol) for name in (column.name, reference))
        compared = compared_splits(report.slots, first, second, TIME)
        samples = None if compared is None else compared.samples
        if samples is not None and samples[1].mean > 0.0:
            yield samples[0].mean / samples[1].mean


# Sets from which a rank correlation can be told from none at all after a correction.
LEAST_CORRELATED = 8


class _OnASet(NamedTuple):
    """The finished splits of a learner and of the method it is held against, on one set."""

    row: Row
    learner: dict[int, Record]
    reference: dict[int, Record]


Predictor = Callable[[Report, Ranking, _OnASet], float | None]


def predictor_parts(report: Report, ranking: Ranking) -> Iterator[Part]:
    """Yield, for each group of sets, what gains over the first reference go with."""
    parts = [
        part
        for label, rows in groups_of(report, ranking)
        for part in _of_group(report, ranking, label, rows)
    ]
    if parts:
        yield "## Where it pays"
        yield _about_predictors(report, ranking)
        yield from parts


def evenness(weights: Sequence[float]) -> float:
    """Return how many kernels share the sum of weights (n_kernels,), as a part of all of them.

    It is sum(w)^2 / (n sum(w^2)): 1 where all are equal, 1/n where all but one are 0.
    """
    given = np.asarray(weights, dtype=np.float64)
    squares = float((given**2).sum())
    return 0.0 if squares == 0.0 else float(given.sum()) ** 2 / (len(given) * squares)


def _about_predictors(report: Report, ranking: Ranking) -> str:
    names = list(_predictors(ranking))
    reference = report.table.label_of(ranking.references[0])
    return (
        "Spearman's rank correlation, over the sets, of the mean gain over "
        f"{reference} with {', '.join(names[:-1])} and {names[-1]}. "
        "The promised gain is the difference of the cross-validated accuracies, of the training "
        "parts alone; as splits overlap, its mean over them has samples that others test on."
        + (
            " The alignment is that of the kernels with the labels, combined by weights that are "
            "their own alignments; of several classes the mean over one against the rest. The "
            "evenness is that of these weights: 1 where all are alike, near 0 where a few of many "
            "tell anything."
            if ranking.alignments
            else ""
        )
        + f" In bold where its p-value, with Holm's correction for all of a grid, is below {LEVEL}."
    )


def _predictors(ranking: Ranking) -> dict[str, Predictor]:
    found: dict[str, Predictor] = {
        "training samples": lambda _, __, on: _mean(one.n_train for one in on.reference.values()),
        "number of kernels": lambda _, __, on: _mean(
            one.n_base_kernels for one in on.reference.values()
        ),
    }
    if ranking.alignments:
        found["alignment of the kernels"] = _alignment_on
        found["evenness of the kernels"] = _evenness_on
    found["promised gain"] = _promised
    return found


def _mean(values: Iterator[float | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _alignment_on(report: Report, ranking: Ranking, on: _OnASet) -> float | None:
    records = _done_records(report, ranking, on.row, str(ranking.alignments)).values()
    return _mean(
        None if record.objective is None else record.objective / (record.n_problems or 1)
        for record in records
    )


def _evenness_on(report: Report, ranking: Ranking, on: _OnASet) -> float | None:
    records = _done_records(report, ranking, on.row, str(ranking.alignments)).values()
    return _mean(evenness(record.weights) for record in records if record.weights)


def _promised(report: Report, ranking: Ranking, on: _OnASet) -> float | None:
    pairs = [(on.learner[split], on.reference[split]) for split in on.learner]
    return _mean(
        None if a.search_accuracy is None or b.search_accuracy is None
        else a.search_accuracy - b.search_accuracy
        for a, b in pairs
    )  # fmt: skip


def _done_records(report: Report, ranking: Ranking, row: Row, name: str) -> dict[int, Record]:
    """Return the records of a run by split; none unless it is done."""
    cell = report.slots.get((row.name, name, ranking.protocol))
    if cell is None or cell[1].status != DONE:
        return {}
    return {record.split: record for record in cell[1].done}


def _of_group(report: Report, ranking: Ranking, label: str, rows: Sequence[Row]) -> Iterator[Part]:
    predictors = _predictors(ranking)
    columns = {column.name: column for column in report.table.columns}
    found: list[tuple[Column, int, list[tuple[float, float]]]] = []
    for name in ranking.learners:
        sets = list(_sets(report, ranking, rows, name))
        if name != ranking.references[0] and len(sets) >= LEAST_CORRELATED:
            gains = [_gain(ranking, on) for on in sets]
            with_each = [
                _correlation([predictor(report, ranking, on) for on in sets], gains)
                for predictor in predictors.values()
            ]
            found.append((columns[name], len(sets), with_each))
    if not found:
        return
    p_values = iter(holm([p for _, _, with_each in found for _, p in with_each]).tolist())
    lines = [
        [column.label, str(n), *(_correlation_text(rho, next(p_values)) for rho, _ in with_each)]
        for column, n, with_each in found
    ]
    yield f"On {label}:"
    yield Grid(["Method", "sets", *predictors], lines)
    yield _choice(report, ranking, rows)


def _sets(report: Report, ranking: Ranking, rows: Sequence[Row], name: str) -> Iterator[_OnASet]:
    for row in rows:
        mine, theirs = (
            _done_records(report, ranking, row, n) for n in (name, ranking.references[0])
        )
        common = sorted(mine.keys() & theirs.keys())
        if common:
            yield _OnASet(row, {s: mine[s] for s in common}, {s: theirs[s] for s in common})


def _gain(ranking: Ranking, on: _OnASet) -> float:
    metric = METRICS[ranking.metric]
    mine, theirs = (metric.by_split(part.values()) for part in (on.learner, on.reference))
    difference = statistics.fmean(mine.values()) - statistics.fmean(theirs.values())
    return metric.sign * difference


def _correlation(values: Sequence[float | None], gains: Sequence[float]) -> tuple[float, float]:
    """Return Spearman's correlation and its p-value; (nan, 1) where one side does not vary."""
    from scipy.stats import spearmanr

    known = [(value, gain) for value, gain in zip(values, gains, strict=True) if value is not None]
    if len(known) < LEAST_CORRELATED or any(
        len(set(side)) < 2 for side in zip(*known, strict=True)
    ):
        return float("nan"), 1.0
    found = spearmanr(*zip(*known, strict=True))
    return float(found.statistic), float(found.pvalue)


def _correlation_text(rho: float, p_value: float) -> str:
    if rho != rho:
        return ""
    return f"**{rho:+.2f}**" if p_value < LEVEL else f"{rho:+.2f}"


def _choice(report: Report, ranking: Ranking, rows: Sequence[Row]) -> str:
    """Say what is gained by the method that cross-validation prefers on each split."""
    assert ranking.rope is not None
    metric = METRICS[ranking.metric]
    sign = metric.sign
    gains, shares, n_splits, n_others = [], [], 0, 0
    for row in rows:
        pairs = list(_preferred(report, ranking, row))
        values = [(metric.value(best), metric.value(plain)) for best, plain in pairs]
        gain = tuple(sign * (a - b) for a, b in values if a is not None and b is not None)
        if len(gain) < 2 or not pairs[0][1].n_train or not pairs[0][1].n_test:
            continue
        gains.append(gain)
        shares.append(pairs[0][1].n_test / pairs[0][1].n_train)
        n_splits += len(pairs)
        n_others += sum(best is not plain for best, plain in pairs)
    if len(gains) < LEAST_CORRELATED:
        return "Too few sets to say what choosing by cross-validation gains."
    pair = Pair(tuple(gains), tuple(shares))
    _, found = outcomes(pair, ranking.rope)
    return (
        "Taking on every split, of the methods above and "
        f"{report.table.label_of(ranking.references[0])}, the one with the highest cross-validated "
        f"accuracy takes another than that on {100 * n_others / n_splits:.0f} % of {n_splits} "
        f"splits, and gains {statistics.fmean(pair.means):+.2f} {metric.difference_unit} on the "
        f"mean of {len(gains)} sets: worse, alike or better on another set with probabilities of "
        f"{found.worse:.2f}, {found.alike:.2f} and {found.better:.2f} by the hierarchical test."
    )


def _preferred(report: Report, ranking: Ranking, row: Row) -> Iterator[tuple[Record, Record]]:
    """Yield, split by split, the record with the highest cross-validated accuracy and the plain.

    The plain one is that of the first reference, which is taken where it ties.
    """
    names = dict.fromkeys([ranking.references[0], *ranking.learners])
    plain, *others = (_done_records(report, ranking, row, name) for name in names)
    for split, record in plain.items():
        rivals = [records[split] for records in others if split in records]
        yield max([record, *rivals], key=lambda one: one.search_accuracy or 0.0), record
