"""What a file system over a network does not promise: files that go when they are deleted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from experiment_fakes import tiny_run

from mklbench import cli
from mklbench.experiments.execution.overview import overview
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.store import Store


@pytest.mark.slow
def test_files_that_others_have_open_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over NFS they stay as .nfs files until they are closed, and so does their directory."""
    run, store = tiny_run(), Store(tmp_path / "store")
    run_all([run], store)
    real = os.unlink

    def unlink(path: Any, **named: Any) -> None:
        place = Path(path)
        if place.name == "split-001.json":
            place.rename(place.with_name(".nfs000000000001"))
        else:
            real(path, **named)

    monkeypatch.setattr(os, "unlink", unlink)
    redo = ["redo", f"results_dir={store.path}", "--split", "1", "data=twonorm"]
    options = ["data.n_samples=60", "kernel=gaussian", "split.scaling=minmax", "split.n_splits=4"]
    assert cli.main([*redo, *options, "algo=svm"]) == 0
    assert capsys.readouterr().out.endswith("1 split forgotten.\n")
    assert store.read(run).missing == [1]
    assert [found.done for found in overview(store)] == [[0, 2, 3]]
    whole = [argument for argument in redo if argument not in ("--split", "1")]
    assert cli.main([*whole, *options, "algo=svm"]) == 0
    assert os.listdir(store.directory(run)) == [".nfs000000000001"]
    assert overview(store) == []
    (result,) = run_all([run], store)
    assert result.status == "done"
