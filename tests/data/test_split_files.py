"""Fixed splits from files: every format gives the same rows, and what is wrong is named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matlab73 import save73
from scipy.io import savemat

from mklbench.data.split_files import FixedSplits, read_splits
from mklbench.data.splits import part_of
from mklbench.errors import InputError

N = 12
TRAIN = [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]
VALIDATION = [[10], [0]]
TEST = [[1, 3, 11], [2, 4, 10]]
Y = np.array([0, 1] * 6)


def _json(path: Path) -> Path:
    listed = [
        {"train": a, "validation": v, "test": b}
        for a, v, b in zip(TRAIN, VALIDATION, TEST, strict=True)
    ]
    path.with_suffix(".json").write_text(json.dumps(listed))
    return path.with_suffix(".json")


def _numbered(first: int, names: tuple[str, str, str], start: int) -> dict[str, Any]:
    parts = dict(zip(names, (TRAIN, VALIDATION, TEST), strict=True))
    return {
        f"{name}{k + start}": np.array(part[k]) + first
        for name, part in parts.items()
        for k in (0, 1)
    }


def _npz(path: Path) -> Path:
    np.savez(path, **_numbered(0, ("train_", "val_", "test_"), 0))
    return path.with_suffix(".npz")


def _npz_rows(path: Path) -> Path:
    np.savez(path, train=TRAIN, validation=VALIDATION, test=TEST)
    return path.with_suffix(".npz")


def _npz_masks(path: Path) -> Path:
    parts = {"train": TRAIN, "validation": VALIDATION, "test": TEST}
    masks: dict[str, Any] = {
        name: np.array([np.isin(np.arange(N), rows) for rows in of]) for name, of in parts.items()
    }
    np.savez(path, **masks)
    return path.with_suffix(".npz")


def _mat(path: Path) -> Path:
    savemat(path.with_suffix(".mat"), _numbered(1, ("trn", "val", "tst"), 1) | {"Y": Y})
    return path.with_suffix(".mat")


def _mat_columns(path: Path) -> Path:
    """One column a split, which the unlike heights of the parts tell."""
    parts = {"trainIdx": TRAIN, "valIdx": VALIDATION, "testIdx": TEST}
    savemat(
        path.with_suffix(".mat"), {name: np.array(rows).T + 1.0 for name, rows in parts.items()}
    )
    return path.with_suffix(".mat")


def _mat_cells(path: Path) -> Path:
    parts = {"train": TRAIN, "valid": VALIDATION, "test": TEST}
    save73(
        path.with_suffix(".mat"),
        {name: [np.array(rows) + 1.0 for rows in of] for name, of in parts.items()},
    )
    return path.with_suffix(".mat")


def _csv_columns(path: Path) -> Path:
    columns = _numbered(0, ("train_", "validation_", "test_"), 1)
    lines = [";".join(columns)]
    for k in range(5):
        lines.append(";".join(str(rows[k]) if k < len(rows) else "" for rows in columns.values()))
    path.with_suffix(".csv").write_text("\n".join(lines))
    return path.with_suffix(".csv")


def _csv_long(path: Path) -> Path:
    parts = {"train": TRAIN, "validation": VALIDATION, "test": TEST}
    lines = ["row,part,split"]
    lines += [f"{row},{name},{k}" for name, of in parts.items() for k in (0, 1) for row in of[k]]
    path.with_suffix(".csv").write_text("\n".join(lines))
    return path.with_suffix(".csv")


FORMATS: list[Callable[[Path], Path]] = [
    _json, _npz, _npz_rows, _npz_masks, _mat, _mat_columns, _mat_cells, _csv_columns, _csv_long,
]  # fmt: skip


@pytest.mark.parametrize("write", FORMATS, ids=lambda write: write.__name__)
def test_every_format_gives_the_same_rows_and_digest(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    found = read_splits(str(write(tmp_path / "splits")))
    assert [split.train.tolist() for split in found.splits] == TRAIN
    assert [split.validation.tolist() for split in found.splits] == VALIDATION
    assert [split.test.tolist() for split in found.splits] == TEST
    assert found.splits[0].learning.tolist() == [0, 2, 4, 6, 8, 10]
    assert found.digest == read_splits(str(_json(tmp_path / "same"))).digest


def written(tmp_path: Path, listed: Any) -> str:
    path = tmp_path / "splits.json"
    path.write_text(listed if isinstance(listed, str) else json.dumps(listed))
    return str(path)


def test_another_row_is_another_digest(tmp_path: Path) -> None:
    one = read_splits(written(tmp_path, [{"train": [0, 1], "test": [2]}])).digest
    assert read_splits(written(tmp_path, [{"train": [0, 1], "test": [3]}])).digest != one
    assert read_splits(written(tmp_path, [{"train": [0], "test": [1, 2]}])).digest != one


def test_where_a_file_counts_from(tmp_path: Path) -> None:
    savemat(tmp_path / "one.mat", {"train": [1, 2], "test": [3, 4]})
    savemat(tmp_path / "zero.mat", {"train": [0, 1], "test": [2, 3]})
    np.savez(tmp_path / "stated.npz", train=[1, 2], test=[3, 4])
    one, zero = (read_splits(str(tmp_path / f"{name}.mat")) for name in ("one", "zero"))
    stated = read_splits(str(tmp_path / "stated.npz"), 1)
    assert one.digest == zero.digest == stated.digest
    assert one.note.endswith("its rows are counted from 1 (split.first_row=1).")
    assert zero.note.endswith("its rows are counted from 0 (split.first_row=0).")
    assert stated.note == ""


WRONG: dict[str, tuple[Any, str]] = {
    "overlap": ([{"train": [0, 1], "test": [1, 2]}], "has row 1 both in its train and its test"),
    "overlap of validation": (
        [{"train": [0, 1], "validation": [2], "test": [2, 3]}],
        "has row 2 both in its validation and its test part",
    ),
    "twice": ([{"train": [0, 1, 1], "test": [2]}], "names row 1 twice in its train part"),
    "no test": ([{"train": [0, 1]}], "split 0 has no test part"),
    "empty": ([{"train": [], "test": [1]}], "has an empty train part"),
    "unknown part": (
        [{"train": [0], "tets": [1]}],
        "a part tets, which is not known: did you mean",
    ),
    "text": ([{"train": ["a"], "test": [1]}], "a train part that is no list of whole numbers"),
    "fractions": ([{"train": [0.5], "test": [1]}], "a train part that is no list of whole numbers"),
    "true": ([{"train": [True], "test": [1]}], "a train part that is no list of whole numbers"),
    "lists": ([[1], [2]], "split 0 is not a mapping of parts"),
    "none": ([], "holds no splits"),
    "no JSON": ("[{", "cannot be read as JSON"),
    "other columns": ("a,b\n1,2\n", "holds no splits"),
    "a word": ("train_1,test_1\n1,x\n", "line 2: 'x' is no whole number"),
    "one column twice": (
        "train_1,trn1,test_1\n1,2,3\n",
        "two arrays for one part, train_1 and trn1",
    ),
    "long": (
        "split,part,row\n0,train,1\n0,rest,2\n",
        "line 3 has the part rest, which is not known",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_a_file_is_named(name: str, tmp_path: Path) -> None:
    content, reason = WRONG[name]
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        read_splits(written(tmp_path, content))
    assert str(caught.value).startswith("split.path=")


@pytest.mark.parametrize(
    ("splits", "first_row", "reason"),
    [
        ([{"train": [0, 1], "test": [12]}], 0, "names row 12, and the data have the rows 0 to 11"),
        ([{"train": [1, 2], "test": [12]}], 0, "set split.first_row=1"),
        ([{"train": [1, 2], "test": [0]}], 1, "if it counts from 0, set split.first_row=0"),
        ([{"train": [0, 2], "test": [1]}], 0, "has no row of class well in its training part"),
        (
            [{"train": [0, 2], "validation": [3], "test": [1]}],
            0,
            "has no row of class well in its training part",
        ),
    ],
)
def test_what_does_not_fit_the_data_is_named(
    splits: Any, first_row: Any, reason: str, tmp_path: Path
) -> None:
    found = read_splits(written(tmp_path, splits), first_row)
    with pytest.raises(InputError, match=re.escape(reason)):
        found.checked(0, Y, ("sick", "well"))


def test_masks_must_be_of_all_rows(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", train=np.arange(9) < 4, test=np.arange(9) >= 4)
    found = read_splits(str(tmp_path / "s.npz"))
    with pytest.raises(InputError, match="has masks of 9 rows, and the data have 12"):
        found.checked(0, Y, ("sick", "well"))


def test_there_are_no_more_splits_than_the_file_has(tmp_path: Path) -> None:
    found = read_splits(written(tmp_path, [{"train": [0, 1], "test": [2]}]))
    with pytest.raises(InputError, match=r"split\.n_splits=2 is more than the 1 of"):
        found.checked(1, Y, ("sick", "well"))


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("train_1", ("train", 1)), ("trn12", ("train", 12)), ("trainIdx", ("train", None)),
        ("idx_train", ("train", None)), ("valIdx3", ("validation", 3)), ("TEST", ("test", None)),
        ("tst2", ("test", 2)), ("training", ("train", None)), ("target", None), ("X", None),
        ("Y", None), ("K", None), ("tree", None), ("texture", None), ("attrain", None),
    ],
)  # fmt: skip
def test_names_of_parts(name: str, part: Any) -> None:
    assert part_of(name) == part


@st.composite
def _splits(draw: st.DrawFn) -> list[dict[str, list[int]]]:
    found = []
    for _ in range(draw(st.integers(1, 4))):
        order = draw(st.permutations(range(N)))
        ends = sorted(draw(st.lists(st.integers(1, N - 1), min_size=2, max_size=2, unique=True)))
        found.append(
            {
                "train": list(order[: ends[0]]),
                "validation": list(order[ends[0] : ends[1]]),
                "test": list(order[ends[1] :]),
            }
        )
    return found


@given(_splits())
def test_any_sound_splits_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, splits: Any
) -> None:
    directory = tmp_path_factory.mktemp("splits")
    path = written(directory, splits)
    from_json = read_splits(path)
    assert [
        {"train": s.train.tolist(), "validation": s.validation.tolist(), "test": s.test.tolist()}
        for s in from_json.splits
    ] == splits
    matlab = {
        f"{name}_{k + 1}": np.array(rows) + 1.0
        for k, split in enumerate(splits)
        for name, rows in split.items()
    }
    savemat(directory / "s.mat", matlab)
    from_mat: FixedSplits = read_splits(str(directory / "s.mat"))
    assert from_mat.digest == from_json.digest


@pytest.mark.parametrize("name", ["json", "csv", "npz"])
def test_a_fold_number_a_row(name: str, tmp_path: Path) -> None:
    path, folds = tmp_path / f"folds.{name}", [2, 0, 1, 0, 2, 1]
    if name == "json":
        path.write_text(json.dumps(folds))
    elif name == "csv":
        path.write_text("fold\n" + "\n".join(map(str, folds)))
    else:
        np.savez(path, fold=folds)
    splits = read_splits(str(path))
    assert [split.test.tolist() for split in splits.splits] == [[1, 3], [2, 5], [0, 4]]
    assert splits.splits[0].train.tolist() == [0, 2, 4, 5]
    assert splits.n_rows == 6
