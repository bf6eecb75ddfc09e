"""What ``mklbench data list``, ``fetch`` and ``verify`` show: rows and results, nothing printed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from mklbench.data import sources
from mklbench.data.files import AbsentError, keep, read
from mklbench.data.images import descriptors_path
from mklbench.data.loading import from_bytes, from_generator
from mklbench.data.schema import FileConfig, GeneratedConfig, parse_config
from mklbench.data.tables import shortened
from mklbench.errors import DataError, InputError
from mklbench.resources import read_yaml

logger = logging.getLogger(__name__)

# Of more classes than this the list shows the first ones only.
_MOST_CLASSES = 4


@dataclass(frozen=True)
class Verified:
    """What `verify` found at one place.

    Attributes
    ----------
    name : str
        Of the data set, and its edition where that is the official one.
    place : str
        "embedded", "cache", "mirror", "path" or "generated".
    status : {"ok", "absent", "damaged"}
        "ok"; "absent", or not to be read, as from a server that does not answer; or "damaged":
        read, and not the published content.
    detail : str
        The content digest of what is ok, else the reason in a few words.
    """

    name: str
    place: str
    status: Literal["ok", "absent", "damaged"]
    detail: str


def read_files(paths: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Read data configurations, as plain dicts by the names of their files.

    Raises
    ------
    InputError
        A file is not a YAML mapping.
    """
    configs: dict[str, dict[str, Any]] = {}
    for path in paths:
        config = read_yaml(path)
        if not isinstance(config, dict):
            raise InputError(f"{path} must hold a YAML mapping of options.")
        # Which groups a set chooses for a run (its split) is Hydra's; the rest is the set itself.
        configs[path.stem] = {key: value for key, value in config.items() if key != "defaults"}
    return configs


def is_at_hand(config: Mapping[str, Any]) -> bool:
    """Tell whether `load` finds a data set without a download, and has nothing to compute for it.

    Only whether the files are there is looked at. Of many processes that load a set that is not at
    hand one makes it and the others wait; one call of `load` beforehand spares them that.

    Parameters
    ----------
    config : mapping of str to object
        As for `load`.

    Raises
    ------
    InputError
        The configuration has a mistake, or the mirror does not exist.
    """
    parsed = parse_config(sources.settle(config))
    if isinstance(parsed, GeneratedConfig):
        return True
    edition = sources.in_edition(parsed, parsed.edition)
    place = sources.first_place(edition)
    if place is None or place.remote or place.layout.format != "images":
        return place is not None and not place.remote
    digest = edition.expected.digest if edition.expected is not None else ""
    return descriptors_path(sources.folder(edition), digest).is_file()


def fetch(config: Mapping[str, Any]) -> str:
    """Put a verified copy of a data set into the cache, so that no network is needed later.

    Unlike `load`, this copies from a mirror directory too, and fails if the cache cannot be
    written. A damaged copy in the cache is replaced. Of a set with official splits the file that
    has them is fetched, also over the network, and the pooled rows only if that cannot be had.

    Returns
    -------
    "fetched", "cached" (a good copy was there already) or "local" (embedded, generated or the
    user's own file, of which no copy is needed), and where the data are.

    Raises
    ------
    InputError
        The configuration has a mistake, or the mirror does not exist.
    DataError
        No place has the data, or the cache cannot be written.
    """
    if _lacks_path(config):
        return "local (your file)"
    parsed = parse_config(config)
    if isinstance(parsed, GeneratedConfig):
        return "local (generated)"
    *others, last = _editions(parsed)
    for edition in others:
        try:
            return _fetched(edition)
        except DataError as error:
            logger.warning("%s The pooled rows are fetched instead.", error)
    return _fetched(last)


def _fetched(config: FileConfig) -> str:
    """Find the files of a set, keep a copy, and say where it is."""
    place, contents, _ = sources.resolve(config, partial(from_bytes, config))
    if not place.cache_paths:
        return f"{'cached' if place.kind == 'cache' else 'local'} ({place.location})"
    for content, path in zip(contents, place.cache_paths, strict=True):
        keep(content, path)
    return f"fetched ({' + '.join(map(str, place.cache_paths))})"


def verify(config: Mapping[str, Any]) -> list[Verified]:
    """Check the content of a data set at every place but upstream.

    An absent copy is no fault: the set is in order when no result
    is "damaged".

    Raises
    ------
    InputError
        The configuration has a mistake, or the mirror does not exist.
    """
    if _lacks_path(config):
        return []
    parsed = parse_config(config)
    if isinstance(parsed, GeneratedConfig):
        dataset = from_generator(parsed)
        return [Verified(parsed.name, "generated", "ok", dataset.digest)]
    return [
        _verified(edition, place)
        for edition in _editions(parsed)
        for place in sources.places(edition)
        if place.kind != "upstream"
    ]


def _editions(config: FileConfig) -> list[FileConfig]:
    """The set in each edition among which the configuration leaves the choice, or in its own."""
    if config.edition == "auto":
        return [sources.in_edition(config, "official"), sources.in_edition(config, "pooled")]
    return [sources.in_edition(config, config.edition)]


def _verified(config: FileConfig, place: sources.Place) -> Verified:
    name = f"{config.name} (official)" if config.edition == "official" else config.name
    try:
        contents = tuple(map(read, place.locations))
        dataset = from_bytes(config, contents, place.layout, "the file")
    except DataError as error:
        absent = isinstance(error, AbsentError)
        return Verified(name, place.kind, "absent" if absent else "damaged", str(error))
    return Verified(name, place.kind, "ok", dataset.digest)


def list_row(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of one set in a table; those of a file are the numbers that are expected.

    Nothing is downloaded or verified; `where` only asks which place comes first.

    Parameters
    ----------
    config : mapping
        What `read_files` has read.

    Returns
    -------
    Dict with the keys name, title, n, d (numbers; None for the user's own file), classes
    ("R: 97, M: 111", the positive class last), where ("embedded", "generated", "cached", "mirror",
    "upstream", "your file") and licence.
    """
    row: dict[str, Any] = {key: config.get(key, "") for key in ("name", "title", "licence")}
    row |= {"n": None, "d": None, "classes": "", "where": "your file"}
    if _lacks_path(config):
        return row
    parsed = parse_config(config)
    if isinstance(parsed, GeneratedConfig):
        dataset = from_generator(parsed)
        (n, d), classes, where = dataset.X.shape, dataset.class_counts, "generated"
    else:
        edition = sources.settle(config).get("edition", "pooled")
        place = sources.first_place(sources.in_edition(parsed, edition))
        kind = "nowhere" if place is None else place.kind
        where = {"cache": "cached", "path": "your file"}.get(kind, kind)
        if (expected := parsed.expected) is None:
            return row | {"where": where}
        n, d, classes = expected.n_samples, expected.n_features, dict(expected.classes)
    counts = [f"{label}: {count}" for label, count in classes.items()]
    return row | {"n": n, "d": d, "classes": shortened(counts, _MOST_CLASSES), "where": where}


def _lacks_path(config: Mapping[str, Any]) -> bool:
    """Whether this is the configuration of the user's own data, before a file is named."""
    return "path" in config and not config["path"]
