"""On which sets learning a combination gains: what its gains go with, and whether one can tell."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from mklbench.experiments.record import DONE, Record
from mklbench.report.analysis.assemble import Report
from mklbench.report.analysis.significance import LEVEL, holm
from mklbench.report.document.blocks import Block, Entry, Grid, Heading, Paragraph
from mklbench.report.layout.evidence import Pair, groups_of, outcomes
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Column, Ranking, Row

# Sets from which a rank correlation can be told from none at all after a correction.
LEAST_SETS = 8


class _OnASet(NamedTuple):
    """The finished splits of a learner and of the method it is held against, on one set."""

    row: Row
    learner: dict[int, Record]
    reference: dict[int, Record]


Predictor = Callable[[Report, Ranking, _OnASet], float | None]


def predictor_blocks(report: Report) -> Iterator[Block]:
    """Yield, for each group of sets, what gains over the first reference go with."""
    ranking = report.table.ranking
    if ranking is None or ranking.rope is None or not ranking.references:
        return
    blocks = [
        block
        for label, rows in groups_of(report, ranking)
        for block in _of_group(report, ranking, label, rows)
    ]
    if blocks:
        yield Heading(2, "Where it pays")
        yield Paragraph(_about(report, ranking))
        yield from blocks


def evenness(weights: Sequence[float]) -> float:
    """Return how many kernels share the sum of weights (n_kernels,), as a part of all of them.

    It is sum(w)^2 / (n sum(w^2)): 1 where all are equal, 1/n where all but one are 0.
    """
    given = np.asarray(weights, dtype=np.float64)
    squares = float((given**2).sum())
    return 0.0 if squares == 0.0 else float(given.sum()) ** 2 / (len(given) * squares)


def _about(report: Report, ranking: Ranking) -> str:
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
    records = _done(report, ranking, on.row, str(ranking.alignments)).values()
    return _mean(
        None if record.objective is None else record.objective / (record.n_problems or 1)
        for record in records
    )


def _evenness_on(report: Report, ranking: Ranking, on: _OnASet) -> float | None:
    records = _done(report, ranking, on.row, str(ranking.alignments)).values()
    return _mean(evenness(record.weights) for record in records if record.weights)


def _promised(report: Report, ranking: Ranking, on: _OnASet) -> float | None:
    pairs = [(on.learner[split], on.reference[split]) for split in on.learner]
    return _mean(
        None if a.search_accuracy is None or b.search_accuracy is None
        else a.search_accuracy - b.search_accuracy
        for a, b in pairs
    )  # fmt: skip


def _done(report: Report, ranking: Ranking, row: Row, name: str) -> dict[int, Record]:
    """Return the records of a cell by split; none unless it is done."""
    cell = report.slots.get((row.name, name, ranking.protocol))
    if cell is None or cell[1].status != DONE:
        return {}
    return {record.split: record for record in cell[1].done}


def _of_group(report: Report, ranking: Ranking, label: str, rows: Sequence[Row]) -> Iterator[Block]:
    predictors = _predictors(ranking)
    columns = {column.name: column for column in report.table.columns}
    found: list[tuple[Column, int, list[tuple[float, float]]]] = []
    for name in ranking.learners:
        sets = list(_sets(report, ranking, rows, name))
        if name != ranking.references[0] and len(sets) >= LEAST_SETS:
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
        [Entry(column.label), Entry(str(n)), *(_entry(rho, next(p_values)) for rho, _ in with_each)]
        for column, n, with_each in found
    ]
    yield Paragraph(f"On {label}:")
    yield Grid(["Method", "sets", *predictors], lines)
    yield Paragraph(_choice(report, ranking, rows))


def _sets(report: Report, ranking: Ranking, rows: Sequence[Row], name: str) -> Iterator[_OnASet]:
    for row in rows:
        mine, theirs = (_done(report, ranking, row, n) for n in (name, ranking.references[0]))
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
    if len(known) < LEAST_SETS or any(len(set(side)) < 2 for side in zip(*known, strict=True)):
        return float("nan"), 1.0
    found = spearmanr(*zip(*known, strict=True))
    return float(found.statistic), float(found.pvalue)


def _entry(rho: float, p_value: float) -> Entry:
    if rho != rho:
        return Entry("")
    return Entry(f"{rho:+.2f}", emphasis="bold" if p_value < LEVEL else "")


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
    if len(gains) < LEAST_SETS:
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
    plain, *others = (_done(report, ranking, row, name) for name in names)
    for split, record in plain.items():
        rivals = [records[split] for records in others if split in records]
        yield max([record, *rivals], key=lambda one: one.search_accuracy or 0.0), record
