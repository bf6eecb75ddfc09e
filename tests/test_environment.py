"""What surrounds a run may be closed, full, gone or no directory: one sentence, nothing half."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from experiment_fakes import TINY

from mklbench import cli

ROOT = Path(__file__).parents[1]
COMMAND = f"{sys.executable} -m mklbench"
RUN = f"{COMMAND} run {' '.join(TINY)} algo=svm results_dir=store progress=none"
LONG = "x" * 300


def shell(line: str, directory: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["sh", "-c", line], cwd=directory, env=environment, capture_output=True, text=True
    )


REFUSED = {
    f"{RUN} >&-": "Standard output is closed: ",
    f"{COMMAND} list algos >&-": "Standard output is closed: ",
    f"{RUN} > /dev/full": "Standard output cannot be written: no space left on device.",
    f"{COMMAND} list algos > /dev/full": "Standard output cannot be written: no space left",
    f"{COMMAND} --help > /dev/full": "Standard output cannot be written: no space left",
    f"{COMMAND} run --help > /dev/full": "Standard output cannot be written: no space left",
    f"ulimit -f 0; {RUN}": "results_dir=store cannot be written: file too large",
    f"ulimit -f 0; {RUN} jobs=2": "cannot be written: file too large",
    f"mkdir gone; cd gone; rmdir ../gone; {RUN}": "The working directory does not exist any more",
    f"mkfifo store; {RUN}": "results_dir=store is a FIFO: give the name of a directory.",
    f"touch store; {RUN}": "results_dir=store is a file: give the name of a directory.",
    f"mkfifo rows.csv; {RUN} out=rows.csv": "out=rows.csv is a FIFO: give the name of a file.",
    f"{RUN} out={LONG}.csv": "(304 characters) cannot be used: file name too long",
    f"{RUN} results_dir={LONG}": "(300 characters) cannot be used: file name too long",
    f"{COMMAND} table coverage --results-dir {LONG}": "cannot be used: file name too long",
    f"mkfifo f; {COMMAND} table coverage --results-dir f": "results_dir=f is a FIFO",
    f"{COMMAND} table coverage --recorded --out /dev/null": "--out=/dev/null is a device",
    f"{RUN} --experimental-rerun file": "--experimental-rerun is not accepted: it would run",
    f"{RUN} --experimental-rerun=file": "--experimental-rerun is not accepted: it would run",
}


# One of each kind; the others are slow.
KINDS = (
    f"{RUN} >&-",
    f"{COMMAND} list algos > /dev/full",
    f"ulimit -f 0; {RUN}",
    f"mkdir gone; cd gone; rmdir ../gone; {RUN}",
)


@pytest.mark.parametrize(
    "line",
    [pytest.param(line, marks=[] if line in KINDS else pytest.mark.slow) for line in REFUSED],
    ids=lambda line: line.replace(RUN, "run")[-60:],
)
def test_it_is_one_sentence_and_status_2(line: str, tmp_path: Path) -> None:
    ended = shell(line, tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.startswith("mklbench: error: ")
    assert ended.stderr.count("\n") == 1
    assert REFUSED[line] in ended.stderr
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize(
    ("redirection", "jobs"),
    [
        ("<&- 2>&-", 2),
        *(
            pytest.param(redirection, 1, marks=pytest.mark.slow)
            for redirection in ("2>&-", "2>/dev/full", "2>&1 >/dev/null | true")
        ),
    ],
)
def test_whom_nobody_hears_goes_on(tmp_path: Path, redirection: str, jobs: int) -> None:
    line = RUN.replace("progress=none", "progress=lines")
    ended = shell(f"{line} jobs={jobs} out=rows.csv {redirection}", tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    if "|" not in redirection:
        assert "4/4" in ended.stdout
    assert (tmp_path / "rows.csv").read_text().count(",done,") == 4


def test_all_streams_may_be_closed(tmp_path: Path) -> None:
    assert shell(f"{RUN} jobs=2 <&- >&- 2>&-", tmp_path).returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_the_file_to_be_rerun_is_not_even_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "config.pickle")
    arguments = ["run", "algo=svm", "--experimental-rerun", str(tmp_path / "config.pickle")]
    assert cli.main(arguments) == 2
    assert "it would run what is in the file" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["1e300", pytest.param("1e200", marks=pytest.mark.slow)])
@pytest.mark.parametrize("algo", ["krr", "nkrr", "svr"])
def test_targets_beyond_all_measure_are_never_done(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    algo: str,
    target: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{i / 7 % 1:.3f},{i / 3 % 1:.3f},{target[:1]}.{i}{target[1:]}" for i in range(10, 50)]
    Path("mine.csv").write_text("\n".join(lines) + "\n")
    run = ["run", f"algo={algo}", "data=csv", "data.path=mine.csv", "data.task=regression"]
    for _ in range(2):
        assert cli.main([*run, "split.n_splits=2", "results_dir=store", "progress=none"]) in (1, 2)
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        assert "2/2" not in printed.out
