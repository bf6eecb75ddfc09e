"""The executor stands among the names of tables; ``--detach`` leaves its jobs to the cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from experiment_fakes import TINY
from report_fakes import TINY_TABLE, only_tables
from slurm_fakes import FakeSlurm

from mklbench import cli
from mklbench.errors import InputError
from mklbench.experiments.execution import estimates
from mklbench.experiments.execution.plan import CellResult
from mklbench.experiments.store import Store

pytest.importorskip("submitit")

RUN = ["run", *TINY, "algo=svm", "results_dir=store", "progress=none", "executor=slurm"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every test in an empty directory of its own, where no records tell what a fit takes."""
    monkeypatch.setattr(estimates, "of_program", tuple)
    monkeypatch.setattr(estimates, "GUESS", 0.1)
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def slurm(fake_slurm: FakeSlurm) -> FakeSlurm:
    """A cluster on which jobs are queued for ever."""
    fake_slurm.says("squeue", "33|PENDING||N/A|Priority|queued\n")
    return fake_slurm


def submitted(store: str = "store") -> list[int]:
    """Return how many steps each job has that the journal of a store knows."""
    batches = [json.loads(path.read_text()) for path in Path(store, "jobs").glob("*.batch")]
    return [len(chunk["steps"]) for batch in batches for chunk in batch["chunks"]]


@pytest.mark.parametrize(
    "how", ["--detach", pytest.param("executor.detach=true", marks=pytest.mark.slow)]
)
def test_a_run_is_left_to_the_cluster(
    how: str, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*RUN, how]) == 0
    said = capsys.readouterr()
    assert said.out == (
        "1 job is queued or running, for 4 steps. mklbench status --results-dir store shows "
        "them; the same command without --detach waits for them and goes on.\n"
    )
    assert said.err == ""
    assert submitted() == [4]
    assert len(slurm.called("sbatch")) == 1
    assert slurm.called("scancel") == []


def test_the_same_command_again_submits_nothing_twice(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*RUN, "--detach"]) == 0
    first = capsys.readouterr().out
    assert cli.main([*RUN, "--detach"]) == 0
    assert capsys.readouterr().out == first
    assert len(slurm.called("sbatch")) == 1


def test_what_has_to_wait_is_said(slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]) -> None:
    # The splits wait for the selections.
    assert cli.main([*RUN, "search=first_splits", "search.splits=2", "--detach"]) == 0
    assert capsys.readouterr().out.startswith(
        "1 job is queued or running, for 2 steps; 4 more wait for these, or for room. mklbench "
    )


@pytest.fixture
def _tiny_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only_tables(monkeypatch, tmp_path, tiny=TINY_TABLE)


@pytest.mark.usefixtures("_tiny_table")
def test_reproduce_takes_the_executor_among_the_names(
    slurm: FakeSlurm,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    here: Path,
) -> None:
    monkeypatch.setattr(estimates, "GUESS", 600.0)  # so that it pays to start three jobs
    arguments = ["executor=slurm", "tiny", "executor.array=3", "--detach"]
    arguments += ["--results-dir", "store", "executor.partition=cpu"]
    slurm.says("squeue", "".join(f"33_{n}|PENDING||N/A|Priority|queued\n" for n in range(3)))
    assert cli.main(["reproduce", *arguments]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("3 jobs are queued or running, for ")
    assert said.err == ""
    assert len(submitted()) == 3
    (probed,) = slurm.called("srun")
    assert "--partition=cpu" in probed
    assert not (here / "results").exists()  # no table is written of what is not there


@pytest.mark.slow
@pytest.mark.usefixtures("_tiny_table")
def test_a_dry_run_asks_nothing_of_the_cluster(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    assert cli.main(["reproduce", "tiny", "executor=slurm", "--dry-run"]) == 0
    assert "splits" in capsys.readouterr().out
    assert slurm.calls == []
    assert list(here.iterdir()) == []


@pytest.mark.slow
def test_a_check_has_its_store_where_the_workers_see_it(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Path] = []

    def look(cells: object, store: Store, **_: object) -> list[CellResult]:
        seen.append(store.path)
        raise InputError("Enough was seen.")

    monkeypatch.setattr("mklbench.report.check.published.run_cells", look)
    assert cli.main(["check", "picard2012_table1", "executor=slurm"]) == 2
    assert cli.main(["check", "picard2012_table1"]) == 2
    there, local = seen
    assert there.parent == here
    assert here not in local.parents
    assert list(here.iterdir()) == []
