"""How many published numbers match, and how many would by chance: with the numbers permuted."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from mklbench.report.analysis.assemble import Report
from mklbench.report.table.paper_table import Protocol
from mklbench.report.table.verdict import Verdict, judge


def matches(
    report: Report,
    metric: str,
    protocols: Sequence[Protocol],
    rows: Collection[str] = (),
    columns: Collection[str] = (),
) -> NDArray[np.bool_]:
    """Tell which measured number matches which published one.

    Parameters
    ----------
    report : Report
        The table.
    metric : str
        The metric.
    protocols : sequence of Protocol
        Those that are judged.
    rows, columns : collection of str, default=()
        The names of those that count; none means all.

    Returns
    -------
    ndarray of shape (n_protocols, n, n)
        Whether number i of the n that are published and measured under all protocols matches what
        the paper has for number j. On the diagonal of the last two axes are the true matches.
    """
    table = report.table
    places = [
        (row, column)
        for row, column, protocol, name in report.numbers
        if (protocol, name) == (protocols[0].name, metric)
        and (row, column, name) in table.published
        and (not rows or row in rows)
        and (not columns or column in columns)
        and all(report.finished_mean((row, column, p.name, metric)) is not None for p in protocols)
    ]
    published = [table.published[*place, metric] for place in places]
    found = np.zeros((len(protocols), len(places), len(places)), dtype=bool)
    for i, protocol in enumerate(protocols):
        for j, (row, column) in enumerate(places):
            measured = report.numbers[row, column, protocol.name, metric].measured
            if measured is not None:
                for k, theirs in enumerate(published):
                    verdict = judge(theirs, table.published_n_splits, measured)
                    found[i, j, k] = verdict == Verdict.MATCH
    return found


def by_chance(found: NDArray[np.bool_], n_permutations: int = 1000) -> NDArray[np.int64]:
    """Return how many numbers match when the published ones change places.

    Parameters
    ----------
    found : ndarray of shape (n_protocols, n, n)
        What `matches` returns.
    n_permutations : int, default=1000
        How often the published numbers are permuted over sets and methods.

    Returns
    -------
    ndarray of shape (n_permutations, n_protocols)
        The counts; one permutation is the same for all protocols.
    """
    numbers, shuffle = np.arange(found.shape[-1]), random.Random(0).shuffle
    order, counts = numbers.tolist(), []
    for _ in range(n_permutations):
        shuffle(order)
        counts.append(found[:, numbers, order].sum(axis=-1))
    return np.array(counts)
