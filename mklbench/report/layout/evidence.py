"""How much the records of a ranking say, what the methods cost, and where learning pays.

That is Bayesian tests and what could have been found; the time of selection and training; and on
which sets learning a combination gains, and whether one can tell.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Report, compared, compared_means
from mklbench.report.analysis.bayesian import Regions, hierarchical_draws, signed_rank_draws
from mklbench.report.analysis.cpu_models import split_by_split
from mklbench.report.analysis.significance import (
    LEVEL,
    POWER,
    detectable_on_a_set,
    detectable_over_sets,
    holm,
)
from mklbench.report.document import Grid, Part
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Column, Ranking, Row

if TYPE_CHECKING:
    from pandas import DataFrame

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
    gains, shares = [], []
    for row in rows:
        places = [(row.name, name, ranking.protocol) for name in names]
        mine, theirs = compared(report.slots, places, metric) or ({}, {})
        common = sorted(mine.keys() & theirs.keys())
        if len(common) >= 2:
            record = report.slots[places[0]][1].done[0]
            gains.append(tuple(metric.sign * (mine[split] - theirs[split]) for split in common))
            shares.append((record.n_test or 0) / (record.n_train or 1))
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
                yield from _against(report, ranking, ranking.rope, label, rows, reference)
    if ranking.references:
        yield from _cost_parts(report, ranking)
        yield from predictor_parts(report, ranking)


def _rule(ranking: Ranking, rope: float) -> str:
    unit = METRICS[ranking.metric].difference_unit.removesuffix("s" if rope == 1.0 else "")
    return (
        f"Differences of less than {rope:g} {unit} count as none in "
        "practice. The three numbers are the probabilities that a method is worse, alike or better "
        "in this sense: by the Bayesian signed-rank test over the means of the sets (Benavoli et "
        "al. 2014), and by the hierarchical correlated t-test over all splits, which speaks of a "
        f"set not seen yet (Corani et al. 2017). From {CERTAIN:g} on an outcome is in bold. To be "
        f"found is to be found at the {100 * LEVEL:.0f} % level with probability {POWER:g}."
    )


def groups_of(report: Report, ranking: Ranking) -> Iterator[tuple[str, tuple[Row, ...]]]:
    """Yield the groups of sets that are looked at apart, by label; one of all sets without any."""
    if not ranking.groups:
        yield "all sets", report.table.rows
    for label, names in ranking.groups.items():
        yield label, tuple(row for row in report.table.rows if row.name in names)


def _against(
    report: Report, ranking: Ranking, rope: float, label: str, rows: Sequence[Row], reference: str
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
    yield Grid(
        ["Method", "sets", f"mean gain, {unit}", "signed-rank", "hierarchical"],
        [
            [
                name,
                str(len(pair.gains)),
                f"{statistics.fmean(pair.means):+.2f}",
                *map(_outcome_text, outcomes(pair, rope)),
            ]
            for name, pair in pairs.items()
        ],
    )
    yield _power(list(pairs.values()), unit)


def _outcome_text(found: Regions) -> str:
    values = (found.worse, found.alike, found.better)
    text = " / ".join(f"{value:.2f}" for value in values)
    return f"**{text}**" if max(values) >= CERTAIN else text


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
        ratios, seconds = [], 0.0
        for row in report.table.rows:
            mine, other = ((row.name, c, ranking.protocol) for c in (column.name, reference))
            seconds += sum(report.slots[mine][1].values(TIME)) if mine in report.slots else 0.0
            samples = compared_means(report.slots, (mine, other), TIME, split_by_split)
            if samples is not None and samples[1].mean > 0.0:
                ratios.append(samples[0].mean / samples[1].mean)
        gains = pair_of(report, ranking, report.table.rows, column.name, reference).means
        if ratios and gains:
            ratio, gain = statistics.median(ratios), statistics.fmean(gains)
            found.append(Cost(column, seconds / 3600.0, len(ratios), ratio, gain))
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
    yield Grid(
        ["Method", "sets", "hours", f"times {label}", f"mean gain, {metric.difference_unit}"],
        [
            [
                cost.column.label,
                str(cost.n_sets),
                f"{cost.hours:.2g}",
                f"{cost.ratio:.2g}" if cost.ratio < 100 else f"{cost.ratio:.0f}",
                "" if cost.column.name == reference else f"{cost.gain:+.2f}",
            ]
            for cost in costs
        ],
    )


# Sets from which a rank correlation can be told from none at all after a correction.
LEAST_CORRELATED = 8


def predictor_parts(report: Report, ranking: Ranking) -> Iterator[Part]:
    """Yield, for each group of sets, what gains over the first reference go with."""
    splits = _splits(report, ranking)
    parts = [
        part
        for label, rows in groups_of(report, ranking)
        for part in _correlations(
            report, ranking, label, splits[splits["row"].isin([row.name for row in rows])]
        )
    ]
    if parts:
        yield "## Where it pays"
        yield (
            "Spearman's rank correlation, over the sets, of the mean gain over "
            f"{report.table.label_of(ranking.references[0])} with what is known of a set. The "
            "promised gain is the difference of the cross-validated accuracies, of the training "
            "parts alone; as splits overlap, its mean over them has samples that others test on."
            + (
                " The alignment is that of the kernels with the labels, combined by weights that "
                "are their own alignments; of several classes the mean over one against the rest. "
                "The evenness is that of these weights: 1 where all are alike, near 0 where a few "
                "of many tell anything."
                if ranking.alignments
                else ""
            )
            + " In bold where its p-value, with Holm's correction for all of a grid, is below "
            f"{LEVEL}."
        )
        yield from parts


def evenness(weights: Sequence[float]) -> float:
    """Return how many kernels share the sum of weights (n_kernels,), as a part of all of them.

    It is sum(w)^2 / (n sum(w^2)): 1 where all are equal, 1/n where all but one are 0.
    """
    given = np.asarray(weights, dtype=np.float64)
    squares = float((given**2).sum())
    return 0.0 if squares == 0.0 else float(given.sum()) ** 2 / (len(given) * squares)


def _splits(report: Report, ranking: Ranking) -> DataFrame:
    """Return a line for each split of the runs that are done, with what is known of it."""
    from pandas import DataFrame

    metric = METRICS[ranking.metric]
    lines = [
        {
            "row": row,
            "column": column,
            "split": one.split,
            "value": metric.sign * (metric.value(one) or 0.0),
            "promised": one.search_accuracy,
            "training samples": one.n_train,
            "number of kernels": one.n_base_kernels,
            "test share": (one.n_test or 0) / (one.n_train or 1),
            "alignment": None if one.objective is None else one.objective / (one.n_problems or 1),
            "evenness": evenness(one.weights)
            if column == ranking.alignments and one.weights
            else None,
        }
        for (row, column, protocol), (_, found) in report.slots.items()
        if protocol == ranking.protocol and found.status == DONE
        for one in found.done
    ]
    return DataFrame(lines).astype(dict.fromkeys(["promised", "alignment", "evenness"], float))


def _correlations(
    report: Report, ranking: Ranking, label: str, splits: DataFrame
) -> Iterator[Part]:
    """Yield the grid of a group of sets: learners at the side, what may go with gains across."""
    reference = ranking.references[0]
    found = {}
    for name in ranking.learners:
        sets = _known_of_sets(ranking, splits, name)
        if name != reference and len(sets) >= LEAST_CORRELATED:
            found[report.table.label_of(name)] = sets
    if not found:
        return
    names = [str(what) for what in next(iter(found.values())) if what != "gain"]
    tests = [_correlation(sets, what) for sets in found.values() for what in names]
    corrected = holm([p_value for _, p_value in tests])
    texts = iter(
        "" if math.isnan(rho) else f"**{rho:+.2f}**" if p_value < LEVEL else f"{rho:+.2f}"
        for (rho, _), p_value in zip(tests, corrected, strict=True)
    )
    yield f"On {label}:"
    yield Grid(
        ["Method", "sets", *names],
        [[method, str(len(sets)), *islice(texts, len(names))] for method, sets in found.items()],
    )
    yield _choice(report, ranking, splits)


def _known_of_sets(ranking: Ranking, splits: DataFrame, name: str) -> DataFrame:
    """Return what is known of the sets where a learner and the reference are, last its gain."""
    mine, other = (splits[splits["column"] == c] for c in (name, ranking.references[0]))
    both = mine.merge(other, on=["row", "split"], suffixes=(None, " there"))
    both["promised gain"] = both["promised"] - both["promised there"]
    means = both.groupby("row").mean(numeric_only=True)
    known = means[["training samples there", "number of kernels there"]]
    known.columns = ["training samples", "number of kernels"]
    if ranking.alignments:
        aligned = splits[splits["column"] == ranking.alignments].groupby("row")
        for what in ("alignment", "evenness"):
            known = known.assign(**{f"{what} of the kernels": aligned[what].mean()})
    gain = means["value"] - means["value there"]
    return known.assign(**{"promised gain": means["promised gain"], "gain": gain})


def _correlation(sets: DataFrame, what: str) -> tuple[float, float]:
    """Return Spearman's correlation and its p-value; (nan, 1) where one side does not vary."""
    from scipy.stats import spearmanr

    known = sets[[what, "gain"]].dropna()
    if len(known) < LEAST_CORRELATED or (known.nunique() < 2).any():
        return math.nan, 1.0
    found = spearmanr(known[what], known["gain"])
    return float(found.statistic), float(found.pvalue)


def _choice(report: Report, ranking: Ranking, splits: DataFrame) -> str:
    """Say what is gained by the method that cross-validation prefers on each split."""
    assert ranking.rope is not None
    # The reference comes first, and is taken where it ties.
    names = list(dict.fromkeys([ranking.references[0], *ranking.learners]))
    there = splits[splits["column"].isin(names)].fillna({"promised": 0.0})
    there = there.iloc[there["column"].map(names.index).argsort(kind="stable")]
    taken = there.loc[there.groupby(["row", "split"])["promised"].idxmax()]
    both = splits[splits["column"] == names[0]].merge(
        taken, on=["row", "split"], suffixes=(" there", None)
    )
    both["gain"] = both["value"] - both["value there"]
    sets = [of_set for _, of_set in both.groupby("row", sort=False) if len(of_set) > 1]
    if len(sets) < LEAST_CORRELATED:
        return "Too few sets to say what choosing by cross-validation gains."
    pair = Pair(
        tuple(tuple(of_set["gain"]) for of_set in sets),
        tuple(of_set["test share there"].iloc[0] for of_set in sets),
    )
    n_splits = sum(map(len, sets))
    n_others = sum(int((of_set["column"] != names[0]).sum()) for of_set in sets)
    _, found = outcomes(pair, ranking.rope)
    return (
        "Taking on every split, of the methods above and "
        f"{report.table.label_of(names[0])}, the one with the highest cross-validated "
        f"accuracy takes another than that on {100 * n_others / n_splits:.0f} % of {n_splits} "
        f"splits, and gains {statistics.fmean(pair.means):+.2f} "
        f"{METRICS[ranking.metric].difference_unit} on the "
        f"mean of {len(sets)} sets: worse, alike or better on another set with probabilities of "
        f"{found.worse:.2f}, {found.alike:.2f} and {found.better:.2f} by the hierarchical test."
    )
