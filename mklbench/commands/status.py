"""``mklbench status``: what of a store is done, running, failed or waiting."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence

from mklbench import terminal
from mklbench.experiments.execution import slurm
from mklbench.experiments.progress import RunOverview, overview
from mklbench.experiments.rows import choices_of, differences
from mklbench.experiments.store import Store


def status(store: Store) -> str:
    """Return how far each run of a store is, who runs what, and what has failed.

    Raises
    ------
    InputError
        If what is there is no directory.
    """
    return "\n".join(_said(store))


def _said(store: Store) -> Iterator[str]:
    """Yield the lines of all that is to be said, the total last."""
    from tabulate import tabulate

    runs = overview(store)
    if not runs:
        yield f"There are no runs in {store.path}: mklbench run and reproduce put them there."
        return
    names, counts, width = _names(runs), [_counts(run) for run in runs], terminal.width()
    rows = [[name, *map(str, numbers)] for name, numbers in zip(names, counts, strict=True)]
    headings = ["run", "splits", "done", "running", "failed", "waiting"]
    shown, _ = terminal.table(headings, rows, width, wraps=["run"], numbers=True)
    yield from shown.splitlines()
    for name, run in zip(names, runs, strict=True):
        for line in _details(run):
            yield terminal.wrapped(f"{name}, {line}", width, indent=2)
    if jobs := slurm.queued(store):
        queue = tabulate(jobs, ["slurm job", "state", "node"], disable_numparse=True)
        yield f"\n{queue}\n"
    splits, done, running, failed, waiting = map(sum, zip(*counts, strict=True))
    yield (
        f"{len(runs)} run{'s' * (len(runs) != 1)} with {splits} splits: {done} done, "
        f"{running} running, {failed} failed, {waiting} waiting."
    )


def _names(runs: Sequence[RunOverview]) -> list[str]:
    """Return the runs as the overrides that tell them apart."""
    labels = [
        " ".join(f"{group}={run.config[group]['name']}" for group in ("algo", "kernel", "data"))
        if run.config is not None
        else run.directory.name
        for run in runs
    ]
    choices = [{} if run.config is None else choices_of(run.config) for run in runs]
    told = differences(labels, choices)
    return [f"{label} {text}".rstrip() for label, text in zip(labels, told, strict=True)]


def _counts(run: RunOverview) -> tuple[int, ...]:
    done, failed = len(run.done), len(run.failed)
    running = sum(name.startswith("split-") for name in run.running)
    return run.n_splits, done, running, failed, run.n_splits - done - running - failed


def _details(run: RunOverview) -> Iterator[str]:
    for name, owner in run.running.items():
        kind, _, number = name.partition("-")
        step = f"{kind} {int(number)}" if number.isdecimal() else name
        since = datetime.datetime.fromtimestamp(int(owner.since)).isoformat(" ")
        where = f"{owner.host} ({owner.job or f'pid {owner.pid}'})"
        yield f"{step}: running on {where} since {since}"
    for split, record in run.failed.items():
        place = run.directory / f"split-{split:03d}.json"
        yield f"split {split}: {record.status}: {record.reason} (the rest: {place})"
