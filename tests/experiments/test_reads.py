"""How often a run opens the file of a split, and makes the builder of a kernel."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from experiment_fakes import TINY, tiny_run

from mklbench import cli
from mklbench import config as configs
from mklbench.experiments import checksum, files
from mklbench.experiments.evaluation import run_split
from mklbench.experiments.store import Store

RUN = ["run", *TINY, "split.n_splits=5", "algo=svm", "results_dir=store", "progress=none"]
SHARED = ["search=first_splits", "search.splits=2", "search.folds=2", "search.grid.algo.C=[1,2]"]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file of a store was read, by its name."""
    counts: Counter[str] = Counter()
    original = files.read_regular

    def counting(path: Path, *others: Any) -> Any:
        data = original(path, *others)
        counts[path.name] += 1
        return data

    monkeypatch.setattr(checksum, "read_regular", counting)
    return counts


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A file of the kernel configs of which a builder was made, by whatever process."""
    original = configs.kernel

    def noting(config: Any) -> Any:
        with (tmp_path / "made").open("a", encoding="utf-8") as listed:
            listed.write(json.dumps(dict(config)) + "\n")
        return original(config)

    monkeypatch.setattr(configs, "kernel", noting)
    return tmp_path / "made"


def of_splits(opened: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in opened.items() if name.startswith("split-")}


def test_a_snapshot_opens_every_file_once(tmp_path: Path, opened: Counter[str]) -> None:
    run, store = tiny_run("split.n_splits=3"), Store(tmp_path)
    for split in range(3):
        store.write(run, run_split(run, split))
    opened.clear()
    found = store.read(run)
    assert (found.status, found.missing, len(found.done)) == ("done", [], 3)
    assert opened == {"cell.json": 1, **{f"split-00{split}.json": 1 for split in range(3)}}


@pytest.mark.parametrize("options", [["out=rows.csv"], SHARED])
def test_a_run_opens_a_finished_split_once_a_phase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Counter[str], options: list[str]
) -> None:
    """To plan, and to tell how it ended."""
    monkeypatch.chdir(tmp_path)
    assert cli.main([*RUN, *options]) == 0
    opened.clear()
    assert cli.main([*RUN, *options]) == 0
    assert of_splits(opened) == {f"split-00{split}.json": 2 for split in range(5)}


def test_a_run_opens_a_new_split_thrice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Counter[str]
) -> None:
    """When it has ended, when its run has, and to tell how the run ended."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(RUN) == 0
    assert max(of_splits(opened).values()) <= 3


@pytest.mark.parametrize("options", [[], ["search=cv", "search.folds=2"], SHARED])
def test_a_run_makes_a_builder_once_a_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Path, options: list[str]
) -> None:
    """And once to check the run before anything is run."""
    monkeypatch.chdir(tmp_path)
    assert cli.main([*RUN, *options]) == 0
    n_steps = 5 + (2 if options is SHARED else 0)
    assert len(made.read_text().splitlines()) == n_steps + 1


def test_a_search_over_kernels_makes_each_once_a_split(made: Path) -> None:
    run = tiny_run("search=cv", "search.folds=2", "+search.grid.kernel.gamma=[0.5,2]")
    run_split(run, 0)
    gammas = [json.loads(line)["gamma"] for line in made.read_text().splitlines()]
    assert gammas == [0.5, 2]
