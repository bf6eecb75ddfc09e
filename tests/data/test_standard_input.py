"""``data.path=-``: what is piped in is read once, is kept, and is the file it would be."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from data_fakes import CONFIG_DIRECTORY

from mklbench import cli
from mklbench.data import cache as kept
from mklbench.data import load, settle
from mklbench.errors import DataError
from mklbench.experiments.cell import Cell

TABLE = b"a,b,sick\n" + b"".join(
    b"%d,%d,%s\n" % (i * i % 37, i % 5, b"yes" if i % 2 else b"no") for i in range(40)
)


class Pipe(io.TextIOWrapper):
    """Standard input as a pipe, of which more than one reading shows."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    kept._standard_input.cache_clear()
    monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Pipe(TABLE))


def config(**options: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CONFIG_DIRECTORY / "csv.yaml").read_text())
    return found | {"path": "-"} | options


def test_it_is_the_file_with_this_content(piped: None, tmp_path: Path, cache: Path) -> None:
    (tmp_path / "own.csv").write_bytes(TABLE)
    expected = load(config(path="own.csv"))
    assert load(config()).digest == expected.digest
    assert load(config(label="sick")).digest == expected.digest  # read once
    assert [path.read_bytes() for path in cache.rglob("*") if path.is_file()] == [TABLE]


def test_a_cell_has_the_key_that_the_file_gives(piped: None, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_bytes(TABLE)
    cells = [
        Cell.from_overrides(["algo=svm", "data=csv", f"data.path={path}"])
        for path in ("-", "own.csv")
    ]
    assert cells[0].key == cells[1].key


def test_faults_are_of_what_was_piped_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Pipe(b"a,y\n1,no\nx,yes\n2,yes\n"))
    with pytest.raises(DataError, match=r"^data\.path=-, line 3, column 1 \(a\): 'x' is not a"):
        load(config())


@pytest.mark.parametrize(
    ("stdin", "says"),
    [
        (None, "nothing is piped into it"),
        (Pipe(b""), "data.path=- holds nothing"),
    ],
)
def test_what_cannot_be_read_is_said(
    stdin: Any, says: str, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(DataError, match=says):
        settle(config())
    assert not cache.exists()


def test_a_cache_that_cannot_be_written_is_named(
    piped: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(DataError, match=r"^data\.path=- is kept in .*: set MKLBENCH_CACHE to"):
        load(config())


@pytest.mark.slow
def test_a_sweep_over_two_processes_runs_on_it(tmp_path: Path) -> None:
    root = Path(cli.__file__).parents[1]
    command = ["run", "-m", "algo=svm", "algo.C=1,10", "data=csv", "data.path=-", "jobs=2"]
    ended = subprocess.run(
        [sys.executable, "-m", "mklbench", *command, "split.n_splits=2", "progress=none"],
        env=os.environ | {"PYTHONPATH": str(root)},
        input=TABLE,
        capture_output=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count(b"done") >= 2
