"""Which rows are trained on and which are tested on.

A split depends on the data's digest, the numbers of the protocol and its own index: never on the
algorithm, nor on how many splits are run. All algorithms so see the same splits.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError

Rows = NDArray[np.int64]  # their numbers, or the codes of their classes


@dataclass(frozen=True)
class SplitProtocol:
    """How the rows of a set are divided.

    Attributes
    ----------
    test_fraction : float or None
        Share of the rows in the test part, the rest being the training part; or None,
        and the sizes are given:
    n_train, n_test : int or None
        Rows of the two parts; None with a fraction.
    stratified : bool
        Whether each class has its share of a part, to within one row.
    seed : int
        Of the random splits.
    kind : {"kfold", "loo", "groups", "time", "given"} or None
        None: random parts. "kfold": each of the `folds` folds is tested on once, then again with
        other folds; "loo": each row; "groups": each group; "time": rows in their order, each fold
        after those that are trained on; "given": those that the data hold.
    folds : int or None
        Of "kfold" and "time".
    """

    test_fraction: float | None = None
    n_train: int | None = None
    n_test: int | None = None
    stratified: bool = False
    seed: int = 0
    kind: str | None = None
    folds: int | None = None

    def sizes(self, n_samples: int) -> tuple[int, int]:
        """Rows of the training and of the test part of a set of `n_samples`.

        Raises
        ------
        InputError
            A part would be empty, or the set has too few rows.
        """
        if self.test_fraction is not None:
            # Rounded up, so 63 of 208 at 0.3; but 0.07 * 100 is a little more than 7.
            n_test = math.ceil(round(self.test_fraction * n_samples, 9))
            if not 0 < n_test < n_samples:
                raise InputError(
                    f"split.test_fraction={self.test_fraction} must leave a training and a test "
                    f"part of {n_samples} rows."
                )
            return n_samples - n_test, n_test
        assert self.n_train is not None  # as the config has checked
        assert self.n_test is not None
        if self.n_train < 1 or self.n_test < 1 or self.n_train + self.n_test > n_samples:
            raise InputError(
                f"split.n_train={self.n_train} and split.n_test={self.n_test} cannot be drawn from "
                f"{n_samples} rows: choose parts of one row or more that together have at most "
                f"{n_samples}."
            )
        return self.n_train, self.n_test


def split_seed(digest: str, index: int, protocol: SplitProtocol) -> int:
    """The 64-bit seed of one split, from the data and the protocol alone."""
    if protocol.kind is not None:
        sizes = f"{protocol.kind} {protocol.folds}"
    elif protocol.test_fraction is not None:
        sizes = repr(float(protocol.test_fraction))
    else:
        sizes = f"{protocol.n_train}/{protocol.n_test}"
    text = f"split {digest} {sizes} {bool(protocol.stratified)} {int(protocol.seed)} {int(index)}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def random_split(y: Rows, digest: str, index: int, protocol: SplitProtocol) -> tuple[Rows, Rows]:
    """Draw the training and the test rows of one split.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class codes.
    digest : str
        Of the data (`Dataset.digest`).
    index : int
        Number of the split, from 0. Split i is the same however many splits are run.
    protocol : SplitProtocol
        Sizes of the parts, stratification and seed.

    Returns
    -------
    train_rows, test_rows : ndarray of int
        Sorted and disjoint; together all rows, unless the protocol's sizes are fewer.

    Raises
    ------
    InputError
        The sizes do not fit the set (`SplitProtocol.sizes`), or a class would be missing from a
        part.
    """
    n_train, n_test = protocol.sizes(len(y))
    generator = np.random.Generator(np.random.PCG64(split_seed(digest, index, protocol)))
    draw = _draw_stratified if protocol.stratified else _draw
    test = draw(np.arange(len(y)), y, n_test, generator)
    rest = np.setdiff1d(np.arange(len(y)), test)
    train = rest if len(rest) == n_train else draw(rest, y, n_train, generator)
    if absent := absent_class(y, train, test):
        remedy = "use more rows of it" if protocol.stratified else "set split.stratified=true"
        raise InputError(f"Split {index} leaves {absent}: {remedy}.")
    return train, test


def n_splits(protocol: SplitProtocol, n_samples: int, groups: Rows | None, n_given: int) -> int:
    """Return how many splits a protocol has where the number is left open.

    Raises
    ------
    InputError
        The data have no groups, or hold no splits.
    """
    if protocol.kind == "groups":
        if groups is None:
            raise InputError("split=groups needs groups: set data.groups to the column of them.")
        return len(np.unique(groups))
    if protocol.kind == "given" and not n_given:
        raise InputError(
            "split=given needs data with a training and a test part, such as x_train, y_train, "
            "x_test and y_test in an .npz file: choose another split."
        )
    return {"loo": n_samples, "given": n_given}.get(str(protocol.kind), protocol.folds or 1)


def draw_split(
    y: Rows, digest: str, index: int, protocol: SplitProtocol, groups: Rows | None = None
) -> tuple[Rows, Rows]:
    """Draw the training and the test rows of a split of any kind; rows of a group stay together.

    Parameters, returns and raised errors as of `random_split`; `groups` (n,) are codes from 0.
    """
    if protocol.kind is None and groups is None:
        return random_split(y, digest, index, protocol)
    if groups is not None and protocol.kind in ("loo", "time"):
        raise InputError(
            f"split={protocol.kind} would part the rows of a group: choose split=groups, or leave "
            "data.groups out."
        )
    if protocol.kind == "time":
        return _folded(y, protocol.folds or 5, 0, None, "time")[index]
    if protocol.kind in ("loo", "groups"):
        test = np.flatnonzero((np.arange(len(y)) if groups is None else groups) == index)
    else:
        test = _drawn(y, digest, index, protocol, groups)
    return _require_classes(y, np.setdiff1d(np.arange(len(y)), test), test)


def _drawn(y: Rows, digest: str, index: int, protocol: SplitProtocol, groups: Rows | None) -> Rows:
    """Return the test rows of a fold, or of a random part of the groups; sorted."""
    k, fold, repeat = protocol.folds or 0, 0, index
    if protocol.kind == "kfold":
        repeat, fold = divmod(index, k)
    elif protocol.test_fraction is None:
        raise InputError(
            "split.n_train and split.n_test cannot be drawn in whole groups: set "
            "split.test_fraction, and the other two to null."
        )
    seed = split_seed(digest, repeat, protocol) % 2**32
    if protocol.kind is None and not protocol.stratified:
        from sklearn.model_selection import GroupShuffleSplit

        shuffle = GroupShuffleSplit(1, test_size=protocol.test_fraction, random_state=seed)
        return np.sort(next(shuffle.split(y, y, groups))[1])
    k = k or max(2, round(1 / (protocol.test_fraction or 0.5)))
    kind = "stratified" if protocol.stratified else "plain"
    return _folded(y, k, seed, groups, kind)[fold][1]


def _folded(
    y: Rows, k: int, seed: int, groups: Rows | None, kind: str, option: str = "split.folds"
) -> list[tuple[Rows, Rows]]:
    """Return folds of scikit-learn's: "plain", "stratified" or in order of "time"."""
    from sklearn import model_selection as selection

    try:
        if kind == "time":
            splitter = selection.TimeSeriesSplit(k)
        else:
            name = f"{'Stratified' * (kind == 'stratified')}{'Group' * (groups is not None)}KFold"
            splitter = getattr(selection, name)(k, shuffle=True, random_state=seed)
        parts = [(np.sort(train), np.sort(test)) for train, test in splitter.split(y, y, groups)]
    except ValueError as error:
        among = "" if groups is None else f" in {len(np.unique(groups))} groups"
        raise InputError(
            f"{option}={k} cannot be drawn from {len(y)} rows{among} "
            f"({str(error).rstrip('.')}): choose another."
        ) from error
    return [_require_classes(y, train, test) for train, test in parts]


def _require_classes(y: Rows, train: Rows, test: Rows) -> tuple[Rows, Rows]:
    """Return a split whose training part has all classes."""
    if absent := absent_class(y, train):
        raise InputError(
            f"A split or fold leaves {absent}: use fewer folds, leave that class out, or choose "
            "another split."
        )
    return train, test


def absent_class(y: Rows, train: Rows, test: Rows | None = None) -> str | None:
    """Say which part of a split is without which class, in a few words; None if none is."""
    for part, rows in (("training", train), ("test", test)):
        if rows is not None and (missing := np.setdiff1d(y, y[rows])).size:
            n_rows = (y == missing[0]).sum()
            return f"the {part} part without a class that has {n_rows} of {len(y)} rows"
    return None


def n_repeated(X: NDArray[np.float64], train: Rows, test: Rows) -> int:
    """Return how many of the test rows equal a training row in every feature of `X` (n, d)."""
    seen = {row.tobytes() for row in X[train] + 0.0}  # -0.0 is 0.0
    return sum(row.tobytes() in seen for row in X[test] + 0.0)


def folds(
    y: Rows, k: int, seed: int, groups: Rows | None = None, in_order: bool = False
) -> list[tuple[Rows, Rows]]:
    """Stratified folds for the cross-validation inside a training part.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class codes, or labels -1 and +1.
    k : int
        Number of folds.
    seed : int
        Of the shuffle within each class.
    groups : ndarray of shape (n,) or None, default=None
        Codes of groups, whose positions stay together.
    in_order : bool, default=False
        Whether each `val` lies behind its `train`, as rows in order of time have to.

    Returns
    -------
    list of k pairs (train, val) of sorted positions in `y`; without groups and order every position
    is in one `val`, and the sizes of two folds, and of each class within them, differ by one at
    most.

    Raises
    ------
    InputError
        A class with fewer members than folds.
    """
    if in_order and groups is None:
        return _folded(y, min(k, len(y) - 1), 0, None, "time", "search.folds")
    if groups is not None:
        return _folded(y, k, seed % 2**32, groups, "stratified", "search.folds")
    labels, counts = np.unique(y, return_counts=True)
    if (smallest := counts.min()) < k:
        raise InputError(
            f"search.folds={k} is more than the {smallest} members of the smallest class among "
            f"the {len(y)} training rows: use at most {smallest} folds or more data."
        )
    generator = np.random.Generator(np.random.PCG64(seed))
    dealt = np.concatenate([generator.permutation(np.flatnonzero(y == label)) for label in labels])
    fold_of = np.empty(len(y), dtype=np.int64)
    # Dealing on from class to class, rather than starting each at fold 0, keeps the folds even.
    fold_of[dealt] = np.arange(len(y)) % k
    return [(np.flatnonzero(fold_of != i), np.flatnonzero(fold_of == i)) for i in range(k)]


def _draw(rows: Rows, y: Rows, n_drawn: int, generator: np.random.Generator) -> Rows:
    """Draw `n_drawn` of `rows`; sorted."""
    return np.sort(generator.permutation(rows)[:n_drawn])


def _draw_stratified(rows: Rows, y: Rows, n_drawn: int, generator: np.random.Generator) -> Rows:
    """Draw `n_drawn` of `rows`; sorted.

    Of each class as many as its share rounded down, then one more by largest remainder.
    """
    codes, members = np.unique(y[rows], return_counts=True)
    share = members * n_drawn / len(rows)
    counts = np.floor(share).astype(np.int64)
    by_remainder = np.argsort(-(share - counts), kind="stable")
    counts[by_remainder[: n_drawn - counts.sum()]] += 1
    drawn = [
        generator.permutation(rows[y[rows] == code])[:n_of_class]
        for code, n_of_class in zip(codes, counts, strict=True)
    ]
    return np.sort(np.concatenate(drawn))
