"""How much the records of a ranking say, and whether cross-validation tells where learning pays.

The one is the hierarchical Bayesian test and what could have been found; the other what one gains
who takes the method that cross-validation prefers.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Report, compared
from mklbench.report.analysis.bayesian import Regions, hierarchical_draws
from mklbench.report.analysis.significance import (
    LEVEL,
    POWER,
    detectable_on_a_set,
    detectable_over_sets,
)
from mklbench.report.document import Grid, Part
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Ranking, Row

# Sets from which a distribution over sets can be learned at all.
LEAST_SETS = 3
# Sets from which it is said what choosing by cross-validation brings.
LEAST_PREFERRED = 8
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
def outcome(pair: Pair, rope: float) -> Regions:
    """Return the outcome of the hierarchical t-test."""
    correlations = [share / (1.0 + share) for share in pair.test_shares]
    return Regions.of(hierarchical_draws(pair.gains, correlations, rope))


def pair_of(report: Report, ranking: Ranking, rows: Sequence[Row], *names: str) -> Pair:
    """Return the gains of the first of two columns over the second on `rows`.

    Sets on which they have fewer than two splits in common are left out.
    """
    metric = METRICS[ranking.metric]
    gains, shares = [], []
    for row in rows:
        places = [(row.name, name, ranking.protocol) for name in names]
        mine, theirs = compared(report.slots, places, metric) or ({}, {})
        common = sorted(mine.keys() & theirs.keys())
        if len(common) >= 2:
            gains.append(tuple(metric.sign * (mine[split] - theirs[split]) for split in common))
            shares.append(report.slots[places[0]][1].test_share)
    return Pair(tuple(gains), tuple(shares))


def evidence_parts(report: Report) -> Iterator[Part]:
    """Yield what the records of a ranking say and cannot say, and where learning pays."""
    ranking = report.table.ranking
    if ranking is None:
        return
    yield "## How much these records say"
    yield _rule(ranking)
    for label, rows in groups_of(report, ranking):
        for reference in ranking.references:
            yield from _against(report, ranking, label, rows, reference)
    preferred = [
        f"- On {label} that {text}"
        for label, rows in groups_of(report, ranking)
        if (text := _preferred(report, ranking, rows))
    ]
    if preferred:
        yield "## Where it pays"
        yield (
            f"Of {report.table.label_of(ranking.references[0])} and the methods that learn, take "
            "on every split the one with the highest cross-validated accuracy."
        )
        yield "\n".join(preferred)


def _rule(ranking: Ranking) -> str:
    unit = METRICS[ranking.metric].difference_unit.removesuffix("s" if ranking.rope == 1.0 else "")
    return (
        f"Differences of less than {ranking.rope:g} {unit} count as none in practice. The three "
        "numbers are the probabilities that a method is worse, alike or better in this sense on a "
        "set not seen yet, by the hierarchical correlated t-test over all splits (Corani et al. "
        f"2017). From {CERTAIN:g} on an outcome is in bold. To be found is to be found at the "
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
        text = " / ".join(f"{value:.2f}" for value in found)
        text = f"**{text}**" if max(found) >= CERTAIN else text
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


def _preferred(report: Report, ranking: Ranking, rows: Sequence[Row]) -> str | None:
    """Say what is gained by the method that cross-validation prefers on each split.

    None on fewer than `LEAST_PREFERRED` sets.
    """
    # The reference comes first, and is taken where it ties.
    names = list(dict.fromkeys([ranking.references[0], *ranking.learners]))
    metric, n_others = METRICS[ranking.metric], 0
    gains, shares = [], []
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
            gains.append(tuple(gained))
            shares.append(report.slots[row.name, names[0], ranking.protocol][1].test_share)
    if len(gains) < LEAST_PREFERRED:
        return None
    pair = Pair(tuple(gains), tuple(shares))
    n_splits = sum(map(len, gains))
    found = outcome(pair, ranking.rope)
    return (
        f"is another than the former on {100 * n_others / n_splits:.0f} % of {n_splits} "
        f"splits, and gains {statistics.fmean(pair.means):+.2f} {metric.difference_unit} on the "
        f"mean of {len(gains)} sets: worse, alike or better on another set with probabilities of "
        f"{found.worse:.2f}, {found.alike:.2f} and {found.better:.2f} by the hierarchical test."
    )
