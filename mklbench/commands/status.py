"""``mklbench status`` and ``redo``: what a store has, and how the next run is to do it again."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mklbench import config as configs
from mklbench import terminal
from mklbench.commands.run import run_of
from mklbench.errors import InputError
from mklbench.experiments.execution.lock import Owner, holder
from mklbench.experiments.record import Record
from mklbench.experiments.rows import choices_of, differences
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store, asked_splits, described


def status(store: Store) -> str:
    """Return how far each run of a store is, who runs what, and what has failed.

    Raises
    ------
    InputError
        If what is there is no directory.
    """
    store.check()
    return "\n".join(_said(store))


def _said(store: Store) -> Iterator[str]:
    """Yield the lines of all that is to be said, the total last."""
    runs = [_overview(store, directory) for directory in store.directories()]
    if not runs:
        yield f"There are no runs in {store.path}: mklbench run and reproduce put them there."
        return
    names, counts, width = _names(runs), [run.counts for run in runs], terminal.width()
    rows = [[name, *map(str, numbers)] for name, numbers in zip(names, counts, strict=True)]
    headings = ["run", "splits", "done", "running", "failed", "waiting"]
    yield terminal.table(headings, rows, width, wraps=["run"], numbers=True)
    for name, run in zip(names, runs, strict=True):
        for line in _details(run):
            yield terminal.wrapped(f"{name}, {line}", width, indent=2)
    splits, done, running, failed, waiting = map(sum, zip(*counts, strict=True))
    yield (
        f"{len(runs)} run{'s' * (len(runs) != 1)} with {splits} splits: {done} done, "
        f"{running} running, {failed} failed, {waiting} waiting."
    )


@dataclass(frozen=True)
class _Overview:
    """How far a run is.

    Attributes
    ----------
    directory : Path
        Of its records; its name ends in the key of the run.
    config : mapping or None
        Of the run; None if it is not known.
    counts : tuple of int
        Its splits, and of these the done, the running, the failed and the waiting.
    running : dict of str to Owner
        Who has which step in hand that has not ended, by its name: ``split-003``.
    failed : list of Record
        The failures and timeouts that nobody tries again just now.
    """

    directory: Path
    config: Mapping[str, Any] | None
    counts: tuple[int, ...]
    running: dict[str, Owner]
    failed: list[Record]


def _overview(store: Store, directory: Path) -> _Overview:
    # A lock is released when the record is there: the other way round neither might be seen.
    locks = {path.stem: holder(path) for path in sorted(directory.glob("[!.]*-*.lock"))}
    records = {f"split-{record.split:03d}": record for record in store.records_in(directory)}
    config = store.described_config(directory)
    done = {name for name, record in records.items() if record.is_done}
    # The locks of what has ended are about to be released.
    running = {name: owner for name, owner in locks.items() if owner and name not in done}
    failed = [record for name, record in records.items() if name not in {*done, *running}]
    n_splits = max([asked_splits(config), *(record.split + 1 for record in records.values())])
    numbers = len(done), sum(name.startswith("split-") for name in running), len(failed)
    counts = n_splits, *numbers, n_splits - sum(numbers)
    return _Overview(directory, config, counts, running, failed)


def _names(runs: Sequence[_Overview]) -> list[str]:
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


def _details(run: _Overview) -> Iterator[str]:
    for name, owner in run.running.items():
        kind, _, number = name.partition("-")
        step = f"{kind} {int(number)}" if number.isdecimal() else name
        since = datetime.datetime.fromtimestamp(int(owner.since)).isoformat(" ")
        where = f"{owner.host} ({owner.job or f'pid {owner.pid}'})"
        yield f"{step}: running on {where} since {since}"
    for record in run.failed:
        place = run.directory / f"split-{record.split:03d}.json"
        yield f"split {record.split}: {record.status}: {record.reason} (the rest: {place})"


def redo(
    overrides: Sequence[str],
    *,
    sweep: bool = False,
    splits: Sequence[int] = (),
    config_dir: str | None = None,
) -> str:
    """Forget what a store has of some runs, and return what that was.

    Parameters
    ----------
    overrides : list of str
        Of the runs, and of their store.
    sweep : bool
        Whether the overrides are those of a sweep.
    splits : list of int
        Only these splits are forgotten; none means all, and the selections that they share.
    config_dir : str or None
        A directory of the user's own configs.

    Raises
    ------
    InputError
        If somebody is running it just now; nothing is forgotten then.
    """
    jobs = configs.jobs_of([*overrides, *["--multirun"] * sweep], config_dir)
    store = Store(configs.run_options(jobs[0].config).results_dir)
    store.check()
    there = store.directories()
    directories = [path for job in jobs for path in _of_run(run_of(job), store, there)]
    for directory in directories:
        locks = [directory / f"split-{split:03d}.lock" for split in splits]
        for lock in locks or sorted(directory.glob("*.lock")):
            if (owner := holder(lock)) is not None:
                raise InputError(
                    f"{lock.stem} of {directory.name} is being run on {owner.host} (pid "
                    f"{owner.pid}): end that run first, or wait for it."
                )
    return "\n".join(_forgotten(directory, store, splits) for directory in directories)


def _of_run(run: Run, store: Store, directories: Sequence[Path]) -> list[Path]:
    """Return where a run has records: also those of its own code before that was edited."""
    config = described(run)
    own = store.directory(run)
    before = [path for path in directories if path.name.startswith(f"{run.label}-")]
    return [own, *(p for p in before if p != own and store.described_config(p) == config)]


def _forgotten(directory: Path, store: Store, splits: Sequence[int]) -> str:
    """Delete what is recorded, and the directory that is empty then; return what it was.

    Of a whole run its description goes, too, which alone would let it wait for ever: edited code of
    the user's own makes another run of the same overrides.
    """
    patterns = [f"split-{split:03d}.json" for split in splits]
    patterns = patterns or ["split-*.json", "selection-*.json", "cell.json", "*.lock"]
    paths = [path for pattern in patterns for path in sorted(directory.glob(pattern))]
    with store.writing():
        for path in paths:
            path.unlink(missing_ok=True)
            path.with_suffix(".lock").unlink(missing_ok=True)
    store.remove_description(directory)
    counts = Counter(path.name.partition("-")[0] for path in paths if path.suffix == ".json")
    parts = [f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if kind != "cell.json"]
    return f"{directory.name}: {' and '.join(parts) or 'nothing'} forgotten."
