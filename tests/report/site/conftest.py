"""The report of all recorded results, built once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import report_pages

from mklbench.report.site.build import build


@dataclass(frozen=True)
class Built:
    """The page: its file, its text, and what its scripts read."""

    path: Path
    html: str
    data: dict[str, Any]
    notes: list[str]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    html, notes = build()
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html, encoding="utf-8")
    return Built(path, html, report_pages.data_of(html), notes)
