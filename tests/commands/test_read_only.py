"""A read-only copy of a store: it is tabulated as the store is, and nobody can run on it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from experiment_fakes import TINY, tiny_run
from report_fakes import TINY_TABLE

from mklbench.experiments.store import Store

FIGURE = """\
figures:
  - {name: gain, kind: weights, title: Gain, protocol: fixed, columns: [ten, one], row: minmax}
"""
TABLE = ["tiny", "--config-dir", "configs"]
ROOT = Path(__file__).parents[2]
NOBODY = 65534


def anothers(copy: Path) -> list[str]:
    """Have it belong to another user."""
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.geteuid() != 0:
        return []
    for path in (copy, *copy.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    # The superuser without the privileges that make one; for a user proper Python may lie too deep.
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner,-chown"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a table and a store, in which its runs are finished and another is not."""
    place = tmp_path_factory.mktemp("place")
    (place / "configs" / "table").mkdir(parents=True)
    (place / "configs" / "table" / "tiny.yaml").write_text(TINY_TABLE + FIGURE)
    run(place, [], "store", [["reproduce", *TABLE, "--results-dir", "STORE"]])
    Store(place / "store").describe(tiny_run())
    return place


@pytest.fixture
def before(place: Path) -> list[str]:
    """A read-only copy of the store, and what has to stand before a command."""
    shutil.rmtree(place / "copy", ignore_errors=True)
    shutil.copytree(place / "store", place / "copy")
    prefix = anothers(place / "copy")
    if prefix and shutil.which(prefix[0]) is None:
        pytest.skip(f"{prefix[0]} is not there")
    tried = subprocess.run([*prefix, "touch", str(place / "copy" / "new")], capture_output=True)
    if tried.returncode == 0 or (place / "copy" / "new").exists():
        pytest.skip("this user may write everywhere")
    if subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
        pytest.skip(f"{prefix[0]} is not allowed")
    return prefix


# One process for many commands: most of the time of each would go into its start.
PROGRAM = """\
import json, sys, mklbench
from mklbench import cli
for arguments in json.loads(sys.argv[1]):
    print("exit", cli.main(arguments))
    sys.stderr.write("-- ")
"""
RECORDS = """\
print(mklbench.records(store=sys.argv[2]).to_csv())
print(mklbench.records("tiny", store=sys.argv[2], config_dir="configs").to_csv())
"""


def run(
    place: Path, before: Sequence[str], store: str, commands: list[list[str]], more: str = ""
) -> tuple[str, list[str]]:
    """Return what commands, and `more` of a program, print, and what each says on stderr."""
    named = [[text.replace("STORE", store) for text in command] for command in commands]
    done = subprocess.run(
        [*before, sys.executable, "-c", PROGRAM + more, json.dumps(named), store],
        cwd=place,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.replace(store, "STORE"), done.stderr.split("-- ")[:-1]


READ = [
    ["table", *TABLE, "--results-dir", "STORE"],
    ["table", *TABLE, "--results-dir", "STORE", "--format", "csv"],
    ["status", "--results-dir", "STORE"],
    ["plot", "gain", *TABLE[1:], "--results-dir", "STORE"],
    ["reproduce", *TABLE, "--results-dir", "STORE", "--out-dir", "results"],
]


@pytest.mark.slow
def test_what_only_reads_says_the_same_of_a_copy(place: Path, before: list[str]) -> None:
    said, errors = run(place, before, "copy", READ, RECORDS)
    assert said.count("exit 0\n") == len(READ)
    assert errors == [""] * len(READ)
    assert (said, errors) == run(place, [], "store", READ, RECORDS)


DONE = ["data=twonorm", "data.n_samples=60", "split.n_splits=2", "algo=svm", "kernel=gaussian"]
WRITE = [
    ["run", *TINY, "algo=svm", "results_dir=STORE"],
    ["run", *TINY, "algo=svm", "results_dir=STORE/deeper"],
    ["redo", *DONE, "search=fixed", "results_dir=STORE"],
]


def test_what_writes_is_refused_in_one_sentence(place: Path, before: list[str]) -> None:
    said, errors = run(place, before, "copy", WRITE)
    assert said == "exit 2\n" * len(WRITE)
    for sentence in errors:
        assert re.fullmatch(
            r"mklbench: error: results_dir=copy\S* cannot be written: .*\.\n", sentence
        )
