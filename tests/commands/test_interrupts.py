"""Ctrl-C and SIGTERM end everything, whatever is going on, and leave nothing behind."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from experiment_fakes import TINY, fake_configs, fake_run, nobody_is_in, start, tiny_run, wait_until
from narrowing import present

from mklbench import interruption
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.store import Store

INTERRUPTS = [(signal.SIGINT, 130, "interrupted", 1), (signal.SIGTERM, 143, "terminated", 2)]


def running(directory: Path, *options: str) -> subprocess.Popen[str]:
    """Start a run of the fake algorithm, and wait until its first split computes."""
    configs = fake_configs(directory)
    begun = directory / "begun"
    fake = ["algo=fake", f"algo.once='{begun}'", "--config-dir", str(configs)]
    process = start(["run", *TINY, *fake, "results_dir=store", *options], directory)
    wait_until(lambda: begun.exists() or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process


def ends(process: subprocess.Popen[str], number: signal.Signals, status: int) -> str:
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize(("number", "status", "said", "jobs"), INTERRUPTS)
def test_a_call_in_which_nothing_of_python_runs_is_ended(
    tmp_path: Path, number: signal.Signals, status: int, said: str, jobs: int
) -> None:
    process = running(tmp_path, "algo.behaviour=hold", f"jobs={jobs}", "progress=none")
    assert ends(process, number, status).startswith(f"mklbench: {said}")
    nobody_is_in(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["table", "picard2012_table1", "--recorded"],
        ["reproduce", "coverage", "--dry-run"],
        ["plot", "picard2012_figure1", "--recorded"],
        ["check"],
        ["data", "verify"],
        ["list", "tables"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_is_ended(tmp_path: Path, command: list[str]) -> None:
    process = start(command, tmp_path)
    time.sleep(0.3)
    if process.poll() is None:
        assert ends(process, signal.SIGINT, 130).endswith("mklbench: interrupted.\n")
    nobody_is_in(tmp_path)


def test_a_main_process_that_cannot_hear_is_ended_within_two_seconds(tmp_path: Path) -> None:
    program = (
        "import numpy as np\n"
        "from mklbench import interruption\n"
        "interruption.listen()\n"
        "matrix = np.random.default_rng(0).normal(size=(4000, 4000))\n"
        "print('begun', flush=True)\n"
        "np.linalg.svd(matrix)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert present(process.stdout).readline() == "begun\n"
    time.sleep(0.5)
    assert ends(process, signal.SIGTERM, 143) == (
        "mklbench: terminated: what was finished is kept.\n"
    )


@pytest.mark.slow
def test_a_bar_is_left_tidy(tmp_path: Path) -> None:
    terminal, end = pty.openpty()
    configs = fake_configs(tmp_path)
    options = ["algo=fake", "algo.behaviour=hang", f"algo.once='{tmp_path}/begun'"]
    process = subprocess.Popen(
        [sys.executable, "-m", "mklbench", "run", *TINY, *options, "--config-dir", str(configs)],
        cwd=tmp_path,
        env=os.environ
        | {
            "PYTHONPATH": f"{Path(__file__).parents[2]}:{Path(__file__).parents[1]}/support",
            "TERM": "xterm",
        },
        stdout=subprocess.DEVNULL,
        stderr=end,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(end)
    wait_until(lambda: (tmp_path / "begun").exists())
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    shown = b""
    while select.select([terminal], [], [], 0.2)[0]:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # nobody is at the other end any more
            break
    os.close(terminal)
    assert shown.rindex(b"\x1b[?25h") > shown.rindex(b"\x1b[?25l")  # the cursor is there again
    after = shown[shown.rindex(b"\x1b[?25h") :]
    assert b"mklbench: interrupted: finished splits are kept" in after
    assert b"\xe2\x94\x81" not in after  # nothing of the bar


@pytest.mark.parametrize(
    ("behaviour", "jobs"),
    [
        ("exit", 1),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [("exit", 2), ("generator", 1), ("keyboard", 1)]
        ),
    ],
)
def test_what_an_algorithm_raises_fails_its_split_and_nothing_else(
    tmp_path: Path, behaviour: str, jobs: int
) -> None:
    configs = fake_configs(tmp_path)
    options = [f"algo.behaviour={behaviour}", f"algo.once='{tmp_path}/once'", f"jobs={jobs}"]
    arguments = ["run", *TINY, "algo=fake", *options, "results_dir=store", "progress=none"]
    process = start([*arguments, "--config-dir", str(configs)], tmp_path)
    printed, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (1, "")
    assert "3/4" in printed
    run = fake_run(tmp_path, *options[:2])
    (failed,) = [r for r in Store(tmp_path / "store").read(run).records if r.status != "done"]
    assert present(failed.error).split(":")[0] in (
        "SystemExit",
        "GeneratorExit",
        "KeyboardInterrupt",
    )


def test_ctrl_c_in_a_notebook_is_still_an_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    runner = os.getpid()
    before = psutil.Process().children()  # what other tests have begun

    def interrupted(*_: object) -> None:
        os.kill(runner, signal.SIGINT)
        time.sleep(60)

    monkeypatch.setattr("mklbench.experiments.execution.steps.run_split", interrupted)
    with (
        pytest.raises(KeyboardInterrupt, match="what is kept"),
        interruption.saying("what is kept"),
    ):
        run_all([tiny_run()], store)
    assert store.read(tiny_run()).status == "missing"
    assert set(psutil.Process().children()) <= set(before)


def test_an_import_that_makes_another_error_of_an_interrupt_ends_like_any_other() -> None:
    program = """
import os, signal, sys, time
from mklbench import __main__

class Interrupted:
    def find_spec(self, name, path, target=None):
        if name == "mklbench.cli":
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(10)
            except KeyboardInterrupt as interrupt:
                raise ImportError("cut short") from interrupt

sys.meta_path.insert(0, Interrupted())
sys.exit(__main__.main())
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 143
    assert ended.stderr.splitlines() == ["mklbench: terminated."]
