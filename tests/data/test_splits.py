"""Splits: disjoint, complete, and a function of the data and the protocol alone."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mklbench.data.splits import (
    SplitProtocol,
    absent_class,
    draw_split,
    folds,
    n_splits,
    random_split,
    split_seed,
)
from mklbench.errors import InputError

DIGEST = "sha256:0123"
Y = np.array([0] * 97 + [1] * 111)


def draw(
    y: NDArray[np.int64] = Y,
    digest: str = DIGEST,
    index: int = 0,
    test_fraction: float | None = 0.3,
    **protocol: Any,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return random_split(y, digest, index, SplitProtocol(test_fraction=test_fraction, **protocol))


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("index", [0, 1, 19])
def test_the_parts_are_disjoint_and_cover_the_rows(stratified: bool, index: int) -> None:
    train, test = draw(index=index, stratified=stratified)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(208))
    assert (len(train), len(test)) == (145, 63)
    assert (np.diff(train) > 0).all()
    assert (np.diff(test) > 0).all()


def test_a_split_depends_on_data_protocol_and_index_and_on_nothing_else() -> None:
    _, test = draw()
    np.testing.assert_array_equal(test, draw()[1])
    for change in ({"digest": "sha256:4567"}, {"index": 1}, {"seed": 1}, {"stratified": True}):
        assert not np.array_equal(test, draw(**change)[1])
    # Neither an algorithm nor the number of splits can be passed in.
    assert list(inspect.signature(random_split).parameters) == ["y", "digest", "index", "protocol"]
    assert {item.name for item in fields(SplitProtocol)} == {
        "kind",
        "folds",
        "test_fraction",
        "n_train",
        "n_test",
        "stratified",
        "seed",
    }


def test_splits_do_not_move_between_versions() -> None:
    # Recorded results are only comparable while these rows stay as they are.
    assert split_seed(DIGEST, 0, SplitProtocol(test_fraction=0.3)) == 10526534628818674104
    assert draw()[1][:8].tolist() == [2, 4, 7, 9, 12, 14, 19, 23]
    assert draw(stratified=True)[1][:8].tolist() == [0, 3, 6, 7, 10, 11, 13, 21]
    assert folds(Y, 5, seed=0)[0][1][:8].tolist() == [2, 3, 7, 10, 16, 21, 31, 39]


def test_each_row_is_tested_about_equally_often() -> None:
    counts = np.zeros(len(Y))
    for index in range(400):
        counts[draw(index=index)[1]] += 1
    # Binomial(400, 63/208): a standard deviation of 9.2, and 208 rows.
    np.testing.assert_allclose(counts, 400 * 63 / 208, atol=4.5 * 9.2)


@pytest.mark.parametrize(
    # 0.07 * 100 is a little more than 7 in floating point.
    ("n", "fraction", "n_test"),
    [(208, 0.3, 63), (768, 0.3, 231), (100, 0.07, 7)],
)
def test_the_published_sizes(n: int, fraction: float, n_test: int) -> None:
    assert SplitProtocol(test_fraction=fraction).sizes(n) == (n - n_test, n_test)


def test_stratified_splits_keep_the_shares_to_within_one_row() -> None:
    y = np.array([0] * 10 + [1] * 25 + [2] * 66)
    for index in range(20):
        _, test = draw(y, index=index, stratified=True)
        assert len(test) == 31
        assert (np.abs(np.bincount(y[test]) - 31 * np.array([10, 25, 66]) / 101) < 1).all()


def draw_sizes(
    n_train: int, n_test: int, y: NDArray[np.int64] = Y, **protocol: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return draw(y, test_fraction=None, n_train=n_train, n_test=n_test, **protocol)


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("sizes", [(145, 63), (40, 168), (40, 20)])
def test_sizes_may_be_given_in_rows(stratified: bool, sizes: tuple[int, int]) -> None:
    train, test = draw_sizes(*sizes, stratified=stratified)
    assert (len(train), len(test)) == sizes
    assert len(np.unique(np.concatenate([train, test]))) == sum(sizes)
    assert (np.diff(train) > 0).all()
    assert (np.diff(test) > 0).all()
    if stratified:
        for rows in (train, test):
            assert abs(Y[rows].mean() - Y.mean()) < 1.5 / len(rows)


def test_splits_of_given_sizes_depend_on_the_sizes() -> None:
    seeds = {
        split_seed(DIGEST, 0, SplitProtocol(n_train=n_train, n_test=n_test))
        for n_train, n_test in ((145, 63), (63, 145), (145, 62), (1456, 3))
    }
    assert len(seeds) == 4


@pytest.mark.parametrize("sizes", [(200, 9), (208, 1), (0, 5), (5, 0), (-1, 5)])
def test_sizes_that_the_set_cannot_give_are_named(sizes: tuple[int, int]) -> None:
    n_train, n_test = sizes
    named = rf"split.n_train={n_train} and split.n_test={n_test} cannot be drawn from 208 rows"
    with pytest.raises(InputError, match=named):
        draw_sizes(*sizes)


def test_the_smallest_parts_have_one_row() -> None:
    assert SplitProtocol(n_train=1, n_test=1).sizes(2) == (1, 1)
    assert SplitProtocol(n_train=1, n_test=207).sizes(208) == (1, 207)
    assert SplitProtocol(test_fraction=0.5).sizes(2) == (1, 1)


def test_of_two_missing_classes_the_first_is_named() -> None:
    y = np.array([0] * 50 + [1] * 2 + [2] * 3)
    said = absent_class(y, np.arange(50), np.arange(50, 55))
    assert said == "the training part without a class that has 2 of 55 rows"


def test_the_class_with_the_largest_remainder_gets_the_row_that_is_left() -> None:
    y = np.array([0] * 15 + [1] * 5)  # of 7 rows their shares are 5.25 and 1.75
    train, _ = draw_sizes(13, 7, y, stratified=True)
    assert np.bincount(y[np.setdiff1d(np.arange(20), train)]).tolist() == [5, 2]


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.1, 30, 0.999])
def test_a_fraction_that_leaves_a_part_without_rows_is_named(fraction: float) -> None:
    with pytest.raises(InputError, match=rf"split.test_fraction={fraction} must leave a training"):
        draw(test_fraction=fraction)


def test_a_class_missing_from_a_part_is_refused_with_a_remedy() -> None:
    y = np.array([0] * 99 + [1])
    with pytest.raises(InputError, match=r"part without a class that has 1 of 100 rows: set split"):
        draw(y)
    with pytest.raises(InputError, match="without a class that has 1 of 100 rows: use more rows"):
        draw(y, stratified=True)


@pytest.mark.parametrize("k", [2, 5, 10])
def test_folds_are_disjoint_complete_and_even(k: int) -> None:
    y = np.array([-1] * 43 + [1] * 60)
    pairs = folds(y, k, seed=0)
    assert len(pairs) == k
    validated = np.concatenate([val for _, val in pairs])
    np.testing.assert_array_equal(np.sort(validated), np.arange(103))
    for train, val in pairs:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, val])), np.arange(103))
    assert np.ptp([len(val) for _, val in pairs]) <= 1
    for label in (-1, 1):
        assert np.ptp([(y[val] == label).sum() for _, val in pairs]) <= 1


def test_folds_of_one_class_are_drawn() -> None:
    assert [len(val) for _, val in folds(np.zeros(4, dtype=np.int64), 2, 0)] == [2, 2]


def groups_of(n_groups: int, size: int) -> tuple[Any, Any]:
    """Labels that are the same within a group, and the groups."""
    groups = np.repeat(np.arange(n_groups), size)
    return groups % 2, groups


@pytest.mark.parametrize(
    "protocol",
    [
        SplitProtocol(test_fraction=0.3),
        SplitProtocol(test_fraction=0.3, stratified=True),
        SplitProtocol(kind="kfold", folds=4, stratified=True),
        SplitProtocol(kind="kfold", folds=4),
        SplitProtocol(kind="groups"),
    ],
    ids=str,
)
def test_no_group_is_on_both_sides(protocol: SplitProtocol) -> None:
    y, groups = groups_of(12, 5)
    for index in range(8):
        train, test = draw_split(y, "sha256:1", index, protocol, groups)
        assert not set(groups[train]) & set(groups[test])
        assert sorted([*train, *test]) == list(range(60))
        for fit, held in folds(y[train], 3, index, groups[train]):
            assert not set(groups[train][fit]) & set(groups[train][held])


def test_folds_test_every_row_once() -> None:
    y = np.arange(50) % 2
    protocol = SplitProtocol(kind="kfold", folds=5, stratified=True)
    tested = [draw_split(y, "sha256:1", index, protocol)[1] for index in range(10)]
    for start in (0, 5):
        assert sorted(np.concatenate(tested[start : start + 5])) == list(range(50))
    assert sorted(map(tuple, tested[:5])) != sorted(map(tuple, tested[5:]))
    assert n_splits(protocol, 50, None, 0) == 5
    assert n_splits(SplitProtocol(kind="loo"), 50, None, 0) == 50
    _, test = draw_split(y, "sha256:1", 7, SplitProtocol(kind="loo"))
    assert test.tolist() == [7]


def test_rows_in_order_of_time_are_tested_on_after_those_before() -> None:
    y = np.arange(60) % 2
    for index in range(5):
        train, test = draw_split(y, "sha256:1", index, SplitProtocol(kind="time", folds=5))
        assert train.max() < test.min()
        assert len(test) == 10
    for fit, held in folds(y, 4, 0, in_order=True):
        assert fit.max() < held.min()


@pytest.mark.parametrize(
    ("protocol", "n_groups", "said"),
    [
        (SplitProtocol(kind="kfold", folds=9), 4, "split.folds=9 cannot be drawn from 20 rows in"),
        (SplitProtocol(kind="loo"), 4, "choose split=groups"),
        (SplitProtocol(kind="time", folds=3), 4, "leave data.groups out"),
        (SplitProtocol(n_train=5, n_test=5), 4, "cannot be drawn in whole groups"),
        (SplitProtocol(kind="groups"), 1, "without a class that has"),
    ],
    ids=str,
)
def test_what_groups_do_not_allow_is_said(
    protocol: SplitProtocol, n_groups: int, said: str
) -> None:
    y, groups = groups_of(n_groups, 5)
    with pytest.raises(InputError, match=re.escape(said)):
        draw_split(y, "sha256:1", 0, protocol, groups)
