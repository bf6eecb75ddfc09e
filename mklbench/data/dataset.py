"""`Dataset`, what the rest of the program knows of data, and the digest of its content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Split = tuple[NDArray[np.int64], NDArray[np.int64]]

Distance = Literal["euclidean", "seuclidean", "chi2"]


@dataclass(frozen=True)
class View:
    """One descriptor of the rows of a data set: the columns ``X[:, start:stop]``.

    Attributes
    ----------
    name : str
        Of the descriptor.
    start, stop : int
        Its columns.
    distance : Distance
        How two rows are compared by it: "euclidean"; "seuclidean", the same with every
        feature divided by its standard deviation; "chi2", for histograms.
    """

    name: str
    start: int
    stop: int
    distance: Distance = "euclidean"


@dataclass(frozen=True)
class Dataset:
    """A data set in memory, for classification or for regression. Its arrays are read-only.

    Attributes
    ----------
    name : str
        As in the configuration.
    X : ndarray of shape (n, d)
        inputs.
    y : ndarray of shape (n,)
        Class codes 0 .. k-1; all 0 where there are `targets` instead.
    classes : tuple of str
        Code -> label as in the file; in a binary set code 1 is the positive class (+1). Empty
        where there are `targets` instead.
    feature_names : tuple of str
        d names.
    digest : str
        "sha256:..." of rows, labels and shapes as parsed (`content_digest`). Choices about
        columns (a constant column left out, noise features appended) keep it, so that the splits
        of such variants are paired; the resolved configuration tells the variants apart.
    notes : tuple of str
        What was done: rows dropped, columns left out or appended.
    n_noise_features : int
        How many of the last columns of X are N(0, 1) noise.
    source : str
        Where the content came from: "embedded", "generated", paths or URLs.
    splits : tuple of Split
        Training and test rows of each split that the source itself holds: the official ones.
    views : tuple of View
        The columns of each descriptor, where the features come in several; else empty.
    targets : ndarray of shape (n,) or None
        Real numbers to predict, of a regression set; None where there are classes.
    dropped_rows : int
        Rows of the file that were left out for a missing value.
    groups : ndarray of shape (n,) or None
        Code of the group of each row, whose rows are on one side of every split.
    impute : {"mean", "median"} or None
        What of the training part takes the place of NaN in `X`.
    sample_names : tuple of tuple of str
        n names each, of every column of an own file that may name the samples.
    rows : ndarray of shape (n,) or None
        Numbers of the rows of an own file, from 0, some of which may be left out.
    understood : tuple of str
        What was made of a file of the user's own, in three lines; else empty.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    classes: tuple[str, ...]
    feature_names: tuple[str, ...]
    digest: str
    notes: tuple[str, ...]
    n_noise_features: int = 0
    source: str = ""
    splits: tuple[Split, ...] = ()
    views: tuple[View, ...] = ()
    targets: NDArray[np.float64] | None = None
    dropped_rows: int = 0
    groups: NDArray[np.int64] | None = None
    impute: Literal["mean", "median"] | None = None
    sample_names: tuple[tuple[str, ...], ...] = ()
    rows: NDArray[np.int64] | None = None
    understood: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.X, self.y, self.targets):
            if array is not None:
                array.setflags(write=False)

    @property
    def class_counts(self) -> dict[str, int]:
        """Label -> number of rows, in the order of the codes; empty where there are targets."""
        if self.targets is not None:
            return {}
        counts = np.bincount(self.y, minlength=len(self.classes))
        return dict(zip(self.classes, counts.tolist(), strict=True))


def text_digest(*texts: str) -> str:
    """Digest of texts, which have a space between them."""
    return f"sha256:{hashlib.sha256(' '.join(texts).encode()).hexdigest()}"


def content_digest(X: NDArray[np.float64], y: NDArray[np.int64] | NDArray[np.float64]) -> str:
    """Digest of the numbers of a data set, whatever file they were in.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        inputs.
    y : ndarray of shape (n,)
        Class codes, or real targets.

    Returns
    -------
    "sha256:" and 64 hexadecimal digits: of the shape, the inputs as little-endian doubles row by
    row (-0.0 counts as 0.0) and the codes as little-endian 64-bit integers, or the targets as the
    inputs.
    """
    digest = hashlib.sha256(f"{X.shape[0]} {X.shape[1]}\n".encode())
    digest.update(np.ascontiguousarray(X + 0.0, dtype="<f8").data)
    is_real = np.issubdtype(y.dtype, np.floating)
    digest.update(np.ascontiguousarray(y + 0, dtype="<f8" if is_real else "<i8").data)
    return f"sha256:{digest.hexdigest()}"


def splits_digest(splits: Iterable[Sequence[NDArray[np.int64]]]) -> str:
    """Digest of splits: of the sizes and the rows of all parts of each, in their order."""
    digest = hashlib.sha256()
    for parts in splits:
        digest.update(" ".join(str(len(part)) for part in parts).encode() + b"\n")
        digest.update(np.concatenate(parts).astype("<i8").tobytes())
    return f"sha256:{digest.hexdigest()}"
