"""The records of a tiny table, made once by the code at hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from report_fakes import TINY_TABLE, edit_lines, only_tables

from mklbench.commands.reproduce import reproduce
from mklbench.experiments.store import Store

Edit = Callable[[Callable[[dict[str, Any]], dict[str, Any] | None]], None]

# Its columns, and one whose C is chosen by cross-validation.
TABLE = TINY_TABLE.replace("  - {name: ten,", (
    "  - {name: chosen, label: chosen, metrics: [accuracy],\n"
    "     overrides: [search=cv, 'search.grid.algo.C=[1.0,10.0]']}\n  - {name: ten,"
))  # fmt: skip


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded results of the table; its sources are not named."""
    directory = tmp_path_factory.mktemp("measured")
    results = directory / "results"
    with pytest.MonkeyPatch.context() as patch:
        only_tables(patch, directory, tiny=TABLE)
        reproduce(["tiny"], store=Store(directory / "s"), results_dir=str(results))
    edit_lines(results / "records" / "tiny.jsonl", lambda item: {**item, "sources": None})
    return results


@pytest.fixture
def recorded(measured: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of them, beside the table."""
    only_tables(monkeypatch, tmp_path, tiny=TABLE)
    return Path(shutil.copytree(measured, tmp_path / "results"))


@pytest.fixture
def edit_records(recorded: Path) -> Edit:
    """What applies a change to every recorded split; None drops it."""

    def edit(change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
        for path in recorded.rglob("*.jsonl"):
            edit_lines(path, change)

    return edit
