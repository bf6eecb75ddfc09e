"""Whether a data set is the published one: its shape, classes, numbers and splits."""

from __future__ import annotations

from collections.abc import Mapping

from mklbench.data.dataset import Dataset, splits_digest
from mklbench.data.schema import Expected, FileConfig
from mklbench.data.splits import absent_class
from mklbench.errors import DataError


def verify_content(dataset: Dataset, expected: Expected, place: str) -> None:
    """Compare with the published content: first what a reader can judge, then every number."""
    if dataset.X.shape != (expected.n_samples, expected.n_features):
        raise DataError(
            f"{place} has {dataset.X.shape[0]} rows of {dataset.X.shape[1]} features instead of "
            f"{expected.n_samples} of {expected.n_features}."
        )
    if dataset.class_counts != dict(expected.classes):
        raise DataError(
            f"{place} has the class counts {_counts(dataset.class_counts)} instead of "
            f"{_counts(expected.classes)}."
        )
    if dataset.digest != expected.digest:
        raise DataError(
            f"{place} has numbers that differ from the published ones: content digest "
            f"{dataset.digest[:19]}... instead of {expected.digest[:19]}...."
        )


def verify_splits(dataset: Dataset, config: FileConfig, place: str) -> None:
    """Check the splits that the file itself holds: their sizes, classes and, if known, digest."""
    sizes = config.splits
    if config.edition == "official" and sizes and len(dataset.splits) != sizes.n_splits:
        raise DataError(f"{place} has {len(dataset.splits)} splits instead of {sizes.n_splits}.")
    for index, (train, test) in enumerate(dataset.splits):
        if sizes and (len(train), len(test)) != (sizes.n_train, sizes.n_test):
            raise DataError(
                f"{place}, split {index} has {len(train)} training and {len(test)} test rows "
                f"instead of {sizes.n_train} and {sizes.n_test}."
            )
        if absent := absent_class(dataset.y, train, test):
            raise DataError(f"{place}, split {index} leaves {absent}.")
    registered = config.expected.splits_digest if config.expected is not None else None
    if registered is not None and splits_digest(dataset.splits) != registered:
        raise DataError(f"{place} has splits that differ from the published ones.")


def _counts(classes: Mapping[str, int]) -> str:
    return ", ".join(f"{label}: {count}" for label, count in classes.items())
