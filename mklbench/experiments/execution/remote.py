"""The executors that have steps taken on other machines: what Slurm and Dask have in common."""

from __future__ import annotations

import contextlib
import math
import os
import pwd
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from mklbench import interruption
from mklbench.data import is_at_hand
from mklbench.errors import Detached, InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.chunks import Chunk
from mklbench.experiments.execution.dispatch import Driver, Options
from mklbench.experiments.execution.engine import Engine, Unreachable, submitted_to
from mklbench.experiments.execution.estimates import Estimates
from mklbench.experiments.execution.journal import Batch, Journal
from mklbench.experiments.execution.outstanding import Outstanding
from mklbench.experiments.execution.steps import Step, missing_steps
from mklbench.experiments.progress import Progress, Silent
from mklbench.experiments.store import Store

# Of the job that downloads and derives data.
_DATA_MINUTES, _DATA_MEMORY = 120, 4


def check_number(name: str, value: float, least: float, above: bool = False) -> None:
    """Raise InputError unless an option of an executor is a finite number and not too small."""
    if not math.isfinite(value) or not (value > least if above else value >= least):
        word = "above" if above else "at least"
        raise InputError(
            f"executor.{name}={value:g} is not accepted: it must be a number, {word} {least:g}."
        )


class Remote:
    """Takes steps in the jobs of an engine.

    Who interrupts is asked whether the jobs are to go on, unless `leaves_jobs` is set to False for
    a store that does not stay: then they are cancelled, however the run ends.

    Parameters
    ----------
    make_engine : callable
        Returns the engine; called once it is needed.
    options : Options
        How steps are handed over.
    name : str
        Name of the executor, as a user types it.
    jobs, timeout : int and float or None
        Options of the run that are for the local executor.
    detach : bool
        Whether to return as soon as all that can be begun is submitted.

    Raises
    ------
    InputError
        If an option is not possible.
    """

    at_once = 0
    leaves_jobs = True

    def __init__(
        self,
        make_engine: Callable[[], Engine],
        options: Options,
        name: str,
        jobs: int,
        timeout: float | None,
        detach: bool,
    ) -> None:
        if jobs != 1:
            raise InputError(
                f"jobs={jobs} is for executor=local: leave it out, and say how many jobs of "
                f"{name} there may be with executor.{'array' if name == 'slurm' else 'workers'}."
            )
        if timeout is not None:
            raise InputError(
                f"timeout={timeout:g} is for executor=local: leave it out; a job of {name} is "
                "stopped after twice the time that its steps are expected to take."
            )
        check_number("minutes", options.minutes, 0, above=True)
        check_number("retries", options.retries, 0)
        check_number("memory", options.memory, 0)
        self._make_engine, self._options = make_engine, options
        self._name, self._detach = name, detach
        self._keys: set[str] = set()  # of the cells of the run

    @cached_property
    def _engine(self) -> Engine:
        return self._make_engine()

    def prepare(self, cells: Sequence[Cell], store: Store) -> None:
        """See that jobs can run at all, and have one of them load what data are not at hand."""
        data = _not_at_hand(cells)
        if not data:
            self._keys = _keys(cells)
            if not _missing(cells, store):
                self._end_jobs(store)
                return
        _check_owners(cells, store)
        store.check_writable()
        try:
            with _answering(self._name):
                self._prepare(data, Journal(store))
                self._keys = _keys(cells)
        except BaseException:
            self._close()
            raise

    def run(self, steps: Sequence[Step], store: Store, progress: Progress) -> dict[str, str]:
        """Take `steps` as `mklbench.experiments.execution.plan.Executor` says."""
        outstanding = Outstanding(steps, store, progress, Estimates(store))
        driver = Driver(self._engine, outstanding, self._options, self._keys)
        try:
            with _answering(self._name), self._leaving(driver):
                if self._detach:
                    driver.adopt()
                    driver.submit()
                    raise Detached(_detached(driver, outstanding, store))
                driver.run()
        finally:
            self._close()
        return outstanding.errors

    def _prepare(self, data: Sequence[Any], journal: Journal) -> None:
        engine = self._engine
        if not _is_running(engine, submitted_to(engine, journal), journal):
            engine.check(journal)
        if data:
            self._load(data, journal)

    def _close(self) -> None:
        """Leave the engine; another run makes a new one."""
        if "_engine" in vars(self):
            self._engine.close()
            del self._engine

    @contextlib.contextmanager
    def _leaving(self, driver: Driver) -> Iterator[None]:
        """See to the jobs that are on their way when the run ends before they do."""
        if self.leaves_jobs:
            with interruption.asking(lambda: _ask(driver)):
                yield
            return
        with interruption.on_leaving(driver.cancel):
            try:
                yield
            except BaseException:
                with contextlib.suppress(Unreachable):
                    driver.cancel()
                raise

    def _end_jobs(self, store: Store) -> None:
        """End and forget the jobs of a driver that was itself ended after the last step."""
        if not Journal(store).batches():
            return
        outstanding = Outstanding((), store, Silent(), Estimates(store))
        with contextlib.suppress(InputError, Unreachable, OSError):  # they end by themselves
            engine = self._engine
            try:
                Driver(engine, outstanding, self._options, self._keys).run()
            finally:
                self._close()

    def _load(self, data: Sequence[Any], journal: Journal) -> None:
        """Have one job load data that others wait for; what goes wrong is said by the plan."""
        engine = self._engine
        chunk = Chunk((), 0.0, max(_DATA_MEMORY, round(self._options.memory)), _DATA_MINUTES)
        batch = Batch.of(engine.name, engine.place, [chunk], data)
        journal.write_batch(batch)
        try:
            batch = batch.with_ids(engine.submit(batch, journal))
            journal.write_batch(batch)
            while _is_running(engine, [batch], journal):
                engine.wait(engine.poll_seconds)
            engine.forget(batch, journal, keep=())
        finally:
            journal.remove(batch)


@contextlib.contextmanager
def _answering(name: str) -> Iterator[None]:
    """Say in a sentence that the engine does not answer."""
    try:
        yield
    except Unreachable as error:
        raise InputError(
            f"executor={name} does not answer ({error}): see that it runs; the same command goes "
            "on from there."
        ) from error


def _not_at_hand(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the data configs, each once, that have to be downloaded or derived first."""
    configs = {repr(cell.config["data"]): cell.config["data"] for cell in cells}
    return [config for config in configs.values() if not is_at_hand(config)]


def _keys(cells: Sequence[Cell]) -> set[str]:
    """Return the keys of the cells that have one: without its data a cell has none."""
    keys = set()
    for cell in cells:
        with contextlib.suppress(InputError):
            keys.add(cell.key)
    return keys


def _missing(cells: Sequence[Cell], store: Store) -> bool:
    """Tell whether anything is left to do, as far as it can be told now."""
    try:
        return any(missing_steps(cell, store) for cell in cells)
    except InputError:  # of which the plan will tell
        return True


def _is_running(engine: Engine, batches: Sequence[Batch], journal: Journal) -> bool:
    """Tell whether jobs of these batches are on their way."""
    if not batches:
        return False
    try:
        states = engine.states(batches, journal)
    except Unreachable:
        return True
    return any(state.phase in ("queued", "running") for state in states.values())


def _check_owners(cells: Sequence[Cell], store: Store) -> None:
    """Raise InputError if claims of another user stand where steps are to be claimed."""
    for cell in cells:
        try:
            claims = list(store.directory(cell).glob("*.claim"))
        except InputError:  # of which the plan will tell
            continue
        for path in claims:
            try:
                user = path.stat().st_uid
            except OSError:  # released just now
                continue
            if user != os.getuid():
                raise InputError(
                    f"results_dir={store.path} has a claim of the user {_name_of(user)} on {path}: "
                    "wait until that run has ended, or name another results_dir."
                )


def _name_of(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def _ask(driver: Driver) -> None:
    """Ask on the terminal whether the jobs are to be cancelled; leave them if nobody can be asked.

    On the standard error, as the standard output may lead into a file.
    """
    n_jobs = len(driver.in_flight)
    if not n_jobs or not sys.stdin.isatty():
        return
    print(
        f"\nmklbench: {_jobs_are(n_jobs)} queued or running. Type c to cancel, or Enter to "
        "leave them running (the same command finds them again): ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    if sys.stdin.readline().strip().lower().startswith("c"):
        try:
            driver.cancel()
            print("mklbench: the jobs are cancelled.", file=sys.stderr)
        except Unreachable as error:
            print(f"mklbench: the jobs could not be cancelled: {error}.", file=sys.stderr)


def _jobs_are(n_jobs: int) -> str:
    return "1 job is" if n_jobs == 1 else f"{n_jobs} jobs are"


def _detached(driver: Driver, outstanding: Outstanding, store: Store) -> str:
    n_waiting = sum(not item.job for item in outstanding)
    later = f"; {n_waiting} more wait for these, or for room" if n_waiting else ""
    return (
        f"{_jobs_are(len(driver.in_flight))} queued or running, for "
        f"{len(outstanding) - n_waiting} steps{later}. mklbench status --results-dir {store.path} "
        "shows them; the same command without --detach waits for them and goes on."
    )
