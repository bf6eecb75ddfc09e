"""``mklbench compare``: a method beside all others of a recorded comparison, in one command."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mklbench.commands.run import run_missing
from mklbench.experiments.execution.local import Local
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.analysis.candidate import NAME, CandidateFinder, with_candidate
from mklbench.report.layout.ranking import RULE, rank_methods, tally
from mklbench.report.loading import load_table
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Ranking

_SHORT_NAMES = {"views": "learning_pays_views"}


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
        A table that ranks methods, with its records; "views" is learning_pays_views.
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
    0 when every run is done, else 1.

    Raises
    ------
    InputError
        If the method cannot be run in the comparison.
    """
    store.check()
    name = _SHORT_NAMES.get(table_name, table_name)
    table = with_candidate(load_table(name), overrides, quick, config_dir)
    find = CandidateFinder(table, store)
    runs = find.own.runs(slot for slot in table.slots() if slot.column.name == NAME)
    run_missing(runs, store, Local(jobs))
    report = assemble(table, find)
    assert table.ranking is not None
    print(_described(report, table.ranking))
    unfinished = [(slot, found) for slot, found in report.unfinished if slot.column.name == NAME]
    for slot, found in unfinished:
        print(f"{slot.row.label}: {found.status}: {found.message}")
    return 1 if unfinished else 0


def _described(report: Report, ranking: Ranking) -> str:
    """Return two tables, of the sets that are done and of the methods, and what they mean."""
    import pandas as pd
    from tabulate import tabulate

    metric = METRICS[ranking.metric]
    labels = {column.name: column.label for column in report.table.columns}
    means = pd.DataFrame(
        {
            name: [
                report.finished_mean((row.name, name, ranking.protocol, metric.name))
                for row in report.table.rows
            ]
            for name in labels
        },
        index=[row.label for row in report.table.rows],
        dtype=float,
    ).dropna(subset=NAME)
    scores = metric.sign * means
    best = scores.drop(columns=NAME).idxmax(axis=1)
    place = scores.rank(axis=1, ascending=False, method="min")[NAME]
    sets = [
        [
            label,
            metric.format(found[NAME]),
            f"{place[label]:.0f} of {found.count()}",
            f"{metric.format(found[best[label]])} ({labels[str(best[label])]})",
        ]
        for label, (_, found) in zip(map(str, means.index), means.iterrows(), strict=True)
    ]
    ranks = rank_methods(report, ranking)
    ranked = zip(ranks.columns, ranks.mean_ranks, strict=True) if ranks is not None else ()
    mean_ranks = {column.name: float(rank) for column, rank in ranked}
    methods = []
    for name in sorted(labels, key=lambda name: mean_ranks.get(name, math.inf)):
        rank = f"{mean_ranks[name]:.1f}" if name in mean_ranks else ""
        outcomes = tally(report, NAME, name, ranking.protocol, metric).text
        own = name == NAME
        methods.append([f"{labels[name]} (yours)", rank] if own else [labels[name], rank, outcomes])
    set_headings = ["set", "yours", "rank", "best of the others"]
    method_headings = ["method", "mean rank", "yours better / alike / worse"]
    text = (
        f"{labels[NAME]} beside {len(labels) - 1} methods of the table {report.table.name}, "
        f"accuracy in %\n\n{tabulate(sets, set_headings, disable_numparse=True)}\n\n"
        f"{tabulate(methods, method_headings, disable_numparse=True)}\n\n{RULE}"
    )
    if ranks is not None:
        text += (
            f"\nMean rank {mean_ranks[NAME]:.1f} of {len(labels)} on {len(ranks.rows)} sets on "
            "which all are done; two mean ranks differ where they are "
            f"{ranks.critical_difference:.1f} or more apart (Nemenyi's test at the 5 % level)."
        )
    return text
