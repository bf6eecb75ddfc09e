"""A Dask scheduler on 127.0.0.1 with workers of one thread each, in a folder for their logs.

    python tests/cluster/dask_cluster.py start DIR [--workers 2]
    python tests/cluster/dask_cluster.py stop DIR

It takes `pip install mklbench[dask]`.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

import engines

PACKAGES = ("dask", "distributed")
HOST = "127.0.0.1"


class DaskCluster:
    """A Dask scheduler and its workers, started as users do it.

    Parameters
    ----------
    directory
        Where the logs are, and what workers put on disk.
    workers
        How many; they are called `worker-0` and so on.
    settings
        Dask's configuration as variables of the environment, such as
        `DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL`.
    memory
        What a worker may take before its nanny kills it, such as `1 GB`. What the worker has
        started is not counted.
    """

    def __init__(
        self,
        directory: Path,
        workers: int = 2,
        settings: dict[str, str] | None = None,
        memory: str = "auto",
    ) -> None:
        self.directory = directory.resolve()
        self.workers = [f"worker-{number}" for number in range(workers)]
        self.settings = settings or {}
        self.memory = memory
        self._port = engines.free_port()
        self._started: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        return f"tcp://{HOST}:{self._port}"

    def start(self) -> None:
        """Start the scheduler and the workers, and return when all are there."""
        self.directory.mkdir(parents=True, exist_ok=True)
        try:
            self.start_scheduler()
            for name in self.workers:
                self.start_worker(name)
            self.wait_for_workers()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End everything that was started in the folder, by whatever process."""
        engines.kill_all(lambda: engines.marked(self.directory))

    def start_scheduler(self) -> None:
        """Start the scheduler, always at the same address."""
        self._start("scheduler", "scheduler", "--port", str(self._port))

    def stop_scheduler(self) -> None:
        """Kill the scheduler. Its workers end as soon as what they compute is done."""
        self._kill("scheduler")

    def restart_scheduler(self) -> None:
        """Kill the scheduler, and start it and workers again, as a service manager would.

        Dask's workers do not come back to a scheduler that they lost, so these are new ones.
        """
        self.stop_scheduler()
        self.start_scheduler()
        for name in self.workers:
            self.start_worker(name)
        self.wait_for_workers()

    def start_worker(self, name: str) -> None:
        """Start a worker of this name."""
        self._start(
            name, "worker", self.address, "--name", name, "--nthreads", "1",
            "--memory-limit", self.memory, "--local-directory", str(self.directory),
        )  # fmt: skip

    def wait_for_workers(self) -> None:
        """Return when the scheduler knows as many workers as there should be."""
        from distributed import Client

        with Client(self.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(len(self.workers), timeout=60)

    def _start(self, name: str, *arguments: str) -> None:
        command = [sys.executable, "-m", "dask", *arguments, "--host", HOST, "--no-dashboard"]
        self._started[name] = engines.start(command, self.directory, name, self.settings)

    def _kill(self, name: str) -> None:
        process = self._started[name]
        process.kill()
        process.wait()


def missing() -> str | None:
    """Return why no Dask can be started here, and what to do about it."""
    absent = [package for package in PACKAGES if importlib.util.find_spec(package) is None]
    return f"there is no {', '.join(absent)}: pip install mklbench[dask]" if absent else None


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["start", "stop", "guard"])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    cluster = DaskCluster(asked.directory, asked.workers)
    if asked.action == "start":
        reason = missing()
        if reason:
            parser.error(reason)
        cluster.start()
        print(cluster.address)
    else:
        if asked.action == "guard":
            sys.stdin.read()
        cluster.stop()


if __name__ == "__main__":
    main()
