"""`load`: from a data configuration to a verified `Dataset`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data import sources, transforms
from mklbench.data.arrays import parse_splits
from mklbench.data.cache import keep_or_warn
from mklbench.data.dataset import Dataset, Split, View, content_digest, splits_digest
from mklbench.data.editions import in_edition, settle, verify_file
from mklbench.data.formats import parse_files
from mklbench.data.generate import generate
from mklbench.data.images import described
from mklbench.data.options import parse_config
from mklbench.data.parse import Table, shortened
from mklbench.data.schema import (
    DataConfig,
    Expected,
    FileConfig,
    GeneratedConfig,
    Layout,
    ViewConfig,
)
from mklbench.data.splits import absent_class
from mklbench.errors import DataError


def load(
    config: Mapping[str, Any],
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    mirror: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
) -> Dataset:
    """Load a data set and apply the choices of its configuration.

    Parameters
    ----------
    config : the content of one ``configs/data/NAME.yaml`` as a plain dict, overrides applied.
    cache_dir : directory of downloads; default as `mklbench.data.sources.cache_directory`.
    mirror : directory or URL; default the environment variable MKLBENCH_MIRROR.
    timeout : seconds without a byte after which a download is given up; default the environment
        variable MKLBENCH_TIMEOUT, else 20.

    Raises
    ------
    InputError
        The configuration has a mistake, or the mirror does not exist.
    DataError
        The data cannot be had, read or verified; the message lists what was tried.
    """
    parsed = parse_config(settle(config, cache_dir=cache_dir, mirror=mirror))
    if isinstance(parsed, GeneratedConfig):
        return with_choices(from_generator(parsed), parsed)
    edition = in_edition(parsed, parsed.edition)
    found = find(edition, cache_dir=cache_dir, mirror=mirror, timeout=timeout)
    place = found.place
    if place.remote:
        for content, path in zip(found.contents, place.cache_paths, strict=True):
            keep_or_warn(content, path)
    source = "embedded" if place.kind == "embedded" else place.location
    dataset = replace(found.accepted, source=source)
    if place.layout.format == "images":
        dataset = described(dataset, found.contents[0], sources.folder(edition, cache_dir))
    if parsed.splits_file is not None:
        splits = parse_splits(parsed.splits_file, len(dataset.y))
        dataset = replace(dataset, splits=splits)
    return with_choices(dataset, parsed)


def find(
    config: FileConfig,
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    mirror: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
) -> sources.Found[Dataset]:
    """Find verified content; the arguments and the errors are those of `load`."""
    return sources.resolve(
        config,
        lambda contents, layout, place: from_bytes(config, contents, layout, place),
        cache_dir=cache_dir,
        mirror=mirror,
        timeout=timeout,
    )


def from_generator(config: GeneratedConfig) -> Dataset:
    """Draw a generated set, before the choices of its configuration."""
    X, drawn = generate(config.generator, config.n_samples, config.seed)
    is_real = np.issubdtype(drawn.dtype, np.floating)
    y: NDArray[np.int64] = np.zeros(len(drawn), np.int64) if is_real else drawn.astype(np.int64)
    return Dataset(
        name=config.name,
        X=X,
        y=y,
        classes=() if is_real else ("-1", "+1"),
        targets=drawn.astype(np.float64) if is_real else None,
        feature_names=tuple(f"x{i + 1}" for i in range(X.shape[1])),
        digest=content_digest(X, drawn),
        notes=(f"generated with seed {config.seed}",),
        source="generated",
    )


def from_bytes(
    config: FileConfig, contents: Sequence[bytes], layout: Layout, place: str
) -> Dataset:
    """Parse and verify the content of files, before the choices of the configuration.

    Parameters
    ----------
    config : of the data set.
    contents : the bytes of each file.
    layout : how the files are read.
    place : where the files are, in messages.

    Raises
    ------
    DataError
        It cannot be parsed, has one class only or targets that are no numbers, or is not the
        expected content.
    """
    for content in contents:
        verify_file(content, config, place)
    table = _of_classes(parse_files(contents, layout, place), config.keep_classes, place)
    targets = _targets(table, layout, place) if config.task == "regression" else None
    classes = () if targets is not None else _classes(table, config.positive, layout, place)
    codes = {label: code for code, label in enumerate(classes)}
    y = np.array([codes.get(label, 0) for label in table.labels], dtype=np.int64)
    notes = []
    if table.dropped_rows:
        notes.append(f"{table.dropped_rows} rows with a missing value dropped")
    dataset = Dataset(
        name=config.name,
        X=table.X,
        y=y,
        classes=classes,
        feature_names=_feature_names(config, table),
        digest=table.digest or _digest(config, table.X, y if targets is None else targets),
        notes=tuple(notes),
        source=place,
        splits=_splits(config, table),
        views=_views(config, table, place),
        targets=targets,
    )
    if config.expected is not None:
        _verify(dataset, config.expected, place)
    _verify_splits(dataset, config, place)
    return dataset


def with_choices(dataset: Dataset, config: DataConfig) -> Dataset:
    """Apply what the configuration says of features: leave out some, append noise."""
    dataset = transforms.without_features(dataset, config.drop_features)
    dataset = transforms.most_frequent_features(dataset, config.n_features)
    constant = transforms.constant_features(dataset)
    if constant and config.drop_constant:
        dataset = transforms.without_features(dataset, constant)
    elif constant:
        note = f"constant features kept: {shortened(constant)}"
        dataset = replace(dataset, notes=(*dataset.notes, note))
    return transforms.with_noise_features(dataset, config.noise_features)


def _of_classes(table: Table, classes: Sequence[str], place: str) -> Table:
    """Keep the rows of some classes; splits of the file, which number all rows, are left out."""
    if not classes:
        return table
    for label in classes:
        if label not in table.labels:
            raise DataError(f"data.keep_classes={label} is not a label of {place}.")
    kept = [i for i, label in enumerate(table.labels) if label in classes]
    labels = tuple(table.labels[i] for i in kept)
    return replace(table, X=table.X[kept], labels=labels, splits=())


def _classes(table: Table, positive: str | None, layout: Layout, place: str) -> tuple[str, ...]:
    """The labels in the order of their codes: numbers by value, then texts; positive last."""
    classes = sorted(set(table.labels), key=_label_order)
    if len(classes) < 2:
        raise DataError(
            f"{place} has one class only, {classes[0]}, in data.label={layout.label}: two or more "
            f"are needed."
        )
    if len(classes) > max(2, len(table.labels) // 2):
        raise DataError(
            f"{place} has {len(classes)} different labels in {len(table.labels)} rows: is "
            f"data.label={layout.label} the column of the classes? For numbers to predict set "
            f"data.task=regression."
        )
    if positive is None:
        return tuple(classes)
    if positive not in classes:
        raise DataError(
            f"data.positive={positive} is not a label of {place}: it has {', '.join(classes[:10])}."
        )
    if len(classes) > 2:
        raise DataError(
            f"data.positive={positive} needs a set of two classes, and {place} has "
            f"{len(classes)}: set data.positive=null."
        )
    return (next(label for label in classes if label != positive), positive)


def _targets(table: Table, layout: Layout, place: str) -> NDArray[np.float64]:
    """The labels as numbers to predict; different ones, for else there is nothing to learn."""
    targets = np.empty(len(table.labels))
    for row, label in enumerate(table.labels):
        try:
            targets[row] = float(label)
        except ValueError:
            targets[row] = np.nan
        if not np.isfinite(targets[row]):
            raise DataError(
                f"{place} has the label {label} in data.label={layout.label}, which is no finite "
                f"number to predict: name another column, or set data.task=classification."
            )
    if np.ptp(targets) == 0:
        raise DataError(
            f"{place} has the number {table.labels[0]} in every row of data.label={layout.label}: "
            f"there is nothing to learn."
        )
    return targets


def _label_order(label: str) -> tuple[int, float, str]:
    try:
        number = float(label)
    except ValueError:
        number = float("nan")
    return (0, number, label) if np.isfinite(number) else (1, 0.0, label)


def _feature_names(config: FileConfig, table: Table) -> tuple[str, ...]:
    if not config.feature_names:
        return table.feature_names
    if len(config.feature_names) != table.X.shape[1]:
        raise DataError(
            f"data.feature_names lists {len(config.feature_names)} names for "
            f"{table.X.shape[1]} features: give one a feature."
        )
    return config.feature_names


def _splits(config: FileConfig, table: Table) -> tuple[Split, ...]:
    """The splits that the file holds, be it by the order of its rows."""
    sizes = config.splits
    if sizes is None or not sizes.in_order:
        return table.splits
    rows = np.arange(sizes.n_train + sizes.n_test)
    return ((rows[: sizes.n_train], rows[sizes.n_train :]),)


def _views(config: FileConfig, table: Table, place: str) -> tuple[View, ...]:
    """The views of a file with the names and distances of the configuration, or default ones."""
    sizes = table.view_sizes
    named = config.views or tuple(ViewConfig(f"view{i + 1}") for i in range(len(sizes)))
    if len(named) != len(sizes):
        raise DataError(
            f"data.views names {len(named)} views, and {place} has {len(sizes)}: name each of them."
        )
    stops = np.cumsum(sizes, dtype=np.int64).tolist()
    starts = [0, *stops]
    return tuple(
        View(view.name, start, stop, view.distance)
        for view, start, stop in zip(named, starts, stops, strict=False)
    )


def _verify(dataset: Dataset, expected: Expected, place: str) -> None:
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


def _digest(
    config: FileConfig, X: NDArray[np.float64], y: NDArray[np.int64] | NDArray[np.float64]
) -> str:
    """Digest of the content: that which is registered for the bytes of the file, or its own."""
    if config.sha256 is not None and config.expected is not None:
        return config.expected.digest
    return content_digest(X, y)


def _verify_splits(dataset: Dataset, config: FileConfig, place: str) -> None:
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
