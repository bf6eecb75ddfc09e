"""`load`: from a data configuration to a verified `Dataset`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data import sources, transforms
from mklbench.data.arrays import parse_splits
from mklbench.data.cache import keep_or_warn
from mklbench.data.dataset import Dataset, Split, View, content_digest
from mklbench.data.editions import in_edition, settle, verify_file
from mklbench.data.formats import parse_files
from mklbench.data.generate import generate
from mklbench.data.images import described
from mklbench.data.labels import classes_of, rows_of_classes, targets_of
from mklbench.data.limits import most_bytes
from mklbench.data.options import parse_config
from mklbench.data.schema import (
    DataConfig,
    FileConfig,
    GeneratedConfig,
    Layout,
    ViewConfig,
)
from mklbench.data.table import Table, shortened
from mklbench.data.verification import verify_content, verify_splits
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
    config : mapping of str to object
        The content of one ``configs/data/NAME.yaml`` as a plain dict, overrides applied.
    cache_dir : str, os.PathLike[str] or None, default=None
        Directory of downloads; default as `mklbench.data.sources.cache_directory`.
    mirror : str, os.PathLike[str] or None, default=None
        Directory or URL; default the environment variable MKLBENCH_MIRROR.
    timeout : float or None, default=None
        Seconds without a byte after which a download is given up; default the environment
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
    source = "embedded" if place.kind == "embedded" else place.location
    dataset = replace(found.accepted, source=source)
    if place.layout.format == "images":
        directory = sources.folder(edition, cache_dir)
        dataset = described(dataset, found.contents[0], directory, most_bytes(place.layout))
    if parsed.splits_file is not None:
        splits = parse_splits(parsed.splits_file, len(dataset.y))
        dataset = replace(dataset, splits=splits)
    return with_choices(dataset, parsed)


def find(
    config: FileConfig,
    *,
    keep: Callable[[bytes, Path], None] = keep_or_warn,
    cache_dir: str | os.PathLike[str] | None = None,
    mirror: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
) -> sources.Found[Dataset]:
    """Find verified content and keep what is downloaded; else as `load`."""
    return sources.resolve(
        config,
        lambda contents, layout, place: from_bytes(config, contents, layout, place),
        keep=keep,
        cache_dir=cache_dir,
        mirror=mirror,
        timeout=timeout,
    )


def from_generator(config: GeneratedConfig) -> Dataset:
    """Draw a generated set, before the choices of its configuration."""
    X, drawn = generate(config.generator, config.n_samples, config.seed, config.options)
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
    config : FileConfig
        Of the data set.
    contents : sequence of bytes
        The bytes of each file.
    layout : Layout
        How the files are read.
    place : str
        Where the files are, in messages.

    Raises
    ------
    DataError
        It cannot be parsed, has one class only or targets that are no numbers, or is not the
        expected content.
    """
    for content in contents:
        verify_file(content, config, place)
    table = rows_of_classes(parse_files(contents, layout, place), config.keep_classes, place)
    targets = targets_of(table, layout, place) if config.task == "regression" else None
    classes = () if targets is not None else classes_of(table, config.positive, layout, place)
    codes = {label: code for code, label in enumerate(classes)}
    y = np.array([codes.get(label, 0) for label in table.labels], dtype=np.int64)
    notes = list(table.notes)
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
        dropped_rows=table.dropped_rows,
    )
    if config.expected is not None:
        verify_content(dataset, config.expected, place)
    verify_splits(dataset, config, place)
    return dataset


def with_choices(dataset: Dataset, config: DataConfig) -> Dataset:
    """Apply what the configuration says of features: leave out some, scale them, append noise."""
    dataset = transforms.without_features(dataset, config.drop_features)
    dataset = transforms.most_frequent_features(dataset, config.n_features)
    constant = transforms.constant_features(dataset)
    if constant and config.drop_constant:
        dataset = transforms.without_features(dataset, constant)
    elif constant:
        note = f"constant features kept: {shortened(constant)}"
        dataset = replace(dataset, notes=(*dataset.notes, note))
    dataset = transforms.scaled(dataset, config.scaling)
    return transforms.with_noise_features(dataset, config.noise_features)


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


def _digest(
    config: FileConfig, X: NDArray[np.float64], y: NDArray[np.int64] | NDArray[np.float64]
) -> str:
    """Digest of the content: that which is registered for the bytes of the file, or its own."""
    if config.sha256 is not None and config.expected is not None:
        return config.expected.digest
    return content_digest(X, y)
