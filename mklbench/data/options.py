"""From the plain dict of a data configuration to its dataclass, checked key by key.

Every mistake a user can make in it is an `InputError` that names the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, get_args

from mklbench.data.cache import is_http
from mklbench.data.schema import (
    DATA,
    DataWhere,
    Edition,
    FileConfig,
    GeneratedConfig,
    Layout,
    Source,
    SourceKind,
    Task,
)
from mklbench.errors import InputError
from mklbench.reader import Made, read, refuse_unknown, value

# What is no option of a file, but follows from where it is.
_DERIVED = ("own", "task")
_LAYOUT_KEYS = tuple(item.name for item in fields(Layout) if item.name not in _DERIVED)


def parse_config(config: Mapping[str, Any]) -> FileConfig | GeneratedConfig:
    """Check a plain data configuration and give it its types.

    Parameters
    ----------
    config : mapping of str to object
        The content of ``configs/data/NAME.yaml``, overrides applied. A key ``generator`` makes
        it a generated set; otherwise ``sources`` or ``path`` say where its file is.

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
            "sources": Made(_sources, ("path", "sources", *_LAYOUT_KEYS)),
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
    layout = _layout(config, Layout())
    if config.get("path"):
        task = config.get("task", "classification")
        layout = replace(layout, own=True, task=value(Task, task, where / "task"))
    if "path" in config:
        if config["path"] in (None, "", "-", []):
            raise InputError(
                "data.path is not set: give the path of your file, as in data.path=mine.csv."
            )
        paths = _paths(config["path"], where / "path")
        if address := next((one for one in paths if is_http(one)), None):
            raise InputError(
                f"data.path={address} is an address: download it, and give the path of the file."
            )
        return (Source("path", paths, layout),)
    entries = config.get("sources")
    if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
        raise InputError(
            f"data.sources={entries!r} must be a list with at least one mirror, url or embedded."
        )
    return tuple(_source(entry, layout, where / "sources") for entry in entries)


def _source(entry: Any, layout: Layout, where: DataWhere) -> Source:
    kinds = get_args(SourceKind)
    refuse_unknown(where.mapping(entry), (*kinds, *_LAYOUT_KEYS), where)
    stated = [kind for kind in kinds if kind in entry]
    if len(stated) != 1:
        raise InputError(
            f"data.sources holds an entry with {len(stated)} places: name exactly one of "
            f"{', '.join(kinds)}."
        )
    return Source(stated[0], _paths(entry[stated[0]], where), _layout(entry, layout))


def _paths(found: Any, where: DataWhere) -> tuple[str, ...]:
    """Read one path or address, or a list of them."""
    is_list = isinstance(found, Sequence) and not isinstance(found, str)
    return value(tuple[str, ...], found, where) if is_list else (value(str, found, where),)


def _layout(config: Mapping[str, Any], default: Layout) -> Layout:
    """Apply the layout keys of `config` to `default`; null leaves some of them as they are."""
    stated = {key: config[key] for key in _LAYOUT_KEYS if key in config}
    if stated.get("struct") in (None, ""):
        stated.pop("struct", None)
    return read(Layout, stated, DATA, defaults=vars(default))


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
