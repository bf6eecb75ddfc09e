"""Fixed splits from files: every format gives the same rows, and what is wrong is named."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matlab73 import save73
from scipy.io import savemat

from mklbench.data.split_files import read_splits
from mklbench.errors import InputError

TRAIN = [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]
VALIDATION = [[10], [0]]
TEST = [[1, 3, 11], [2, 4, 10]]
Y = np.array([0, 1] * 6)
LISTED = [
    {"train": a, "validation": v, "test": b}
    for a, v, b in zip(TRAIN, VALIDATION, TEST, strict=True)
]


def arrays(first: int, names: tuple[str, str, str]) -> dict[str, Any]:
    parts = dict(zip(names, (TRAIN, VALIDATION, TEST), strict=True))
    return {f"{n}{k}": np.array(part[k]) + first for n, part in parts.items() for k in (0, 1)}


def written(tmp_path: Path, listed: Any) -> str:
    path = tmp_path / "splits.json"
    path.write_text(listed if isinstance(listed, str) else json.dumps(listed))
    return str(path)


@pytest.mark.parametrize("kind", ["json", "npz", "mat", "73.mat"])
def test_every_format_gives_the_same_rows_and_digest(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"splits.{kind}"
    if kind == "json":
        path.write_text(json.dumps(LISTED))
    elif kind == "npz":
        np.savez(path, **arrays(0, ("train_", "val_", "test_")))
    else:
        of_matlab = arrays(1, ("trn", "val", "tst")) | {"Y": Y}
        (savemat if kind == "mat" else save73)(path, of_matlab)
    found = read_splits(str(path))
    assert [split.train.tolist() for split in found.splits] == TRAIN
    assert [split.validation.tolist() for split in found.splits] == VALIDATION
    assert [split.test.tolist() for split in found.splits] == TEST
    assert found.splits[0].learning.tolist() == [0, 2, 4, 6, 8, 10]
    assert found.digest == read_splits(written(tmp_path, LISTED)).digest
    assert found.digest != read_splits(written(tmp_path, LISTED[:1])).digest


def test_where_a_file_counts_from(tmp_path: Path) -> None:
    savemat(tmp_path / "one.mat", {"train1": [1, 2], "test1": [3, 4]})
    savemat(tmp_path / "zero.mat", {"train1": [0, 1], "test1": [2, 3]})
    np.savez(tmp_path / "stated.npz", train1=[1, 2], test1=[3, 4])
    one, zero = (read_splits(str(tmp_path / f"{name}.mat")) for name in ("one", "zero"))
    stated = read_splits(str(tmp_path / "stated.npz"), 1)
    assert one.digest == zero.digest == stated.digest
    assert one.note.endswith("its rows are counted from 1 (split.first_row).")
    assert zero.note.endswith("its rows are counted from 0 (split.first_row).")
    assert stated.note == ""


WRONG: dict[str, tuple[Any, str]] = {
    "empty": ([{"train": [], "test": [1]}], "has an empty training or test part"),
    "true": ([{"train": [True], "test": [1]}], "part train, is no list of whole numbers"),
    "none": ([], "has no splits or folds"),
    "no JSON": ("[{", "cannot be read as JSON"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_a_file_is_named(name: str, tmp_path: Path) -> None:
    content, reason = WRONG[name]
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        read_splits(written(tmp_path, content))
    assert str(caught.value).startswith("split.path=")


@pytest.mark.parametrize("name", ["json", "csv", "txt", "npy", "npz"])
def test_a_fold_number_a_row(name: str, tmp_path: Path) -> None:
    path, folds = tmp_path / f"folds.{name}", [2, 0, 1, 0, 2, 1, -1]  # of -1 in no test part
    if name == "json":
        path.write_text(json.dumps(folds))
    elif name == "csv":
        path.write_text("row;fold\n" + "\n".join(f"a;{fold}" for fold in folds))
    elif name == "txt":
        path.write_text("\n".join(map(str, folds)))
    else:
        np.save(path, folds) if name == "npy" else np.savez(path, fold=folds)
    splits = read_splits(str(path))
    assert [split.test.tolist() for split in splits.splits] == [[1, 3], [2, 5], [0, 4]]
    assert splits.splits[0].train.tolist() == [0, 2, 4, 5, 6]
    with pytest.raises(InputError, match="has the folds of 7 rows, and the data have 12"):
        splits.checked(0, Y, ("sick", "well"))
