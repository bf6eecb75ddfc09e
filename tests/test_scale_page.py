"""The page "Many samples" against the program: its code, its command, its links."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from mklbench import cli

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_code_runs_and_takes_the_method_it_is_about(
    capsys: pytest.CaptureFixture[str],
) -> None:
    *here, elsewhere = blocks("python")
    compile(elsewhere, "docs/scale.md", "exec")  # run in tests/cluster, on real workers
    for code in here:  # on single features, and on features by Nystroem
        exec(compile(code, "scale.md", "exec"), {})
        assert capsys.readouterr().out.startswith("joint ")


@pytest.mark.slow
def test_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (command,) = blocks("sh")
    words = shlex.split(command)
    assert words[0] == "mklbench"
    fewer = [word.replace("=20000", "=8000") for word in words[1:]]
    assert fewer != words[1:]
    assert cli.main([*fewer, "progress=none"]) == 0
    assert "1/1" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_of_many_kernels_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (command,) = re.findall(r"^    mklbench (run .+n_widths=50000.+)$", PAGE, re.MULTILINE)
    fewer = command.replace("=50000", "=500").replace("n_samples=1000", "n_samples=200")
    assert cli.main([*shlex.split(fewer), "progress=none"]) == 0
    assert "/10000" in capsys.readouterr().out


def test_a_kernel_takes_as_much_as_the_page_says() -> None:
    from mklbench.kernels import GeneratedBank
    from mklbench.kernels.banks.generated import Widths
    from mklbench.kernels.builders.named import MOST_STORED
    from mklbench.kernels.contract import Shape

    million, two = (GeneratedBank.needs(Shape(9, 20), 20, k) for k in (50_000, 100_000))
    assert two.kept - million.kept == 112e6
    assert "112 bytes per kernel" in PAGE
    assert len(Widths(0.5 / np.geomspace(0.5, 20.0, 1000) ** 2).points) == 84
    assert f"From {MOST_STORED:,} kernels on" in PAGE


def test_what_auto_takes_is_what_the_page_says() -> None:
    from mklbench.kernels.row_factors import MANY
    from mklbench.optim import joint_search

    assert f"fewer than {MANY:,} samples" in PAGE
    assert "6e-10 R² < 1.4e-7 n" in PAGE
    assert (joint_search._PER_FACTORS, joint_search._PER_GRAM) == (6e-10, 1.4e-7)
