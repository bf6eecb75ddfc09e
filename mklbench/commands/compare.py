"""``mklbench compare``: a method beside all others of a recorded comparison, in one command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mklbench import interruption
from mklbench.experiments.execution.local import Local
from mklbench.experiments.execution.plan import run_cells
from mklbench.experiments.progress import progress
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.analysis.candidate import (
    NAME,
    WITH_ITS_KERNELS,
    CandidateFinder,
    with_candidate,
)
from mklbench.report.layout.ranking import RULE, Ranks, rank_methods, tally
from mklbench.report.loading import load_table
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Ranking


def compare(
    overrides: Sequence[str],
    *,
    table_name: str,
    quick: bool,
    jobs: int,
    store: Store,
    config_dir: str | None,
) -> int:
    """Run a method on the sets of the comparison, and print how it ranks among the recorded ones.

    Parameters
    ----------
    overrides : sequence of str
        ``algo=mine`` and what else is to differ from its config.
    table_name : str
        A table that ranks methods, with its records.
    quick : bool
        Whether only the five cheapest sets are taken.
    jobs : int
        Worker processes.
    store : Store
        Where what is run is kept.
    config_dir : str or None
        A directory of the user's own configs.

    Returns
    -------
    0 when every cell is done, else 1.

    Raises
    ------
    InputError
        If the method cannot be run in the comparison.
    """
    store.check()
    table = with_candidate(load_table(table_name), overrides, quick, config_dir)
    find = CandidateFinder(table, store)
    cells = find.own.cells(slot for slot in table.slots() if slot.column.name == NAME)
    kept = f"finished splits are kept in {store.path}; the same command goes on from there."
    with interruption.saying(lambda: kept):
        run_cells(cells, store, executor=Local(jobs), progress=progress("auto", store=store))
    report = assemble(table, find)
    assert table.ranking is not None
    for line in _lines(report, table.ranking):
        print(line)
    unfinished = [(slot, found) for slot, found in report.unfinished if slot.column.name == NAME]
    for slot, found in unfinished:
        print(f"{slot.row.label}: {found.status}: {found.message}")
    return 1 if unfinished else 0


def _lines(report: Report, ranking: Ranking) -> Iterator[str]:
    from tabulate import tabulate

    candidate, *others = report.table.columns
    name = report.table.name
    yield f"{candidate.label} beside {len(others)} methods of the table {name}, accuracy in %"
    yield ""
    yield tabulate(list(_sets(report, ranking)), _HEADINGS, disable_numparse=True)
    yield ""
    ranks = rank_methods(report, ranking)
    lines = list(_methods(report, ranking, ranks))
    headings = ["method", "mean rank", "ahead / behind", "better / alike / worse"]
    yield tabulate([line for _, line in sorted(lines)], headings, disable_numparse=True)
    yield ""
    yield (
        "Ahead and behind: on how many sets the mean accuracy of yours is higher or lower. " + RULE
    )
    if ranks is not None:
        mean = float(ranks.mean_ranks[0])
        yield (
            f"Mean rank {mean:.1f} of {len(ranks.columns)} on {len(ranks.rows)} sets on which all "
            f"are done; two mean ranks differ where they are {ranks.critical_difference:.1f} or "
            "more apart (Nemenyi's test at the 5 % level)."
        )


_HEADINGS = ["set", "yours", "rank", WITH_ITS_KERNELS, "svm", "best of the others"]


def _sets(report: Report, ranking: Ranking) -> Iterator[list[str]]:
    """Yield a line a set: the candidate, its rank, two methods to compare with, and the best."""
    metric = METRICS[ranking.metric]
    for row in report.table.rows:
        means = {
            column.name: report.finished_mean(
                (row.name, column.name, ranking.protocol, metric.name)
            )
            for column in report.table.columns
        }
        own = means.pop(NAME)
        known = {name: mean for name, mean in means.items() if mean is not None}
        if own is None or not known:
            yield [row.label, "not done" if own is None else metric.format(own), *[""] * 4]
            continue
        sign = metric.sign
        rank = 1 + sum(sign * mean > sign * own for mean in known.values())
        best = max(known, key=lambda name: sign * known[name])
        beside = [
            metric.format(known[name]) if name in known else ""
            for name in (WITH_ITS_KERNELS, "svm")
        ]
        label = report.table.label_of(best)
        yield [
            row.label,
            metric.format(own),
            f"{rank} of {len(known) + 1}",
            *beside,
            f"{metric.format(known[best])} ({label})",
        ]


def _methods(
    report: Report, ranking: Ranking, ranks: Ranks | None
) -> Iterator[tuple[float, list[str]]]:
    """Yield a line a method, behind its mean rank, by which they are sorted."""
    metric = METRICS[ranking.metric]
    sign = metric.sign
    mean_ranks = {}
    if ranks is not None:
        names = [column.name for column in ranks.columns]
        mean_ranks = dict(zip(names, ranks.mean_ranks.tolist(), strict=True))
    for column in report.table.columns:
        rank = mean_ranks.get(column.name)
        said = "" if rank is None else f"{rank:.1f}"
        if column.name == NAME:
            yield (np.inf if rank is None else rank), [f"{column.label} (yours)", said, "", ""]
            continue
        gains = []
        for row in report.table.rows:
            places = [
                (row.name, name, ranking.protocol, metric.name) for name in (NAME, column.name)
            ]
            own, other = map(report.finished_mean, places)
            if own is not None and other is not None:
                gains.append(sign * (own - other))
        counts = f"{sum(gain > 0 for gain in gains)} / {sum(gain < 0 for gain in gains)}"
        found = tally(report, NAME, column.name, ranking.protocol, metric)
        yield (np.inf if rank is None else rank), [column.label, said, counts, found.text]
