"""``mklbench status``: what of a store is done, running, failed or waiting.

A `StoreState` is what there is to be said; `_said` puts it into lines, which are printed once, or
shown again and again on a terminal.
"""

from __future__ import annotations

import datetime
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mklbench import terminal
from mklbench.errors import InputError
from mklbench.experiments.execution import slurm
from mklbench.experiments.execution.overview import CellOverview, overview
from mklbench.experiments.rows import choices_of, differences
from mklbench.experiments.store import Store, traceback_of

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class StoreState:
    """What there is to be said of a store.

    Attributes
    ----------
    place : Path
        The store.
    cells : list of CellOverview
        How far each of its cells is.
    jobs : list of tuple
        Id, state and node of its jobs on Slurm that have not ended.
    """

    place: Path
    cells: list[CellOverview]
    jobs: list[tuple[str, str, str]]


def look(store: Store) -> StoreState:
    """Return what there is to be said of a store just now.

    Raises
    ------
    InputError
        If what is there is no directory.
    """
    return StoreState(store.path, overview(store), slurm.queued(store))


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
        print("\n".join(_said(look(store))))
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
            found = look(store)
            heading = f"{found.place} at {_now()}, again every {every:g} s; Ctrl-C ends this"
            *lines, total = _said(found)
            text = "\n".join([heading, total, *lines])  # its end is cut off, if it must be
            live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)
            time.sleep(every)


def _said(found: StoreState) -> Iterator[str]:
    """Yield the lines of all that is to be said, the total last."""
    if not found.cells:
        yield f"There are no runs in {found.place}: mklbench run and reproduce put them there."
        return
    names = dict(zip((c.directory for c in found.cells), _names(found.cells), strict=True))
    yield from _table(found.cells, names)
    for cell in found.cells:
        for line in _details(cell):
            yield terminal.wrapped(f"{names[cell.directory]}, {line}", terminal.width(), indent=2)
    if found.jobs:
        yield from ("", *_jobs(found.jobs), "")
    yield _total(found.cells)


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


def _table(cells: Sequence[CellOverview], names: Mapping[Path, str]) -> Iterator[str]:
    rows = [[names[cell.directory], *map(str, _counts(cell))] for cell in cells]
    headings = ["run", "splits", "done", "running", "failed", "waiting"]
    shown, _ = terminal.table(headings, rows, terminal.width(), wraps={"run": 20}, numbers=True)
    yield from shown.splitlines()


def _jobs(jobs: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    from tabulate import tabulate

    yield from tabulate(jobs, ["slurm job", "state", "node"], disable_numparse=True).splitlines()


def _total(cells: Sequence[CellOverview]) -> str:
    counts = zip(*map(_counts, cells), strict=True)
    splits, done, running, failed, waiting = (sum(column) for column in counts)
    return (
        f"{len(cells)} run{'s' * (len(cells) != 1)} with {splits} splits: {done} done, "
        f"{running} running, {failed} failed, {waiting} waiting."
    )


def _counts(cell: CellOverview) -> tuple[int, ...]:
    failed, waiting = len(cell.failed), cell.n_waiting
    running = cell.n_splits - len(cell.done) - failed - waiting
    return cell.n_splits, len(cell.done), running, failed, waiting


def _details(cell: CellOverview) -> Iterator[str]:
    for name, owner in cell.running.items():
        since = datetime.datetime.fromtimestamp(int(owner.since)).isoformat(" ")
        where = f"{owner.host} ({owner.job or f'pid {owner.pid}'})"
        yield f"{_words(name)}: running on {where} since {since}"
    for split, record in cell.failed.items():
        place = cell.directory / f"split-{split:03d}.json"
        if (details := traceback_of(place)).exists():
            yield f"split {split}: {record.status}: {record.reason} (traceback: {details})"
        else:
            yield f"split {split}: {record.status}: {record.reason} (the rest: {place})"


def _words(name: str) -> str:
    kind, _, number = name.partition("-")
    return f"{kind} {int(number)}" if number.isdecimal() else name


def _now() -> str:
    return datetime.datetime.now().strftime("%H:%M:%S")
