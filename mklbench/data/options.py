"""From the plain dict of a data configuration to its dataclass, checked key by key.

Every mistake a user can make in it is an `InputError` that names the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Literal, cast, get_args

from mklbench.data import values
from mklbench.data.dataset import Distance
from mklbench.data.preprocessing import SCALINGS
from mklbench.data.schema import (
    DataConfig,
    Edition,
    Expected,
    FileConfig,
    FileFormat,
    GeneratedConfig,
    Layout,
    OfficialFile,
    PublishedSplits,
    Source,
    SourceKind,
    Task,
    ViewConfig,
)
from mklbench.errors import InputError, unknown

_COMMON_KEYS = {item.name for item in fields(DataConfig)}
_LAYOUT_KEYS = {item.name for item in fields(Layout)}
_GENERATED_KEYS = {item.name for item in fields(GeneratedConfig)}
_FILE_KEYS = (
    _COMMON_KEYS
    | _LAYOUT_KEYS
    | {"path", "sources", "positive", "feature_names", "expected", "keep_classes"}
    | {"official", "edition", "task", "views", "splits_file"}
)
_SPLITS_KEYS = {item.name for item in fields(PublishedSplits)}
_OFFICIAL_KEYS = {item.name for item in fields(OfficialFile)}
_EXPECTED_KEYS = {item.name for item in fields(Expected)}
_VIEW_KEYS = {item.name for item in fields(ViewConfig)}

# Bytes of a file: it takes up to 18 a number in the sets of this program, of whose classes one
# uses a part, and some for ids, splits and comments.
_MOST_PER_NUMBER = 64
_MOST_BESIDE = 1_000_000
# Rows of a generated set: of 20 and more numbers, as many as a file may hold.
_MOST_DRAWN = 5_000_000


def parse_config(config: Mapping[str, Any]) -> FileConfig | GeneratedConfig:
    """Check a plain data configuration and give it its types.

    Parameters
    ----------
    config : the content of ``configs/data/NAME.yaml``, overrides applied. A key ``generator`` makes
        it a generated set; otherwise ``sources`` or ``path`` say where its file is.

    Raises
    ------
    InputError
        An unknown key (with the nearest ones), a missing key, or a value of the wrong type.
    """
    if not isinstance(config, Mapping):
        raise InputError(f"data must be a mapping of options, not {type(config).__name__}.")
    generated = "generator" in config
    values.refuse_unknown("data", config, _GENERATED_KEYS if generated else _FILE_KEYS)
    common: dict[str, Any] = {
        "name": values.name(config),
        "title": values.text(config, "title", ""),
        "licence": values.text(config, "licence", ""),
        "citation": values.text(config, "citation", ""),
        "notes": values.texts(config, "notes"),
        "noise_features": values.integer(config, "noise_features", 0, least=0),
        "drop_constant": values.flag(config, "drop_constant", False),
        "drop_features": values.texts(config, "drop_features"),
        "n_features": values.optional_integer(config, "n_features", least=1),
        "splits": _splits(config),
    }
    if generated:
        return GeneratedConfig(
            **common,
            generator=values.text(config, "generator"),
            n_samples=values.integer(config, "n_samples", None, least=2, most=_MOST_DRAWN),
            seed=values.integer(config, "seed", 0, least=0),
        )
    expected, official = _expected(config), _official(config)
    layout = _with_limit(_layout(config, Layout()), expected)
    return FileConfig(
        **common,
        sources=_sources(config, layout),
        positive=values.optional_text(config, "positive"),
        feature_names=values.texts(config, "feature_names"),
        expected=expected,
        keep_classes=values.texts(config, "keep_classes"),
        official=official,
        edition=_edition(config, official),
        task=_task(config),
        views=tuple(_view(entry) for entry in values.sequence(config, "views")),
        splits_file=values.optional_text(config, "splits_file"),
    )


def _sources(config: Mapping[str, Any], layout: Layout) -> tuple[Source, ...]:
    """Read the list of sources; a ``path`` of the user's own replaces it."""
    if "path" in config:
        if config["path"] in (None, ""):
            raise InputError(
                "data.path is not set: give the path of your file, as in data.path=mine.csv."
            )
        return (Source("path", (values.text(config, "path"),), layout),)
    entries = config.get("sources")
    if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
        raise InputError(
            f"data.sources={entries!r} must be a list with at least one mirror, url or embedded."
        )
    sources = tuple(_source(entry, layout) for entry in entries)
    layouts: dict[tuple[str, ...], Layout] = {}
    for source in sources:
        downloaded = source.kind in ("mirror", "url")
        # They share one file of the cache, which must not depend on who filled it.
        if downloaded and layouts.setdefault(source.basenames, source.layout) != source.layout:
            raise InputError(
                f"data.sources lists {' and '.join(source.basenames)} with two layouts: rename "
                f"one of the files, or describe both by one layout."
            )
    return sources


def _source(entry: Any, layout: Layout) -> Source:
    kinds = get_args(SourceKind)
    if not isinstance(entry, Mapping):
        raise InputError(
            f"data.sources holds {entry!r} where it needs 'mirror: ...' or 'url: ...'."
        )
    values.refuse_unknown("data.sources", entry, set(kinds) | _LAYOUT_KEYS)
    stated = [kind for kind in kinds if kind in entry]
    if len(stated) != 1:
        raise InputError(
            f"data.sources holds an entry with {len(stated)} places: name exactly one of "
            f"{', '.join(kinds)}."
        )
    kind = stated[0]
    several = isinstance(entry[kind], Sequence) and not isinstance(entry[kind], str)
    locations = values.texts(entry, kind) if several else (values.text(entry, kind),)
    if not locations:
        raise InputError(f"data.sources holds an empty list of files: name the files of {kind}.")
    source = Source(kind, locations, _layout(entry, layout))
    if len(locations) > 1 and source.layout.format in ("npz", "mat", "images"):
        raise InputError(
            f"data.format={source.layout.format} is read from one file, and data.sources lists "
            f"{', '.join(locations)}: give a list with one of them."
        )
    return source


def _layout(config: Mapping[str, Any], default: Layout) -> Layout:
    """Apply the layout keys of `config` to `default`."""
    layout = replace(
        default,
        format=_format(config, default.format),
        inputs=values.text(config, "inputs", default.inputs),
        struct=values.optional_text(config, "struct") or default.struct,
        delimiter=_delimiter(config, default.delimiter),
        skip_lines=values.integer(config, "skip_lines", default.skip_lines, least=0),
        zero_based=values.flag(config, "zero_based", default.zero_based),
        header=_header(config, default.header),
        per_class=values.integer(config, "per_class", default.per_class, least=1),
        max_bytes=_max_bytes(config, default.max_bytes),
    )
    one_character = len(layout.delimiter) == 1 and layout.delimiter not in '"\r\n'
    if not one_character and layout.delimiter != "whitespace":
        raise InputError(
            f"data.delimiter={layout.delimiter!r} must be one character, not a quote, or "
            f"'whitespace': what the shell or Hydra would take for its own is quoted twice, as in "
            f"'data.delimiter=\";\"'."
        )
    if "label" in config:
        layout = replace(layout, label=values.column(config["label"], "label"))
    if "id_columns" in config:
        columns = values.sequence(config, "id_columns")
        layout = replace(layout, id_columns=tuple(values.column(c, "id_columns") for c in columns))
    if "missing" in config:
        layout = replace(layout, missing=values.optional_text(config, "missing"))
    if "label_names" in config:
        layout = replace(layout, label_names=_label_names(config["label_names"]))
    return layout


def _delimiter(config: Mapping[str, Any], default: str) -> str:
    """The delimiter; a tab may be written as it is elsewhere, for no shell takes it easily."""
    stated = values.text(config, "delimiter", default)
    return "\t" if stated in ("\\t", "tab") else stated


def _max_bytes(config: Mapping[str, Any], default: int | None) -> int | None:
    stated = values.optional_integer(config, "max_bytes", least=1)
    return default if stated is None else stated


def _with_limit(layout: Layout, expected: Expected | None) -> Layout:
    """The layout with the most bytes that a file of so many numbers can sensibly hold."""
    if layout.max_bytes is not None or expected is None or layout.format == "images":
        return layout
    n_rows = expected.n_samples + expected.dropped_rows
    n_bytes = _MOST_BESIDE + _MOST_PER_NUMBER * n_rows * (expected.n_features + 1)
    return replace(layout, max_bytes=n_bytes)


def _format(config: Mapping[str, Any], default: FileFormat) -> FileFormat:
    value = config.get("format", default)
    if value not in get_args(FileFormat):
        raise unknown("data.format", value, get_args(FileFormat))
    return cast(FileFormat, value)


def _header(config: Mapping[str, Any], default: bool | Literal["auto"]) -> bool | Literal["auto"]:
    value = config.get("header", default)
    if isinstance(value, bool) or value == "auto":
        return value
    raise InputError(f"data.header={value!r} must be true, false or auto.")


def _label_names(value: Any) -> Mapping[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InputError(f"data.label_names={value!r} must map labels of the file to labels.")
    return {str(label): str(name) for label, name in value.items()}


def _expected(config: Mapping[str, Any]) -> Expected | None:
    value = config.get("expected")
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InputError(f"data.expected={value!r} must be a mapping with n_samples, digest, ....")
    values.refuse_unknown("data.expected", value, _EXPECTED_KEYS)
    classes = value.get("classes")
    if not isinstance(classes, Mapping):
        raise InputError(f"data.expected.classes={classes!r} must map each label to its count.")
    counts = {str(label): values.integer(classes, label, None, least=1) for label in classes}
    return Expected(
        n_samples=values.integer(value, "n_samples", None, least=1),
        n_features=values.integer(value, "n_features", None, least=1),
        classes=counts,
        digest=values.text(value, "digest"),
        dropped_rows=values.integer(value, "dropped_rows", 0, least=0),
        constant_features=values.texts(value, "constant_features"),
        splits_digest=values.optional_text(value, "splits_digest"),
    )


def _official(config: Mapping[str, Any]) -> OfficialFile | None:
    value = config.get("official")
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InputError(f"data.official={value!r} must be a mapping with mirror, url, ....")
    values.refuse_unknown("data.official", value, _OFFICIAL_KEYS)
    return OfficialFile(**{name: values.text(value, name) for name in _OFFICIAL_KEYS})


def _edition(config: Mapping[str, Any], official: OfficialFile | None) -> Edition:
    value = config.get("edition", "pooled")
    if value not in get_args(Edition):
        raise unknown("data.edition", value, get_args(Edition))
    if value != "pooled" and official is None:
        raise InputError(
            f"data.edition={value} needs a set that has official splits: leave it out."
        )
    return cast(Edition, value)


def _task(config: Mapping[str, Any]) -> Task:
    value = config.get("task", "classification")
    if value not in get_args(Task):
        raise unknown("data.task", value, get_args(Task))
    for option in ("positive", "keep_classes", "label_names") if value == "regression" else ():
        if config.get(option):
            raise InputError(
                f"data.{option}={config[option]} is of classes, and data.task=regression has none: "
                f"leave one of the two out."
            )
    return cast(Task, value)


def _splits(config: Mapping[str, Any]) -> PublishedSplits | None:
    value = config.get("splits")
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InputError(f"data.splits={value!r} must be a mapping with n_train, n_test, ....")
    values.refuse_unknown("data.splits", value, _SPLITS_KEYS)
    return PublishedSplits(
        n_train=values.integer(value, "n_train", None, least=1),
        n_test=values.integer(value, "n_test", None, least=1),
        n_splits=values.integer(value, "n_splits", None, least=1),
        stratified=values.flag(value, "stratified", False),
        scaling=_scaling(value),
        in_order=values.flag(value, "in_order", False),
    )


def _scaling(splits: Mapping[str, Any]) -> str:
    scaling = values.text(splits, "scaling", "standard")
    if scaling not in SCALINGS:
        raise unknown("data.splits.scaling", scaling, SCALINGS)
    return scaling


def _view(entry: Any) -> ViewConfig:
    if not isinstance(entry, Mapping):
        raise InputError(f"data.views holds {entry!r} where it needs name and distance of a view.")
    values.refuse_unknown("data.views", entry, _VIEW_KEYS)
    distance = entry.get("distance", "euclidean")
    if distance not in get_args(Distance):
        raise unknown("data.views.distance", distance, get_args(Distance))
    return ViewConfig(values.text(entry, "name"), cast(Distance, distance))
