"""`load`: from a data configuration to a verified `Dataset`."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data import preprocessing, sources
from mklbench.data.arrays import parse_mat, parse_npy, parse_npz, parse_svmlight
from mklbench.data.dataset import Dataset, View, content_digest, splits_digest, text_digest
from mklbench.data.files import keep_or_warn, unpack
from mklbench.data.generate import generate
from mklbench.data.images import described, parse_images
from mklbench.data.numbers import decimal_of, numbers_of, plain_number
from mklbench.data.own import UNNAMED, Body, Table, missing_in
from mklbench.data.schema import (
    DataConfig,
    Expected,
    FileConfig,
    GeneratedConfig,
    Layout,
    ViewConfig,
    parse_config,
)
from mklbench.data.splits import absent_class
from mklbench.data.tables import (
    Cells,
    detected,
    read_arff,
    read_excel,
    read_parquet,
    read_text,
    shortened,
    text_of,
    transposed,
)
from mklbench.errors import DataError, missing


def load(config: Mapping[str, Any]) -> Dataset:
    """Load a data set and apply the choices of its configuration.

    What a server sends is kept in the cache. Where a set is looked for is said by the environment
    variables MKLBENCH_CACHE, MKLBENCH_MIRROR and MKLBENCH_TIMEOUT (`mklbench.data.files`).

    Parameters
    ----------
    config : mapping of str to object
        The content of one ``configs/data/NAME.yaml`` as a plain dict, overrides applied.

    Raises
    ------
    InputError
        The configuration has a mistake, or the mirror does not exist.
    DataError
        The data cannot be had, read or verified; the message lists what was tried.
    """
    parsed = parse_config(sources.settle(config))
    if isinstance(parsed, GeneratedConfig):
        return with_choices(from_generator(parsed), parsed)
    edition = sources.in_edition(parsed, parsed.edition)
    place, contents, dataset = sources.resolve(edition, partial(from_bytes, edition))
    if place.remote:
        for content, path in zip(contents, place.cache_paths, strict=True):
            keep_or_warn(content, path)
    source = "embedded" if place.kind == "embedded" else place.location
    dataset = replace(dataset, source=source)
    if place.layout.format == "images":
        dataset = described(dataset, contents[0], sources.folder(edition))
    chosen = with_choices(dataset, parsed)
    if not chosen.understood:
        return chosen
    label, features, rows = chosen.understood
    features = "; ".join([features, *chosen.notes[len(dataset.notes) :]])
    return replace(chosen, understood=(label, features, rows))


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


# So many classes may be numbers of any kind.
_MOST_NUMBERED = 10
# Of the first columns of a file one names the samples.
_FIRST_COLUMNS = 10
_ONE_FILE = {"npz": parse_npz, "npy": parse_npy, "mat": parse_mat, "images": parse_images}
_TABLES = {"text": read_text, "parquet": read_parquet, "xlsx": read_excel, "arff": read_arff}


def parse_files(
    contents: Sequence[bytes], layout: Layout, place: str, names: Sequence[str] = ()
) -> Table:
    """Parse the files of a data set.

    The rows of those of the catalogue are taken one after the other; those of the user's own are
    joined by the names of their samples, and are a view each.

    Parameters
    ----------
    contents : sequence of bytes
        The bytes of each file; a format of named arrays is one file.
    layout : Layout
        How they are read.
    place : str
        Where they are, in messages.
    names : sequence of str, optional
        Of the views.

    Raises
    ------
    DataError
        A file cannot be parsed, or the files do not have the same number of features.
    """
    contents = [unpack(content, place) for content in contents]
    if layout.format == "text" and not layout.own:  # parts of one table
        contents = [b"\n".join(contents)]
    formats = [detected(c) if layout.format == "auto" else layout.format for c in contents]
    if formats[0] == "svmlight":
        return parse_svmlight(contents, layout, place)
    if formats[0] in _ONE_FILE and len(contents) == 1:
        return _ONE_FILE[formats[0]](contents[0], layout, place)
    cells = []
    for k, (content, kind) in enumerate(zip(contents, formats, strict=True)):
        one = f"{place}, file {k + 1}" if len(contents) > 1 else place
        package = {"parquet": "pyarrow", "xlsx": "openpyxl"}.get(kind)
        if package and (asked := missing("files", one, package)):
            raise DataError(asked)
        if kind not in _TABLES:
            raise DataError(
                f"{one} is of the format {kind}, and files that are joined are tables with names: "
                "save it as text, .xlsx or parquet."
            )
        read = _TABLES[kind](content, layout, one)
        turned = isinstance(layout.transpose, tuple) and names[k] in layout.transpose
        cells.append(transposed(read) if turned or layout.transpose is True else read)
    if len(cells) == 1:
        return Body(cells[0], layout, place).table()
    return joined_table(cells, names, layout, place)


def joined_table(files: Sequence[Cells], names: Sequence[str], layout: Layout, place: str) -> Table:
    """Return the table of the samples that several files have, by name; a view a file.

    Parameters
    ----------
    files : sequence of Cells
        The cells of each.
    names : sequence of str
        What the views are called.
    layout : Layout
        What the columns are; the names of their columns are those of all files.
    place : str
        The files in messages.

    Raises
    ------
    DataError
        A file does not name its samples, or names one twice, or they share none.
    """
    if str(layout.label).lower() == "last":
        raise DataError(
            f"{place} are several files: set data.label to the name of the column of the labels."
        )
    bodies = [Body(cells, layout, f"{place}, file {k}") for k, cells in enumerate(files, 1)]
    keys = _keys(bodies, place)
    rows = [
        {text_of(cell): row for row, cell in enumerate(body.columns[key])}
        for body, key in zip(bodies, keys, strict=True)
    ]
    shared = [name for name in rows[0] if all(name in of for of in rows[1:])]
    columns: dict[str, NDArray[Any]] = {}
    bounds = [0]
    for body, key, at, view in zip(bodies, keys, rows, names, strict=True):
        for called, found in _columns(body, key, view).items():
            name, cells = called, found[[at[sample] for sample in shared]]
            if name in columns:
                odd = np.flatnonzero(columns[name].astype(str) != cells.astype(str))
                if not odd.size:
                    continue  # such as the label in each of the files
                if name in (str(layout.label), str(layout.groups)):
                    raise DataError(
                        f"{place} have a column {name} each, which differ for sample "
                        f"{shared[odd[0]]}: leave it in one of the files."
                    )
                name = f"{view}: {name}"
            columns[name] = cells
        bounds.append(len(columns))
    index = {"samples": np.array(shared, dtype=object)}
    table = Body(Cells(list(columns.values()), list(columns), index), layout, place).table()
    n_others = len(set().union(*rows)) - len(shared)
    dropped = (f"{n_others} not in every file",) if n_others else ()
    return replace(
        table.in_views(bounds, names),
        dropped_rows=table.dropped_rows + n_others,
        dropped=dropped + table.dropped,
    )


def _keys(bodies: Sequence[Body], place: str) -> list[int]:
    """Return the column of each file that names its samples: the first, or one of the same name.

    Of several ways the one is taken in which the files share the most samples.
    """
    options = [[body.n_own if len(body.columns) > body.n_own else 0 for body in bodies]]
    headers = [body.header or [] for body in bodies]
    for name in headers[0][:_FIRST_COLUMNS]:
        if all(header.count(name) == 1 for header in headers):
            options.append([header.index(name) for header in headers])

    def shared(option: Sequence[int]) -> int:
        names = [_names(body, column) for body, column in zip(bodies, option, strict=True)]
        return len(set.intersection(*names))

    keys = max(options, key=shared)
    if not shared(keys):
        raise DataError(
            f"{place} share no name of a sample: the first column, or one that has the same name "
            "in all files, has to name each sample once, and alike in all of them; "
            "data.transpose=[...] names files with samples in columns."
        )
    # An index without a name is called "index" in what is read of a parquet file.
    called = {h[key] if h else "" for h, key in zip(headers, keys, strict=True)}
    unnamed = any(name == "index" or UNNAMED.fullmatch(name) for name in called)
    if (unnamed or len(called) > 1) and all(map(str.isdigit, _names(bodies[0], keys[0]))):
        raise DataError(
            f"{place} would be joined by the numbers in "
            f"{' and '.join(b.describe(c) for b, c in zip(bodies, keys, strict=True))}, which may "
            "agree by chance: give the columns that name the samples the same name in all files."
        )
    return keys


def _names(body: Body, column: int) -> set[str]:
    """Return the names that a column has for the samples; none where it cannot name them."""
    names = [text_of(value) for value in body.columns[column]]
    measured = any(plain_number(name) is not None and not name.isdigit() for name in names)
    found = set(names)
    return set() if measured or "" in found or len(found) < len(names) else found


def _columns(body: Body, key: int, view: str) -> dict[str, NDArray[Any]]:
    """Return the columns of a file by name, without its key; numbers with commas as such."""
    layout, found = body.layout, {}
    columns = [(body.describe(c), body.columns[c]) for c in range(body.n_own)]
    decimal = decimal_of(columns, layout.decimal, body.place)
    for column, (called, cells) in enumerate(columns):
        if cells.dtype == object and decimal == "comma":
            numbers = numbers_of(cells, decimal)
            cells = cells if np.isnan(numbers[~missing_in(cells, layout)]).any() else numbers
        name = body.header[column] if body.header else f"{view}{column + 1}"
        if column != key:
            found[called if name in found else name] = cells
    return found


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
        found = hashlib.sha256(content).hexdigest()
        if config.sha256 not in (None, found):
            raise DataError(f"{place} is not the published file: its SHA-256 is {found}.")
    stems = [Path(location).stem for location in config.sources[0].locations]
    names = [f"{n}_{k}" if stems.count(n) > 1 else n for k, n in enumerate(stems, 1)]
    table = parse_files(contents, layout, place, names)
    targets = targets_of(table, layout, place) if config.task == "regression" else None
    classes = () if targets is not None else classes_of(table, config.positive, layout, place)
    codes = {label: code for code, label in enumerate(classes)}
    y = np.array([codes.get(label, 0) for label in table.labels], dtype=np.int64)
    n_dropped = table.dropped_rows
    notes = (f"{n_dropped} rows with a missing value dropped",) if n_dropped else ()
    digest = table.digest
    if digest is None and config.sha256 is not None and config.expected is not None:
        digest = config.expected.digest  # registered for the bytes of the file
    digest = digest or content_digest(table.X, y if targets is None else targets)
    groups = None
    if table.groups is not None:
        groups = np.unique(table.groups, return_inverse=True)[1].astype(np.int64)
        digest = text_digest(digest, "groups", *map(str, groups))
    if layout.impute is not None and np.isnan(table.X).any():
        digest = text_digest(digest, "impute", layout.impute)
    feature_names = config.feature_names or table.feature_names
    if len(feature_names) != table.X.shape[1]:
        raise DataError(
            f"data.feature_names lists {len(feature_names)} names for {table.X.shape[1]} features: "
            "give one a feature."
        )
    sizes, splits = config.splits, table.splits
    if sizes is not None and sizes.in_order:
        rows = np.arange(sizes.n_train + sizes.n_test)
        splits = ((rows[: sizes.n_train], rows[sizes.n_train :]),)
    dataset = Dataset(
        name=config.name,
        X=table.X,
        y=y,
        classes=classes,
        feature_names=feature_names,
        digest=digest,
        notes=(*table.notes, *notes),
        source=place,
        splits=splits,
        views=_views(config, table),
        targets=targets,
        dropped_rows=n_dropped,
        groups=groups,
        impute=layout.impute,
        sample_names=table.sample_names,
        rows=table.rows,
    )
    if layout.own:
        dataset = replace(dataset, understood=_understood(dataset, table))
    if config.expected is not None:
        _verify(dataset, config.expected, place)
    for index, (train, test) in enumerate(splits):
        if absent := absent_class(y, train, test):
            raise DataError(f"{place}, split {index} leaves {absent}.")
    return dataset


def classes_of(table: Table, positive: str | None, layout: Layout, place: str) -> tuple[str, ...]:
    """The labels in the order of their codes: numbers by value, then texts; positive last.

    Raises
    ------
    DataError
        There is one class only or a class for almost every row, or `positive` is none of two.
    """
    counts, column = Counter(table.labels), f"data.label={layout.label}"
    classes = sorted(counts)
    points = np.array([label.replace(",", ".", 1) for label in classes], dtype=object)
    numbers = dict(zip(classes, numbers_of(points), strict=True))
    classes.sort(key=lambda label: (not np.isfinite(numbers[label]), np.nan_to_num(numbers[label])))
    if len(classes) < 2:
        raise DataError(
            f"{place} has one class only, {classes[0]}, in {column}: two or more are needed."
        )
    values = np.array(list(numbers.values()))
    are_real = len(classes) > _MOST_NUMBERED and bool(np.isfinite(values).all())
    are_real &= bool((values != np.round(values)).any()) or min(counts.values()) == 1
    if are_real or len(classes) > max(2, len(table.labels) // 2):
        raise DataError(
            f"{place} has {len(classes)} different labels in {len(table.labels)} rows: is {column} "
            "the column of the classes? For numbers to predict set data.task=regression."
        )
    if positive is None:
        return tuple(classes)
    if positive not in classes or len(classes) > 2:
        raise DataError(
            f"data.positive={positive} is none of two classes of {place}, which has "
            f"{', '.join(classes[:10])}: correct it, or set data.positive=null."
        )
    return (next(label for label in classes if label != positive), positive)


def targets_of(table: Table, layout: Layout, place: str) -> NDArray[np.float64]:
    """The labels as numbers (n,) to predict; different ones, for else there is nothing to learn.

    Raises
    ------
    DataError
        A label is no finite number, or all are the same.
    """
    targets = numbers_of(np.array(table.labels, dtype=object))
    odd = np.flatnonzero(~np.isfinite(targets))
    if odd.size or np.ptp(targets) == 0:
        found = f"label {table.labels[odd[0]]}" if odd.size else f"number {targets[0]:g} alone"
        raise DataError(
            f"{place} has the {found} in data.label={layout.label}, where different finite numbers "
            "to predict are needed: name another column, or set data.task=classification."
        )
    return targets


def with_choices(dataset: Dataset, config: DataConfig) -> Dataset:
    """Apply what the configuration says of features: leave out some, scale them, append noise."""
    dataset = preprocessing.without_features(dataset, config.drop_features)
    dataset = preprocessing.most_frequent_features(dataset, config.n_features)
    if config.drop_constant:
        constant = preprocessing.constant_features(dataset)
        dataset = preprocessing.without_features(dataset, constant)
    dataset = preprocessing.scaled(dataset, config.scaling)
    dataset = preprocessing.with_noise_features(dataset, config.noise_features)
    return preprocessing.with_more_views(dataset, config.more_views)


def _views(config: FileConfig, table: Table) -> tuple[View, ...]:
    """The views of a file with the names and distances of the configuration, or default ones."""
    sizes = table.view_sizes
    names = table.view_names or tuple(f"view{i + 1}" for i in range(len(sizes)))
    named = config.views or tuple(map(ViewConfig, names))
    bounds = pairwise(np.cumsum([0, *sizes], dtype=np.int64).tolist())
    return tuple(
        View(view.name, start, stop, view.distance)
        for view, (start, stop) in zip(named, bounds, strict=True)
    )


def _understood(dataset: Dataset, table: Table) -> tuple[str, str, str]:
    """Say in three lines what was read: the label, the features, the rows."""
    if dataset.targets is not None:
        found = f"a target from {dataset.targets.min():g} to {dataset.targets.max():g}"
    else:
        counts = [f"{name}: {count}" for name, count in dataset.class_counts.items()]
        found = f"{len(counts)} classes, {shortened(counts, 12)}"
    names = dataset.feature_names
    features = [f"{len(names)} ({shortened(names, 6)})" if names else "0"]
    if dataset.views:
        sizes = [f"{view.name}: {view.stop - view.start}" for view in dataset.views]
        features[0] += f" in {len(sizes)} views, {shortened(sizes)}"
    if n_missing := int(np.isnan(dataset.X).sum()):
        features[0] += (
            f", {n_missing} missing values become the {dataset.impute} of the training part"
        )
    features += table.notes
    features += [f"left out: {shortened(table.left_out)}"] if table.left_out else []
    rows = f"{len(dataset.y) + table.dropped_rows} read, {table.dropped_rows} dropped"
    rows += f" ({', '.join(table.dropped)})" if table.dropped else ""
    rows += f", {len(np.unique(dataset.groups))} groups" if dataset.groups is not None else ""
    return (
        f"label     {table.label}, {found}",
        f"features  {'; '.join(features)}",
        f"rows      {rows}",
    )


def _verify(dataset: Dataset, expected: Expected, place: str) -> None:
    """Compare with the published content: first what a reader can judge, then every number."""
    of_splits = None if expected.splits_digest is None else splits_digest(dataset.splits)
    for what, found, published in (
        ("rows and features", dataset.X.shape, (expected.n_samples, expected.n_features)),
        ("class counts", dataset.class_counts, dict(expected.classes)),
        ("content digest", dataset.digest, expected.digest),
        ("splits", of_splits, expected.splits_digest),
    ):
        if found != published:
            raise DataError(
                f"{place} has numbers that differ from the published ones: {what} {found} instead "
                f"of {published}."
            )
