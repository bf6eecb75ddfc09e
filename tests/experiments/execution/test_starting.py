"""Workers are started before it is known what they are to do, and only where they are asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from experiment_fakes import tiny_cell

from mklbench.experiments.execution import starting
from mklbench.experiments.execution.plan import run_cells
from mklbench.experiments.execution.starting import Started, start_ahead, started
from mklbench.experiments.store import Store


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    starting._end_unused()


@pytest.fixture
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


@pytest.mark.usefixtures("two_processors")
class TestStartAhead:
    @pytest.mark.slow
    @pytest.mark.parametrize("jobs", [2, 3, 999999999999])
    def test_starts_the_workers_of_a_run_but_one_a_processor_at_most(self, jobs: int) -> None:
        start_ahead(["-m", "data=wdbc,pima", f"jobs={jobs}"])
        first, second = started(), started()
        ahead = {first.process.pid, second.process.pid}
        third = started()
        assert len(ahead | {third.process.pid}) == 3
        assert not starting._ahead
        for worker in (first, second, third):
            worker.close()

    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["data=wdbc"],
            ["jobs=1"],
            ["jobs=0"],
            ["jobs=-2"],
            ["jobs=two"],
            ["jobs=2,3", "-m"],
            ["jobs=2", "jobs=1"],
            ["jobs=2", "executor=slurm"],
            ["jobs=2", "--cfg", "job"],
            ["jobs=2", "--help"],
        ],
        ids=" ".join,
    )
    def test_starts_none_where_none_are_asked_for(self, arguments: list[str]) -> None:
        start_ahead(arguments)
        assert not starting._ahead

    def test_a_worker_that_looks_elsewhere_for_modules_is_not_used(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        start_ahead(["jobs=2"])
        ahead = list(starting._ahead)
        monkeypatch.syspath_prepend(str(tmp_path))
        worker = started()
        worker.close()
        assert worker not in ahead
        assert len(ahead) == 2
        assert all(other.process.returncode is not None for other in ahead)

    def test_where_no_process_can_be_started_it_is_not_said_yet(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refused(*_: object, **__: object) -> None:
            raise BlockingIOError

        monkeypatch.setattr(subprocess, "Popen", refused)
        start_ahead(["jobs=2"])
        with pytest.raises(BlockingIOError):
            started()

    def test_they_take_the_steps(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        start_ahead(["jobs=2"])
        monkeypatch.setattr(Started, "__init__", lambda self: pytest.fail("another was started"))
        (result,) = run_cells([tiny_cell()], Store(tmp_path / "store"), jobs=2)
        assert result.status == "done"
        assert not starting._ahead


def test_importing_it_imports_only_the_standard_library() -> None:
    program = (
        "import sys; before = set(sys.modules)\n"
        "import mklbench.experiments.execution.starting\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(tops - sys.stdlib_module_names))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert finished.stdout.strip() == "['mklbench']"


def test_a_command_that_is_refused_leaves_no_worker(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mklbench", "run", "jobs=2", "data=wbdc"]
    marker = {"MKLBENCH_TEST_MARK": str(tmp_path)}
    finished = subprocess.run(
        command, cwd=tmp_path, env=os.environ | marker, capture_output=True, text=True
    )
    assert finished.returncode == 2
    assert not [path for path in Path("/proc").glob("[0-9]*/environ") if _has(path, tmp_path)]


def _has(environment: Path, text: Path) -> bool:
    try:
        return f"MKLBENCH_TEST_MARK={text}".encode() in environment.read_bytes()
    except OSError:  # it has ended, or is another user's
        return False
