"""The walk through four files of a study, by the commands of its README."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest

from mklbench import cli

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_omics"
README = (EXAMPLE / "README.md").read_text(encoding="utf-8")


def test_the_walk_prints_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLE / "make_files.py"), run_name="__main__")
    assert capsys.readouterr().out == "expression.txt methylation.csv proteins.xlsx clinic.csv\n"
    refused, shown, learned = re.findall(r"^\$ mklbench (.+?)\n(.+?)^```", README, re.M | re.S)
    assert cli.main(shlex.split(refused[0])) == 2
    assert capsys.readouterr().err == refused[1]
    assert cli.main(shlex.split(shown[0])) == 0
    assert capsys.readouterr().out.startswith(shown[1])
    assert cli.main([*shlex.split(learned[0]), "progress=none"]) == 0
    printed = capsys.readouterr()
    assert all(line in printed.err for line in shown[1].splitlines())
    for text in (printed.out, learned[1]):
        assert [float(found) for found in re.findall(r"done +([\d.]+)", text)] == pytest.approx(
            [89.89, 79.78], abs=1.0
        )
