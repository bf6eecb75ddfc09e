"""A Dask scheduler on 127.0.0.1 with workers of one thread each, in a folder for their logs.

It takes `pip install mklbench[dask]`.
"""

from __future__ import annotations

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
    variables
        Of the environment of scheduler and workers.
    """

    def __init__(self, directory: Path, variables: dict[str, str]) -> None:
        self.directory, self._variables = directory.resolve(), variables
        self._port = engines.free_port()

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        return f"tcp://{HOST}:{self._port}"

    def start(self) -> None:
        """Start the scheduler and the workers, and return when all are there."""
        self.directory.mkdir(parents=True, exist_ok=True)
        try:
            self._start_all()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End everything that was started in the folder, by whatever process."""
        engines.kill_all(lambda: engines.marked(self.directory))

    def restart_scheduler(self) -> None:
        """Kill the scheduler, and start it and workers again, as a service manager would.

        Dask's workers do not come back to a scheduler that they lost, so these are new ones.
        """
        self._scheduler.kill()
        self._scheduler.wait()
        self._start_all()

    def _start_all(self) -> None:
        from distributed import Client

        self._scheduler = self._start("scheduler", "scheduler", "--port", str(self._port))
        for name in ("worker-0", "worker-1"):
            self._start(
                name, "worker", self.address, "--name", name, "--nthreads", "1",
                "--local-directory", str(self.directory),
            )  # fmt: skip
        with Client(self.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments, "--host", HOST, "--no-dashboard"]
        return engines.start(command, self.directory, name, self._variables)


def missing() -> str | None:
    """Return why no Dask can be started here, and what to do about it."""
    absent = [package for package in PACKAGES if importlib.util.find_spec(package) is None]
    return f"there is no {', '.join(absent)}: pip install mklbench[dask]" if absent else None


if __name__ == "__main__":  # end what is left in a folder when whoever started it has ended
    sys.stdin.read()
    DaskCluster(Path(sys.argv[1]), {}).stop()
