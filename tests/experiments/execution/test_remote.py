"""What can be wrong with a cluster is said in one sentence before anything is submitted."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from experiment_fakes import TINY, tiny_cell
from slurm_fakes import FakeSlurm, answers_as

from mklbench import cli
from mklbench._version import __version__
from mklbench.claims import Owner
from mklbench.errors import InputError
from mklbench.experiments.execution import estimates
from mklbench.experiments.execution.chunks import Chunk
from mklbench.experiments.execution.claims import claim_path
from mklbench.experiments.execution.dispatch import Options
from mklbench.experiments.execution.journal import Batch, Journal
from mklbench.experiments.execution.plan import run_cells
from mklbench.experiments.execution.remote import Remote
from mklbench.experiments.execution.slurm import Slurm
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.store import Store

# The folders above the store are not to be left behind either.
RUN = ["run", *TINY, "algo=svm", "results_dir=results/store", "progress=none"]
SLURM = [*RUN, "executor=slurm"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every test in an empty directory of its own, where no records tell what a fit takes."""
    monkeypatch.setattr(estimates, "of_program", tuple)
    monkeypatch.setattr(estimates, "GUESS", 0.1)
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def refused(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    """Return the sentence with which a command is refused, that leaves nothing behind."""
    before = everything()
    assert cli.main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("mklbench: error: ")
    assert said.endswith(".\n")
    assert said.count("\n") == 1
    assert everything() == before
    return said.removeprefix("mklbench: error: ").rstrip("\n")


def everything() -> list[str]:
    return sorted(str(path) for path in Path().rglob("*"))


class TestSlurm:
    @pytest.fixture(autouse=True)
    def slurm(self, fake_slurm: FakeSlurm) -> Iterator[FakeSlurm]:
        """Whatever is refused here is not submitted."""
        yield fake_slurm
        assert fake_slurm.called("sbatch") == []

    @pytest.mark.parametrize("name", ["sbatch", "scontrol", "squeue", "srun"])
    def test_a_command_that_is_not_there(
        self, name: str, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
    ) -> None:
        slurm.has_not(name)
        assert refused(capsys, SLURM) == (
            f"executor=slurm needs {name}, which is not on this machine: start the command on a "
            "login node of the cluster, or leave executor=slurm out."
        )

    def test_jobs_of_an_earlier_driver_need_the_commands_too(
        self, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str], here: Path
    ) -> None:
        store = Store(here / "results" / "store")
        chunk = Chunk((Step(tiny_cell(), 0),), 1.0, 1, 5)
        Journal(store).write_batch(Batch.of("slurm", "fake", [chunk]))
        for name in ("sbatch", "scontrol", "squeue", "srun"):
            slurm.has_not(name)
        assert refused(capsys, SLURM).startswith("executor=slurm needs srun, which is not on ")

    def test_no_cluster_answers(self, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]) -> None:
        slurm.says(
            "scontrol",
            err="slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)\n",
            status=1,
        )
        assert refused(capsys, SLURM) == (
            "executor=slurm finds no cluster (scontrol: Unable to contact slurm controller "
            "(connect failure)): see that sinfo answers on this machine, or leave executor=slurm "
            "out."
        )

    def test_the_cluster_stops_answering_during_the_probe(
        self, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
    ) -> None:
        slurm.says(
            "srun",
            err="srun: error: Unable to allocate resources: Unable to contact slurm controller "
            "(connect failure)\n",
            status=1,
        )
        assert refused(capsys, SLURM) == (
            "executor=slurm does not answer (Unable to allocate resources: Unable to contact "
            "slurm controller (connect failure)): see that it runs; the same command goes on from "
            "there."
        )

    @pytest.mark.parametrize(
        ("option", "value", "words"),
        [
            ("partition", "nowhere", "Invalid partition name specified"),
            ("account", "nobody", "Invalid account or account/partition combination specified"),
            ("qos", "best", "Invalid qos specification"),
        ],
    )
    def test_a_partition_an_account_or_a_quality_that_is_not_there(
        self,
        option: str,
        value: str,
        words: str,
        slurm: FakeSlurm,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        slurm.says("srun", err=f"srun: error: Unable to allocate resources: {words}\n", status=1)
        assert refused(capsys, [*SLURM, f"executor.{option}={value}"]) == (
            f"executor.{option}={value} is not accepted by Slurm (Unable to allocate resources: "
            f"{words}): sinfo lists the partitions and their limits, sacctmgr the accounts."
        )
        (call,) = slurm.called("srun")
        assert f"--{option}={value}" in call

    def test_an_option_that_sbatch_does_not_have(
        self, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
    ) -> None:
        slurm.says("srun", err="srun: unrecognized option '--colour=red'\n", status=1)
        assert refused(capsys, [*SLURM, "+executor.options.colour=red"]) == (
            "executor=slurm cannot submit (srun: unrecognized option '--colour=red'): change the "
            "options of the executor (colour=red), such as executor.partition, executor.minutes or "
            "executor.memory."
        )

    @pytest.mark.parametrize("array", [1001, 5000])
    def test_an_array_that_is_larger_than_the_cluster_allows(
        self, array: int, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert refused(capsys, [*SLURM, f"executor.array={array}"]) == (
            f"executor.array={array} is not accepted: an array of this cluster has at most 1000 "
            "jobs, so give executor.array=1000 or less."
        )
        assert slurm.called("srun") == []

    @pytest.mark.parametrize("why", ["InvalidAccount", "InvalidQOS", "PartitionConfig"])
    def test_a_probe_that_would_wait_for_ever(
        self,
        why: str,
        slurm: FakeSlurm,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        slurm.runs("srun", "exec /bin/sleep 60\n")
        slurm.says("squeue", f"7|PENDING||N/A|{why}|mklbench-probe\n")
        monkeypatch.setattr("mklbench.experiments.execution.slurm.node._TELL_AFTER", 0.2)
        began = time.monotonic()
        said = refused(capsys, [*SLURM, "executor.account=nobody"])
        assert time.monotonic() - began < 20
        assert f"would wait for ever: {why}" in said

    def test_a_store_that_the_nodes_do_not_see(
        self, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
    ) -> None:
        slurm.runs("srun", answers_as(problem="no such file or directory"))
        assert refused(capsys, SLURM) == (
            f"results_dir=results/store is not what {Owner.of_this_process().host} has there (no "
            "such file or directory): name a directory on a file system that the workers of "
            "executor=slurm share with this machine, as an absolute path."
        )

    def test_a_node_with_another_mklbench(
        self, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
    ) -> None:
        slurm.runs("srun", answers_as(mklbench="0.0.1"))
        assert refused(capsys, SLURM) == (
            f"executor=slurm has mklbench 0.0.1 on {Owner.of_this_process().host}, and here it is "
            f"{__version__}: install the same version on both."
        )

    def test_a_node_with_another_python(
        self, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
    ) -> None:
        slurm.runs("srun", answers_as(python="3.8.1"))
        said = refused(capsys, SLURM)
        assert said.startswith("executor=slurm has Python 3.8.1 on ")
        assert said.endswith(": start the workers with the same version.")

    @pytest.mark.parametrize(
        "words",
        [
            "slurmstepd: error: execve(): /opt/python: No such file or directory",
            "ModuleNotFoundError: No module named 'mklbench'",
        ],
    )
    def test_a_node_without_mklbench(
        self, words: str, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
    ) -> None:
        slurm.says("srun", err=f"{words}\n", status=2)
        said = refused(capsys, SLURM)
        assert said.startswith("executor=slurm cannot start ")
        assert said.endswith(
            "install both where the nodes see them, such as in your home directory."
        )

    def test_a_node_that_answers_well_is_not_refused(
        self, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
    ) -> None:
        slurm.says("sbatch", err="sbatch: error: Batch job submission failed: none\n", status=1)
        assert cli.main(SLURM) == 2  # by sbatch, not by what comes before
        assert "cannot submit (Batch job submission failed: none)" in capsys.readouterr().err
        assert len(slurm.called("sbatch")) == 1
        assert not Path("results", "store", "jobs").exists()
        (slurm.directory / "calls").write_text("")  # which the fixture looks at


def test_jobs_that_would_wait_for_ever_are_cancelled_and_forgotten(
    fake_slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    submitted = fake_slurm.directory / "submitted"
    fake_slurm.runs("sbatch", f"echo > {submitted}; echo Submitted batch job 33\n")
    answer = "33|PENDING||N/A|PartitionConfig|job"
    fake_slurm.runs("squeue", f"if [ -e {submitted} ]; then echo '{answer}'; fi\n")
    assert cli.main([*SLURM, "executor.poll=0.1"]) == 2
    assert capsys.readouterr().err == (
        "mklbench: error: executor=slurm cannot submit (job 33 would wait for ever: "
        "PartitionConfig): change the options of the executor, such as executor.partition, "
        "executor.minutes or executor.memory.\n"
    )
    assert fake_slurm.called("scancel") == ["scancel 33"]
    assert not Path("results", "store", "jobs").exists()


def test_an_engine_that_is_refused_is_left(tmp_path: Path) -> None:
    closed: list[bool] = []

    class Refusing(Slurm):
        place = "here"

        def check(self, journal: Journal) -> None:
            raise InputError("No job can run here.")

        def close(self) -> None:
            closed.append(True)

    def make() -> Slurm:
        return Refusing({}, 1, 0.1)

    executor = Remote(make, Options(), "slurm", 1, None, detach=False)
    for n_times in (1, 2):
        with pytest.raises(InputError, match="No job can run here"):
            run_cells([tiny_cell()], Store(tmp_path / "store"), executor=executor)
        assert len(closed) == n_times


class TestDask:
    ADDRESS = "tcp://127.0.0.1:1"

    def run(self, *options: str) -> list[str]:
        return [*RUN, "executor=dask", *options]

    @pytest.mark.slow
    def test_no_scheduler_there(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("distributed")
        monkeypatch.setattr("mklbench.experiments.execution.dask._CONNECT", 0.5)
        said = refused(capsys, self.run(f"executor.address={self.ADDRESS}"))
        assert said.startswith(f"executor.address={self.ADDRESS} does not answer (Timed out ")
        assert said.endswith(": start a scheduler there, with dask scheduler, and workers.")

    @pytest.mark.parametrize("address", ["foo://a:1", "foo://a:8786"])
    def test_what_is_no_address(self, address: str, capsys: pytest.CaptureFixture[str]) -> None:
        pytest.importorskip("distributed")
        began = time.monotonic()
        said = refused(capsys, self.run(f"executor.address={address}"))
        assert said.startswith(f"executor.address={address} is no address of a scheduler (")
        assert said.endswith("): write it as in executor.address=tcp://host:8786.")
        assert time.monotonic() - began < 10

    @pytest.mark.parametrize(("kind", "command"), [("pbs", "qsub"), ("lsf", "bsub")])
    def test_a_cluster_whose_commands_are_not_there(
        self,
        kind: str,
        command: str,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        here: Path,
    ) -> None:
        pytest.importorskip("dask_jobqueue")
        monkeypatch.setenv("PATH", str(here))
        assert refused(capsys, self.run(f"executor.cluster={kind}")) == (
            f"executor.cluster={kind} needs {command}, which is not on this machine: start the "
            "command on a login node of the cluster, or give executor.address."
        )

    def test_options_that_the_cluster_does_not_have(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, here: Path
    ) -> None:
        pytest.importorskip("dask_jobqueue")
        (here / "qsub").write_text("#!/bin/sh\n")
        (here / "qsub").chmod(0o755)
        monkeypatch.setenv("PATH", str(here))
        said = refused(capsys, self.run("executor.cluster=pbs", "+executor.options.colour=red"))
        assert said.startswith("executor.cluster=pbs cannot be started (")
        assert "colour" in said


@pytest.mark.parametrize(
    ("extra", "module", "options", "package"),
    [
        ("slurm", "submitit", ["executor=slurm"], "submitit"),
        ("dask", "distributed", ["executor=dask"], "distributed"),
        ("dask", "dask_jobqueue", ["executor=dask", "executor.cluster=pbs"], "dask-jobqueue"),
    ],
)
def test_a_missing_extra(
    extra: str,
    module: str,
    options: list[str],
    package: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "mklbench.extras.find_spec", lambda name: None if name == module else find_spec(name)
    )
    assert refused(capsys, [*RUN, *options]).endswith(
        f" needs {package}, which is not installed: pip install 'mklbench[{extra}]'."
    )


def test_claims_of_another_user(
    fake_slurm: FakeSlurm,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = claim_path(Store("results/store"), Step(tiny_cell(), 0))
    path.mkdir(parents=True)
    (path / Owner.of_this_process().new_name()).touch()
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    said = refused(capsys, SLURM)
    assert said.startswith("results_dir=results/store has a claim of the user ")
    assert said.endswith(f" on {path}: wait until that run has ended, or name another results_dir.")
    assert fake_slurm.calls == []


def test_nothing_is_asked_when_nothing_is_left_to_do(
    fake_slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(RUN) == 0
    assert cli.main(SLURM) == 0
    assert "4/4" in capsys.readouterr().out
    assert fake_slurm.calls == []
