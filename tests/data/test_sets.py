"""The data sets themselves: the real ones as published, and the embedded one."""

from __future__ import annotations

import gzip
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_fakes import CONFIG_DIRECTORY, shipped_configs

from mklbench.data import load
from mklbench.data.catalogue import verify
from mklbench.data.dataset import content_digest
from mklbench.data.loading import from_bytes
from mklbench.data.preprocessing import fit_scaling
from mklbench.data.schema import FileConfig, parse_config
from mklbench.data.splits import SplitProtocol, random_split

CONFIGS = shipped_configs()
# That of photographs takes minutes to describe: tests/data/test_images.py has small ones.
ARCHIVES = [
    name
    for name, config in CONFIGS.items()
    if str(config.get("sources", [{}])[0].get("mirror", "")).startswith("views/")
]
FEW_ARCHIVES = (
    "rosmap",
    "multidrug",
    "smkl_heart",
    "pregnancy",
    "tara_oceans",
)  # the others are slow
REAL = [
    name
    for name, config in CONFIGS.items()
    if "expected" in config and config.get("format") != "images" and name not in ARCHIVES
]


IDA = (
    *("banana", "breast_cancer", "diabetis", "flare_solar", "german", "heart", "image"),
    *("ida_ringnorm", "splice", "thyroid", "titanic", "ida_twonorm", "ida_waveform"),
)


# Sets whose target is a number, in the files of sets of classes.
TARGETS = ("liver_drinks", "marketing_income")


def pooled(name: str) -> dict[str, Any]:
    """The configuration of a set that reads the pooled edition where there are two."""
    config = CONFIGS[name]
    return config | {"edition": "pooled"} if "official" in config else config


@pytest.mark.parametrize("name", REAL)
def test_a_real_set_is_the_published_one(name: str, mirror: Path) -> None:
    config = pooled(name) | {"drop_constant": False}
    dataset = load(config)
    expected = config["expected"]
    assert dataset.X.shape == (expected["n_samples"], expected["n_features"])
    assert dataset.class_counts == expected["classes"]
    labels = dataset.y if dataset.targets is None else dataset.targets
    assert dataset.digest == content_digest(dataset.X, labels) == expected["digest"]
    if name in TARGETS:
        assert dataset.classes == ()
    else:
        assert dataset.classes[-1] == config.get("positive", dataset.classes[-1])
    assert len(set(dataset.feature_names)) == dataset.X.shape[1]
    constant = [
        name
        for name, column in zip(dataset.feature_names, dataset.X.T, strict=True)
        if np.ptp(column) == 0
    ]
    if name in ("electronics", "kitchen"):  # whose terms are those of other domains, too
        assert len(constant) in (371, 436)
    else:
        assert constant == expected.get("constant_features", [])
    dropped = expected.get("dropped_rows", 0)
    assert (f"{dropped} rows with a missing value dropped" in dataset.notes) == (dropped > 0)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in FEW_ARCHIVES else pytest.mark.slow)
        for name in ARCHIVES
    ],
)
def test_an_archive_is_what_its_config_says(name: str, mirror: Path) -> None:
    """One has official rows, one missing values, one a single view, two groups, one targets."""
    config = CONFIGS[name]
    dataset = load(config)  # which compares the digests
    assert dataset.class_counts == config["expected"]["classes"]
    assert [view.name for view in dataset.views] == [v["name"] for v in config.get("views", [])]
    assert np.isnan(dataset.X).any() == (config.get("impute") == "mean")
    assert (dataset.groups is not None) == (config.get("groups") is not None)
    if dataset.groups is not None:
        assert len(dataset.groups) == len(dataset.X)
    if config.get("splits", {}).get("n_splits") == 1:
        ((train, test),) = dataset.splits
        assert sorted([*train, *test]) == list(range(len(dataset.y)))


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_every_copy_in_the_mirror_verifies(name: str, mirror: Path) -> None:
    copies = {copy.place: copy for copy in verify(pooled(name))}
    assert copies["mirror"].status == "ok"
    assert copies["mirror"].detail == CONFIGS[name]["expected"]["digest"]


@pytest.mark.parametrize("name", [name for name in REAL if "views" in CONFIGS[name]])
def test_the_views_of_a_set_cover_its_features(name: str, mirror: Path) -> None:
    dataset = load(CONFIGS[name])
    assert [view.name for view in dataset.views] == [v["name"] for v in CONFIGS[name]["views"]]
    assert (dataset.views[0].start, dataset.views[-1].stop) == (0, dataset.X.shape[1])
    for before, after in pairwise(dataset.views):
        assert before.stop == after.start < after.stop
    for view in dataset.views:
        if view.distance == "chi2":
            assert dataset.X[:, view.start : view.stop].min() >= 0


def test_the_protein_folds_have_the_split_of_their_file(mirror: Path) -> None:
    ((train, test),) = load(CONFIGS["protein_fold"]).splits
    assert train.tolist() == list(range(311))
    assert test.tolist() == list(range(311, 694))


def test_the_embedded_set_needs_no_network_and_equals_the_mirror(mirror: Path) -> None:
    embedded = load(CONFIGS["wdbc"])
    assert embedded.source == "embedded"
    from_file = CONFIGS["wdbc"] | {"sources": CONFIGS["wdbc"]["sources"][1:]}
    filed = load(from_file)
    assert filed.source == str(mirror / "wdbc" / "wdbc.data")
    np.testing.assert_array_equal(embedded.X, filed.X)
    np.testing.assert_array_equal(embedded.y, filed.y)
    assert embedded.digest == filed.digest


def test_loading_imports_nothing_slow() -> None:
    program = (
        "import sys, yaml\n"
        "from mklbench.data import load\n"
        "from mklbench.data import preprocessing, splits\n"
        f"load(yaml.safe_load(open({str(CONFIG_DIRECTORY / 'wdbc.yaml')!r})))\n"
        "slow = {'sklearn', 'matplotlib', 'scipy', 'rich', 'pooch', 'requests'}\n"
        "print(sorted(slow & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", [name for name in REAL if "splits" in CONFIGS[name]])
def test_published_splits_can_be_drawn_and_scaled(name: str, mirror: Path) -> None:
    dataset = load(pooled(name))
    stated = CONFIGS[name]["splits"]
    sizes = {part: stated[part] for part in ("n_train", "n_test", "stratified")}
    assert stated["n_train"] + stated["n_test"] == len(dataset.y)
    for index in range(3):
        train, test = random_split(dataset.y, dataset.digest, index, SplitProtocol(**sizes))
        assert (len(train), len(test)) == (stated["n_train"], stated["n_test"])
        # Some features are constant in a training part, and many rows occur more than once.
        assert np.isfinite(fit_scaling("standard", dataset.X[train]).transform(dataset.X)).all()


@pytest.mark.parametrize("name", IDA)
def test_the_sizes_are_those_of_the_pooled_file(name: str, mirror: Path) -> None:
    stated = CONFIGS[name]["splits"]
    with np.load(mirror / CONFIGS[name]["sources"][0]["mirror"], allow_pickle=False) as file:
        for part in ("n_train", "n_test", "n_splits"):
            assert file[part] == stated[part]


@pytest.mark.parametrize("name", ["banana", "ida_twonorm", "ida_waveform"])
def test_three_pooled_sets_have_the_first_official_split(name: str, mirror: Path) -> None:
    dataset = load(pooled(name))
    ((train, test),) = dataset.splits
    raw = mirror / "ida" / "raw" / f"{name.removeprefix('ida_')}_train_labels_1.asc.gz"
    labels = np.loadtxt(gzip.decompress(raw.read_bytes()).decode().splitlines())
    np.testing.assert_array_equal(np.where(dataset.y[train] == 1, 1, -1), labels)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(dataset.y)))


@pytest.mark.parametrize("name", [name for name in IDA if len(CONFIGS[name]["sources"]) > 1])
def test_the_upstream_copy_of_a_pooled_set_has_the_same_content(name: str, mirror: Path) -> None:
    parsed = parse_config(CONFIGS[name])
    assert isinstance(parsed, FileConfig)
    upstream = parsed.sources[-1]
    copies = [mirror / "ida" / "raw" / f"{upstream.basenames[0]}{end}" for end in ("", ".gz")]
    content = next(copy for copy in copies if copy.is_file()).read_bytes()
    dataset = from_bytes(parsed, [content], upstream.layout, "the copy")
    assert dataset.digest == CONFIGS[name]["expected"]["digest"]


def test_the_digest_is_of_the_numbers_alone() -> None:
    X, y = np.array([[0.0, 1.5], [2.0, -3.0]]), np.array([0, 1])
    digest = content_digest(X, y)
    other_types = np.asfortranarray(X.astype(">f8")), y.astype(np.int8)
    assert content_digest(*other_types) == digest  # type: ignore[arg-type]
    assert content_digest(np.array([[-0.0, 1.5], [2.0, -3.0]]), y) == digest
    assert content_digest(X, y[::-1]) != digest
    assert content_digest(X.reshape(4, 1), np.array([0, 1])) != digest
    assert content_digest(np.nextafter(X, 9), y) != digest
