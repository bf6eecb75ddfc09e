"""What a store says of itself, and how a part of it is forgotten."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from experiment_fakes import TINY, fake_configs, fake_run, tiny_run
from narrowing import present

from mklbench import cli
from mklbench.experiments.execution.lock import Locks, owner_of
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.execution.steps import Step, lock_path
from mklbench.experiments.files import with_checksum
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store

SHARED = ("search=first_splits", "search.splits=2", "search.folds=2", "search.grid.algo.C=[2]")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.chdir(tmp_path)
    return Store("store")


def half_failed(tmp_path: Path, store: Store) -> tuple[Run, list[str]]:
    """Return a run of which one split has failed, with its overrides."""
    crash = ["algo=fake", "algo.behaviour=raise", f"algo.once='{tmp_path}/crashed'"]
    run = fake_run(tmp_path, *crash)
    run_all([run], store)
    return run, [*TINY, *crash, "--config-dir", str(fake_configs(tmp_path))]


def status(
    capsys: pytest.CaptureFixture[str], status: int = 0
) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """Return what `mklbench status` says: by run its five numbers, and the other lines."""
    capsys.readouterr()
    assert cli.main(["status", "--results-dir", "store"]) == status
    lines = capsys.readouterr().out.splitlines()
    row = re.compile(r"(\S.*?)" + r" +(\d+)" * 5)
    found = map(row.fullmatch, lines)
    numbers = {match[1]: tuple(map(int, match.groups()[1:])) for match in found if match}
    others = [line for line in lines if not row.fullmatch(line)]
    return numbers, [line for line in others if not line.startswith(("---", "run "))]


def named(run: Run) -> str:
    """Return what `mklbench status` calls a run that no other is like."""
    return f"algo={run.algo} kernel={run.kernel} data={run.data}"


def redo(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    """Return what `mklbench redo` says."""
    capsys.readouterr()
    assert cli.main(["redo", *arguments, "results_dir=store"]) == status
    said = capsys.readouterr()
    return said.err if status else said.out


def test_a_store_tells_what_is_done_failed_running_and_waiting(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, _ = half_failed(tmp_path, store)
    other = tiny_run(*SHARED)
    store.describe(other)
    with Locks() as locks:
        assert locks.take(lock_path(store, Step(other, 1, selects=True)))
        assert locks.take(lock_path(store, Step(other, 3)))
        numbers, lines = status(capsys)
    names = [named(run), named(other)]
    # Splits, done, running, failed, waiting.
    assert numbers == {names[0]: (4, 3, 0, 1, 0), names[1]: (4, 0, 1, 0, 3)}
    failure, *running, total = lines
    assert failure.startswith(
        f"{names[0]}, split 0: failed: ZeroDivisionError: the fake divided by zero "
        "(experiment_fakes.py, line "
    )
    assert failure.endswith(f"(the rest: store/{run.directory_name}/split-000.json)")
    for line, step in zip(running, ("selection 1", "split 3"), strict=True):
        start = f"{names[1]}, {step}: running on {os.uname().nodename} (pid {os.getpid()}) since "
        assert line.startswith(start)
        since = time.mktime(time.strptime(line.removeprefix(start), "%Y-%m-%d %H:%M:%S"))
        assert 0 <= time.time() - since < 60
    assert total == "2 runs with 8 splits: 3 done, 1 running, 1 failed, 3 waiting."


def test_who_is_gone_runs_nothing(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    run = tiny_run()
    store.describe(run)
    with Locks() as locks:
        assert locks.take(lock_path(store, Step(run, 0)))
        here = present(owner_of(lock_path(store, Step(run, 0))))
    gone = replace(here, started=here.started - 1)
    silent = replace(here, host="elsewhere", machine="01234567", pid=1)
    for split, owner in enumerate((gone, silent, silent)):
        path = lock_path(store, Step(run, split))
        os.symlink(json.dumps(asdict(owner)), path)
        if split == 1:
            os.utime(path, (0, 0), follow_symlinks=False)
    numbers, (line, _) = status(capsys)
    assert numbers == {named(run): (4, 0, 1, 0, 3)}
    assert ", split 2: running on elsewhere (pid 1) since " in line


def test_an_empty_store_is_said_in_one_sentence(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ["There are no runs in store: mklbench run and reproduce put them there."]
    assert status(capsys)[1] == said
    store.path.mkdir()
    assert status(capsys)[1] == said
    store.path.rmdir()
    store.path.write_text("")
    assert cli.main(["status", "--results-dir", "store"]) == 2
    assert "results_dir=store is no directory" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::mklbench.experiments.files.DamagedRecordWarning")
@pytest.mark.parametrize("content", ["", "{}", '{"schema": 1}', '{"schema": 1, "config": [3]}'])
def test_damaged_files_count_as_missing(
    store: Store, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    run = tiny_run()
    run_all([run], store)
    (store.directory(run) / "cell.json").write_text(content)
    store.record_path(run, 1).write_text(content)
    (store.directory(run) / "split-x.json").write_text(content)
    (store.directory(run) / "notes.lock").write_text(content)
    assert status(capsys)[0] == {run.directory_name: (4, 3, 0, 0, 1)}


def test_a_run_is_forgotten_with_its_selections(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    run, other = tiny_run(*SHARED), tiny_run()
    run_all([run, other], store)
    said = redo(capsys, *TINY, "algo=svm", *SHARED)
    assert said == f"{run.directory_name}: 4 splits and 2 selections forgotten.\n"
    assert [path.name for path in store.path.iterdir()] == [other.directory_name]
    assert redo(capsys, *TINY, "algo=svm", *SHARED) == f"{run.directory_name}: nothing forgotten.\n"


def test_a_split_is_forgotten(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    run = tiny_run(*SHARED)
    run_all([run], store)
    before = store.selections(run)
    said = redo(capsys, "--split", "1", *TINY, "--split", "3", "algo=svm", *SHARED)
    assert said == f"{run.directory_name}: 2 splits forgotten.\n"
    assert store.read(run).missing == [1, 3]
    assert store.selections(run) == before


def test_runs_are_named_by_what_tells_them_apart(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for options in (["algo.C=1"], ["algo.C=2"], ["algo.C=1", "search=cv"]):
        store.describe(tiny_run(*options))
    label = named(tiny_run())
    assert set(status(capsys)[0]) == {
        f"{label} algo.C=1 search=fixed",
        f"{label} algo.C=2 search=fixed",
        f"{label} algo.C=1 search=cv",
    }
    monkeypatch.setenv("COLUMNS", "72")
    assert cli.main(["status", "--results-dir", "store"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 72
    assert {"algo.C=2", "search=cv"} <= {word for line in lines for word in line.split()}


def test_edited_code_leaves_nothing_that_waits(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crash = ["algo=fake", "algo.behaviour=raise"]
    run = fake_run(tmp_path, *crash)
    run_all([run], store)
    overrides = [*TINY, *crash, "--config-dir", str(fake_configs(tmp_path))]
    # The run of the code as it was before has another key.
    before = store.directory(run).rename(store.path / f"{run.label}-0123456789ab")
    description = json.loads((before / "cell.json").read_text())
    del description["checksum"]
    (before / "cell.json").write_text(with_checksum({**description, "key": "0123456789ab"}))
    assert "4 splits forgotten" in redo(capsys, *overrides)
    assert status(capsys)[1] == [
        "There are no runs in store: mklbench run and reproduce put them there."
    ]


def test_what_is_being_run_is_not_forgotten(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    run, other = tiny_run(), tiny_run("algo.C=2")
    run_all([run, other], store)
    overrides = ["-m", *TINY, "algo=svm", "algo.C=2,1", "jobs=1", "out=rows.csv"]
    with Locks() as locks:
        assert locks.take(lock_path(store, Step(run, 2)))
        said = redo(capsys, *overrides, status=2)
        assert said == (
            f"mklbench: error: split-002 of {run.directory_name} is being run on "
            f"{os.uname().nodename} (pid {os.getpid()}): end that run first, or wait for it.\n"
        )
        assert store.read(other).status == store.read(run).status == "done"
        assert redo(capsys, *overrides, "--split", "2", status=2) == said
        assert "1 split forgotten" in redo(capsys, *overrides, "--split", "1")
    redo(capsys, *overrides)
    assert not store.path.exists()
