"""The report as a user types it, of a few recorded tables and of a store of their own: built once.

Tests of the page stand in one group of xdist, so that one worker builds it and opens one browser.
"""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import report_pages
from experiment_fakes import TINY
from narrowing import present
from report_fakes import TINY_TABLE

from mklbench import cli, resources
from mklbench.experiments.store import Store, copy_records
from mklbench.report.analysis.places import RunFinder, recorded_source
from mklbench.report.loading import load_table
from mklbench.report.site import collected

# Tables that take long, and of which nothing is told on the first page.
LEFT_OUT = ("learning_", "coverage", "picard2012_settings", "picard2012_path")


@dataclass(frozen=True)
class Built:
    """The page: its file, its text, what its scripts read, and what the command printed."""

    path: Path
    html: str
    data: dict[str, Any]
    printed: str


def _few(group: str, config_dir: Path | str | None = None) -> dict[str, Path]:
    found = resources.choices(group, config_dir)
    return {name: path for name, path in found.items() if not name.startswith(LEFT_OUT)}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build it with two recorded runs in the store, in one of which an accuracy is another."""
    folder = tmp_path_factory.mktemp("report")
    table = load_table("picard2012_speed")
    finder = RunFinder(recorded_source(table))
    first, second = (finder.run(slot) for slot in list(table.slots())[:2])
    store = Store(folder / "store")
    record = finder.source.read(first).records[0]
    store.write(first, replace(record, accuracy=present(record.accuracy) - 0.2))
    copy_records([first, second], finder.source, store)
    (folder / "own" / "table").mkdir(parents=True)
    (folder / "own" / "table" / "tiny.yaml").write_text(TINY_TABLE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as printed:
        patch.chdir(folder)
        patch.setattr(collected, "resources", SimpleNamespace(choices=_few))
        assert cli.main(["run", *TINY, "algo=svm", "results_dir=store", "progress=none"]) == 0
        own = ["--results-dir", "store", "--config-dir", "own"]
        assert cli.main(["report", "--out", "mine.html", *own]) == 0
    html = (folder / "mine.html").read_text(encoding="utf-8")
    return Built(folder / "mine.html", html, report_pages.data_of(html), printed.getvalue())
