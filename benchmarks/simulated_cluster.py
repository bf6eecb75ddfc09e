"""A cluster that is simulated: no process is started and nobody sleeps.

The program's own planning, packing, driver, journal, claims and store are at work. Simulated are
the time, the scheduler and the nodes: a job waits for a free node, takes some seconds to start, and
takes its steps as `mklbench.experiments.execution.job` does, where computing is only that time
passes. What goes wrong, and how often, is stated in `Faults`.
"""

from __future__ import annotations

import hashlib
import heapq
import itertools
import math
import os
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from mklbench import claims as path_claims
from mklbench.claims import BEAT, Owner, PathClaims
from mklbench.experiments.cell import Cell
from mklbench.experiments.evaluation import unfinished
from mklbench.experiments.execution import journal as journals
from mklbench.experiments.execution import plan
from mklbench.experiments.execution.chunks import GIB
from mklbench.experiments.execution.claims import Claims
from mklbench.experiments.execution.dask import DaskEngine
from mklbench.experiments.execution.dispatch import Driver, Options
from mklbench.experiments.execution.engine import JobState, Unreachable
from mklbench.experiments.execution.estimates import Estimates
from mklbench.experiments.execution.journal import Batch, Job, Journal, Left, Report
from mklbench.experiments.execution.outstanding import Outstanding
from mklbench.experiments.execution.plan import CellResult, run_cells
from mklbench.experiments.execution.slurm import Slurm
from mklbench.experiments.execution.steps import Step, is_done, missing_steps
from mklbench.experiments.progress import Progress, Silent
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.store import Store

# What a step is known by: key of its cell, split, and whether it is a selection.
Place = tuple[str, int, bool]

# As `mklbench.experiments.execution.job` has them.
_SECONDS_BEFORE, _SHARE_BEFORE = 20.0, 0.2
# Seconds for which a scheduler still knows a job that has ended.
_REMEMBERED = 300.0
# Seconds until a job that is told to end has ended.
_TO_STOP = 1.0
# Seconds that a driver is away, and that a scheduler does not answer.
_AWAY, _NO_ANSWER = 90.0, 120.0
# How the scheduler calls the end of a job that was killed.
_KILLS = ("NODE_FAIL", "FAILED", "PREEMPTED")
# Seconds for which a node is silent.
_SILENCE = 300.0


@dataclass(frozen=True)
class Faults:
    """What goes wrong.

    Attributes
    ----------
    killed, cancelled, silent, forgotten, orphaned : float
        How often in an hour of a job's running it is killed with no time to tidy up; is told to
        end; falls silent for five minutes, and then goes on; is gone, and the scheduler does not
        know it any more; is not known any more, but goes on.
    unreachable, driver : float
        How often in an hour the scheduler does not answer for two minutes, and the driver is
        killed, to be started again after 90 seconds.
    large : float
        Share of the steps that need more memory than was estimated.
    slow : float
        Share of the nodes that take three times as long.
    hits : int
        How often a step's job may be hit; the retries have to suffice.
    """

    killed: float = 0.0
    cancelled: float = 0.0
    silent: float = 0.0
    forgotten: float = 0.0
    orphaned: float = 0.0
    unreachable: float = 0.0
    driver: float = 0.0
    large: float = 0.0
    slow: float = 0.0
    hits: int = 2


@dataclass(frozen=True)
class Size:
    """How large the cluster is, and how quick its scheduler.

    Attributes
    ----------
    workers : int
        Jobs that run at the same time.
    array : int
        Jobs that may be queued or running; 0 for as many.
    start, poll : float
        Seconds that a job takes to start, and between two questions to the scheduler.
    tells : bool
        Whether the scheduler tells how many workers there are, and when a job ends, as Dask does,
        or has to be asked, like Slurm.
    """

    workers: int
    array: int = 0
    start: float = 5.0
    poll: float = 10.0
    tells: bool = False


class SimulatedCell(Cell):
    """A cell whose steps take a stated time and memory, and have a result that is made up.

    Parameters
    ----------
    number : int
        Cells with different numbers are different.
    n_splits, n_selections : int
        How many splits, and how many selections for all of them.
    seconds, guess : float
        What a split takes in the mean, and what is expected.
    gib : float
        Memory that a split is expected to need.
    trouble : dict of int to str, optional
        By split, what is wrong with it: it is "endless", it "dies", or its cell has an "input"
        that has to be mended.
    """

    def __init__(
        self,
        number: int,
        n_splits: int,
        seconds: float,
        guess: float,
        gib: float = 0.1,
        n_selections: int = 0,
        trouble: dict[int, str] | None = None,
    ) -> None:
        self.number, self.seconds, self.guess, self.gib = number, seconds, guess, gib
        self.trouble = trouble or {}
        grid = {"algo.C": [1.0, 10.0]} if n_selections else {}
        self.config = {
            "algo": {"name": "simulated"},
            "kernel": {"name": "none"},
            "data": {"name": f"cell{number}"},
            "split": {"n_splits": n_splits, "seed": 0},
            "search": {"name": "none", "grid": grid, "splits": n_selections or None, "folds": 2},
        }
        self.n_splits = n_splits
        self.key = hashlib.sha256(str(number).encode()).hexdigest()[:12]
        self.data_digest = self.key
        self.sources = {}

    def dataset(self) -> Any:
        """Return what stands for the data."""
        return SimpleNamespace(source="simulated")

    def split_source(self, split: int) -> Any:
        """Return that the split is drawn by us."""
        return "random"

    def result(self, split: int, selections: dict[int, Selection]) -> float:
        """Return what the split has for an accuracy: it depends on what was selected."""
        chosen = sorted((at, one.params["algo.C"]) for at, one in selections.items())
        return random.Random(f"{self.key} {split} {chosen}").random()


# What the figure of the documentation is for: in 167 hours of computing some 40 jobs are hit.
STATED = Faults(
    killed=0.1,
    cancelled=0.05,
    silent=0.05,
    forgotten=0.05,
    orphaned=0.05,
    unreachable=0.3,
    driver=1.0,
    large=0.01,
    slow=0.02,
)


def drawn_cells(n_cells: int, n_splits: int, seconds: float, seed: int) -> list[SimulatedCell]:
    """Return cells whose steps take so long in the mean.

    The mean of a cell is drawn from a log-normal distribution of width 1, its splits are around it
    with 0.3, and what is expected of it is off by a factor of width 0.5. One cell of ten has
    three selections, which take twice as long as splits.
    """
    drawn = random.Random(seed)
    cells = []
    for number in range(n_cells):
        its = seconds * drawn.lognormvariate(-0.5, 1.0)
        guess = its * drawn.lognormvariate(0.0, 0.5)
        cells.append(SimulatedCell(number, n_splits, its, guess, 0.1, 3 * (number % 10 == 0)))
    return cells


class DriverKilled(BaseException):
    """The driver is gone, without a chance to tidy up."""


@dataclass
class Outcome:
    """What has come of a simulated run.

    Attributes
    ----------
    results : list of CellResult
        Of the program.
    seconds : float
        From the start of the first driver to the end of the last.
    work : float
        Seconds in steps that have led to the record there is.
    slots : int
        Jobs that ran at the same time.
    n_jobs : int
        How many jobs were submitted.
    attempts : Counter of Place
        How often each step was begun.
    hit : Counter of str
        How often what went wrong.
    wrong : list of str
        What ought not to have happened.
    left : list of str
        Files in the store, after all jobs have ended, that are no records.
    """

    results: list[CellResult]
    seconds: float
    work: float
    slots: int
    n_jobs: int
    attempts: Counter[Place]
    hit: Counter[str]
    wrong: list[str]
    left: list[str]

    @property
    def efficiency(self) -> float:
        """Work done over slots x time."""
        return self.work / (self.slots * self.seconds)

    @property
    def accuracies(self) -> dict[tuple[str, int], float | None]:
        """By cell and split what was recorded; None of a split that failed."""
        return {
            (result.cell.key, record.split): record.accuracy
            for result in self.results
            for record in result.records
        }


def simulate(
    cells: Sequence[SimulatedCell],
    size: Size,
    faults: Faults,
    options: Options,
    seed: int = 0,
    directory: Path | None = None,
) -> Outcome:
    """Have a simulated cluster take all steps of cells, and return what has come of it.

    Parameters
    ----------
    cells : sequence of SimulatedCell
        What is to be done.
    size : Size
        Of the cluster.
    faults : Faults
        What goes wrong.
    options : Options
        Of the driver.
    seed : int, default=0
        Of all that is drawn.
    directory : Path, optional
        For the store; a temporary one if not given.
    """
    with ExitStack() as stack:
        if directory is None:
            memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=memory)))
        store = Store(directory / "store")
        world = World(cells, store, size, faults, seed)
        stack.enter_context(_in(world))
        seconds = 0.0
        while True:
            try:
                results = run_cells(cells, store, executor=_Executor(world, options))
            except DriverKilled:
                world.restore()
            else:
                seconds = seconds or world.now
                if not world.journal.batches():  # else the scheduler was away at the end
                    break
            world.pass_time(_AWAY)
        world.end()
        return Outcome(
            results,
            seconds,
            world.work,
            size.workers,
            world.n_jobs,
            world.attempts,
            world.hit,
            world.wrong,
            sorted(
                str(path.relative_to(store.path))
                for path in store.path.rglob("*")
                if path.suffix not in ("", ".json") or path.name == "jobs"
            ),
        )


@contextmanager
def _in(world: World) -> Iterator[None]:
    """Let claims live in simulated time, cells be right, and nothing wait for a disk."""
    clock = SimpleNamespace(monotonic=lambda: world.now, time=lambda: world.now)
    with (
        patch.object(path_claims, "time", clock),
        patch.object(journals, "time", clock),
        patch.object(Owner, "of_this_process", world.owner),
        patch.object(plan, "check_cell"),
        patch("os.fsync"),
    ):
        yield


class _Executor:
    """Hands the steps to the simulated cluster, as `remote.Remote` does to a real one."""

    at_once = 0

    def __init__(self, world: World, options: Options) -> None:
        self._world, self._options = world, options

    def prepare(self, cells: Sequence[Cell], store: Store) -> None:
        self._keys = {cell.key for cell in cells}
        if not any(missing_steps(cell, store) for cell in cells):
            self._drive(Outstanding([], store, Silent(), _Expected(store)))

    def run(self, steps: Sequence[Step], store: Store, progress: Progress) -> dict[str, str]:
        """Return when every step has ended."""
        counted = _Counted(self._world)
        outstanding = Outstanding(steps, store, counted, _Expected(store))
        self._drive(outstanding)
        return outstanding.errors

    def _drive(self, outstanding: Outstanding) -> None:
        engine = SimulatedEngine(self._world)
        Driver(engine, outstanding, self._options, self._keys, lambda: self._world.now).run()


class _Expected(Estimates):
    """What is known of simulated steps before they have been taken."""

    def bytes(self, step: Step) -> float:
        """Return what a step is expected to need."""
        return _of(step).gib * GIB

    def _looked_up(self, step: Step) -> float:
        return _of(step).guess * (2.0 if step.selects else 1.0)


class _Counted:
    """Sees that a driver tells the end of each step once."""

    def __init__(self, world: World) -> None:
        self._world, self._told = world, set[Place]()

    def start(self, steps: Sequence[Step], n_splits: int) -> None: ...

    def step_advanced(self, step: Step, n_done: int, n_fits: int) -> None: ...

    def step_ended(self, step: Step, record: Record | None) -> None:
        if _place(step) in self._told:
            self._world.wrong.append(f"{_place(step)} was said to have ended twice")
        self._told.add(_place(step))

    def cell_ended(self, cell: Cell, status: str, records: list[Record]) -> None: ...

    def stop(self) -> None: ...


class World:
    """The time, the nodes and what happens on them.

    Parameters
    ----------
    cells, store, size, faults, seed : as in `simulate`
    """

    def __init__(
        self,
        cells: Sequence[SimulatedCell],
        store: Store,
        size: Size,
        faults: Faults,
        seed: int,
    ) -> None:
        self.cells = {cell.key: cell for cell in cells}
        self.store, self.size, self.faults, self.seed = store, size, faults, seed
        self.journal = Journal(store)
        self.now = 0.0
        self.random = random.Random(seed)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        names = [f"node{number:03d}" for number in range(size.workers)]
        self._idle = list(names)
        self._slow = set(self.random.sample(names, round(faults.slow * size.workers)))
        self.queue: list[SimulatedJob] = []
        self.jobs: dict[str, SimulatedJob] = {}  # that the scheduler knows, by name
        self.alive: set[SimulatedJob] = set()  # whether it knows them or not
        self.n_ended = 0
        self.acting: SimulatedJob | None = None
        self.driver_ends = self._drawn(faults.driver)
        self.silent_from = self._drawn(faults.unreachable)
        self._submitting: Batch | None = None
        self.n_jobs, self.work = 0, 0.0
        self.attempts: Counter[Place] = Counter()
        self.hits: Counter[Place] = Counter()
        self.hit: Counter[str] = Counter()
        self.recorded: set[Place] = set()
        self.taken_by: defaultdict[Place, set[SimulatedJob]] = defaultdict(set)
        self.wrong: list[str] = []
        self.at(BEAT, self._beat)

    def at(self, when: float, action: Callable[[], None]) -> None:
        """Have something happen later."""
        heapq.heappush(self._events, (when, next(self._numbers), action))

    def pass_time(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Let time pass, and happen what is to happen, until something has come true."""
        end = self.now + seconds
        while self._events[0][0] <= end and not until():
            self.now, _, action = heapq.heappop(self._events)
            action()
        if not until():
            self.now = end

    def end(self) -> None:
        """See that the scheduler has no jobs left, and go on until those it has lost have ended."""
        self.pass_time(2 * _TO_STOP)
        left = [one.job.name for one in self.alive | set(self.queue) if one.job.name in self.jobs]
        self.wrong += [f"{name} was left in flight" for name in left]
        while self.alive:
            self.pass_time(60.0)

    def knows(self, job: Job) -> bool:
        """Tell whether the journal has a job, as each job asks when it begins."""
        with suppress(FileNotFoundError):
            self.journal.batch(job.batch)
            return True
        return False

    def owner(self) -> Owner:
        """Return who claims just now: each job is a process of its own on another machine."""
        assert self.acting is not None
        return Owner(self.acting.node, "", self.acting.pid, 0, int(self.now))

    def seconds(self, step: Step, node: str) -> float:
        """Return what a step takes on a node."""
        cell = _of(step)
        if cell.trouble.get(step.split) == "endless" and not step.selects:
            return math.inf
        drawn = random.Random(f"{self.seed} {_place(step)}").lognormvariate(-0.045, 0.3)
        times = (3.0 if node in self._slow else 1.0) * (2.0 if step.selects else 1.0)
        return cell.seconds * drawn * times

    def gib(self, step: Step) -> float:
        """Return the memory that a step needs, of a job."""
        more = random.Random(f"{self.seed} memory {_place(step)}").random() < self.faults.large
        return 1.9 if more else 0.9

    def submit(self, job: Job) -> None:
        """Queue a job."""
        one = SimulatedJob(self, job)
        self.n_jobs += 1
        self.jobs[job.name] = one
        self.queue.append(one)
        self.start_jobs()

    def start_jobs(self) -> None:
        """Give idle nodes to the jobs that wait."""
        while self.queue and self._idle:
            node = self._idle.pop(self.random.randrange(len(self._idle)))
            one = self.queue.pop(0)
            self.alive.add(one)
            one.start(node)

    def free(self, one: SimulatedJob) -> None:
        """Take note that a job has ended."""
        self.alive.discard(one)
        self.n_ended += 1
        self._idle.append(one.node)
        self.at(self.now, self.start_jobs)
        self.at(self.now + _REMEMBERED, lambda: self.forget(one))

    def forget(self, one: SimulatedJob) -> None:
        """Let the scheduler forget a job."""
        self.jobs.pop(one.job.name, None)

    def answers(self) -> bool:
        """Tell whether the scheduler answers just now."""
        if self.now > self.silent_from + _NO_ANSWER:
            self.silent_from = self.now + self._drawn(self.faults.unreachable)
        if self.now < self.silent_from:
            return True
        self.hit["unreachable"] += 1
        return False

    def may_be_hit(self, job: Job) -> bool:
        """Tell whether the retries are enough for one more blow, and count it."""
        if any(self.hits[place] >= self.faults.hits for place in job.steps):
            return False
        self.hits.update(job.steps)
        return True

    def draw(self, often: float) -> float:
        """Return when something happens next that happens so often an hour."""
        return self.now + self._drawn(often)

    def end_driver(self, submitting: Batch | None = None) -> None:
        """Kill the driver; what it would tidy up if it had the time is restored later."""
        self.hit["driver"] += 1
        self.driver_ends = self.now + _AWAY + self._drawn(self.faults.driver)
        self._submitting = submitting
        raise DriverKilled

    def restore(self) -> None:
        """Put back what the driver has removed, as Python code is told of its end."""
        if self._submitting is not None:
            self.journal.write_batch(self._submitting)
            self._submitting = None

    def _drawn(self, often: float) -> float:
        return self.random.expovariate(often / 3600.0) if often else math.inf

    def _beat(self) -> None:
        for one in self.alive:
            one.beat()
        self.at(self.now + BEAT, self._beat)


class _PathClaims(PathClaims):
    """Claims without threads: the heart of all is beaten by the world."""

    def __init__(self) -> None:
        super().__init__()
        self._sweeper.shutdown()
        self._sweeper = SimpleNamespace(submit=lambda f, *a: f(*a), shutdown=lambda: None)  # type: ignore[assignment]
        self._beating = True

    def beat(self, now: float) -> None:
        """Renew the heartbeats."""
        for own in list(self._held.values()):
            with suppress(OSError):  # it was lost
                os.utime(own, (now, now))


class SimulatedJob:
    """A job: it waits, starts, takes its steps as `job.run_job` does, and ends.

    Parameters
    ----------
    world : World
        Where.
    job : Job
        What was submitted.
    """

    def __init__(self, world: World, job: Job) -> None:
        self._world, self.job = world, job
        self.pid = world.n_jobs + 1000
        self.node = ""
        self.state = JobState("queued")
        self.said: JobState | None = None  # by the scheduler, where it is wrong
        self._steps = [Step(world.cells[key], at, selects) for key, at, selects in job.steps]
        self._left: list[Left] = []
        self._to_try = list(range(len(self._steps)))
        self._elsewhere: list[int] = []  # tried again in the end
        self._step: Step | None = None
        self._position, self._began, self._needs, self._until = 0, 0.0, 0.0, 0.0
        self._due = 0  # number of the event that counts; others are of what was given up
        self._due_at, self._action = 0.0, self._begin
        self._silent_until = 0.0
        self._paths = _PathClaims()
        self._claims = Claims(world.store, self._paths)
        self._report = Report("", "simulated", self.pid, 0.0)

    def start(self, node: str) -> None:
        """Begin to start on a node."""
        world, faults = self._world, self._world.faults
        self.node, self.state = node, JobState("running", "", node)
        self._then(world.size.start, self._begin)
        world.at(world.now + 60.0 * self.job.minutes + world.size.start, self._overdue)
        for name, action in (
            ("killed", lambda: self._hit("killed", lambda: self.kill(world.random.choice(_KILLS)))),
            ("cancelled", lambda: self._hit("cancelled", lambda: self.tell("CANCELLED by 1000"))),
            ("forgotten", lambda: self._hit("forgotten", self._vanish)),
            ("orphaned", lambda: self._hit("orphaned", self._be_lost_sight_of)),
            ("silent", self._fall_silent),
        ):
            world.at(world.draw(getattr(faults, name)), action)

    def beat(self) -> None:
        """Give a sign of life."""
        if not self._is_silent:
            self._paths.beat(self._world.now)

    def tell(self, why: str) -> None:
        """Tell the job to end, as by SIGTERM: it tidies up if it can."""
        self._world.at(self._world.now + _TO_STOP, lambda: self._stop(why))

    def kill(self, why: str) -> None:
        """End the job at once; its claim stays."""
        if self.state.phase != "running":
            return
        self._due = -1
        self._give_up_step()
        self.state = JobState("ended", why, self.node)
        self._world.free(self)

    @property
    def _is_silent(self) -> bool:
        return self._world.now < self._silent_until

    def _then(self, seconds: float, action: Callable[[], None]) -> None:
        """Let time pass for the job; what was to happen next before does not."""
        self._due += 1
        number = self._due
        self._due_at, self._action = self._world.now + seconds, action
        if math.isfinite(seconds):
            self._world.at(self._due_at, lambda: action() if self._due == number else None)

    def _begin(self) -> None:
        if not self._world.knows(self.job):
            self.kill("FAILED")
            return
        self._report = replace(self._report, node=self.node, started=self._world.now)
        self._world.journal.write_report(self.job, self._report)
        limit = 60.0 * self.job.minutes
        self._until = self._world.now + limit - min(_SECONDS_BEFORE, _SHARE_BEFORE * limit)
        self._next()

    def _next(self) -> None:
        """Begin the next step that nobody else has in hand; end if there is none."""
        world = self._world
        while self._to_try or self._elsewhere:
            again = not self._to_try
            position = (self._elsewhere if again else self._to_try).pop(0)
            step = self._steps[position]
            if step.cell.key in self._refused or is_done(step, world.store):
                continue
            world.acting = self
            if not self._claims.take(step):
                if not again:
                    self._elsewhere.append(position)
                continue
            if is_done(step, world.store):
                self._claims.release(step)
                continue
            self._take(position, step)
            return
        self._end()

    @property
    def _refused(self) -> set[str]:
        return {self._steps[left.position].cell.key for left in self._left if left.why == "INPUT"}

    def _take(self, position: int, step: Step) -> None:
        world, place = self._world, _place(step)
        if place in world.recorded:
            world.wrong.append(f"{place} was begun after it was recorded")
        for other in world.taken_by[place]:
            if other._silent_until <= other._began:  # else it has lost its claim, as it has to
                world.wrong.append(f"{place} was begun while another job had it in hand")
        world.attempts[place] += 1
        world.taken_by[place].add(self)
        self._step, self._position, self._began = step, position, world.now
        self._needs = world.seconds(step, self.node)
        trouble = None if step.selects else _of(step).trouble.get(step.split)
        seconds = self._needs
        if trouble == "dies":
            self._then(1.0, lambda: self._fail_step("FAILED", "the worker process died"))
        elif trouble == "input":
            self._then(1.0, lambda: self._fail_step("INPUT", "mend it"))
        elif world.gib(step) > self.job.memory:
            if world.random.random() < 0.5:  # the scheduler is quicker, and ends the whole job
                self._then(0.5 * seconds, lambda: self.kill("OUT_OF_MEMORY"))
            else:
                self._then(0.5 * seconds, lambda: self._fail_step("OUT_OF_MEMORY", "too large"))
        elif world.now + seconds > self._until:
            self._then(max(self._until - world.now, 0.5), lambda: self._stop("TIMEOUT"))
        else:
            self._then(seconds, self._end_step)

    def _end_step(self) -> None:
        """Store the result of a step, unless there is one."""
        world, step = self._world, self._step
        assert step is not None
        cell, seconds = _of(step), world.now - self._began
        if not is_done(step, world.store):
            world.work += self._needs
            world.recorded.add(_place(step))
            if step.selects:
                params = {"algo.C": random.Random(str(_place(step))).choice([1.0, 10.0])}
                world.store.write_selection(cell, step.split, Selection(params, 0.5, seconds))
            else:
                world.store.write(cell, _record(world, cell, step.split, seconds))
        self._give_up_step()
        self._claims.release(step)
        self._next()

    def _fail_step(self, why: str, message: str) -> None:
        step = self._step
        assert step is not None
        self._left.append(Left(self._position, why, message))
        self._give_up_step()
        self._claims.release(step)
        self._next()

    def _give_up_step(self) -> None:
        if self._step is not None:
            self._world.taken_by[_place(self._step)].discard(self)
        self._step = None

    def _stop(self, why: str) -> None:
        """End early, and say so."""
        if self.state.phase == "queued":
            self._world.queue.remove(self)
            self.state = JobState("ended", why)
            self._world.at(self._world.now + _REMEMBERED, lambda: self._world.forget(self))
        elif self.state.phase == "running" and (self._is_silent or not self._report.started):
            self.kill(why)
        elif self.state.phase == "running":
            if self._step is not None:
                self._left.append(Left(self._position, why.split()[0]))
                self._give_up_step()
            self._due = -1
            self._end(why)

    def _end(self, why: str = "COMPLETED") -> None:
        self._paths.close()
        report = replace(self._report, ended=self._world.now, left=tuple(self._left))
        self._world.journal.write_report(self.job, report)
        self.state = JobState("ended", why, self.node)
        self._world.free(self)

    def _overdue(self) -> None:
        self.kill("TIMEOUT")

    def _hit(self, what: str, action: Callable[[], None]) -> None:
        if self.state.phase == "running" and self._world.may_be_hit(self.job):
            self._world.hit[what] += 1
            action()

    def _be_lost_sight_of(self) -> None:
        """Go on, while the scheduler knows nothing of the job, or takes its node for dead."""
        if self._world.random.random() < 0.5:
            self._world.forget(self)
        else:
            self.said = JobState("ended", "NODE_FAIL", self.node)

    def _vanish(self) -> None:
        self.kill("NODE_FAIL")
        self._world.forget(self)

    def _fall_silent(self) -> None:
        if self.state.phase == "running" and not self._is_silent:
            self._world.hit["silent"] += 1
            self._silent_until = self._world.now + _SILENCE
            self._then(self._due_at - self._world.now + _SILENCE, self._action)


class SimulatedEngine:
    """The scheduler, as the driver sees it (`mklbench.experiments.execution.engine.Engine`).

    Parameters
    ----------
    world : World
        With the nodes.
    """

    name, place = "simulated", "here"

    def __init__(self, world: World) -> None:
        self._world = world
        self.start_seconds, self.poll_seconds = world.size.start, world.size.poll
        self.jobs_to_come = (DaskEngine if world.size.tells else Slurm).jobs_to_come
        self.room = world.size.array or world.size.workers
        self.slots = world.size.workers if world.size.tells else self.room

    def check(self, journal: Journal) -> None:
        """Find nothing to be wrong."""

    def submit(self, batch: Batch, journal: Journal) -> tuple[str, ...]:
        """Queue the jobs of a batch; the driver may be killed before, or just after."""
        world = self._world
        self._answer()
        ends = world.now >= world.driver_ends
        if ends and world.random.random() < 0.5:
            world.end_driver(batch)
        for job in batch.jobs:
            world.submit(job)
        if ends:
            world.end_driver(batch)
        return tuple(f"{world.n_jobs}_{job.number}" for job in batch.jobs)

    def states(self, batches: Sequence[Batch], journal: Journal) -> dict[str, JobState]:
        """Return the states of the jobs that the scheduler knows."""
        self._answer()
        known = self._world.jobs
        names = [job.name for batch in batches for job in batch.jobs]
        return {name: known[name].said or known[name].state for name in names if name in known}

    def cancel(self, batches: Sequence[Batch]) -> None:
        """Tell the jobs of batches to end."""
        for job in (job for batch in batches for job in batch.jobs):
            if job.name in self._world.jobs:
                self._world.jobs[job.name].tell("CANCELLED by 1000")

    def wait(self, seconds: float) -> None:
        """Let time pass; the driver may be killed meanwhile, or at its next submission."""
        world = self._world
        n_ended = world.n_ended
        tells = world.size.tells
        world.pass_time(seconds, lambda: tells and world.n_ended > n_ended)
        if world.now >= world.driver_ends and world.random.random() < 0.5:
            world.end_driver()

    def log(self, job_id: str, journal: Journal) -> str:
        """Say where a log would be."""
        return f"the log of {job_id}"

    def forget(self, batch: Batch, journal: Journal, keep: Collection[str]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def _answer(self) -> None:
        if not self._world.answers():
            raise Unreachable("no answer")


def _of(step: Step) -> SimulatedCell:
    assert isinstance(step.cell, SimulatedCell)
    return step.cell


def _place(step: Step) -> Place:
    return step.cell.key, step.split, step.selects


def _record(world: World, cell: SimulatedCell, split: int, seconds: float) -> Record:
    selections = world.store.selections(cell)
    if set(selections) != set(cell.selection_splits):
        world.wrong.append(f"{cell.key} {split} was run before its selections")
    return replace(
        unfinished(cell, split, "done", ""),
        error=None,
        accuracy=cell.result(split, selections),
        objective=1.0,
        gap=0.0,
        fit_seconds=seconds,
    )
