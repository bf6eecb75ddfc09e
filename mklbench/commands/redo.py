"""``mklbench redo``: what has been recorded is forgotten, so that the next run does it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mklbench import config as configs
from mklbench.commands.run import run_of
from mklbench.errors import InputError
from mklbench.experiments.execution.lock import holder
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store, cannot_be_written, described


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
    try:
        for path in paths:
            path.unlink(missing_ok=True)
            path.with_suffix(".lock").unlink(missing_ok=True)
    except OSError as error:
        raise cannot_be_written(store, error) from error
    store.remove_description(directory)
    counts = Counter(path.name.partition("-")[0] for path in paths if path.suffix == ".json")
    parts = [f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if kind != "cell.json"]
    return f"{directory.name}: {' and '.join(parts) or 'nothing'} forgotten."
