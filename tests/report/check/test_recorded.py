"""The regression check: silent when nothing moved, loud when something did."""

from __future__ import annotations

import functools
import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mklbench import cli, resources
from mklbench.algorithms import svm
from mklbench.commands.reproduce import check as run_check
from mklbench.commands.reproduce import write_records
from mklbench.errors import DataError, InputError
from mklbench.experiments.files import with_checksum
from mklbench.experiments.records import RecordFile
from mklbench.experiments.run import Run
from mklbench.report.check import recorded as kept
from mklbench.report.check.recorded import load_check
from mklbench.resources import recorded_results

CHECK = """\
runs:
  - {table: tiny, row: minmax, column: one, protocol: fixed}
  - {table: tiny, row: none, column: ten, protocol: fixed}
  - {table: tiny, row: minmax, column: chosen, protocol: fixed}
"""

Record = dict[str, Any]
Edit = Callable[[Callable[[Record], Record | None]], None]


@pytest.fixture
def recorded(recorded: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The records of the tiny table with a check of it."""
    check_file = tmp_path / "check.yaml"
    check_file.write_text(CHECK, encoding="utf-8")
    monkeypatch.setattr(kept, "load_check", lambda **options: load_check(check_file, **options))
    monkeypatch.setattr(kept, "unlisted", lambda config: {})
    kept.record_runs(load_check(check_file), recorded)
    return recorded


def check(recorded: Path) -> int:
    return run_check(results_dir=str(recorded))


def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every SVM crash."""

    @functools.wraps(svm.solve)
    def solve(*_: object, **__: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(svm, "solve", solve)


def test_nothing_moved(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(recorded) == 0
    printed = capsys.readouterr().out
    assert "The check passed: 4 same." in printed
    assert "same: tiny, verdicts: " in printed


class TestAnotherChoice:
    """Rounding may turn a choice; then the recorded one is compared."""

    @pytest.fixture
    def turn(self, edit_records: Edit, recorded: Path) -> Callable[[float], None]:
        """Let the recorded search have taken the other C, with a score that differs."""
        path = recorded / "records" / "tiny.jsonl"
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        fixed = {
            (line["split"], line["C"]): line for line in lines
            if line["data"] == "twonorm" and line["search"] == "fixed"
        }  # fmt: skip

        def other(difference: float, item: Record) -> Record:
            if item["search"] != "cv" or item["data"] != "twonorm":
                return item
            C = 11.0 - item["params"]["algo.C"]
            return {
                **fixed[item["split"], C],
                "key": item["key"], "search": "cv", "params": {"algo.C": C},
                "search_accuracy": item["search_accuracy"] - difference,
            }  # fmt: skip

        return lambda difference: edit_records(functools.partial(other, difference))

    def test_of_a_near_tie_is_compared_where_it_was_recorded(
        self,
        recorded: Path,
        turn: Callable[[float], None],
        edit_records: Edit,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        turn(0.01)
        run_check(results_dir=str(recorded))  # the verdict of the run is another
        (line,) = (
            line for line in capsys.readouterr().out.splitlines() if "minmax chosen fixed" in line
        )
        assert "same" in line
        assert "cross-validation takes algo.C=" in line
        assert "which is as good and is compared" in line
        edit_records(lambda item: {**item, "objective": 1.01 * item["objective"]})
        assert check(recorded) == 1
        assert "MOVED: tiny, minmax chosen fixed: objective" in capsys.readouterr().out

    def test_of_another_score_has_moved(
        self,
        recorded: Path,
        turn: Callable[[float], None],
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        turn(0.2)
        assert check(recorded) == 1
        printed = capsys.readouterr().out
        assert "MOVED: tiny, minmax chosen fixed: cross-validation takes algo.C=" in printed


def test_moved_verdict_fails(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recorded / "tables" / "tiny.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    judged = lines[1].split(",")
    assert judged[3] == "accuracy"
    judged[10] = "close" if judged[10] == "match" else "match"
    path.write_text("\n".join([lines[0], ",".join(judged), *lines[2:]]), encoding="utf-8")
    assert check(recorded) == 1
    assert f"recorded {judged[10]}" in capsys.readouterr().out


def test_what_is_not_recorded_fails(
    recorded: Path, edit_records: Edit, capsys: pytest.CaptureFixture[str]
) -> None:
    edit_records(lambda item: None if item["C"] == 10 else item)
    assert check(recorded) == 1
    printed = capsys.readouterr().out
    assert "2 NOT RECORDED" in printed
    assert "nothing is recorded for this configuration" in printed


def test_run_that_fails_now_fails_the_check(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(monkeypatch)
    assert check(recorded) == 1
    assert "broken on purpose" in capsys.readouterr().out


def test_absent_data_are_named_and_the_rest_is_checked(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their digest is known, as it is for every set that is downloaded."""
    lines = (recorded / "records" / "tiny.jsonl").read_text(encoding="utf-8").splitlines()
    digests = {item["data"]: item["data_digest"] for item in map(json.loads, lines)}
    original = Run.dataset

    def dataset(run: Run) -> object:
        if run.data == "ringnorm":
            raise DataError(f"data={run.data} is nowhere to be had.")
        return original(run)

    monkeypatch.setattr(Run, "data_digest", property(lambda run: digests[run.data]))
    monkeypatch.setattr(Run, "dataset", dataset)
    assert check(recorded) == 0
    printed = capsys.readouterr().out
    assert "tiny, none ten fixed: data=ringnorm is nowhere to be had." in printed
    assert "The check passed: 3 same, 1 not checked." in printed


@pytest.mark.parametrize("missing", ["check.jsonl", "records/tiny.jsonl", "tables/tiny.csv"])
def test_nothing_recorded_is_an_input_error(recorded: Path, missing: str) -> None:
    (recorded / missing).unlink()
    with pytest.raises(InputError, match="There is nothing to check against"):
        check(recorded)


def test_an_installed_program_compares_the_runs_without_the_tables_records(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (recorded / "records" / "tiny.jsonl").unlink()
    monkeypatch.setattr(resources, "checkout", lambda: None)
    assert check(recorded) == 0
    assert "The check passed: 3 same, 1 not checked." in capsys.readouterr().out


def test_shipped_check_compares_with_the_records_of_the_tables() -> None:
    of_tables = set()
    for path in (recorded_results() / "records").glob("*.jsonl*"):
        content = path.read_bytes()
        content = lzma.decompress(content) if path.suffix == ".xz" else content
        of_tables |= set(content.splitlines())
    config = load_check()
    cheap = {run.key for run in kept.unlisted(config).values()}
    lines = kept.records_of(recorded_results()).read_bytes().splitlines()
    copied = {line for line in lines if json.loads(line)["key"] not in cheap}
    assert copied <= of_tables, "run mklbench check --record"
    assert len(lines) == len(config) + len(cheap)


def test_shipped_check_runs_every_data_set_of_a_table_algorithm_and_kernel() -> None:
    config = load_check()
    chosen = {override for run in config for override in run.slot.overrides}
    tables = [path.read_text(encoding="utf-8") for path in resources.choices("table").values()]
    named = {name for table in tables for name in re.findall(r"\bdata=(\w+)", table)}
    # Not photographs, which take minutes to describe, nor what is not at hand.
    wanted = {
        f"data={name}"
        for name, path in resources.choices("data").items()
        if name in named
        and (described := resources.read_yaml(path)).get("format") != "images"
        and not described.keys() & {"path", "id"}
    }
    assert wanted <= chosen
    kept_records = RecordFile(kept.records_of(recorded_results()))
    for name, run in kept.unlisted(config).items():
        assert not kept_records.read(run).missing, f"{name}: run mklbench check --record"


def cheap(name: str) -> Run:
    return Run.from_overrides([name, *kept._CHEAP])


class TestNewAlgorithms:
    """An algorithm that no table has is recorded by a command."""

    @pytest.fixture
    def recorded(self, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        names = ("algo=svm", "algo=uniform")
        monkeypatch.setattr(kept, "unlisted", lambda config: {n: cheap(n) for n in names})
        return recorded

    def test_are_recorded_once_and_checked(
        self, recorded: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert check(recorded) == 1
        printed = capsys.readouterr().out
        assert ": nothing is recorded" in printed
        assert "run mklbench check --record" in printed
        command = ["check", "--record", "--recorded", str(recorded)]
        assert cli.main(command) == 0
        assert capsys.readouterr().out.endswith("newly run: algo=svm, algo=uniform\n")
        path = kept.records_of(recorded)
        before = path.read_bytes()
        assert cli.main(command) == 0
        assert capsys.readouterr().out.endswith("newly run: nothing\n")
        assert path.read_bytes() == before
        assert check(recorded) == 0
        assert "The check passed: 6 same." in capsys.readouterr().out
        items = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text(
            "".join(with_checksum({**i, "objective": 2 * i["objective"]}) for i in items)
        )
        assert check(recorded) == 1
        assert re.search(r"MOVED: .*algo=svm.*: objective", capsys.readouterr().out)

    def test_a_new_version_is_recorded_anew(
        self, recorded: Path, redeclare: Callable[..., None], capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_records(recorded)
        redeclare(svm, "VERSION", svm.VERSION + 1)
        capsys.readouterr()
        write_records(recorded)
        assert capsys.readouterr().out.endswith("newly run: algo=svm\n")
        assert len(kept.records_of(recorded).read_text().splitlines()) == 2

    def test_what_fails_is_not_recorded(
        self, recorded: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        broken(monkeypatch)
        before = kept.records_of(recorded).read_bytes()
        with pytest.raises(InputError, match=r"algo=svm cannot be recorded: .*broken on purpose"):
            write_records(recorded)
        assert kept.records_of(recorded).read_bytes() == before
