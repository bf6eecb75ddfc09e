"""Several runners on one store share its steps; of those who die others take over."""

from __future__ import annotations

import contextlib
import errno
import multiprocessing
import os
import random
import signal
import threading
from collections.abc import Callable
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import pytest
from experiment_fakes import fake_cell, tiny_cell, wait_until
from hypothesis import HealthCheck, given, settings, strategies
from narrowing import present

from mklbench import claims, interruption
from mklbench.claims import Owner, PathClaims, holder
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution import agenda
from mklbench.experiments.execution.claims import Claims, claim_path, claiming
from mklbench.experiments.execution.plan import run_cells
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.store import Store, StoreError

SHARED = ("search=first_splits", "search.splits=2", "search.folds=2", "search.grid.algo.C=[2]")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agenda, "LOOK_AGAIN", 0.05)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a claim be silent after a second."""
    monkeypatch.setattr(claims, "BEAT", 0.1)
    monkeypatch.setattr(claims, "SILENT_AFTER", 1.0)


def runner(store: Store, cells: list[Cell], jobs: int = 1) -> ForkProcess:
    """Start a runner in a process of its own; it ends with 0 if all runs are done."""

    def run() -> None:
        results = run_cells(cells, store, jobs=jobs)
        os._exit(0 if all(result.status == "done" for result in results) else 1)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    return process


def ended(runners: list[ForkProcess]) -> list[int | None]:
    for process in runners:
        process.join(60)
    return [process.exitcode for process in runners]


def calls(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def left_over(store: Store) -> list[str]:
    return [path.name for path in store.path.rglob("*") if path.suffix not in ("", ".json")]


@pytest.mark.parametrize(
    ("n_runners", "jobs"), [(3, 1), pytest.param(2, 2, marks=pytest.mark.slow)]
)
def test_runners_on_one_store_do_every_step_once(
    store: Store, tmp_path: Path, n_runners: int, jobs: int
) -> None:
    log = tmp_path / "log"
    options = [f"algo.log='{log}'", "algo.seconds=0.01", "split.n_splits=20"]
    cells = [fake_cell(tmp_path, *options), fake_cell(tmp_path, *options, *SHARED)]
    assert ended([runner(store, cells, jobs) for _ in range(n_runners)]) == [0] * n_runners
    # A search with two folds fits twice on each of the two splits that choose for all.
    assert calls(log) == 20 + 20 + 2 * 2
    if jobs == 1:
        assert len(set(log.read_text().splitlines())) > 1
    assert left_over(store) == []


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_step_of_a_runner_that_is_killed_is_taken_over(
    store: Store, tmp_path: Path, jobs: int
) -> None:
    log, begun = tmp_path / "log", tmp_path / "begun"
    options = ["algo.behaviour=hang", f"algo.once='{begun}'", f"algo.log='{log}'"]
    cell = fake_cell(tmp_path, *options)
    killed = runner(store, [cell], jobs)
    wait_until(begun.exists)
    other = runner(store, [cell])
    wait_until(lambda: len(store.read(cell).records) == 3)
    os.kill(present(killed.pid), signal.SIGKILL)
    assert ended([other]) == [0]
    assert calls(log) == 5
    assert left_over(store) == []


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_runner_that_goes_on_after_its_claim_was_silent_changes_nothing(
    store: Store, tmp_path: Path
) -> None:
    log, begun = tmp_path / "log", tmp_path / "begun"
    options = ["algo.behaviour=nap", f"algo.once='{begun}'", f"algo.log='{log}'"]
    cell = fake_cell(tmp_path, *options)
    stopped = runner(store, [cell])
    wait_until(begun.exists)
    os.kill(present(stopped.pid), signal.SIGSTOP)
    assert ended([runner(store, [cell])]) == [0]
    assert calls(log) == 5
    before = {path: path.stat().st_mtime_ns for path in store.directory(cell).iterdir()}
    os.kill(present(stopped.pid), signal.SIGCONT)
    assert ended([stopped]) == [0]
    after = {path: path.stat().st_mtime_ns for path in store.directory(cell).iterdir()}
    assert after == before
    assert calls(log) == 5


def test_a_failure_elsewhere_is_not_tried_again(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"
    options = [f"algo.log='{log}'", "algo.behaviour=raise", "algo.seconds=0.1"]
    cell = fake_cell(tmp_path, *options)
    assert ended([runner(store, [cell]) for _ in range(2)]) == [1, 1]
    assert calls(log) == 4
    assert [record.status for record in store.read(cell).records] == ["failed"] * 4


@pytest.mark.slow
def test_a_selection_that_fails_elsewhere_ends_the_cell_here(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"
    options = [f"algo.log='{log}'", "algo.behaviour=raise", "algo.seconds=0.3", *SHARED]
    cell = fake_cell(tmp_path, *options)
    assert ended([runner(store, [cell]) for _ in range(3)]) == [1, 1, 1]
    assert calls(log) <= 2  # both selections may have been begun
    assert [record.status for record in store.read(cell).records] == ["failed"]


class Turns:
    """Threads that run one at a time, from one call of the file system to the next.

    Each stands for a runner. Whose turn it is, is drawn; so every order in which the calls of
    several runners may come can come up. Mostly one goes on for a while as the others stand still.
    If the server is `lossy`, some changes are made, their answer is lost, and they are sent again.
    """

    CHANGES = ("rename", "mkdir", "unlink", "rmdir")
    CALLS = (*CHANGES, "listdir", "open", "utime", "stat")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, chance: random.Random, lossy: bool) -> None:
        self._random, self._turn = chance, threading.Condition()
        self._waiting = set[threading.Thread]()
        self._last: threading.Thread | None = None
        self._chosen: threading.Thread | None = None
        for name in self.CALLS:
            resent = lossy and name in self.CHANGES
            monkeypatch.setattr(os, name, self._taking_turns(getattr(os, name), resent))

    def _taking_turns(self, real: Callable[..., Any], resent: bool) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            self._wait()
            if resent and self._random.random() < 0.3:
                real(*arguments, **named)
                self._wait()
            return real(*arguments, **named)

        return call

    def _wait(self) -> None:
        me = threading.current_thread()
        if me not in self._members:
            return
        with self._turn:
            self._waiting.add(me)
            self._chosen = None
            self._turn.notify_all()
            assert self._turn.wait_for(lambda: self._chosen is me, 20)
            self._waiting.discard(me)

    def run(self, programs: list[Callable[[], None]]) -> None:
        """Run each program in a thread of its own; return when all have ended."""
        self._members = [threading.Thread(target=self._run, args=(p,)) for p in programs]
        for thread in self._members:
            thread.start()
        while alive := [thread for thread in self._members if thread.is_alive()]:
            with self._turn:
                ready = [thread for thread in alive if thread in self._waiting]
                if len(ready) == len(alive) and self._chosen is None:
                    if self._last not in ready or self._random.random() < 0.2:
                        self._last = self._random.choice(ready)
                    self._chosen = self._last
                    self._turn.notify_all()
                self._turn.wait(0.01)

    def _run(self, program: Callable[[], None]) -> None:
        self._wait()
        program()
        with self._turn:
            self._chosen = None
            self._turn.notify_all()


class Model:
    """Runners who want one step: who holds it, by their own account."""

    def __init__(self, store: Store, step: Step) -> None:
        self.store, self.step = store, step
        self.holders: list[int] = []
        self.dead_names = set[str]()

    def runner(self, number: int, n_tries: int) -> Callable[[], None]:
        """Return the program of a runner that takes the step whenever it can, and gives it up."""

        def program() -> None:
            paths = PathClaims()
            paths._beating = True
            mine = Claims(self.store, paths)
            for _ in range(n_tries):
                if mine.take(self.step):
                    self.holders.append(number)
                    assert self.holders == [number], "two hold one step"
                    for _ in range(8):  # the work: others have their turns
                        os.stat(self.store.path)
                    self.holders.remove(number)
                    mine.release(self.step)

        return program

    def sleeper(self, number: int) -> Callable[[], None]:
        """Return the program of a runner that is thought to be gone, and releases what it lost."""

        def program() -> None:
            paths = PathClaims()
            paths._beating = True
            mine = Claims(self.store, paths)
            if mine.take(self.step):
                (own,) = paths._held.values()
                self.dead_names.add(own.name)
                for _ in range(12):
                    os.stat(self.store.path)
                mine.release(self.step)

        return program


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=strategies.integers(0, 2**32),
    n_runners=strategies.integers(2, 4),
    n_tries=strategies.integers(1, 3),
    left=strategies.sampled_from(["nothing", "a dead claim", "two dead claims", "a sleeper"]),
    lossy=strategies.booleans(),
)
def test_whatever_the_order_of_their_calls_one_runner_holds_a_step(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    n_runners: int,
    n_tries: int,
    left: str,
    lossy: bool,
) -> None:
    store, step = Store(tmp_path_factory.mktemp("store")), Step(tiny_cell(), 0)
    path = claim_path(store, step)  # the key is looked up once, before there are turns
    model = Model(store, step)
    programs = [model.runner(number, n_tries) for number in range(n_runners)]
    if left == "a sleeper":
        programs.append(model.sleeper(n_runners))
    for _ in range({"a dead claim": 1, "two dead claims": 2}.get(left, 0)):
        path.mkdir(parents=True, exist_ok=True)
        entry = path / elsewhere().new_name()
        entry.touch()
        model.dead_names.add(entry.name)
    failures = []

    def guarded(program: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                program()
            except BaseException as error:
                failures.append(error)

        return run

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(interruption, "whole_step", contextlib.nullcontext)
        monkeypatch.setattr(
            PathClaims, "_is_gone", lambda self, entry: entry.name in model.dead_names
        )
        turns = Turns(monkeypatch, random.Random(seed), lossy)
        turns.run([guarded(program) for program in programs])
    assert failures == []
    claims.clear(path)
    assert not os.path.lexists(path)


def claim_of(store: Store, cell: Cell, owner: Owner | None = None) -> Path:
    """Put a claim on the first split, and return its file."""
    path = claim_path(store, Step(cell, 0))
    path.mkdir(parents=True)
    own = path / (owner or Owner.of_this_process()).new_name()
    own.touch()
    return own


def elsewhere(host: str = "elsewhere") -> Owner:
    return Owner(host, "01234567", 1, 1, 1)


def test_an_owner_is_read_from_its_name() -> None:
    owner = Owner.of_this_process()
    assert Owner.parse(owner.new_name()) == owner
    assert owner.is_running()
    assert owner.new_name() != owner.new_name()
    for foreign in ("", ".nfs0001", "a~b~c", owner.new_name() + ".bak"):
        assert Owner.parse(foreign) is None


def test_a_process_number_that_another_process_has_now_is_gone() -> None:
    owner = Owner.of_this_process()
    assert Owner(owner.host, owner.machine, owner.pid, owner.started - 1, 0).is_running() is False
    assert Owner(owner.host, "", owner.pid, owner.started, 0).is_running() is None


@pytest.mark.usefixtures("quick")
def test_a_claim_elsewhere_is_taken_over_when_it_has_been_silent(store: Store) -> None:
    cell = tiny_cell()
    entry = claim_of(store, cell, elsewhere())
    paths, step = PathClaims(), Step(cell, 0)
    mine = Claims(store, paths)
    os.utime(entry, (0, 0))  # a clock that is wrong
    assert not mine.take(step)
    os.utime(entry)
    assert not mine.take(step)
    wait_until(lambda: mine.take(step))
    assert holder(claim_path(store, step)) == Owner.of_this_process()
    paths.release_all()
    assert left_over(store) == []


def test_a_claim_that_was_taken_over_is_not_released_by_its_former_owner(store: Store) -> None:
    step = Step(tiny_cell(), 0)
    mine = Claims(store)
    assert mine.take(step)
    (own,) = claim_path(store, step).iterdir()
    own.rename(own.with_name(elsewhere().new_name()))
    mine.release(step)
    assert [present(Owner.parse(path.name)).host for path in claim_path(store, step).iterdir()] == [
        "elsewhere"
    ]


@pytest.mark.usefixtures("quick")
def test_a_held_claim_is_renewed(store: Store) -> None:
    step = Step(tiny_cell(), 0)
    with claiming(store) as mine:
        assert mine.take(step)
        (own,) = claim_path(store, step).iterdir()
        os.utime(own, (0, 0))
        wait_until(lambda: own.stat().st_mtime > 0)
        assert not Claims(store).take(step)
    assert left_over(store) == []


def a_file(path: Path) -> None:
    path.write_text("what is this")


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to("nothing")


def a_link_to_a_directory(path: Path) -> None:
    (path.parent.parent / "aside").mkdir()
    path.symlink_to(path.parent.parent / "aside")


def a_fifo(path: Path) -> None:
    os.mkfifo(path)


def an_empty_directory(path: Path) -> None:
    path.mkdir()


def a_directory_of_something(path: Path) -> None:
    path.mkdir()
    (path / ".nfs0001").write_text("")
    (path / "notes.txt").write_text("mine")


FOREIGN = [
    a_file, a_link_to_a_directory, a_directory_of_something,
    *(pytest.param(foreign, marks=pytest.mark.slow)
      for foreign in (a_link_to_nothing, a_fifo, an_empty_directory)),
]  # fmt: skip


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda foreign: foreign.__name__)
@pytest.mark.usefixtures("quick")
def test_what_is_no_claim_holds_a_step_up_for_a_while_only(
    store: Store, foreign: Callable[[Path], None]
) -> None:
    cell = tiny_cell()
    path = claim_path(store, Step(cell, 0))
    path.parent.mkdir(parents=True)
    foreign(path)
    assert holder(path) is None
    (result,) = run_cells([cell], store)
    assert result.status == "done"
    assert not os.path.lexists(path)


def test_claims_left_on_finished_steps_are_cleared_away(store: Store) -> None:
    cell = tiny_cell()
    run_cells([cell], store)
    claim_of(store, cell, elsewhere())
    run_cells([cell], store)
    assert left_over(store) == []


def test_a_store_where_no_claim_can_be_made_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = tiny_cell()
    store.describe(cell)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "mkdir", refused)
    with pytest.raises(StoreError, match=r"results_dir=\S+ cannot be written: permission denied."):
        Claims(store).take(Step(cell, 0))


def test_a_file_in_the_place_of_a_cell_is_said(store: Store) -> None:
    cell = tiny_cell()
    store.path.mkdir()
    Path(store.directory(cell)).write_text("")
    with pytest.raises(StoreError, match=r"results_dir=\S+ cannot be written: "):
        Claims(store).take(Step(cell, 0))
