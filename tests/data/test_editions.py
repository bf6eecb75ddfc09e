"""Official and pooled editions of a set: which one is used, and that records tell which."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import yaml
from data_fakes import (
    benchmark_config,
    benchmarks_file,
    shipped_configs,
    toy_benchmark,
    write_official,
    write_pooled,
)

from mklbench.data import load, registered_digest, settle
from mklbench.data.catalogue import fetch, list_row, read_files, verify
from mklbench.errors import DataError, InputError
from mklbench.experiments.evaluation import run_split
from mklbench.experiments.records import RecordFile
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store

OFFICIAL = benchmarks_file(toy=toy_benchmark(), other=toy_benchmark(1))
CONFIG = benchmark_config(OFFICIAL)
POOLED = {**CONFIG, "edition": "pooled"}


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty mirror, and an empty cache beside it, as the environment has them."""
    directory = tmp_path / "mirror"
    directory.mkdir()
    monkeypatch.setenv("MKLBENCH_MIRROR", str(directory))
    monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "cache"))
    return directory


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    """A directory for --config-dir with the toy benchmark, which chooses split=published."""
    directory = tmp_path / "configs"
    (directory / "data").mkdir(parents=True)
    chosen = {**CONFIG, "defaults": [{"override /split@_global_.split": "published"}]}
    (directory / "data" / "ida_toy.yaml").write_text(yaml.safe_dump(chosen))
    return directory


def toy_run(configs: Path, *overrides: str, **options: Any) -> Run:
    return Run.from_overrides(
        ["algo=svm", "kernel=gaussian", "data=ida_toy", *overrides], configs, **options
    )


def test_the_official_edition_has_the_splits_of_its_file(mirror: Path) -> None:
    write_official(mirror, OFFICIAL)
    toy, data = toy_benchmark(), load(CONFIG)
    np.testing.assert_array_equal(data.X, toy["x"])
    np.testing.assert_array_equal(data.y, toy["t"].ravel() == 1)
    assert data.source == str(mirror / "ida" / "benchmarks.mat")
    for (train, test), ours, theirs in zip(data.splits, toy["train"], toy["test"], strict=True):
        np.testing.assert_array_equal(train, ours - 1.0)
        np.testing.assert_array_equal(test, theirs - 1.0)


def test_the_edition_is_that_which_is_at_hand(mirror: Path) -> None:
    assert settle(CONFIG)["edition"] == "pooled"  # nothing is
    write_pooled(mirror)
    assert settle(CONFIG)["edition"] == "pooled"
    assert load(CONFIG).splits == ()
    write_official(mirror, OFFICIAL)
    assert settle(CONFIG)["edition"] == "official"
    assert len(load(CONFIG).splits) == 3
    assert load(POOLED).splits == ()  # the user's word counts


def test_an_official_file_with_other_bytes_is_refused(mirror: Path) -> None:
    write_pooled(mirror)
    write_official(mirror, OFFICIAL + b"\n")
    with pytest.raises(DataError, match="is not the published file: its SHA-256 is"):
        load(CONFIG)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "labels": (
        {"t": np.tile([0, 1], 6)},
        "class counts {'0': 6, '1': 6} instead of {'-1': 6, '1': 6}",
    ),
    "three labels": ({"t": np.tile([-1, 0, 1], 4)}, "data.positive=1 is none of two classes"),
    "shape": ({"x": np.ones((12, 3))}, r"rows and features \(12, 3\) instead of \(12, 2\)"),
    "a class absent": (
        {"train": [[1, 3, 5, 7]] * 3, "test": [[2, 4, 6, 8, 10, 12, 9, 11]] * 3},
        "split 0 leaves the training part without a class that has 6 of 12 rows",
    ),
}


@pytest.mark.parametrize(("wrong", "reason"), WRONG.values(), ids=WRONG)
def test_an_official_file_of_other_content_is_refused(
    wrong: dict[str, Any], reason: str, mirror: Path
) -> None:
    content = benchmarks_file(toy={**toy_benchmark(), **wrong})
    write_official(mirror, content)
    config = benchmark_config(content)
    if reason.startswith("split 0 leaves"):
        config["splits"] = {"n_train": 4, "n_test": 8, "n_splits": 3}
    with pytest.raises(DataError, match=reason):
        load(config)


def test_fetch_prefers_the_official_file_and_keeps_one_copy_for_all_sets(mirror: Path) -> None:
    write_pooled(mirror)
    assert fetch(CONFIG).endswith("cache/ida_toy/toy.npz)")
    write_official(mirror, OFFICIAL)
    fetched = fetch(CONFIG)
    assert (fetched[:9], fetched[-26:]) == ("fetched (", "/cache/ida/benchmarks.mat)")
    other = {**CONFIG, "name": "ida_other"}
    assert fetch(other).startswith("cached (")
    (mirror / "ida" / "benchmarks.mat").unlink()
    assert settle(CONFIG)["edition"] == "official"


@pytest.fixture
def upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a server that has the official file."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    write_official(tmp_path / "upstream", OFFICIAL)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "upstream"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/ida/benchmarks.mat"
        server.shutdown()


def test_only_who_asks_for_the_official_file_downloads_it(mirror: Path, upstream: str) -> None:
    config = benchmark_config(OFFICIAL, upstream)
    assert settle(config)["edition"] == "pooled"
    assert len(load(config | {"edition": "official"}).splits) == 3
    assert settle(config)["edition"] == "official"  # from the cache


def test_fetch_falls_back_to_the_pooled_rows_and_says_so(
    mirror: Path, upstream: str, caplog: pytest.LogCaptureFixture
) -> None:
    write_pooled(mirror)
    with caplog.at_level(logging.WARNING):
        assert fetch(CONFIG).endswith("toy.npz)")
    assert "(no connection)" in caplog.text
    assert "The pooled rows are fetched instead." in caplog.text
    assert fetch(benchmark_config(OFFICIAL, upstream)).endswith("benchmarks.mat)")


def test_verify_and_list_know_both_editions(mirror: Path, configs: Path) -> None:
    write_pooled(mirror)
    found = [(copy.name, copy.place, copy.status) for copy in verify(CONFIG)]
    assert found == [
        ("ida_toy (official)", "cache", "absent"),
        ("ida_toy (official)", "mirror", "absent"),
        ("ida_toy", "cache", "absent"),
        ("ida_toy", "mirror", "ok"),
    ]
    write_official(mirror, OFFICIAL)
    assert [(copy.place, copy.status) for copy in verify(CONFIG)][1] == ("mirror", "ok")
    [config] = read_files([configs / "data" / "ida_toy.yaml"]).values()
    assert list_row(config)["where"] == "mirror"


def test_an_edition_needs_an_official_file() -> None:
    config = {name: value for name, value in CONFIG.items() if name != "official"}
    with pytest.raises(InputError, match=r"data.edition=official is not to be had"):
        load({**config, "edition": "official"})
    with pytest.raises(InputError, match=r"data.edition=oficial is not known: did you mean offic"):
        load({**CONFIG, "edition": "oficial"})


def test_records_tell_the_editions_apart(mirror: Path, configs: Path) -> None:
    write_pooled(mirror)
    pooled = toy_run(configs)
    write_official(mirror, OFFICIAL)
    official = toy_run(configs)
    assert pooled.key != official.key
    assert official.data_digest == official.dataset().digest
    records = [run_split(run, 1) for run in (pooled, official)]
    assert [record.split_source for record in records] == ["random", "official"]
    assert [record.data_source for record in records] == ["toy.npz", "benchmarks.mat"]
    train, test = official.rows(1)
    np.testing.assert_array_equal(train, toy_benchmark()["train"][1] - 1.0)
    np.testing.assert_array_equal(test, toy_benchmark()["test"][1] - 1.0)
    assert all(len(run.rows(1)[0]) == 8 for run in (pooled, official))


def test_other_sizes_than_the_official_ones_are_drawn(mirror: Path, configs: Path) -> None:
    write_official(mirror, OFFICIAL)
    run = toy_run(configs, "split.n_train=6", "split.n_test=6")
    assert run.split_source(0) == "random"
    assert [len(rows) for rows in run.rows(0)] == [6, 6]
    assert toy_run(configs, "split=random70").split_source(0) == "random"


def test_a_run_stays_with_its_edition_when_files_come_or_go(mirror: Path, configs: Path) -> None:
    write_pooled(mirror)
    run = toy_run(configs)
    write_official(mirror, OFFICIAL)
    in_worker = Run(run.config)
    assert in_worker.key == run.key
    assert in_worker.split_source(0) == "random"


def test_keys_of_both_editions_need_no_data(configs: Path, mirror: Path) -> None:
    write_official(mirror, OFFICIAL)
    official = toy_run(configs)
    (mirror / "ida" / "benchmarks.mat").unlink()
    nothing_at_hand = toy_run(configs)
    assert [run.key for run in nothing_at_hand.editions()] == [nothing_at_hand.key, official.key]
    assert len(toy_run(configs, "data.edition=pooled").editions()) == 1
    assert registered_digest(POOLED) == CONFIG["expected"]["digest"]


def test_recorded_results_are_found_whatever_is_at_hand(
    mirror: Path, configs: Path, tmp_path: Path
) -> None:
    write_pooled(mirror)
    store, run = Store(tmp_path / "store"), toy_run(configs)
    store.write(run, run_split(run, 0))
    (tmp_path / "recorded.jsonl").write_bytes(store.record_path(run, 0).read_bytes())
    recorded = RecordFile(tmp_path / "recorded.jsonl")
    write_official(mirror, OFFICIAL)
    here = toy_run(configs)
    assert recorded.read(here).records == []
    assert recorded.as_recorded(here).key == run.key
    assert len(recorded.read(recorded.as_recorded(here)).records) == 1
    assert recorded.as_recorded(toy_run(configs, "algo.C=7")).config.algo["C"] == 7


def test_a_wrong_mirror_does_not_keep_records_from_being_read(
    configs: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MKLBENCH_MIRROR", str(tmp_path / "nowhere"))
    run = toy_run(configs)
    assert run.key
    with pytest.raises(InputError, match="MKLBENCH_MIRROR"):
        load(run.config.data)


def test_the_thirteen_sets_share_one_official_file() -> None:
    files = {
        name: config["official"]
        for name, config in shipped_configs().items()
        if "official" in config
    }
    assert len(files) == 13
    assert {name.removeprefix("ida_") for name in files} == {f["struct"] for f in files.values()}
    assert len({(f["mirror"], f["url"], f["sha256"]) for f in files.values()}) == 1
