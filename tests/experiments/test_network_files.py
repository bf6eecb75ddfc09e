"""What a file system over a network does not promise: answers, fresh looks, files that stay."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from experiment_fakes import tiny_cell

from mklbench import cli
from mklbench.experiments import files
from mklbench.experiments.execution.overview import overview
from mklbench.experiments.execution.plan import run_cells
from mklbench.experiments.store import Store

SHARED = ("search=first_splits", "search.splits=2", "search.folds=2", "search.grid.algo.C=[1,2]")


@pytest.fixture
def stale(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counter[str]:
    """A server where every file and directory is replaced as it is looked at the first time."""
    seen: Counter[str] = Counter()

    def once(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(place: Any, *others: Any) -> Any:
            known = os.fstat(place).st_ino if isinstance(place, int) else os.fspath(place)
            seen[f"{name} {known}"] += 1
            if seen[f"{name} {known}"] == 1:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(place))
            return real(place, *others)

        return call

    for name in ("read", "listdir"):
        monkeypatch.setattr(os, name, once(name, getattr(os, name)))
    return seen


@pytest.mark.slow
def test_what_is_replaced_while_it_is_read_is_read_again(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    cell, sharing, store = tiny_cell(), tiny_cell(*SHARED), Store(tmp_path)
    run_cells([cell, sharing], store)
    seen: Counter[str] = request.getfixturevalue("stale")
    assert store.read(cell).status == "done"
    assert [(len(found.done), found.n_splits) for found in overview(store)] == [(4, 4)] * 2
    assert len(list(store.all_records())) == 8
    assert sum(count > 1 for count in seen.values()) >= 10


@pytest.mark.usefixtures("stale")
def test_a_run_goes_on_where_directories_and_files_are_replaced(tmp_path: Path) -> None:
    (result,) = run_cells([tiny_cell(*SHARED)], Store(tmp_path))
    assert result.status == "done"


def test_a_file_that_is_always_replaced_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    (tmp_path / "file").write_text("content")
    monkeypatch.setattr(os, "read", fail)
    with pytest.raises(OSError, match=os.strerror(errno.ESTALE)):
        files.read_regular(tmp_path / "file", 100)


@pytest.mark.slow
def test_files_that_others_have_open_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over NFS they stay as .nfs files until they are closed, and so does their directory."""
    cell, store = tiny_cell(), Store(tmp_path / "store")
    run_cells([cell], store)
    real = os.unlink

    def unlink(path: Any, **named: Any) -> None:
        place = Path(path)
        if place.name == "split-001.json":
            place.rename(place.with_name(".nfs000000000001"))
        else:
            real(path, **named)

    monkeypatch.setattr(os, "unlink", unlink)
    redo = ["redo", "--results-dir", str(store.path), "--split", "1", "data=twonorm"]
    options = ["data.n_samples=60", "kernel=gaussian", "split.scaling=minmax", "split.n_splits=4"]
    assert cli.main([*redo, *options, "algo=svm"]) == 0
    assert capsys.readouterr().out.endswith("1 split forgotten.\n")
    assert store.read(cell).missing == [1]
    assert [found.done for found in overview(store)] == [[0, 2, 3]]
    whole = [argument for argument in redo if argument not in ("--split", "1")]
    assert cli.main([*whole, *options, "algo=svm"]) == 0
    assert os.listdir(store.directory(cell)) == [".nfs000000000001"]
    assert overview(store) == []
    (result,) = run_cells([cell], store)
    assert result.status == "done"
