"""The command line as a user meets it."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from statistics import fmean

import pytest
from experiment_fakes import TINY, fake_configs, start
from narrowing import present

from mklbench import cli
from mklbench.commands.run import _Runs
from mklbench.config import jobs_of

ROOT = Path(__file__).parents[2]
RUN = ["run", *TINY, "algo=svm", "results_dir=store", "progress=none"]

# What programs that read the CSV rely on, in this order.
COLUMNS = """
    algo kernel data split status n_train n_test C accuracy error rmse n_kernels objective gap
    svm_calls fit_seconds svm_seconds
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every test in an empty directory of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(path: str = "rows.csv") -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def everything(directory: str | Path = ".") -> list[str]:
    return sorted(str(path) for path in Path(directory).rglob("*"))


def test_a_run_writes_one_row_a_split_and_prints_a_summary(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main([*RUN, "out=rows.csv"]) == 0
    written = rows()
    assert list(written[0])[:17] == COLUMNS.split()
    assert [row["split"] for row in written] == ["0", "1", "2", "3"]
    assert {row["status"] for row in written} == {"done"}
    for row in written:
        assert float(row["error"]) == pytest.approx(1 - float(row["accuracy"]))
    printed = capsys.readouterr().out
    assert "svm" in printed
    assert "4/4" in printed
    assert "Records: store   Rows: rows.csv" in printed


@pytest.mark.slow
def test_the_main_job_writes_its_twenty_rows(
    mirror: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", "algo=qnpkl", "data=sonar", "out=rows.csv", "progress=none"]) == 0
    assert [row["split"] for row in rows()] == [str(split) for split in range(20)]
    assert {(row["data"], row["n_train"], row["n_test"]) for row in rows()} == {
        ("sonar", "145", "63")
    }
    printed = capsys.readouterr().out
    assert "20/20" in printed
    assert "\nPicard et al. 2012, Table 1: accuracy 86.6 ± 3.4 %; here 84.8 ± 5.2 %: " in printed
    (accuracy,) = re.findall(r"\d+\.\d\d ± \d+\.\d\d", printed)
    for page in ("README.md", "docs/command-line.md"):
        assert accuracy in (ROOT / page).read_text(encoding="utf-8")


def test_a_run_leaves_nothing_but_records_and_rows(here: Path) -> None:
    assert cli.main([*RUN, "out=rows.csv"]) == 0
    assert cli.main(["run", "-m", *RUN[1:], "algo.C=1,2"]) == 0
    assert sorted(path.name for path in here.iterdir()) == ["rows.csv", "store"]


def test_a_sweep_runs_every_run_and_has_one_csv(capsys: pytest.CaptureFixture[str]) -> None:
    sweep = ["run", "-m", *RUN[1:], "algo.C=1,10", "kernel.gamma=0.01,0.1", "jobs=2"]
    assert cli.main([*sweep, "out=rows.csv"]) == 0
    written = rows()
    assert len(written) == 16
    assert len({row["key"] for row in written}) == 4
    assert {row["C"] for row in written} == {"1", "10"}
    printed = capsys.readouterr().out
    assert printed.count("4/4") == 4
    assert printed.count("kernel.gamma=0.01") == printed.count("kernel.gamma=0.1 ") == 2


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("overrides", "said"),
    [(["algo=svm"], True), (["algo=svm", "algo.C=3"], False), (["algo=svm", "search=cv"], False)],
)
def test_a_c_that_nobody_has_chosen_is_named(
    overrides: list[str], said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ["data=twonorm", "data.n_samples=60", "split.n_splits=1"]
    assert cli.main(["run", *overrides, *data]) == 0
    assert ("C is the config's, 1 of svm: search=cv" in capsys.readouterr().out) == said


@pytest.mark.usefixtures("here")
def test_a_sweeper_gets_the_mean_accuracy_of_classes() -> None:
    """Not the RMSE, which the records of two classes have as well."""
    runs = _Runs()
    (answer,) = runs(jobs_of([*RUN[1:], "out=rows.csv"]))
    assert runs.report() == 0
    assert answer == pytest.approx(fmean(float(row["accuracy"]) for row in rows()))


def test_globs_find_the_users_own_choices(here: Path) -> None:
    sweep = ["run", "-m", *RUN[1:-2], "--config-dir", str(fake_configs(here)), "algo=glob(fak*)"]
    assert cli.main([*sweep, "results_dir=store", "progress=none", "out=rows.csv"]) == 0
    assert {row["algo"] for row in rows()} == {"fake"}


def test_hydras_own_options_are_carried_out(here: Path) -> None:
    options = ["hydra.run.dir=place", "hydra.output_subdir=shown", "hydra.verbose=true"]
    assert cli.main([*RUN, *options]) == 0
    assert (here / "place" / "shown" / "hydra.yaml").is_file()
    assert cli.main(["run", "-m", *RUN[1:], "hydra.sweep.dir=swept", "algo.C=1,2"]) == 0
    assert (here / "swept" / "multirun.yaml").is_file()


def test_flags_may_stand_between_overrides() -> None:
    assert cli.main(["run", "algo=svm", "-m", *RUN[1:], "algo.C=1,2"]) == 0
    assert len(everything("store")) == 2 * (1 + 1 + 4)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_one_failing_run_does_not_stop_a_sweep(
    here: Path, jobs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ["run", "-m", "--config-dir", str(fake_configs(here)), *RUN[1:], "algo=fake,svm"]
    assert cli.main([*sweep, "++algo.behaviour=raise", f"jobs={jobs}"]) == 2  # svm has no such key
    sweep = ["run", "-m", "--config-dir", str(here / "myconfigs"), *RUN[1:], "algo=fake"]
    sweep += ["algo.behaviour=raise,plain", f"jobs={jobs}", "out=rows.csv"]
    capsys.readouterr()
    assert cli.main(sweep) == 1
    statuses = [row["status"] for row in rows()]
    assert statuses == ["failed"] * 4 + ["done"] * 4
    message = "ZeroDivisionError: the fake divided by zero (experiment_fakes.py, line "
    assert rows()[0]["message"].startswith(message)
    assert rows()[0]["accuracy"] == ""
    printed = capsys.readouterr()
    assert "0/4" in printed.out
    assert "Traceback" not in printed.err


def test_bad_input_in_a_sweep_runs_the_others_and_is_status_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["run", "-m", *RUN[1:], "algo.C=-1,1", "out=rows.csv"]) == 2
    assert [row["status"] for row in rows()] == ["done"] * 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "C=-1 is not accepted" in said


def test_a_mistake_in_one_run_of_a_sweep_is_found_before_any_is_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["run", "-m", *RUN[1:], "algo=svm,qnpkx"]) == 2
    assert (
        capsys.readouterr().err == "mklbench: error: algo=qnpkx is not known: did you mean qnpkl.\n"
    )
    assert everything() == []


def test_an_old_csv_survives_a_run_that_cannot_begin() -> None:
    Path("rows.csv").write_text("old\n")
    assert cli.main([*RUN, "algo.C=-1", "out=rows.csv"]) == 2
    assert Path("rows.csv").read_text() == "old\n"


def test_hydra_shows_the_config(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*RUN, "--cfg", "job", "--resolve"]) == 0
    printed = capsys.readouterr().out
    assert "n_samples: 60" in printed
    assert "hydra" not in printed
    assert everything() == []


@pytest.mark.parametrize("flag", ["--help", "--hydra-help", "--info"])
def test_hydra_helps(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", flag]) == 0
    assert len(capsys.readouterr().out) > 200
    assert everything() == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [("mklbench run algo=qn", "algo=qnpkl"), ("mklbench run split.n_s", "split.n_splits=")],
)
def test_the_shell_completes(
    line: str, expected: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMP_LINE", line)
    assert cli.main(["-sc", "query=bash"]) == 0
    assert expected in capsys.readouterr().out.split()


def test_completion_can_be_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/mklbench"])
    assert cli.main(["-sc", "install=bash"]) == 0
    assert "complete -o nospace" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("algos", "qnpkl"),
        ("kernels", "product"),
        ("data", "sonar"),
        ("splits", "random70"),
        ("searches", "cv"),
        ("executors", "local"),
        ("tables", "picard2012_table1"),
    ],
)
def test_lists_have_names_and_titles(
    what: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["list", what]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if line.split()[0] == name]
    assert len(line.split()) > 3


SUB_COMMANDS = ("table", "reproduce", "status", "redo", "data", "list", "plot", "report", "check")


def test_every_choice_of_the_main_help_has_a_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("run", *SUB_COMMANDS):
        with pytest.raises(SystemExit, match="0") if command != "run" else nullcontext():
            cli.main([command, "--help"])
        assert len(capsys.readouterr().out) > 100
    for arguments in ([], ["list"]):
        with pytest.raises(SystemExit, match="0"):
            cli.main(arguments)
        assert "usage: mklbench" in capsys.readouterr().out


def test_the_reader_of_stdout_may_leave() -> None:
    process = start(["list", "data"], Path())
    present(process.stdout).close()
    assert "Traceback" not in present(process.stderr).read()
    process.wait()


SLOW_MODULES = ("sklearn", "pandas", "matplotlib", "scipy.stats", "rich")


def test_a_run_does_not_import_what_is_slow(here: Path) -> None:
    probe = (
        "import sys\nfrom mklbench.cli import main\n"
        f"main({RUN!r})\n"
        f"print([m for m in {SLOW_MODULES!r} if m in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", probe],
        env=os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[1])},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert printed.splitlines()[-1] == "[]"


def test_a_reader_of_the_help_may_leave() -> None:
    command = [sys.executable, "-m", "mklbench", "run", "--help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
