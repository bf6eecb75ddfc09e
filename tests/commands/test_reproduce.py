"""`table`, `plot` and `reproduce` on a table whose runs are really run."""

from __future__ import annotations

import csv
import functools
import json
import lzma
import re
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from report_fakes import TINY_TABLE, only_tables, record

from mklbench import config as configs
from mklbench.algorithms import svm
from mklbench.cli import main
from mklbench.commands.reproduce import print_positions, reproduce
from mklbench.commands.show import table as print_table
from mklbench.errors import InputError
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.files import with_checksum
from mklbench.experiments.records import RecordFile
from mklbench.experiments.run import Run
from mklbench.experiments.run_checks import check_run
from mklbench.experiments.store import Store
from mklbench.kernels import KernelOperator
from mklbench.kernels.base import Array
from mklbench.report.analysis.places import RunFinder
from mklbench.report.loading import load_table, table_names
from mklbench.report.site.content import run_command
from mklbench.report.table.paper_table import Protocol
from mklbench.report.table.part import TableSelection, part_of
from mklbench.solution import Solution

N_CELLS, N_SPLITS = 4, 8


@pytest.fixture(autouse=True)
def _tiny_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only_tables(monkeypatch, tmp_path, tiny=TINY_TABLE)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


def statuses(path: Path) -> set[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return {line["status"] for line in csv.DictReader(file)}


def test_reproduce_runs_everything_and_writes_it(store: Store, results: Path) -> None:
    assert reproduce(["tiny"], store=store, results_dir=str(results)) == 0
    files = {str(p.relative_to(results)) for p in results.rglob("*") if p.is_file()}
    records = {"records/tiny.jsonl", "records/SHA256SUMS"}
    assert files == {"tables/tiny.md", "tables/tiny.csv"} | records
    assert statuses(results / "tables" / "tiny.csv") == {"done"}
    lines = (results / "records" / "tiny.jsonl").read_text(encoding="utf-8").splitlines()
    assert len({(item["key"], item["split"]) for item in map(json.loads, lines)}) == N_SPLITS


def test_reproduce_again_runs_nothing(
    store: Store, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reproduce(["tiny"], store=store, results_dir=str(results))
    written = {path: path.read_bytes() for path in results.rglob("*.*")}
    times = {path: path.stat().st_mtime_ns for path in store.path.rglob("split-*.json")}
    assert len(times) == N_SPLITS
    assert reproduce([], store=store, results_dir=str(results)) == 0
    assert {path: path.stat().st_mtime_ns for path in store.path.rglob("split-*.json")} == times
    assert {path: path.read_bytes() for path in results.rglob("*.*")} == written
    assert "4 of 4 runs done" in capsys.readouterr().out


def test_reproduce_goes_on_from_records(
    store: Store, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reproduce(["tiny"], store=store, results_dir=str(results))
    path = results / "records" / "tiny.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    elsewhere = Store(tmp_path / "elsewhere")
    take_over = partial(
        reproduce, ["tiny"], store=elsewhere, from_records=True, results_dir=str(results)
    )
    take_over(dry_run=True)
    assert f"{N_CELLS} runs, 1 splits to run" in capsys.readouterr().out
    assert not elsewhere.path.exists()
    assert take_over() == 0
    assert f"{N_SPLITS - 1} finished splits taken over from {path}" in capsys.readouterr().out
    again = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert again[:-1] == lines[:-1]
    assert again[-1] != lines[-1]  # measured anew


def test_a_run_that_is_refused_says_why(
    store: Store, results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slot = next(iter(load_table("tiny").slots()))
    refused = RunFinder(store).run(slot)

    def refusing(run: Run, *arguments: Any) -> None:
        if run.key == refused.key:
            raise InputError("algo.C=-1 is not positive: choose another.")
        check_run(run, *arguments)

    monkeypatch.setattr("mklbench.experiments.execution.plan.check_run", refusing)
    assert reproduce(["tiny"], store=store, results_dir=str(results)) == 1
    printed = capsys.readouterr()
    assert f"{' '.join(slot.place)}: missing, 0/{refused.n_splits} splits\n" in printed.out
    sentence = "algo.C=-1 is not positive: choose another."
    assert f"mklbench: error: {refused.label}: {sentence}\n" in printed.err


def test_records_that_are_packed_stay_so(store: Store, results: Path) -> None:
    reproduce(["tiny"], store=store, results_dir=str(results))
    plain, packed = (results / "records" / f"tiny.jsonl{ending}" for ending in ("", ".xz"))
    lines = plain.read_bytes()
    packed.write_bytes(lzma.compress(b""))
    plain.unlink()
    reproduce(["tiny"], store=store, results_dir=str(results))
    assert not plain.exists()
    assert lzma.decompress(packed.read_bytes()) == lines


def test_reproduce_measures_anew_unless_told(store: Store, results: Path, tmp_path: Path) -> None:
    reproduce(["tiny"], store=store, results_dir=str(results))
    path = results / "records" / "tiny.jsonl"
    before = set(path.read_text(encoding="utf-8").splitlines())
    reproduce(["tiny"], store=Store(tmp_path / "elsewhere"), results_dir=str(results))
    assert not before & set(path.read_text(encoding="utf-8").splitlines())


def test_what_is_finished_is_written_without_running(store: Store, results: Path) -> None:
    runs = RunFinder(store).runs(load_table("tiny").slots())
    run_all(runs[:1], store)
    run_all([Run(runs[1].config.with_values({"split.n_splits": 1}))], store)
    finished = {path: path.stat().st_mtime_ns for path in store.path.rglob("split-*.json")}
    write = partial(reproduce, ["tiny"], store=store, write_only=True, results_dir=str(results))
    assert write() == 1
    assert statuses(results / "tables" / "tiny.csv") == {"done", "incomplete", "missing"}
    markdown = (results / "tables" / "tiny.md").read_text(encoding="utf-8")
    assert ": incomplete, 1/2 splits" in markdown
    exported = RecordFile(results / "records" / "tiny.jsonl")
    assert [len(exported.read(run).records) for run in runs] == [2, 1, 0, 0]
    assert {path: path.stat().st_mtime_ns for path in store.path.rglob("split-*.json")} == finished


def test_written_from_records_alone_these_stay_as_they_are(
    store: Store, results: Path, tmp_path: Path
) -> None:
    """Also a run that has failed, and fields in another order than they are written in today."""
    reproduce(["tiny"], store=store, results_dir=str(results))
    path = results / "records" / "tiny.jsonl"
    first, *others = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    failed = {**first, "status": "failed", "error": "broken on purpose", "traceback": None}
    lines = [dict(reversed(line.items())) for line in (failed, *others)]
    for line in lines:
        del line["checksum"], line["schema"]
    path.write_text("".join(with_checksum(line) for line in lines), encoding="utf-8")
    before = path.read_bytes()
    empty = Store(tmp_path / "empty")
    again = partial(reproduce, ["tiny"], store=empty, write_only=True)
    assert again(results_dir=str(results)) == 1
    assert path.read_bytes() == before
    assert "broken on purpose" in (results / "tables" / "tiny.md").read_text(encoding="utf-8")


def test_records_of_another_edition_of_the_data_are_added_to(
    store: Store, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MKLBENCH_MIRROR", raising=False)
    monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "cache"))  # so that no data are at hand
    banana = TINY_TABLE.replace("data=twonorm, data.n_samples=60", "data=banana")
    only_tables(monkeypatch, tmp_path, tiny=banana)
    (slot, *_) = load_table("tiny").slots()
    elsewhere = Run.from_overrides([*slot.overrides, "data.edition=official"])
    here = Run.from_overrides(slot.overrides)
    assert here.key != elsewhere.key
    path = results / "records" / "tiny.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(
        with_checksum(record(0, key=elsewhere.key, svm_calls=1).to_json()), encoding="utf-8"
    )
    reproduce(["tiny"], store=store, write_only=True, results_dir=str(results))
    assert [record.split for record in RecordFile(path).read(elsewhere).done] == [0]


def test_reproduce_with_a_failing_run_says_so_and_is_no_success(
    monkeypatch: pytest.MonkeyPatch, store: Store, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    @functools.wraps(svm.solve)
    def breaks_at_one(operator: KernelOperator, y: Array, C: float, **options: Any) -> Solution:
        if C == 1:
            raise RuntimeError("broken on purpose")
        return solve(operator, y, C, **options)

    solve = svm.solve
    monkeypatch.setattr(svm, "solve", breaks_at_one)
    assert reproduce(["tiny"], store=store, results_dir=str(results)) == 1
    printed = capsys.readouterr().out
    assert "2 of 4 runs done" in printed
    assert "minmax one fixed: failed" in printed
    markdown = (results / "tables" / "tiny.md").read_text(encoding="utf-8")
    assert "broken on purpose" in markdown
    assert statuses(results / "tables" / "tiny.csv") == {"done", "failed"}


def test_results_that_cannot_be_written_are_an_input_error(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(InputError, match=r"--out-dir=.*file is no directory"):
        reproduce(["tiny"], store=store, results_dir=str(tmp_path / "file"))
    assert not store.path.exists()  # found out before anything was run


def test_a_part_is_run_and_printed_and_no_table_is_written(
    store: Store, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = TableSelection(row="scaled", column="one", protocol="fixed", n_splits=1)
    assert reproduce(["tiny"], store=store, results_dir=str(results), selection=one) == 0
    printed = capsys.readouterr().out
    assert "96.0 ± 2.0" in printed
    assert " (1) " in printed
    assert "raw" not in printed
    assert len(list(store.path.rglob("split-*.json"))) == 1
    assert not results.exists()


def test_a_listed_command_gives_the_run_of_its_position(
    store: Store, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reproduce(["tiny"], store=store, results_dir=str(results))
    capsys.readouterr()
    ten = TableSelection(row="none", column="ten", n_splits=1)
    assert print_positions(["tiny"], ten, str(results)) == 0
    printed = capsys.readouterr().out
    ((time, command),) = re.findall(r"^none .* fixed +(.*) s +mklbench (run .*)", printed, re.M)
    assert float(time) > 0
    there = set(store.path.rglob("split-*.json"))
    assert main([*shlex.split(command), f"results_dir={store.path}", "progress=none"]) == 0
    assert "1/1" in capsys.readouterr().out
    assert set(store.path.rglob("split-*.json")) == there


def test_every_listed_command_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # all tables there are
    slots = {  # one for each that differs in more than its data and splits
        tuple(text for text in slot.overrides if not text.startswith(("data", "split"))): slot
        for name in table_names()
        for slot in load_table(name).slots()
    }
    commands = [
        run_command(slot, configs.config_of(slot.overrides).search.grid) for slot in slots.values()
    ]
    for command in commands:
        configs.config_of(shlex.split(command)[2:])


def test_a_table_shows_the_positions_that_are_asked_for(store: Store) -> None:
    raw = print_table("tiny", store=store, fmt="csv", selection=TableSelection(row="raw"))
    assert [line.split(",")[0] for line in raw.splitlines()[1:]] == ["none"] * 3
    protocol = Protocol("first", "as printed, C = 1")
    printed = part_of(
        replace(load_table("tiny"), protocols=(protocol,)), TableSelection(protocol="as printed")
    )
    assert len(list(printed.slots())) == N_CELLS


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (TableSelection(row="mimax"), "tiny: row=mimax is not known: did you mean minmax"),
        (TableSelection(column="c of tan"), "column=c of tan is not known: did you mean C of ten"),
        (TableSelection(protocol="zzz"), "protocol=zzz is not known: choose one of fixed"),
    ],
)
def test_a_position_that_is_misspelt_is_refused(
    store: Store, selection: TableSelection, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        print_table("tiny", store=store, selection=selection)


def test_a_position_needs_a_table_that_has_it(store: Store) -> None:
    with pytest.raises(InputError, match="--row minmax needs a table"):
        reproduce(store=store, selection=TableSelection(row="minmax"))
    limited = replace(load_table("tiny").columns[0], rows=("none",))
    table = replace(load_table("tiny"), columns=(limited,))
    with pytest.raises(InputError, match="tiny has no position with row=minmax"):
        part_of(table, TableSelection(row="minmax"))


def test_table_before_anything_was_run(store: Store) -> None:
    text = print_table("tiny", store=store)
    assert "0 of 4 runs are done" in text
    assert "no number can be judged" in text


def test_table_from_the_store_in_every_format(store: Store, results: Path, tmp_path: Path) -> None:
    reproduce(["tiny"], store=store, results_dir=str(results))
    for fmt in ("md", "csv"):
        out = tmp_path / f"out.{fmt}"
        text = print_table("tiny", store=store, fmt=fmt, out=str(out), whole=True)
        written = (results / "tables" / f"tiny.{fmt}").read_text(encoding="utf-8")
        assert out.read_text(encoding="utf-8") == written
        assert text == f"Wrote {out}"
    whole = (results / "tables" / "tiny.md").read_text(encoding="utf-8")
    short = print_table("tiny", store=store)
    first, _, more = short.rpartition("\n\n")
    assert whole.startswith(first)
    assert "## How it was made" in whole
    assert "##" not in first.partition("## Beside the paper")[2]
    assert more == "What was tried beyond it: mklbench table tiny --all"
