"""The data sets themselves: the real ones as published, and the embedded one."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread
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
FEW_ARCHIVES = ("rosmap", "multidrug", "smkl_heart", "pregnancy")  # the others are slow
REAL = [
    name
    for name, config in CONFIGS.items()
    if "expected" in config and config.get("format") != "images" and name not in ARCHIVES
]


IDA = (
    *("banana", "breast_cancer", "diabetis", "flare_solar", "german", "heart", "image"),
    *("ida_ringnorm", "splice", "thyroid", "titanic", "ida_twonorm", "ida_waveform"),
)


# The sets of the KEEL repository that are not here in another copy; MAGIC and Letter are, too.
KEEL = (
    *("bands", "chess", "contraceptive", "hayes_roth", "housevotes", "iris", "led7digit"),
    *("mammographic", "marketing", "monk3", "movement_libras", "mushroom", "optdigits"),
    *("penbased", "phoneme", "saheart", "spambase", "tae", "texture", "tic_tac_toe", "vehicle"),
    *("vowel", "wine"),
)

# Sets whose target is a number, in the files of sets of classes.
TARGETS = ("liver_drinks", "marketing_income")


def pooled(name: str) -> dict[str, Any]:
    """The configuration of a set that reads the pooled edition where there are two."""
    config = CONFIGS[name]
    return config | {"edition": "pooled"} if "official" in config else config


def test_all_the_real_sets_are_here() -> None:
    assert set(REAL) == {
        *IDA,
        *KEEL,
        *("abe", "dna", "sat", "seg", "wav"),
        *("mfeat", "leaves100", "msrc_v1", "scene15", "landuse21", "protein_fold"),
        *("electronics", "kitchen"),
        *TARGETS,
        "breast_cancer_wisconsin",
        "ionosphere",
        "letter",
        "liver",
        "magic",
        "parkinsons",
        "pima",
        "sonar",
        "wdbc",
        "wpbc",
    }


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
        pytest.param(
            name,
            marks=[] if name in FEW_ARCHIVES else pytest.mark.slow,
        )
        for name in ARCHIVES
    ],
)
def test_an_archive_is_what_its_config_says(name: str, mirror: Path) -> None:
    """One has official rows, one missing values, one a single view, one groups and targets."""
    config = CONFIGS[name]
    dataset = load(config)  # which compares the digests
    assert dataset.class_counts == config["expected"]["classes"]
    assert [view.name for view in dataset.views] == [v["name"] for v in config.get("views", [])]
    assert np.isnan(dataset.X).any() == (config.get("impute") == "mean")
    assert (dataset.groups is not None) == (config.get("groups") is not None)
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


# Smallest and largest value of features, as the descriptions of the sets state them: a copy that
# has lost its decimal points, as one of these sets' siblings has, does not keep to them.
RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "saheart": {"x1": (101, 218), "x2": (0, 31.2), "x3": (0.98, 15.33), "x7": (14.7, 46.58)},
    "spambase": {"x1": (0, 4.54), "x49": (0, 4.385), "x55": (1, 1102.5), "x57": (1, 15841)},
    "vehicle": {"compactness": (73, 119), "radius_ratio": (104, 333), "hollows_ratio": (181, 211)},
    "penbased": {f"x{i + 1}": (0, 100) for i in range(16)},
    "tae": {"x5": (3, 66)},
    "bands": {"proof_cut": (25, 72.5), "press_speed": (0, 2600), "current_density": (30, 45)},
    "optdigits": {"x3": (0, 16), "x2": (0, 8)},
}


@pytest.mark.parametrize("name", RANGES)
def test_features_of_keel_sets_have_the_ranges_of_their_descriptions(
    name: str, mirror: Path
) -> None:
    dataset = load(CONFIGS[name])
    columns = dict(zip(dataset.feature_names, dataset.X.T, strict=True))
    found = {feature: (columns[feature].min(), columns[feature].max()) for feature in RANGES[name]}
    assert found == RANGES[name]


@pytest.fixture
def server(mirror: Path) -> Iterator[str]:
    """A web server of the mirror's files; its address."""
    handler = partial(SilentHandler, directory=str(mirror))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.mark.parametrize("name", ["bands", "hayes_roth", "phoneme", "tae"])
def test_a_keel_set_is_downloaded_once(
    name: str, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MKLBENCH_MIRROR", raising=False)
    (file, upstream) = CONFIGS[name]["sources"]
    assert upstream["url"].endswith(f"/{Path(file['mirror']).name}")
    config = CONFIGS[name] | {"sources": [{"url": f"{server}/{file['mirror']}"}]}
    first = load(config)
    assert first.digest == CONFIGS[name]["expected"]["digest"]
    again = load(config)
    assert first.source.startswith(server)
    assert again.source.startswith(str(tmp_path))
    assert again.digest == first.digest


def rows_of(X: Any, y: Any) -> list[tuple[float, ...]]:
    return sorted(tuple(row) for row in np.column_stack([X, y]).tolist())


# Of the irises of UCI two rows differ from Fisher's paper, which scikit-learn has put right.


@pytest.mark.parametrize(
    ("name", "options", "n_features"),
    [
        ("ionosphere", {"drop_constant": True}, 33),
        ("wpbc", {"drop_features": ["time"]}, 32),
        ("sonar", {"noise_features": 25}, 85),
    ],
)
def test_a_choice_of_columns_keeps_the_digest_and_so_the_splits(
    name: str, options: dict[str, Any], n_features: int, mirror: Path
) -> None:
    plain = load(CONFIGS[name])
    chosen = load(CONFIGS[name] | options)
    assert chosen.X.shape == (len(plain.y), n_features)
    assert chosen.digest == plain.digest


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


def test_the_published_sizes_of_the_splits(mirror: Path) -> None:
    sizes = {}
    for name in ("sonar", "pima"):
        dataset = load(CONFIGS[name])
        train, test = random_split(dataset.y, dataset.digest, 0, SplitProtocol(test_fraction=0.3))
        sizes[name] = (len(train), len(test))
    assert sizes == {"sonar": (145, 63), "pima": (537, 231)}


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
