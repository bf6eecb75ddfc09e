"""How much the records of a ranking say, and whether cross-validation tells where learning pays.

The one is the hierarchical Bayesian test and what could have been found; the other what one gains
who takes the method that cross-validation prefers.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from mklbench.experiments.record import DONE, Record
from mklbench.report.analysis.assemble import Report, compared
from mklbench.report.analysis.bayesian import Regions, hierarchical_draws
from mklbench.report.analysis.significance import (
    LEVEL,
    POWER,
    corrected_p_value,
    detectable_on_a_set,
    detectable_over_sets,
    holm,
    signed_rank_p_value,
    upper_end,
)
from mklbench.report.document import Grid, Part
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Ranking, Row

# Sets from which a distribution over sets can be learned at all.
LEAST_SETS = 3
# Sets from which it is said what choosing by cross-validation brings.
LEAST_PREFERRED = 8
# Points by which a method has to be ahead in cross-validation, of which a rule takes one.
MARGINS = (0.0, 0.5, 1.0, 2.0, 5.0)
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
    for one in (ranking, *(replace(ranking, protocol=name) for name in ranking.also)):
        for label, rows in groups_of(report, one):
            for reference in one.references:
                yield from _against(report, one, label, rows, reference)
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
        yield from made_rule(report, ranking)


def _rule(ranking: Ranking) -> str:
    unit = METRICS[ranking.metric].difference_unit.removesuffix("s" if ranking.rope == 1.0 else "")
    return (
        f"Differences of less than {ranking.rope:g} {unit} count as none in practice. The three "
        "numbers are the probabilities that a method is worse, alike or better in this sense on a "
        "set not seen yet, by the hierarchical correlated t-test over all splits (Corani et al. "
        f"2017). From {CERTAIN:g} on an outcome is in bold. To be found is to be found at the "
        f"{100 * LEVEL:.0f} % level with probability {POWER:g}. A mean gain is at most the end of "
        f"its one-sided {100 * (1 - LEVEL):.0f} % interval over the sets, by Student's t: where "
        f"that is below {ranking.rope:g}, what is compared with is not inferior by as much. Sets "
        "on which a method is better / worse by the corrected resampled t-test are counted at a "
        f"false discovery rate of {100 * LEVEL:.0f} % over all methods and sets of a table "
        "(Benjamini and Hochberg 1995)."
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
    if ranking.also:
        label += f", {next(p.label for p in report.table.protocols if p.name == ranking.protocol)}"
    yield f"Against {report.table.label_of(reference)}, on {label}:"
    lines, by_set = [], discoveries(pairs)
    for name, pair in pairs.items():
        found = outcome(pair, ranking.rope)
        text = " / ".join(f"{value:.2f}" for value in found)
        text = f"**{text}**" if max(found) >= CERTAIN else text
        mean, most = statistics.fmean(pair.means), upper_end(pair.means)
        line = [name, str(len(pair.gains)), f"{mean:+.2f}", f"{most:+.2f}", by_set[name], text]
        lines.append(line)
    headings = ["Method", "sets", f"mean gain, {unit}", "at most", "better / worse on"]
    yield Grid([*headings, "worse / alike / better"], lines)
    yield _power(list(pairs.values()), unit)
    yield verdict(list(pairs.values()), ranking.rope).format(label)


def discoveries(pairs: Mapping[str, Pair]) -> dict[str, str]:
    """Count for each method the sets on which it is better and worse, of all tests together."""
    from scipy.stats import false_discovery_control

    tests = [
        (
            name,
            sum(gain) > 0,
            corrected_p_value(dict(enumerate(gain)), dict.fromkeys(range(len(gain)), 0.0), share),
        )
        for name, pair in pairs.items()
        for gain, share in zip(pair.gains, pair.test_shares, strict=True)
    ]
    adjusted = false_discovery_control([p for *_, p in tests])
    kept = Counter(test[:2] for test, p in zip(tests, adjusted, strict=True) if p < LEVEL)
    return {name: f"{kept[name, True]} / {kept[name, False]}" for name in pairs}


def verdict(pairs: Sequence[Pair], rope: float) -> str:
    """Say whether some method is better on another set, none is, or the sets do not tell."""
    found = [outcome(pair, rope) for pair in pairs]
    agreed = holm([signed_rank_p_value(pair.means, [0.0] * len(pair.means)) for pair in pairs])
    if any(one.better >= CERTAIN and p < LEVEL for one, p in zip(found, agreed, strict=True)):
        return "On {} a method is better, by the hierarchical and by the signed-rank test."
    if all(one.worse + one.alike >= CERTAIN for one in found):
        return "On {} each method is alike or worse, by the hierarchical test."
    return "On {} these records do not tell whether a method is better."


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
    pair, share = chosen(report, ranking, rows, ranking.learners)
    if len(pair.gains) < LEAST_PREFERRED:
        return None
    n_splits = sum(map(len, pair.gains))
    return (
        f"is another than the former on {100 * share:.0f} % of {n_splits} "
        f"splits, and {_gained(pair, ranking)}"
    )


def chosen(
    report: Report,
    ranking: Ranking,
    rows: Sequence[Row],
    names: Sequence[str],
    margin: float = 0.0,
) -> tuple[Pair, float]:
    """Take on every split the method of the highest cross-validated accuracy.

    Parameters
    ----------
    report : Report
        Of the table.
    ranking : Ranking
        Whose first reference is taken unless another method is ahead.
    rows : sequence of Row
        The sets.
    names : sequence of str
        The other methods.
    margin : float, default=0.0
        By how many percentage points more than that another has to be ahead.

    Returns
    -------
    pair : Pair
        What that gains over the first reference.
    share : float
        Of the splits on which another is taken.
    """
    metric, n_others = METRICS[ranking.metric], 0
    gains, shares = [], []
    for row in rows:
        places = [(row.name, name, ranking.protocol) for name in (ranking.references[0], *names)]
        slots = [report.slots.get(place) for place in places]
        first, *others = [slot[1].done if slot and slot[1].status == DONE else [] for slot in slots]
        gained = []
        for reference in first:
            there = [one for run in others for one in run if one.split == reference.split]
            taken = max(there, key=_promise, default=reference)
            if _promise(taken) <= _promise(reference) + margin / 100.0:
                taken = reference
            n_others += taken is not reference
            values = [metric.value(one) or 0.0 for one in (taken, reference)]
            gained.append(metric.sign * (values[0] - values[1]))
        if len(gained) > 1:
            gains.append(tuple(gained))
            shares.append(report.slots[places[0]][1].test_share)
    pair = Pair(tuple(gains), tuple(shares))
    return pair, n_others / max(1, sum(map(len, gains)))


def _promise(record: Record) -> float:
    return record.search_accuracy or 0.0


def _gained(pair: Pair, ranking: Ranking) -> str:
    found = outcome(pair, ranking.rope)
    return (
        f"gains {statistics.fmean(pair.means):+.2f} {METRICS[ranking.metric].difference_unit} on "
        f"the mean of {len(pair.gains)} sets: worse, alike or better on another set with "
        f"probabilities of {found.worse:.2f}, {found.alike:.2f} and {found.better:.2f} by the "
        "hierarchical test."
    )


def made_rule(report: Report, ranking: Ranking) -> Iterator[Part]:
    """Yield the rule that is best on some sets, and what it brings on the others."""
    rows = report.table.rows
    made_on = [row for row in rows if row.name in ranking.rule]
    tested_on = [row for row in rows if row.name not in ranking.rule]
    everyone = [one.name for one in report.table.columns if one.name != ranking.references[0]]
    rules = [
        (chosen(report, ranking, made_on, names, margin)[0], label, names, margin)
        for label, names in (("those that learn", ranking.learners), ("all methods", everyone))
        for margin in MARGINS
    ]
    pair, label, names, margin = max(
        rules, key=lambda rule: statistics.fmean(rule[0].means) if rule[0].gains else -math.inf
    )
    tested, share = chosen(report, ranking, tested_on, names, margin)
    if min(len(pair.gains), len(tested.gains)) < LEAST_SETS:
        return
    least = -upper_end([-gain for gain in tested.means])
    yield (
        f"A rule that was made on {len(pair.gains)} of the sets and is tested on the others: of "
        f"{label}, take the one of the highest cross-validated accuracy where that is more than "
        f"{margin:g} points ahead of "
        f"{report.table.label_of(ranking.references[0])}, else the latter. Of {len(rules)} rules, "
        f"with two pools and margins of {MARGINS[0]:g} to {MARGINS[-1]:g}, it gained most where it "
        f"was made, {statistics.fmean(pair.means):+.2f}. Where it is tested it takes another one "
        f"on {100 * share:.0f} % of the splits, and {_gained(tested, ranking)} The one-sided "
        f"interval of that gain begins at {least:+.2f}."
    )
