"""Which rows are trained on and which are tested on.

A split depends on the data's digest, the numbers of the protocol and its own index: never on the
algorithm, nor on how many splits are run. All algorithms so see the same splits.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError

Rows = NDArray[np.int64]


def split_seed(
    digest: str, index: int, *, test_fraction: float, stratified: bool, seed: int
) -> int:
    """The 64-bit seed of one split, from the data and the protocol alone."""
    text = f"split {digest} {float(test_fraction)!r} {bool(stratified)} {int(seed)} {int(index)}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def n_test_rows(n_samples: int, test_fraction: float) -> int:
    """Size of the test part: ``test_fraction * n_samples`` rounded up, so 63 of 208 at 0.3.

    Raises
    ------
    InputError
        The fraction is not between 0 and 1, or one of the two parts would be empty.
    """
    if not 0.0 < test_fraction < 1.0:
        raise InputError(
            f"split.test_fraction={test_fraction} must lie between 0 and 1, both excluded."
        )
    # Rounded first, for 0.07 * 100 is a little more than 7 in floating point.
    n_test = math.ceil(round(test_fraction * n_samples, 9))
    if n_test >= n_samples:
        raise InputError(
            f"split.test_fraction={test_fraction} leaves no training row of {n_samples}: "
            f"make it smaller."
        )
    return n_test


def random_split(
    y: NDArray[np.int64],
    digest: str,
    index: int,
    *,
    test_fraction: float,
    stratified: bool,
    seed: int,
) -> tuple[Rows, Rows]:
    """Draw the training and the test rows of one split.

    Parameters
    ----------
    y : (n,) class codes.
    digest : of the data (`Dataset.digest`).
    index : number of the split, from 0. Split i is the same however many splits are run.
    test_fraction : share of the rows in the test part (`n_test_rows`).
    stratified : whether each class has its share of the test part, to within one row.
    seed : of the protocol.

    Returns
    -------
    train_rows, test_rows : sorted, disjoint, and together all rows.

    Raises
    ------
    InputError
        A class would be missing from one of the parts.
    """
    if index < 0:
        raise InputError(f"The split index must be 0 or more, not {index}.")
    n_test = n_test_rows(len(y), test_fraction)
    number = split_seed(
        digest, index, test_fraction=test_fraction, stratified=stratified, seed=seed
    )
    generator = np.random.Generator(np.random.PCG64(number))
    in_test = np.zeros(len(y), dtype=bool)
    if stratified:
        for code, n_of_class in _stratified_counts(y, n_test).items():
            rows = generator.permutation(np.flatnonzero(y == code))
            in_test[rows[:n_of_class]] = True
    else:
        in_test[generator.permutation(len(y))[:n_test]] = True
    _require_every_class(y, in_test, index, stratified)
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


def folds(y: NDArray[np.int64], k: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Stratified folds for the cross-validation inside a training part.

    Parameters
    ----------
    y : (n,) class codes, or labels -1 and +1.
    k : number of folds.
    seed : of the shuffle within each class.

    Returns
    -------
    list of k pairs (train, val) of sorted positions in `y`; every position is in one `val`. The
    sizes of two folds, and of each class within them, differ by one at most.

    Raises
    ------
    InputError
        Fewer than 2 folds, or a class with fewer members than folds.
    """
    if k < 2:
        raise InputError(f"search.folds={k} must be 2 or more.")
    labels, counts = np.unique(y, return_counts=True)
    if counts.size == 0 or counts.min() < k:
        smallest = int(counts.min()) if counts.size else 0
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


def _stratified_counts(y: NDArray[np.int64], n_test: int) -> dict[int, int]:
    """Test rows of each class: its share rounded down, then one more by largest remainder."""
    codes, members = np.unique(y, return_counts=True)
    share = members * n_test / len(y)
    counts = np.floor(share).astype(np.int64)
    by_remainder = np.argsort(-(share - counts), kind="stable")
    counts[by_remainder[: n_test - counts.sum()]] += 1
    return dict(zip(codes.tolist(), counts.tolist(), strict=True))


def _require_every_class(
    y: NDArray[np.int64], in_test: NDArray[np.bool_], index: int, stratified: bool
) -> None:
    for part, chosen in (("training", ~in_test), ("test", in_test)):
        missing = np.setdiff1d(y, y[chosen])
        if missing.size:
            remedy = "use more rows of it" if stratified else "set split.stratified=true"
            raise InputError(
                f"Split {index} leaves the {part} part without class {missing[0]}, which has "
                f"{int((y == missing[0]).sum())} of {len(y)} rows: {remedy}."
            )
