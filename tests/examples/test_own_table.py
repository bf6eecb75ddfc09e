"""The walk from a CSV file to a saved model, by the commands of its README."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import matplotlib
import pytest
from example_runs import EXAMPLES, python

EXAMPLE = EXAMPLES / "own_table"
README = (EXAMPLE / "README.md").read_text(encoding="utf-8")


def test_the_walk_prints_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    commands, shown = re.findall(r"^```(?:sh)?\n(.+?)^```", README, re.MULTILINE | re.DOTALL)
    for line in commands.splitlines():
        _, script = shlex.split(line)
        runpy.run_path(str(EXAMPLE / script), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == shown.splitlines()[0]
    assert printed.splitlines()[-1] == "100 of 100 as learn.py predicted them"
    weights = [weighed(text) for text in (printed, shown)]
    assert list(weights[0]) == list(weights[1])
    assert all(abs(weights[0][name] - weights[1][name]) < 0.02 for name in weights[0])
    accuracy = [float(re.findall(r"accuracy ([.\d]+)", text)[0]) for text in (printed, shown)]
    assert abs(accuracy[0] - accuracy[1]) <= 0.02
    assert (tmp_path / "weights.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "patients.skops").stat().st_size < 1_000_000


def weighed(text: str) -> dict[str, float]:
    """Return the weights that a text shows, by the names of the kernels."""
    lines = re.findall(r"^(\S.* on \S+) +(\d\.\d{3})$", text, re.MULTILINE)
    return {name.strip(): float(weight) for name, weight in lines}


@pytest.mark.slow
def test_the_command_line_reads_the_same_file(tmp_path: Path) -> None:
    python([str(EXAMPLE / "patients.py")], tmp_path)
    (line,) = re.findall(r"`mklbench (run .+?)`", README)
    words = ["-m", "mklbench", *shlex.split(line), "split.n_splits=2", "out=rows.csv"]
    python(words, tmp_path)
    rows = (tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[rows[0].split(",").index("status")] for row in rows[1:]] == ["done"] * 2
