"""``mklbench status``: what of a store is done, running, failed or waiting."""

from __future__ import annotations

import datetime
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mklbench import terminal
from mklbench.errors import InputError
from mklbench.experiments.execution import slurm
from mklbench.experiments.execution.overview import CellOverview, overview
from mklbench.experiments.rows import choices_of, differences
from mklbench.experiments.store import Store, traceback_of

if TYPE_CHECKING:
    from rich.console import Console


def status(store: Store, watch: float | None = None) -> int:
    """Print how far each cell of a store is, who runs what, and what has failed.

    Parameters
    ----------
    store : Store
        The store.
    watch : float or None, default=None
        Show it on a terminal again and again, every so many seconds.

    Raises
    ------
    InputError
        If what is there is no directory, or nobody can watch.
    """
    if watch is None:
        print("\n".join(_said(store)))
        return 0
    from rich.console import Console

    console = Console(file=sys.stdout)
    if not (sys.stdout.isatty() and console.is_interactive):
        raise InputError(
            "--watch is for a terminal, and standard output is none: leave it out, and the state "
            "is printed once."
        )
    _show(store, watch, console)
    return 0


def _show(store: Store, every: float, console: Console) -> None:
    """Show what is found until the user ends it."""
    from rich.live import Live
    from rich.text import Text

    live = Live(Text("Reading the store."), console=console, auto_refresh=False)
    with live:
        while True:
            now = datetime.datetime.now()
            heading = f"{store.path} at {now:%H:%M:%S}, again every {every:g} s; Ctrl-C ends this"
            *lines, total = _said(store)
            text = "\n".join([heading, total, *lines])  # its end is cut off, if it must be
            live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)
            time.sleep(every)


def _said(store: Store) -> Iterator[str]:
    """Yield the lines of all that is to be said, the total last."""
    from tabulate import tabulate

    cells = overview(store)
    if not cells:
        yield f"There are no runs in {store.path}: mklbench run and reproduce put them there."
        return
    names, counts, width = _names(cells), [_counts(cell) for cell in cells], terminal.width()
    rows = [[name, *map(str, numbers)] for name, numbers in zip(names, counts, strict=True)]
    headings = ["run", "splits", "done", "running", "failed", "waiting"]
    shown, _ = terminal.table(headings, rows, width, wraps={"run": 20}, numbers=True)
    yield from shown.splitlines()
    for name, cell in zip(names, cells, strict=True):
        for line in _details(cell):
            yield terminal.wrapped(f"{name}, {line}", width, indent=2)
    if jobs := slurm.queued(store):
        queue = tabulate(jobs, ["slurm job", "state", "node"], disable_numparse=True)
        yield f"\n{queue}\n"
    splits, done, running, failed, waiting = map(sum, zip(*counts, strict=True))
    yield (
        f"{len(cells)} run{'s' * (len(cells) != 1)} with {splits} splits: {done} done, "
        f"{running} running, {failed} failed, {waiting} waiting."
    )


def _names(cells: Sequence[CellOverview]) -> list[str]:
    """Return the runs as the overrides that tell them apart; with their keys if none do."""
    labels = [
        " ".join(f"{group}={cell.config[group]['name']}" for group in ("algo", "kernel", "data"))
        if cell.config is not None
        else cell.directory.name
        for cell in cells
    ]
    choices = [{} if cell.config is None else choices_of(cell.config) for cell in cells]
    names = [
        f"{label} {told}".rstrip()
        for label, told in zip(labels, differences(labels, choices), strict=True)
    ]
    times = Counter(names)
    return [
        f"{name} (key {cell.directory.name.rpartition('-')[2]})" if times[name] > 1 else name
        for name, cell in zip(names, cells, strict=True)
    ]


def _counts(cell: CellOverview) -> tuple[int, ...]:
    failed, waiting = len(cell.failed), cell.n_waiting
    running = cell.n_splits - len(cell.done) - failed - waiting
    return cell.n_splits, len(cell.done), running, failed, waiting


def _details(cell: CellOverview) -> Iterator[str]:
    for name, owner in cell.running.items():
        kind, _, number = name.partition("-")
        step = f"{kind} {int(number)}" if number.isdecimal() else name
        since = datetime.datetime.fromtimestamp(int(owner.since)).isoformat(" ")
        where = f"{owner.host} ({owner.job or f'pid {owner.pid}'})"
        yield f"{step}: running on {where} since {since}"
    for split, record in cell.failed.items():
        place = cell.directory / f"split-{split:03d}.json"
        details = traceback_of(place)
        rest = f"traceback: {details}" if details.exists() else f"the rest: {place}"
        yield f"split {split}: {record.status}: {record.reason} ({rest})"
