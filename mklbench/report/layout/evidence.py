"""How much the records of a ranking say, and whether cross-validation tells where learning pays.

The one is the hierarchical Bayesian test and what could have been found; the other holds the gains
on the test parts against those in cross-validation, set by set.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Report, compared
from mklbench.report.analysis.bayesian import Regions, hierarchical_draws
from mklbench.report.analysis.significance import (
    LEVEL,
    POWER,
    detectable_on_a_set,
    detectable_over_sets,
    holm,
)
from mklbench.report.document import Grid, Part
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import Ranking, Row

EVIDENCE = "How much these records say"
# Sets from which a distribution over sets can be learned at all.
LEAST_SETS = 3
# Sets from which a rank correlation can be told from none at all after a correction.
LEAST_CORRELATED = 8
# A region is called certain from this probability on.
CERTAIN = 0.95
# What a method promises on a split: its accuracy in the cross-validation of the training part.
PROMISED = Metric("promised", "cross-validated accuracy", "%", "search_accuracy", scale=100.0)


@dataclass(frozen=True)
class Pair:
    """The gains of one method over another, split by split, on each set where both are done.

    Attributes
    ----------
    sets : tuple of str
        Names of the sets.
    gains : tuple of tuple of float
        By set and split, in the printed unit; positive where the first method is better.
    test_shares : tuple of float
        Of each set, test samples divided by training samples.
    """

    sets: tuple[str, ...]
    gains: tuple[tuple[float, ...], ...]
    test_shares: tuple[float, ...]

    @property
    def means(self) -> list[float]:
        """Mean gain of each set."""
        return [statistics.fmean(gain) for gain in self.gains]


# A table is laid out once for each of its formats.
@lru_cache(maxsize=512)
def outcome(pair: Pair, rope: float) -> Regions:
    """Return the outcome of the hierarchical t-test."""
    correlations = [share / (1.0 + share) for share in pair.test_shares]
    return Regions.of(hierarchical_draws(pair.gains, correlations, rope))


def pair_of(
    report: Report,
    ranking: Ranking,
    rows: Sequence[Row],
    *names: str,
    metric: Metric | None = None,
) -> Pair:
    """Return the gains of the first of two columns over the second on `rows`.

    They are in the metric of the ranking, or in another. Sets on which the two have fewer than two
    splits in common are left out.
    """
    metric = metric or METRICS[ranking.metric]
    sets, gains, shares = [], [], []
    for row in rows:
        places = [(row.name, name, ranking.protocol) for name in names]
        mine, theirs = compared(report.slots, places, metric) or ({}, {})
        common = sorted(mine.keys() & theirs.keys())
        if len(common) >= 2:
            record = report.slots[places[0]][1].done[0]
            sets.append(row.name)
            gains.append(tuple(metric.sign * (mine[split] - theirs[split]) for split in common))
            shares.append((record.n_test or 0) / (record.n_train or 1))
    return Pair(tuple(sets), tuple(gains), tuple(shares))


def evidence_parts(report: Report, *, draws: bool = True) -> Iterator[Part]:
    """Yield what the records of a ranking say and cannot say, and where learning pays.

    Without `draws` the first of the two sections, whose draws take seconds, is a heading alone.
    """
    ranking = report.table.ranking
    if ranking is None:
        return
    yield f"## {EVIDENCE}"
    if draws:
        yield _rule(ranking)
        for label, rows in groups_of(report, ranking):
            for reference in ranking.references:
                yield from _against(report, ranking, label, rows, reference)
    yield from _where_it_pays(report, ranking)


def _rule(ranking: Ranking) -> str:
    rope = ranking.rope
    unit = METRICS[ranking.metric].difference_unit.removesuffix("s" if rope == 1.0 else "")
    return (
        f"Differences of less than {rope:g} {unit} count as none in practice. The three numbers "
        "are the probabilities that a method is worse, alike or better in this sense on a set not "
        "seen yet, by the hierarchical correlated t-test over all splits (Corani et al. 2017). "
        f"From {CERTAIN:g} on an outcome is in bold. To be found is to be found at the "
        f"{100 * LEVEL:.0f} % level with probability {POWER:g}."
    )


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
    pairs = {
        report.table.label_of(name): pair_of(report, ranking, rows, name, reference)
        for name in ranking.learners
        if name != reference
    }
    pairs = {name: pair for name, pair in pairs.items() if len(pair.gains) >= LEAST_SETS}
    if not pairs:
        return
    unit = METRICS[ranking.metric].difference_unit
    yield f"Against {report.table.label_of(reference)}, on {label}:"
    lines = []
    for name, pair in pairs.items():
        found = outcome(pair, ranking.rope)
        values = (found.worse, found.alike, found.better)
        text = " / ".join(f"{value:.2f}" for value in values)
        text = f"**{text}**" if max(values) >= CERTAIN else text
        lines.append([name, str(len(pair.gains)), f"{statistics.fmean(pair.means):+.2f}", text])
    yield Grid(["Method", "sets", f"mean gain, {unit}", "worse / alike / better"], lines)
    yield _power(list(pairs.values()), unit)


def _power(pairs: Sequence[Pair], unit: str) -> str:
    over_sets = [detectable_over_sets(pair.means, len(pairs)) for pair in pairs]
    on_a_set = [
        detectable_on_a_set(gain, share)
        for pair in pairs
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


def _where_it_pays(report: Report, ranking: Ranking) -> Iterator[Part]:
    """Yield, for each group of sets, whether gains follow what cross-validation promises."""
    parts = [
        part
        for label, rows in groups_of(report, ranking)
        for part in _promises(report, ranking, label, rows)
    ]
    if parts:
        yield "## Where it pays"
        yield (
            "Spearman's rank correlation, over the sets, of the mean gain over "
            f"{report.table.label_of(ranking.references[0])} with the promised gain, the "
            "difference of the cross-validated accuracies, of the training parts alone; as splits "
            "overlap, its mean over them has samples that others test on. In bold where its "
            f"p-value, with Holm's correction for the number of methods, is below {LEVEL}."
        )
        yield from parts


def _promises(report: Report, ranking: Ranking, label: str, rows: Sequence[Row]) -> Iterator[Part]:
    """Yield the correlations on a group of sets, and what choosing by cross-validation gains."""
    from scipy.stats import spearmanr

    found = {}
    for name in ranking.learners:
        gain, promised = (
            pair_of(report, ranking, rows, name, ranking.references[0], metric=metric)
            for metric in (None, PROMISED)
        )
        gains = dict(zip(gain.sets, gain.means, strict=True))
        known = [(gains[at], mean) for at, mean in zip(promised.sets, promised.means, strict=True)]
        sides = np.round(known, 9)  # without the last digits, which would part what ties
        # One side that does not vary goes with nothing.
        if len(known) >= LEAST_CORRELATED and np.ptp(sides, axis=0).all():
            test = spearmanr(sides)
            found[name] = len(known), float(test.statistic), float(test.pvalue)
    if not found:
        return
    corrected = holm([p_value for *_, p_value in found.values()])
    yield f"On {label}:"
    yield Grid(
        ["Method", "sets", "promised gain"],
        [
            [
                report.table.label_of(name),
                str(n_sets),
                f"**{rho:+.2f}**" if p_value < LEVEL else f"{rho:+.2f}",
            ]
            for (name, (n_sets, rho, _)), p_value in zip(found.items(), corrected, strict=True)
        ],
    )
    yield _choice(report, ranking, rows)


def _choice(report: Report, ranking: Ranking, rows: Sequence[Row]) -> str:
    """Say what is gained by the method that cross-validation prefers on each split."""
    # The reference comes first, and is taken where it ties.
    names = list(dict.fromkeys([ranking.references[0], *ranking.learners]))
    metric, n_others = METRICS[ranking.metric], 0
    sets, gains, shares = [], [], []
    for row in rows:
        slots = [report.slots.get((row.name, name, ranking.protocol)) for name in names]
        runs = [slot[1].done if slot and slot[1].status == DONE else [] for slot in slots]
        gained = []
        for reference in runs[0]:
            there = [one for run in runs for one in run if one.split == reference.split]
            taken = max(there, key=lambda one: one.search_accuracy or 0.0)
            n_others += taken is not reference
            values = [metric.value(one) or 0.0 for one in (taken, reference)]
            gained.append(metric.sign * (values[0] - values[1]))
        if len(gained) > 1:
            sets.append(row.name)
            gains.append(tuple(gained))
            shares.append((runs[0][0].n_test or 0) / (runs[0][0].n_train or 1))
    pair = Pair(tuple(sets), tuple(gains), tuple(shares))
    n_splits = sum(map(len, gains))
    found = outcome(pair, ranking.rope)
    return (
        "Taking on every split, of the methods above and "
        f"{report.table.label_of(names[0])}, the one with the highest cross-validated "
        f"accuracy takes another than that on {100 * n_others / n_splits:.0f} % of {n_splits} "
        f"splits, and gains {statistics.fmean(pair.means):+.2f} {metric.difference_unit} on the "
        f"mean of {len(sets)} sets: worse, alike or better on another set with probabilities of "
        f"{found.worse:.2f}, {found.alike:.2f} and {found.better:.2f} by the hierarchical test."
    )
