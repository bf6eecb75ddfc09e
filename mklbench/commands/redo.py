"""``mklbench redo``: what has been recorded is forgotten, so that the next run does it again."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mklbench import config as configs
from mklbench.commands.run import run_of
from mklbench.errors import InputError
from mklbench.experiments.execution.lock import holder
from mklbench.experiments.execution.overview import run_directories
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store, cannot_be_written, names_in, traceback_of


def redo(
    overrides: Sequence[str],
    *,
    sweep: bool = False,
    failed: bool = False,
    splits: Sequence[int] = (),
    results_dir: str | None = None,
    config_dir: str | None = None,
) -> int:
    """Forget what a store has of some runs, and say what that was; return the exit status.

    Parameters
    ----------
    overrides : list of str
        Of the run; none means every run of the store.
    sweep : bool
        Whether the overrides are those of a sweep.
    failed : bool
        Only failures and timeouts are forgotten.
    splits : list of int
        Only these splits are; none means all, and the selections that they share.
    results_dir : str or None
        The store; None is that of the overrides.
    config_dir : str or None
        A directory of the user's own configs.

    Raises
    ------
    InputError
        If nothing says what to forget, or somebody is running it just now; nothing is forgotten
        then.
    """
    if not overrides and not failed:
        raise InputError(
            "mklbench redo is not told what to forget: give the overrides of a run, or --failed "
            "for all failures of the store."
        )
    flags = ["--multirun"] * sweep + ([] if config_dir is None else ["--config-dir", config_dir])
    jobs = configs.jobs_of([*overrides, *flags])
    store = Store(results_dir or configs.run_options(jobs[0].config).results_dir)
    store.check()
    directories = run_directories(store)
    if overrides:
        runs = [run_of(job) for job in jobs]
        directories = [path for run in runs for path in _of_run(run, store, directories)]
    forgotten = {directory: _named(store, directory, failed, splits) for directory in directories}
    for directory, paths in forgotten.items():
        named = [path.with_suffix(".lock") for path in paths]
        for lock in named if failed or splits else sorted(directory.glob("*.lock")):
            if (owner := holder(lock)) is not None:
                raise InputError(
                    f"{lock.stem} of {directory.name} is being run on {owner.host} (pid "
                    f"{owner.pid}): end that run first, or wait for it."
                )
    for directory, paths in forgotten.items():
        there = _forget(paths, store)
        if there or overrides:
            counts = Counter(path.name.partition("-")[0] for path in there)
            kinds = ((kind, counts[kind]) for kind in ("split", "selection"))
            parts = [f"{n} {kind}{'' if n == 1 else 's'}" for kind, n in kinds if n]
            text = f"{' and '.join(parts)} forgotten" if parts else "nothing was recorded"
            print(f"{directory.name}: {text}.")
    if not any(forgotten.values()) and not overrides:
        print(f"Nothing has failed in {store.path}: there is nothing to forget.")
    return 0


def _of_run(run: Run, store: Store, directories: Sequence[Path]) -> list[Path]:
    """Return where a run has records: also those of its own code before that was edited."""
    config = store.as_described(run)
    own = store.directory(run)
    before = [path for path in directories if path.name.startswith(f"{run.label}-")]
    return [own, *(p for p in before if p != own and store.described_config(p) == config)]


def _named(store: Store, directory: Path, failed: bool, splits: Sequence[int]) -> list[Path]:
    """Return the files to delete, those that say what is done first."""
    if not failed and not splits:
        kinds = ("split-*.json", "selection-*.json", "cell.json")
        return [path for kind in kinds for path in sorted(directory.glob(kind))]
    named = [directory / f"split-{split:03d}.json" for split in splits]
    if failed:
        unfinished = [r.split for r in store.records_in(directory) if not r.is_done]
        named = [directory / f"split-{s:03d}.json" for s in unfinished if not splits or s in splits]
    return named


def _forget(paths: Sequence[Path], store: Store) -> list[Path]:
    """Delete files, locks of the dead, and the directory that is empty then; return what was.

    A description of a run alone would let it wait for ever: edited code of the user's own makes
    another run of the same overrides.
    """
    there = [path for path in paths if path.exists()]
    try:
        for path in there:
            path.unlink(missing_ok=True)
            traceback_of(path).unlink(missing_ok=True)
            path.with_suffix(".lock").unlink(missing_ok=True)
    except OSError as error:
        raise cannot_be_written(store, error) from error
    for directory in {path.parent for path in there}:
        with contextlib.suppress(OSError):
            if names_in(directory) == ["cell.json"]:
                (directory / "cell.json").unlink()
            directory.rmdir()
    return there
