"""Tables in LaTeX: what is escaped, and how columns are aligned."""

from __future__ import annotations

from pathlib import Path

import pytest

import mklbench
from mklbench import cli
from mklbench.errors import InputError
from mklbench.report.document import NEEDS, Grid, escaped, to_latex

GRID = Grid(
    ["Data & more", "n", "accuracy %", "gain"],
    [
        ["a_b 1e-3", "145", "84.68 ± 5.31 ✓", "**-0.5**"],
        ["c#d", "1045", "–", "1.25 (3/20)ᵃ"],
    ],
)


def body(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def test_a_grid_is_a_table_with_its_heading_and_what_follows() -> None:
    lines = body(to_latex(["# Title", "## Part", GRID, "100 % of `it`"]))
    assert r"\caption{Title. Part.}" in lines
    assert r"\begin{tabular}{lrrr}" in lines
    assert r"Data \& more & n & accuracy \% & gain \\" in lines
    first = r"a\_b 1e-3 & \num{145} & \num{84.68 +- 5.31} $\checkmark$ & \textbf{\num{-0.5}} \\"
    assert first in lines
    second = r"c\#d & \num{1045} & -- & \num{1.25} (\num{3}/\num{20})\textsuperscript{a} \\"
    assert second in lines
    assert r"\par\smallskip\footnotesize 100 \% of it" in lines


def test_what_is_no_grid_makes_no_table() -> None:
    assert to_latex(["# T", "p"]).strip() == NEEDS.strip()


def test_every_sign_that_latex_reads_is_escaped() -> None:
    assert escaped("a\\b{c}^~") == r"a\textbackslash{}b\{c\}\textasciicircum{}\textasciitilde{}"


def test_the_command_writes_what_the_library_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "cortes2009_degrees"
    arguments = ["table", name, "--recorded", "--format", "latex", "--out", "t.tex"]
    assert cli.main(arguments) == 0
    assert Path("t.tex").read_text(encoding="utf-8") == mklbench.rendered(name)


def test_a_frame_of_a_table_has_a_row_a_number() -> None:
    numbers = mklbench.table("picard2012_table1")
    assert {"row", "column", "metric", "published_mean", "measured_mean"} <= set(numbers.columns)
    sonar = numbers[(numbers.row == "sonar") & (numbers.metric == "accuracy")]
    assert sonar.published_mean.max() == pytest.approx(86.6)
    with pytest.raises(InputError, match="fmt=tex is not known"):
        mklbench.rendered("picard2012_table1", "tex")
