"""The walk from a .mat of kernels to a table of six methods, by the commands of its README."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest
from example_runs import EXAMPLES, python

EXAMPLE = EXAMPLES / "kernels_from_mat"


def commands() -> list[list[str]]:
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.+?)^```", text, re.MULTILINE | re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


@pytest.mark.slow
def test_the_commands_of_the_readme_make_the_table(tmp_path: Path) -> None:
    (_, script, *arguments), made = commands()
    python([str(EXAMPLE / script), *arguments], tmp_path)
    finished = python(["-m", *made], tmp_path)
    assert finished.stderr.startswith("split.path=wine.mat is of MATLAB, and its rows are counted")
    methods = ["uniform", "best_kernel", "align", "alignf", "simplemkl", "mkl"]
    table = [line.split() for line in finished.stdout.splitlines()[2:8]]
    assert [line[1] for line in table] == methods
    with (tmp_path / "rows.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["algo"] for row in rows] == [name for name in methods for _ in range(3)]
    assert {row["status"] for row in rows} == {"done"}
    assert {(row["n_train"], row["n_test"]) for row in rows} == {("90", "88")}
    assert {row["split_source"] for row in rows} == {"file"}
    assert all(float(row["accuracy"]) > 0.9 for row in rows)
