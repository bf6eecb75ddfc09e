"""From the plain dict of a data configuration to its dataclass, checked key by key.

Every mistake a user can make in it is an `InputError` that names the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, get_args

from mklbench.data.schema import (
    Edition,
    Expected,
    FileConfig,
    GeneratedConfig,
    Layout,
    Source,
    SourceKind,
    Task,
)
from mklbench.data.values import DATA, DataWhere, Whole
from mklbench.errors import InputError
from mklbench.reader import Made, read, refuse_unknown, value

_LAYOUT_KEYS = tuple(item.name for item in fields(Layout))

_OPENML = "https://www.openml.org/d"  # and the number of a data set

# Bytes of a file: it takes up to 18 a number in the sets of this program, of whose classes one
# uses a part, and some for ids, splits and comments.
_MOST_PER_NUMBER = 64
_MOST_BESIDE = 1_000_000


def parse_config(config: Mapping[str, Any]) -> FileConfig | GeneratedConfig:
    """Check a plain data configuration and give it its types.

    Parameters
    ----------
    config : mapping of str to object
        The content of ``configs/data/NAME.yaml``, overrides applied. A key ``generator`` makes
        it a generated set; otherwise ``sources``, ``path`` or ``id``
        (of OpenML) say where its file is.

    Raises
    ------
    InputError
        An unknown key (with the nearest ones), a missing key, or a value of the wrong type.
    """
    if "generator" in DATA.mapping(config):
        return read(GeneratedConfig, config, DATA)
    return read(
        FileConfig,
        config,
        DATA,
        made={
            "sources": Made(_sources, ("path", "id", "sources", *_LAYOUT_KEYS)),
            "edition": Made(_edition, ("edition",)),
            "task": Made(_task, ("task",)),
            "folder": Made(),
            "sha256": Made(),
        },
    )


def _sources(
    config: Mapping[str, Any], where: DataWhere, before: Mapping[str, Any]
) -> tuple[Source, ...]:
    """Read the list of sources; a ``path`` of the user's own replaces it."""
    layout = _with_limit(_layout(config, Layout()), before.get("expected"))
    if "path" in config:
        if config["path"] in (None, ""):
            raise InputError(
                "data.path is not set: give the path of your file, as in data.path=mine.csv."
            )
        return (Source("path", (value(str, config["path"], where / "path"),), layout),)
    if "id" in config:
        if config["id"] in (None, ""):
            raise InputError("data.id is not set: give the number of OpenML, as in data.id=61.")
        number = Whole(1)(config["id"], where / "id")
        return (Source("url", (f"{_OPENML}/{number}",), replace(layout, format="openml")),)
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
    refuse_unknown(entry, (*kinds, *_LAYOUT_KEYS), DATA / "sources")
    stated = [kind for kind in kinds if kind in entry]
    if len(stated) != 1:
        raise InputError(
            f"data.sources holds an entry with {len(stated)} places: name exactly one of "
            f"{', '.join(kinds)}."
        )
    kind = stated[0]
    several = isinstance(entry[kind], Sequence) and not isinstance(entry[kind], str)
    found = value(tuple[str, ...] if several else str, entry[kind], DATA / kind)
    locations = found if several else (found,)
    if not locations:
        raise InputError(f"data.sources holds an empty list of files: name the files of {kind}.")
    source = Source(kind, locations, _layout(entry, layout))
    if len(locations) > 1 and source.layout.format not in ("auto", "text", "svmlight"):
        raise InputError(
            f"data.format={source.layout.format} is read from one file, and data.sources lists "
            f"{', '.join(locations)}: give a list with one of them."
        )
    return source


def _layout(config: Mapping[str, Any], default: Layout) -> Layout:
    """Apply the layout keys of `config` to `default`; null leaves some of them as they are."""
    stated = {key: config[key] for key in _LAYOUT_KEYS if key in config}
    for key, empty in (("struct", (None, "")), ("max_bytes", (None,))):
        if stated.get(key) in empty:
            stated.pop(key, None)
    return read(Layout, stated, DATA, defaults=vars(default))


def _with_limit(layout: Layout, expected: Expected | None) -> Layout:
    """The layout with the most bytes that a file of so many numbers can sensibly hold."""
    if layout.max_bytes is not None or expected is None or layout.format == "images":
        return layout
    n_rows = expected.n_samples + expected.dropped_rows
    n_bytes = _MOST_BESIDE + _MOST_PER_NUMBER * n_rows * (expected.n_features + 1)
    return replace(layout, max_bytes=n_bytes)


def _edition(config: Mapping[str, Any], where: DataWhere, before: Mapping[str, Any]) -> Any:
    edition = value(Edition, config.get("edition", "pooled"), where / "edition")
    if edition != "pooled" and before.get("official") is None:
        raise InputError(
            f"data.edition={edition} needs a set that has official splits: leave it out."
        )
    return edition


def _task(config: Mapping[str, Any], where: DataWhere, before: Mapping[str, Any]) -> Any:
    task = value(Task, config.get("task", "classification"), where / "task")
    for option in ("positive", "keep_classes", "label_names") if task == "regression" else ():
        if config.get(option):
            raise InputError(
                f"data.{option}={config[option]} is of classes, and data.task=regression has none: "
                f"leave one of the two out."
            )
    return task
