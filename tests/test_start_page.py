"""The first pages of the documentation: code runs, and a table is understood."""

from __future__ import annotations

import re
from pathlib import Path

from mklbench.errors import missing
from mklbench.report.loading import load_table

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("index.md", "start.md")


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.+?)^```", text, re.MULTILINE | re.DOTALL)


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
