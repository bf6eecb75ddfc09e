"""How many published numbers would match by chance: the same count with the numbers permuted."""

from __future__ import annotations

import random

from mklbench.report.analysis.assemble import Report
from mklbench.report.table.verdict import Verdict, judge


def matches_by_chance(report: Report, metric: str, n_permutations: int = 1000) -> list[int]:
    """Return how many numbers of a metric match when the published ones change places.

    Parameters
    ----------
    report : Report
        The table, of which the first protocol is judged.
    metric : str
        The metric.
    n_permutations : int, default=1000
        How often the published numbers are permuted over sets and methods.
    """
    table = report.table
    published, measured = [], []
    for (row, column, protocol, name), number in report.numbers.items():
        if protocol == table.protocols[0].name and name == metric:
            theirs = table.published.get((row, column, name))
            if theirs is not None and number.measured is not None:
                published.append(theirs)
                measured.append(number.measured)
    shuffle, counts = random.Random(0).shuffle, []
    for _ in range(n_permutations):
        shuffle(published)
        verdicts = [
            judge(theirs, table.published_n_splits, ours)
            for theirs, ours in zip(published, measured, strict=True)
        ]
        counts.append(verdicts.count(Verdict.MATCH))
    return counts
