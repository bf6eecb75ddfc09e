"""A real Slurm of one node on 127.0.0.1, with munge, MariaDB and slurmdbd, in a folder of its own.

    python tests/cluster/slurm_cluster.py start DIR [--cpus 8]
    export SLURM_CONF=DIR/slurm.conf
    python tests/cluster/slurm_cluster.py stop DIR

It takes root, and the packages that tests/install installs.
"""

from __future__ import annotations

import argparse
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
PROGRAMS = ("munged", "mariadb-install-db", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "srun")

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
DefMemPerCPU={memory_per_cpu}
MaxArraySize=1001
# By default every array waits for 2 s.
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0
KillWait=5
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={slurmdbd_port}
AccountingStoragePass={munge}
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
# The node claims what it is told to, whatever the machine has.
SlurmdParameters=config_overrides
NodeName={node} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=cpu Nodes={node} Default=YES State=UP
PartitionName=short Nodes={node} MaxTime=1 State=UP
PartitionName=urgent Nodes={node} PriorityTier=10 State=UP
"""

SLURMDBD_CONF = """\
AuthType=auth/munge
AuthInfo=socket={munge}
SlurmUser=root
DbdAddr=127.0.0.1
DbdHost=localhost
DbdPort={slurmdbd_port}
PidFile={directory}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
"""


class SlurmCluster:
    """A Slurm under `directory` whose one node claims to have `cpus` processors.

    Partitions: `cpu`, `short` with a limit of a minute, and `urgent`, whose jobs preempt others.
    """

    def __init__(self, directory: Path, cpus: int = 8) -> None:
        self.directory = directory.resolve()
        self.cpus = cpus
        self.configuration = self.directory / "slurm.conf"
        self._munge = self.directory / "munge" / "socket"
        self._database = self.directory / "mariadb"
        self._database_socket = self.directory / "mariadb.socket"
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}

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
            self._start_accounting()
            self.start_controller()
            self._start("slurmd", ["-D", "-N", NODE], self._idle)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all daemons and jobs, whoever started them, and remove the database."""
        engines.kill_all(self._processes)
        shutil.rmtree(self._database, ignore_errors=True)

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

    def stop_controller(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End slurmctld; jobs that run go on running.

        By SIGKILL it forgets the jobs that were submitted within the last five seconds or so.
        """
        found = [one for one in engines.marked(self.directory) if one.name() == "slurmctld"]
        for controller in found:
            engines.send(controller, number)
        psutil.wait_procs(found, timeout=60)

    def restart_controller(self) -> None:
        """Let slurmctld be away for a moment."""
        self.stop_controller()
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
        memory_per_cpu = 2000
        values = {
            "cluster": CLUSTER,
            "node": NODE,
            "directory": self.directory,
            "munge": self._munge,
            "cpus": self.cpus,
            "memory": memory_per_cpu * self.cpus,
            "memory_per_cpu": memory_per_cpu,
            "slurmctld_port": engines.free_port(),
            "slurmd_port": engines.free_port(),
            "slurmdbd_port": engines.free_port(),
        }
        self.configuration.write_text(SLURM_CONF.format(**values), encoding="utf-8")
        slurmdbd = self.directory / "slurmdbd.conf"
        slurmdbd.touch(mode=0o600)
        slurmdbd.write_text(SLURMDBD_CONF.format(**values), encoding="utf-8")

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

    def _start_accounting(self) -> None:
        options = ["--no-defaults", f"--datadir={self._database}", "--user=root"]
        rights = ["--skip-test-db", "--auth-root-authentication-method=socket"]
        made = self.client("mariadb-install-db", *options, *rights)
        (self.directory / "mariadb-install-db.log").write_text(made, encoding="utf-8")
        options += [
            "--skip-networking", f"--socket={self._database_socket}",
            f"--pid-file={self.directory}/mariadb.pid", "--innodb-buffer-pool-size=128M",
            "--innodb-lock-wait-timeout=900",
        ]  # fmt: skip
        self._start("mariadbd", options, self._database_socket.exists)
        add_cluster = ("sacctmgr", "-i", "add", "cluster", CLUSTER)
        self._start("slurmdbd", ["-D"], lambda: "Adding" in self.client(*add_cluster))

    def _start(self, program: str, options: list[str], ready: Callable[[], bool]) -> None:
        variables = {**self.variables, "MYSQL_UNIX_PORT": str(self._database_socket)}
        daemon = engines.start([program, *options], self.directory, program, variables)
        self._daemons[program] = daemon
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
        return (
            f"there is no {', '.join(absent)}: "
            "apt-get install munge slurm-wlm slurmdbd mariadb-server"
        )
    if os.geteuid() != 0:
        return "a Slurm of one's own can be started by root only"
    return None


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["start", "stop", "guard"])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--cpus", type=int, default=8)
    asked = parser.parse_args()
    cluster = SlurmCluster(asked.directory, asked.cpus)
    if asked.action == "start":
        reason = missing()
        if reason:
            parser.error(reason)
        cluster.start()
        print(f"export SLURM_CONF={cluster.configuration}")
    else:
        if asked.action == "guard":
            sys.stdin.read()
        cluster.stop()


if __name__ == "__main__":
    main()
