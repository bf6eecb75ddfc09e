"""The first pages of the documentation: code runs, and a table is understood."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mklbench.errors import missing
from mklbench.report.loading import load_table

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("index.md", "start.md")


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.+?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_code_runs(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for code in blocks(page, "python"):
        exec(compile(code, page, "exec"), names)
    if page == "start.md":  # it says what it compares, and learning helps there
        scores = dict(re.findall(r"^(\w+) (0\.\d+)$", capsys.readouterr().out, re.MULTILINE))
        assert float(scores["MKL"]) > float(scores["UniformMKL"])
    else:
        assert 0 <= names["model"][-1].gap_ <= 1e-4


def test_extras_that_are_named_are_there() -> None:
    text = (DOCS / "start.md").read_text(encoding="utf-8")
    for extra in re.findall(r"'\.\[([\w,]+)\]'", text)[0].split(","):
        missing(extra, "")  # a KeyError if there is none


def test_the_table_is_one(tmp_path: Path) -> None:
    (yaml,) = blocks("start.md", "yaml")
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "mytable.yaml").write_text(yaml, encoding="utf-8")
    table = load_table("mytable", str(tmp_path))
    assert [row.name for row in table.rows] == ["sonar", "mine"]
    assert [column.name for column in table.columns] == ["uniform", "mkl"]
