"""Where faults are tried: a small run of many steps, its undisturbed result, and its processes."""

from __future__ import annotations

import contextlib
import csv
import importlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from faults.tally import Tally
from mklbench import cli
from mklbench.experiments.files import DamagedError, verified
from mklbench.experiments.run import Run
from mklbench.experiments.run_checks import check_run

ROOT = Path(__file__).resolve().parents[1]

# Two algorithms, hyperparameters chosen on two splits for all: records and selections.
RUN = (
    "run", "-m", "algo=svm,mkl", "data=wdbc", "kernel=feature_gaussians", "split.n_splits=4",
    "split.test_fraction=0.7",
    "search=first_splits", "search.splits=2", "search.folds=2", "search.grid.algo.C=[1,10]",
    "out=rows.csv", "progress=lines",
)  # fmt: skip

# Seconds after which a process that should have gone counts as left behind.
_PATIENCE = 30.0


class Ground:
    """Makes runs in directories of their own and compares what comes of them.

    Parameters
    ----------
    seed : of all random choices.
    """

    def __init__(self, seed: int) -> None:
        _load_everything()
        self.random = random.Random(seed)
        self.tallies: list[Tally] = []
        self.path = Path(tempfile.mkdtemp(prefix="mklbench-faults-"))
        with self.directory() as here:
            began = time.monotonic()
            run = self.start(here, jobs=1)
            _, said = run.communicate()
            self.seconds = time.monotonic() - began
            if run.returncode != 0:
                raise SystemExit(f"The undisturbed run has failed: {said}")
            self.reference = rows(here)

    def tally(self, campaign: str, slowest: float | None = None) -> Tally:
        """Return a new tally, of which the report knows from now on."""
        self.tallies.append(Tally(campaign, slowest=slowest))
        return self.tallies[-1]

    def clear(self) -> None:
        """Delete everything that was made."""
        shutil.rmtree(self.path, ignore_errors=True)

    @contextlib.contextmanager
    def directory(self) -> Iterator[Path]:
        """Give an empty directory that is gone after the context."""
        here = Path(tempfile.mkdtemp(dir=self.path))
        try:
            yield here
        finally:
            shutil.rmtree(here, ignore_errors=True)

    def start(self, here: Path, jobs: int, *options: str, **how: Any) -> subprocess.Popen[str]:
        """Start the run as a user would, in a session of its own."""
        return start([*RUN, f"jobs={jobs}", "results_dir=store", *options], here, **how)

    def reaches(self, process: subprocess.Popen[str], latest: float | None = None) -> bool:
        """Wait for a random moment in a run, or until `latest` seconds; False if it ended before.

        How long a run takes depends on what else the machine does, and is learned again then.
        """
        began = time.monotonic()
        try:
            process.wait(self.random.uniform(0.0, latest or self.seconds))
        except subprocess.TimeoutExpired:
            return True
        if latest is None:
            self.seconds = time.monotonic() - began
        return False

    def again(self, here: Path, tally: Tally, jobs: int | None = None) -> str:
        """Run the same command to its end, and count what was lost or changed.

        It is run in a process forked from this one, which has everything loaded: half of the time
        of a short run is its start. Returns what it said.
        """
        jobs = jobs or self.random.choice((1, 1, 2))
        before = finished(here)
        command = [*RUN, f"jobs={jobs}", "results_dir=store"]
        status, said = _forked(command, here)
        after = finished(here)
        tally.lost += sum(after.get(name) != content for name, content in before.items())
        tally.check(status == 0, f"run again: exit status {status}: {said.strip()[-200:]}")
        tally.hear(said, "run again")
        made = rows(here) if (here / "rows.csv").is_file() else []
        different = sum(a != b for a, b in zip(made, self.reference, strict=False))
        tally.changed += different + abs(len(made) - len(self.reference))
        return said


def start(arguments: list[str], here: Path, **how: Any) -> subprocess.Popen[str]:
    """Start ``mklbench`` in a session of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | how.pop("environment", {})
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    return subprocess.Popen(
        [sys.executable, "-m", "mklbench", *arguments],
        cwd=here,
        env=environment,
        text=True,
        start_new_session=True,
        # Started from a background job it would ignore Ctrl-C.
        preexec_fn=how.pop("preexec_fn", partial(signal.signal, signal.SIGINT, signal.SIG_DFL)),
        **how,
    )


def has_begun(process: subprocess.Popen[str]) -> bool:
    """Wait until the program listens for signals, its first act; False if it ended before.

    Until then Python starts, and what a signal does in that time is not in the program's hands. On
    Linux; elsewhere nothing is waited for.
    """
    status = Path(f"/proc/{process.pid}/status")  # Python itself listens for SIGINT only
    while sys.platform == "linux" and process.poll() is None:
        with contextlib.suppress(FileNotFoundError):
            caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status.read_text(), re.MULTILINE)
            if caught and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1:
                return True
        time.sleep(0.001)
    return process.returncode is None


def rows(here: Path) -> list[Mapping[str, str]]:
    """Return the rows of a run's CSV file without the columns that hold times."""
    with open(here / "rows.csv", newline="", encoding="utf-8") as stream:
        return [
            {name: value for name, value in row.items() if not name.endswith("_seconds")}
            for row in csv.DictReader(stream)
        ]


def finished(here: Path) -> dict[str, bytes]:
    """Return by name the content of every file of the store that is whole, and holds a result."""
    found = {}
    for path in here.glob("store/*/*.json"):
        if not path.is_file():
            continue
        data = path.read_bytes()
        try:
            content = verified(data)
        except DamagedError:
            continue
        own = content.get("key") == path.parent.name.rpartition("-")[2]
        own = own and path.stem.endswith(f"-{content.get('split', -1):03d}")
        if own and content.get("status", "done") == "done":
            found[f"{path.parent.name}/{path.name}"] = data
    return found


def family(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return a process and all that descend from it."""
    try:
        head = psutil.Process(process.pid)
        return [head, *head.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def check_gone(here: Path, tally: Tally, where: str) -> None:
    """Note it if any process still runs in a directory after a while; end it."""
    deadline = time.monotonic() + _PATIENCE
    while (left := inside(here)) and time.monotonic() < deadline:
        time.sleep(0.05)
    tally.check(not left, f"{where}: {len(left)} processes were left behind")
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()


def inside(here: Path) -> list[psutil.Process]:
    """Return the processes that run in a directory."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and process.cwd() == str(here):
                found.append(process)
    return found


def _load_everything() -> None:
    """Load what a run needs, so that a fork of this process begins at once."""
    for name in (
        "commands.run",
        "experiments.execution.local",
        "algorithms.mkl",
    ):
        importlib.import_module(f"mklbench.{name}")
    check_run(Run.from_overrides(["algo=svm", "data=wdbc", "kernel=feature_gaussians"]))


def _forked(arguments: list[str], here: Path) -> tuple[int, str]:
    """Return exit status and messages of a command that is run in a fork of this process."""
    log = here / "again.log"
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 70
        try:
            os.chdir(here)
            with open(log, "w", encoding="utf-8") as stream:
                os.dup2(stream.fileno(), 1)
                os.dup2(stream.fileno(), 2)
                status = cli.main(arguments)
                sys.stdout.flush()
                sys.stderr.flush()
        finally:
            os._exit(status)
    _, how = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(how), log.read_text(encoding="utf-8")
