"""`Dataset`, what the rest of the program knows of data, and the digest of its content."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Split = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class Dataset:
    """A classification data set in memory. Its arrays are read-only.

    Attributes
    ----------
    name : as in the configuration.
    X : (n, d) inputs.
    y : (n,) class codes 0 .. k-1.
    classes : code -> label as in the file; in a binary set code 1 is the positive class (+1).
    feature_names : d names.
    digest : "sha256:..." of rows, labels and shapes as parsed (`content_digest`). Choices about
        columns (a constant column left out, noise features appended) keep it, so that the splits
        of such variants are paired; the resolved configuration tells the variants apart.
    notes : what was done: rows dropped, columns left out or appended.
    n_noise_features : how many of the last columns of X are N(0, 1) noise.
    source : where the content came from: "embedded", "generated", paths or URLs.
    splits : training and test rows of each split that the source itself holds: the official ones.
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

    def __post_init__(self) -> None:
        self.X.setflags(write=False)
        self.y.setflags(write=False)

    @property
    def class_counts(self) -> dict[str, int]:
        """Label -> number of rows, in the order of the codes."""
        counts = np.bincount(self.y, minlength=len(self.classes))
        return dict(zip(self.classes, counts.tolist(), strict=True))


def content_digest(X: NDArray[np.float64], y: NDArray[np.int64]) -> str:
    """Digest of the numbers of a data set, whatever file they were in.

    Parameters
    ----------
    X : (n, d) inputs.
    y : (n,) class codes.

    Returns
    -------
    "sha256:" and 64 hexadecimal digits: of the shape, the inputs as little-endian doubles row by
    row (-0.0 counts as 0.0) and the codes as little-endian 64-bit integers.
    """
    digest = hashlib.sha256(f"{X.shape[0]} {X.shape[1]}\n".encode())
    digest.update(np.ascontiguousarray(X + 0.0, dtype="<f8").tobytes())
    digest.update(np.ascontiguousarray(y, dtype="<i8").tobytes())
    return f"sha256:{digest.hexdigest()}"


def splits_digest(splits: Sequence[Split]) -> str:
    """Digest of splits: of the sizes and the rows of both parts of each, in their order."""
    digest = hashlib.sha256()
    for train, test in splits:
        digest.update(f"{len(train)} {len(test)}\n".encode())
        digest.update(np.concatenate([train, test]).astype("<i8").tobytes())
    return f"sha256:{digest.hexdigest()}"
