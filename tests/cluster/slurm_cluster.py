"""A real Slurm of one node on 127.0.0.1, with munge, in a folder of its own.

It takes root, and the packages that tests/install installs.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import engines
import psutil
from engines import EngineError

CLUSTER = "mklbench"
NODE = "localhost"
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun")

SLURM_CONF = """\
ClusterName={cluster}
SlurmctldHost={node}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={munge}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort={slurmctld_port}
SlurmdPort={slurmd_port}
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
# A job over its memory is killed. Without cgroups a look every second has to find it.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=2000
MaxArraySize=1001
# By default every array waits for 2 s.
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0
KillWait=5
# The node claims what it is told to, whatever the machine has.
SlurmdParameters=config_overrides
NodeName={node} NodeAddr=127.0.0.1 CPUs=8 RealMemory=16000 State=UNKNOWN
PartitionName=cpu Nodes={node} Default=YES State=UP
"""


class SlurmCluster:
    """A Slurm under `directory` whose one node claims to have 8 processors."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        self.configuration = self.directory / "slurm.conf"
        self._munge = self.directory / "munge" / "socket"

    @property
    def variables(self) -> dict[str, str]:
        """What has to be in the environment of a client."""
        return {"SLURM_CONF": str(self.configuration)}

    def start(self) -> None:
        """Start all daemons, and return when the node takes jobs."""
        if self.configuration.exists():
            raise EngineError(f"{self.directory} had a Slurm in it: take a new folder")
        self._write_configuration()
        try:
            self._start_munge()
            self.start_controller()
            self._start("slurmd", ["-D", "-N", NODE], self._idle)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all daemons and jobs, whoever started them."""
        engines.kill_all(self._processes)

    def client(self, *command: str) -> str:
        """Return what a command of Slurm prints, including what it complains about."""
        finished = subprocess.run(
            command,
            env={**os.environ, **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        return finished.stdout.strip()

    def start_controller(self) -> None:
        """Start slurmctld, which goes on where it was."""
        self._start("slurmctld", ["-D"], lambda: "is UP" in self.client("scontrol", "ping"))

    def restart_controller(self) -> None:
        """Let slurmctld be away for a moment; jobs that run go on running."""
        found = [one for one in engines.marked(self.directory) if one.name() == "slurmctld"]
        for controller in found:
            engines.send(controller, signal.SIGTERM)
        psutil.wait_procs(found, timeout=60)
        self.start_controller()

    def state(self, job: str) -> str:
        """Return the state of a job, as squeue calls it, such as FAILED."""
        return self.client("squeue", "-h", "-t", "all", "-j", job, "-o", "%T")

    def run_out_of_time(self, job: str) -> None:
        """Move the time limit of a job to now; slurmctld ends it within 30 s, as it always does."""
        self.client("scontrol", "update", f"jobid={job}", "EndTime=now")

    def _processes(self) -> list[psutil.Process]:
        """Return the daemons, and what runs in jobs: these have the environment of the client."""
        clients = engines.living_with(self.variables)
        jobs = [process for process in clients if in_job(process)]
        return [*engines.marked(self.directory), *jobs]

    def _idle(self) -> bool:
        return self.client("sinfo", "-h", "-p", "cpu", "-o", "%T") == "idle"

    def _write_configuration(self) -> None:
        for name in ("munge", "state", "spool"):
            (self.directory / name).mkdir(parents=True)
        values = {
            "cluster": CLUSTER,
            "node": NODE,
            "directory": self.directory,
            "munge": self._munge,
            "slurmctld_port": engines.free_port(),
            "slurmd_port": engines.free_port(),
        }
        self.configuration.write_text(SLURM_CONF.format(**values), encoding="utf-8")

    def _start_munge(self) -> None:
        folder = self._munge.parent
        key = folder / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        options = [
            "--foreground", "--force", f"--socket={self._munge}", f"--key-file={key}",
            f"--pid-file={folder}/pid", f"--seed-file={folder}/seed",
        ]  # fmt: skip
        self._start("munged", options, self._munge.exists)

    def _start(self, program: str, options: list[str], ready: Callable[[], bool]) -> None:
        daemon = engines.start([program, *options], self.directory, program, self.variables)
        log = self.directory / f"{program}.log"

        def ready_or_ended() -> bool:
            if daemon.poll() is not None:
                raise EngineError(f"{program} has ended: see {log}")
            return ready()

        engines.wait_for(ready_or_ended, f"{program} was not ready (see {log})")


def in_job(process: psutil.Process) -> bool:
    """Return whether a process is part of a job."""
    try:
        return "SLURM_JOB_ID" in process.environ()
    except psutil.Error:
        return False


def missing() -> str | None:
    """Return why no Slurm can be started here, and what to do about it."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    if absent:
        return f"there is no {', '.join(absent)}: apt-get install munge slurm-wlm"
    if os.geteuid() != 0:
        return "a Slurm of one's own can be started by root only"
    return None


if __name__ == "__main__":  # end what is left in a folder when whoever started it has ended
    sys.stdin.read()
    SlurmCluster(Path(sys.argv[1])).stop()
