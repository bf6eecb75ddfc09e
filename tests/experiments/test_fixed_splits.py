"""Runs on the splits of a user's file: what is learned from, chosen on and tested on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.io import savemat
from sklearn.svm import SVC

from mklbench.errors import InputError
from mklbench.experiments import run as runs
from mklbench.experiments.evaluation import run_selection
from mklbench.experiments.run import Run
from mklbench.experiments.run_checks import check_run

N = 60
GRID = [0.001, 0.03, 1.0, 30.0]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """Write two Gram matrices with labels, and two splits with validation parts."""
    generator = np.random.default_rng(3)
    y = np.tile([1, 2], N // 2)
    X = generator.standard_normal((2, N, 2)) + 0.7 * (y[:, None] - 1.5)
    K = np.exp(-0.5 * ((X[:, :, None] - X[:, None]) ** 2).sum(axis=3))
    rows = [generator.permutation(N) for _ in range(2)]
    splits = [
        {"train": r[:25].tolist(), "validation": r[25:40].tolist(), "test": r[40:].tolist()}
        for r in rows
    ]
    (tmp_path / "splits.json").write_text(json.dumps(splits))
    write(tmp_path / "K.mat", K, y)
    return {"directory": tmp_path, "K": K, "y": y, "splits": splits}


def write(path: Path, K: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    savemat(path, {"KH": np.moveaxis(K, 0, 2), "Y": y[:, None]})


def overrides(directory: Path, algo: str = "svm", splits: str = "splits.json") -> list[str]:
    return [
        f"algo={algo}",
        "data=csv",
        f"data.path={directory}/K.mat",
        "kernel=grams",
        "split=stratified70",
        f"kernel.files={directory}/K.mat",
        "split=file",
        f"split.path={directory}/{splits}",
    ]


def test_a_run_has_the_rows_of_the_file(files: dict[str, Any]) -> None:
    run = Run.from_overrides(overrides(files["directory"]))
    assert run.n_splits == 2
    check_run(run)
    for index, split in enumerate(files["splits"]):
        train, test = run.rows(index)
        assert train.tolist() == sorted(split["train"] + split["validation"])
        assert test.tolist() == sorted(split["test"])
        validation = run.validation(index)
        assert validation is not None
        assert train[validation].tolist() == sorted(split["validation"])
        assert run.split_source(index) == "file"


def test_the_validation_part_alone_chooses(files: dict[str, Any]) -> None:
    """The choice is that of scikit-learn's SVM, fitted to one part and tested on the other."""
    run = Run.from_overrides(
        [*overrides(files["directory"]), "search=cv", f"search.grid.algo.C={GRID}"]
    )
    for index, split in enumerate(files["splits"]):
        learning = np.sort(split["train"] + split["validation"])
        traces = [np.trace(k[np.ix_(learning, learning)]) for k in files["K"]]
        K = (files["K"][0] / traces[0] + files["K"][1] / traces[1]) / 2
        scores = []
        for C in GRID:
            svm = SVC(C=C, kernel="precomputed")
            svm.fit(K[np.ix_(split["train"], split["train"])], files["y"][split["train"]])
            predicted = svm.predict(K[np.ix_(split["validation"], split["train"])])
            scores.append(np.mean(predicted == files["y"][split["validation"]]))
        found = run_selection(run, index)
        assert found.accuracy == pytest.approx(max(scores))
        assert found.params == {"algo.C": GRID[int(np.argmax(scores))]}


def test_the_test_part_is_never_seen_by_the_search(files: dict[str, Any]) -> None:
    lines = [*overrides(files["directory"], "mkl"), "search=cv", "search.grid.algo.C=[0.1,10]"]
    before = [run_selection(Run.from_overrides(lines), index) for index in range(2)]
    for index, split in enumerate(files["splits"]):
        y, K = files["y"].copy(), files["K"].copy()
        y[split["test"]] = 3 - y[split["test"]]
        K[np.ix_([0, 1], split["test"], split["test"])] *= 1.01
        write(files["directory"] / "K.mat", K, y)
        runs._load.cache_clear()
        found = run_selection(Run.from_overrides(lines), index)
        assert (found.params, found.accuracy) == (before[index].params, before[index].accuracy)


def test_the_key_is_of_the_rows_and_not_of_the_file(files: dict[str, Any]) -> None:
    directory = files["directory"]
    key = Run.from_overrides(overrides(directory)).key
    arrays = {
        f"{name}_{k}": rows for k, s in enumerate(files["splits"]) for name, rows in s.items()
    }
    np.savez(directory / "same.npz", **arrays)
    assert Run.from_overrides(overrides(directory, splits="same.npz")).key == key
    stated = [*overrides(directory), "split.first_row=0", "split.n_splits=1"]
    assert Run.from_overrides(stated).key == key
    np.savez(directory / "other.npz", **{k: v for k, v in arrays.items() if "validation" not in k})
    assert Run.from_overrides(overrides(directory, splits="other.npz")).key != key


def test_drawn_splits_have_the_keys_they_had() -> None:
    identity = Run.from_overrides(["algo=svm", "data=sonar"]).identity
    assert set(identity["split"]) == {"name", "test_fraction", "stratified", "scaling", "seed"}


def test_rows_that_were_dropped_have_no_number(tmp_path: Path) -> None:
    lines = [f"{k % 7},{'?' if k == 5 else k * 5 % 13},{'ab'[k % 2]}" for k in range(12)]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    (tmp_path / "s.json").write_text(json.dumps([{"train": [0, 1, 2], "test": [3, 4]}]))
    run = Run.from_overrides(
        [
            "algo=svm", "data=csv", f"data.path={tmp_path}/mine.csv", "data.missing='?'",
            "split=file", f"split.path={tmp_path}/s.json",
        ]
    )  # fmt: skip
    with pytest.raises(InputError, match="numbers the rows of the data, and data=csv leaves some"):
        check_run(run)


def test_kernels_that_name_their_samples_are_in_the_order_of_the_data(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((20, 3))
    names = [f"p{k}" for k in range(20)]
    labels = pd.DataFrame({"sample": names, "sick": ["yes", "no"] * 10})
    labels.to_csv(tmp_path / "labels.csv", index=False)
    frame = pd.DataFrame(X @ X.T, index=names, columns=names)
    frame.to_csv(tmp_path / "K.csv")
    frame.iloc[::-1, ::-1].to_csv(tmp_path / "back.csv")
    stated = [
        "algo=svm", "data=csv", f"data.path={tmp_path}/labels.csv", "data.drop=[sample]",
        "kernel=grams", "split=stratified70",
    ]  # fmt: skip
    check_run(Run.from_overrides([*stated, f"kernel.files={tmp_path}/K.csv"]))
    for files in ("back.csv", "K.csv,{0}/back.csv"):
        listed = f"kernel.files=[{tmp_path}/{files.format(tmp_path)}]"
        with pytest.raises(InputError, match=r"back\.csv has the samples in another order than"):
            check_run(Run.from_overrides([*stated, listed]))
