"""``mklbench status``: what of a store is done, running, failed or waiting."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from mklbench.experiments.execution.overview import CellOverview, overview
from mklbench.experiments.store import Store


def status(store: Store) -> int:
    """Print how far each cell of a store is, who runs what, and what has failed.

    Raises
    ------
    InputError
        If what is there is no directory.
    """
    from tabulate import tabulate

    cells = overview(store)
    if not cells:
        print(f"There is no cell in {store.path}: mklbench run and reproduce put them there.")
        return 0
    counts = [_counts(cell) for cell in cells]
    names = [cell.directory.name for cell in cells]
    rows = [[name, *count] for name, count in zip(names, counts, strict=True)]
    print(tabulate(rows, ["cell", "splits", "done", "running", "failed", "waiting"]))
    for cell in cells:
        for line in _details(cell):
            print(f"{cell.directory.name}, {line}")
    splits, done, running, failed, waiting = (sum(column) for column in zip(*counts, strict=True))
    print(
        f"{len(cells)} cells with {splits} splits: {done} done, {running} running, "
        f"{failed} failed, {waiting} waiting."
    )
    return 0


def _counts(cell: CellOverview) -> tuple[int, ...]:
    failed, waiting = len(cell.failed), cell.n_waiting
    running = cell.n_splits - len(cell.done) - failed - waiting
    return cell.n_splits, len(cell.done), running, failed, waiting


def _details(cell: CellOverview) -> Iterator[str]:
    for name, owner in cell.running.items():
        since = datetime.datetime.fromtimestamp(owner.since).isoformat(" ")
        yield f"{_words(name)}: running on {owner.host} (pid {owner.pid}) since {since}"
    for split, record in cell.failed.items():
        first = ((record.error or "").splitlines() or [""])[0]
        place = cell.directory / f"split-{split:03d}.json"
        yield f"split {split}: {record.status}: {first} (the rest: {place})"


def _words(name: str) -> str:
    kind, _, number = name.partition("-")
    return f"{kind} {int(number)}" if number.isdecimal() else name
