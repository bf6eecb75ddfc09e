"""What surrounds a run may be closed, full, gone or no directory: one sentence, nothing half."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import rest_slow
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


# Of what differs by the command alone, one command is quick.
REFUSED = {
    f"{RUN} > /dev/full": "Standard output cannot be written: no space left on device.",
    f"ulimit -f 0; {RUN}": "results_dir=store cannot be written: file too large",
    f"mkdir gone; cd gone; rmdir ../gone; {RUN}": "No such file or directory",
}
REFUSED_TOO = {f"ulimit -f 0; {RUN} jobs=2": "cannot be written: file too large"}
# By arguments, where `fifo` and `fifo.csv` are FIFOs and `file` is a file.
REFUSED_NAMES = {
    "run results_dir=file": "results_dir=file is no directory: give the name of one.",
    "run out=fifo.csv": "out=fifo.csv is no regular file: give the name of a file.",
    f"run out={LONG}.csv": "cannot be written: file name too long",
    f"table coverage --results-dir {LONG}": "cannot be written: file name too long",
    "table coverage --results-dir fifo": "results_dir=fifo is no directory",
    "table coverage --recorded --out /dev/null": "--out=/dev/null is no regular file",
}


@pytest.mark.parametrize(
    "line",
    rest_slow([*REFUSED, *REFUSED_TOO], *REFUSED),
    ids=lambda line: line.replace(RUN, "run")[-60:],
)
def test_it_is_one_sentence_and_status_2(line: str, tmp_path: Path) -> None:
    ended = shell(line, tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.startswith("mklbench: error: ")
    assert ended.stderr.count("\n") == 1
    assert (REFUSED | REFUSED_TOO)[line] in ended.stderr
    assert not list(tmp_path.rglob("*.tmp"))


def test_names_are_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    os.mkfifo("fifo.csv")
    Path("file").touch()
    for line, sentence in REFUSED_NAMES.items():
        command, *arguments = line.split()
        tiny = [*TINY, "algo=svm", "progress=none"] if command == "run" else []
        assert cli.main([command, *tiny, *arguments]) == 2
        said = capsys.readouterr().err
        assert said.startswith("mklbench: error: ")
        assert said.count("\n") == 1
        assert sentence in said
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize(
    ("redirection", "jobs"),
    rest_slow([("2>&-", 1), ("<&- 2>&-", 2), ("<&- >&- 2>&-", 2)], ("<&- 2>&-", 2)),
)
def test_whom_nobody_hears_goes_on(tmp_path: Path, redirection: str, jobs: int) -> None:
    line = RUN.replace("progress=none", "progress=lines")
    ended = shell(f"{line} jobs={jobs} out=rows.csv {redirection}", tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ("4/4" in ended.stdout) == (">&- " not in redirection)
    assert (tmp_path / "rows.csv").read_text().count(",done,") == 4


@pytest.mark.parametrize(
    ("algo", "target"), [("krr", "1e200"), ("nkrr", "1e300"), ("svr", "1e300")]
)
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
