"""Who presses Ctrl-C is asked once what becomes of the jobs, on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from experiment_fakes import TINY, tiny_cell, wait_until
from narrowing import present
from slurm_fakes import FakeSlurm

from mklbench.experiments.execution.plan import run_cells
from mklbench.experiments.store import Store

pytest.importorskip("submitit")

QUESTION = (
    "mklbench: 1 job is queued or running. Type c to cancel, or Enter to leave them running (the "
    "same command finds them again): "
)
RUN = ["run", *TINY, "algo=svm", "results_dir=store", "progress=none", "executor=slurm"]
ROOT = Path(__file__).parents[2]


class Terminal:
    """A program on a terminal of its own, as a user has it who starts it from a shell."""

    def __init__(self, arguments: list[str], directory: Path) -> None:
        self._mine, theirs = pty.openpty()
        self.shown = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mklbench", *arguments],
            cwd=directory,
            env=os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm"},
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(theirs)

    def type(self, text: str) -> None:
        os.write(self._mine, text.encode())

    def read(self, seconds: float = 0.1) -> str:
        """Return all that was shown so far."""
        while select.select([self._mine], [], [], seconds)[0]:
            try:
                self.shown += (
                    os.read(self._mine, 65536).decode(errors="replace").replace("\r\n", "\n")
                )
            except OSError:  # nobody is at the other end any more
                break
        return self.shown

    def ends(self) -> int:
        """Return the exit status."""
        return self.process.wait(timeout=60)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._mine)


def _own_terminal() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def slurm(fake_slurm: FakeSlurm) -> FakeSlurm:
    """A cluster on which jobs are queued for ever."""
    fake_slurm.says("squeue", "33|PENDING||N/A|Priority|queued\n")
    return fake_slurm


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory with one split of the run, which tells how long the others take."""
    place = tmp_path / "here"
    run_cells([tiny_cell("split.n_splits=1")], Store(place / "store"))
    return place


@pytest.fixture
def terminal(slurm: FakeSlurm, here: Path) -> Iterator[Terminal]:
    """A run on a terminal whose job is queued."""
    made = Terminal([*RUN, "executor.poll=0.1"], here)
    try:
        wait_for_job(slurm, made.process)
        yield made
        assert made.process.poll() is not None
    finally:
        made.close()


def wait_for_job(slurm: FakeSlurm, process: subprocess.Popen[bytes]) -> None:
    def is_watched() -> bool:
        calls = [call.split()[0] for call in slurm.calls]
        return "sbatch" in calls and "squeue" in calls[calls.index("sbatch") :]

    wait_until(lambda: is_watched() or process.poll() is not None)
    assert process.poll() is None, present(process.stderr).read() if process.stderr else ""


def asked(terminal: Terminal) -> None:
    terminal.type("\x03")
    wait_until(lambda: QUESTION in terminal.read())


def everything_has_ended(here: Path) -> None:
    def there() -> bool:
        for process in psutil.process_iter():
            try:
                if process.cwd() == str(here) and process.status() != psutil.STATUS_ZOMBIE:
                    return True
            except psutil.Error:
                continue
        return False

    wait_until(lambda: not there())


def test_c_cancels_the_jobs(terminal: Terminal, slurm: FakeSlurm, here: Path) -> None:
    asked(terminal)
    terminal.type("c\n")
    assert terminal.ends() == 130
    assert slurm.called("scancel") == ["scancel 33"]
    shown = terminal.read()
    assert shown.count("Type c to cancel") == 1
    assert "mklbench: the jobs are cancelled.\n" in shown
    assert shown.endswith(
        "mklbench: interrupted: 1 of 4 splits are finished and kept in store; the same command "
        "goes on from there.\n"
    )
    everything_has_ended(here)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("\n", id="Enter"),
        pytest.param("no\n", id="no", marks=pytest.mark.slow),
        pytest.param("\x04", id="Ctrl-D", marks=pytest.mark.slow),
    ],
)
def test_any_other_answer_leaves_them(
    answer: str, terminal: Terminal, slurm: FakeSlurm, here: Path
) -> None:
    asked(terminal)
    terminal.type(answer)
    assert terminal.ends() == 130
    assert slurm.called("scancel") == []
    assert "cancelled" not in terminal.read()
    assert len(list((here / "store" / "jobs").glob("*.batch"))) == 1  # to be found again
    everything_has_ended(here)


@pytest.mark.slow
def test_who_presses_it_again_does_not_want_to_be_asked(
    terminal: Terminal, slurm: FakeSlurm, here: Path
) -> None:
    asked(terminal)
    time.sleep(0.8)  # what comes sooner is the same Ctrl-C
    terminal.type("\x03")
    assert terminal.ends() == 130
    assert slurm.called("scancel") == []
    assert terminal.read().count("Type c to cancel") == 1
    everything_has_ended(here)


@pytest.mark.slow
def test_who_ends_it_while_it_asks_is_obeyed(
    terminal: Terminal, slurm: FakeSlurm, here: Path
) -> None:
    asked(terminal)
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.ends() == 143
    assert slurm.called("scancel") == []
    everything_has_ended(here)


@pytest.mark.slow
def test_a_cancellation_that_fails_is_said(terminal: Terminal, slurm: FakeSlurm) -> None:
    slurm.says("scancel", err="scancel: error: Unable to contact slurm controller\n", status=1)
    asked(terminal)
    terminal.type("c\n")
    assert terminal.ends() == 130
    assert (
        "mklbench: the jobs could not be cancelled: scancel: Unable to contact slurm controller."
    ) in terminal.read()


def test_sigterm_never_asks(terminal: Terminal, slurm: FakeSlurm, here: Path) -> None:
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.ends() == 143
    assert slurm.called("scancel") == []
    shown = terminal.read()
    assert "Type c" not in shown
    assert shown.startswith("mklbench: terminated: 1 of 4 splits")
    everything_has_ended(here)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
def test_nobody_is_asked_without_a_terminal(
    number: signal.Signals, status: int, slurm: FakeSlurm, here: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mklbench", *RUN, "executor.poll=0.1"],
        cwd=here,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    wait_for_job(slurm, process)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == status
    assert b"Type c" not in said
    assert said.count(b"\n") == 1
    assert slurm.called("scancel") == []
    everything_has_ended(here)


@pytest.mark.slow
def test_a_run_that_has_no_jobs_yet_ends_without_a_question(slurm: FakeSlurm, here: Path) -> None:
    slurm.runs("srun", "exec /bin/sleep 60\n")  # the probe is queued
    terminal = Terminal([*RUN, "executor.poll=0.1"], here)
    try:
        wait_until(lambda: slurm.called("srun") != [])
        time.sleep(0.3)
        terminal.type("\x03")
        assert terminal.ends() == 130
        assert "Type c" not in terminal.read()
    finally:
        terminal.close()
    everything_has_ended(here)
    assert not (here / "store" / "jobs").exists()


@pytest.mark.slow
def test_the_same_command_finds_them_again(
    terminal: Terminal, slurm: FakeSlurm, here: Path
) -> None:
    asked(terminal)
    terminal.type("\n")
    assert terminal.ends() == 130
    again = Terminal([*RUN, "executor.poll=0.1"], here)
    try:
        n_before = len(slurm.called("squeue"))
        wait_until(lambda: len(slurm.called("squeue")) > n_before + 3)
        again.process.send_signal(signal.SIGTERM)
        assert again.ends() == 143
    finally:
        again.close()
    assert len(slurm.called("sbatch")) == 1
    assert len(slurm.called("srun")) == 1


@pytest.mark.slow
def test_a_check_cancels_its_jobs_without_asking(
    slurm: FakeSlurm, here: Path, mirror: Path
) -> None:
    terminal = Terminal(["check", "picard2012_table1", "executor=slurm", "executor.poll=0.1"], here)
    try:
        wait_for_job(slurm, terminal.process)
        (scratch,) = here.glob("mklbench-check-*")  # where the nodes see it
        terminal.type("\x03")
        assert terminal.ends() == 130
        assert "Type c" not in terminal.read()
        assert slurm.called("scancel") == ["scancel 33"]
        assert not scratch.exists()
    finally:
        terminal.close()
    everything_has_ended(here)
