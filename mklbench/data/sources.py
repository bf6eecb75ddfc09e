"""Where the file of a data set is: embedded, cache, mirror, upstream, in this order.

The bytes that are found are handed to a caller's `accept`, which parses and verifies them. Only
what is accepted is used or enters the cache, so a stalled, truncated or altered file is passed over
for the next place and never kept. All that was tried goes into the message when no place has the
data.

A set may come in two editions: official, with the splits of its publications, or pooled, rows
alone. Which one is used is settled once, when a run is made, from what is at hand: so every split
of a run is of one edition, and its key tells which. Either key follows from the configuration
alone, so that recorded results are found without any data.
"""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import quote

from mklbench.data.dataset import Dataset, text_digest
from mklbench.data.files import (
    MIRROR_VARIABLE,
    AbsentError,
    cache_directory,
    is_http,
    mirror_location,
    read,
)
from mklbench.data.schema import Edition, FileConfig, Layout, Source, parse_config
from mklbench.errors import DataError, InputError

logger = logging.getLogger(__name__)

PlaceKind = Literal["embedded", "path", "cache", "mirror", "upstream"]


@dataclass(frozen=True)
class Place:
    """One concrete place that may hold the files of a data set.

    Attributes
    ----------
    kind : PlaceKind
        Where it is, as `mklbench data list` calls it.
    locations : tuple of str
        A path or an http(s) URL for each file.
    layout : Layout
        How the files are read there.
    cache_paths : tuple of Path
        Where copies may be kept; none for what is local already.
    """

    kind: PlaceKind
    locations: tuple[str, ...]
    layout: Layout
    cache_paths: tuple[Path, ...] = ()

    @property
    def location(self) -> str:
        """The paths or URLs in one text, for messages and records."""
        return " + ".join(self.locations)

    @property
    def remote(self) -> bool:
        """Whether reading it needs a network."""
        return is_http(self.locations[0])

    def describe(self) -> str:
        """The place as messages call it."""
        if self.kind == "path":
            paths = ",".join(self.locations)
            return f"data.path={paths}" if len(self.locations) == 1 else f"data.path=[{paths}]"
        return f"{self.kind} {self.location}"


def places(config: FileConfig) -> Iterator[Place]:
    """The places that may hold the files, in the order in which they are tried.

    A mirror that is a directory is read where it is; what a mirror or an upstream server sends is
    kept in the cache.

    Raises
    ------
    InputError
        The mirror is not usable (`mirror_location`).
    """
    remote = [source for source in config.sources if source.kind in ("mirror", "url")]
    # Looked at before anything is read, so that a mistake in it shows whatever is cached.
    mirror = mirror_location() if remote else None
    for source in config.sources:
        if source.kind == "embedded":
            yield Place("embedded", tuple(map(_embedded_path, source.locations)), source.layout)
        elif source.kind == "path":
            paths = tuple(os.path.expanduser(location) for location in source.locations)
            yield Place("path", paths, source.layout)
    directory = folder(config)
    kept: set[tuple[str, ...]] = set()
    for source in remote:
        if source.basenames not in kept:
            kept.add(source.basenames)
            paths = tuple(str(directory / name) for name in source.basenames)
            yield Place("cache", paths, source.layout)
    for source in remote:
        cache_paths = tuple(directory / name for name in source.basenames)
        if source.kind == "url":
            yield Place("upstream", source.locations, source.layout, cache_paths)
        elif mirror is not None:
            # What a directory holds is kept only on request (`fetch`): reading it costs nothing.
            files = tuple(_in_mirror(mirror, location) for location in source.locations)
            yield Place("mirror", files, source.layout, cache_paths)


def folder(config: FileConfig) -> Path:
    """The directory in the cache that is the set's own."""
    return cache_directory() / (config.folder or config.name)


def resolve(
    config: FileConfig, accept: Callable[[Sequence[bytes], Layout, str], Dataset]
) -> tuple[Place, tuple[bytes, ...], Dataset]:
    """Find the first place whose content is accepted.

    Parameters
    ----------
    config : FileConfig
        Of the data set.
    accept : callable
        Called with the bytes of the files, the layout and the name of a place; returns what
        it makes of them, or raises `DataError` to refuse them.

    Returns
    -------
    The place, the bytes of its files, and what `accept` made of them.

    Raises
    ------
    DataError
        No place has the data; the message lists what was tried.
    """
    tried, bad = [], []
    for place in places(config):
        called = place.describe()
        try:
            contents = tuple(map(read, place.locations))
            accepted = accept(contents, place.layout, called)
        except DataError as error:
            text = str(error).removeprefix(called).lstrip(" ,:").rstrip(".")
            if place.kind == "path":
                if str(error).startswith("data."):  # which names the option already
                    raise
                raise DataError(f"{called} {text}: give the path of a file.") from error
            tried.append(f"{called} ({text})")
            bad += [] if isinstance(error, AbsentError) else tried[-1:]
            continue
        if bad:
            logger.warning("data=%s passed over %s.", config.name, "; ".join(bad))
        return place, contents, accepted
    raise DataError(
        f"data={config.name} could not be had from {'; '.join(tried)}: check the network, or set "
        f"{MIRROR_VARIABLE} to a directory or URL that has it."
    )


def first_place(config: FileConfig) -> Place | None:
    """The first place that seems to have the files; a URL is taken at its word."""
    for place in places(config):
        if place.remote or all(Path(location).is_file() for location in place.locations):
            return place
    return None


def settle(config: Mapping[str, Any]) -> dict[str, Any]:
    """Replace what a data configuration leaves open: ``edition: auto``.

    The edition is official where a copy of the official file is in the cache or in a mirror
    directory, else pooled; nothing is downloaded or read.

    Parameters
    ----------
    config : mapping of str to object
        Of a data set, as a plain dict.

    Returns
    -------
    A copy of `config`; without changes where there is nothing to settle.
    """
    parsed = parse_config(config) if config.get("edition") == "auto" else None
    if not isinstance(parsed, FileConfig):
        return dict(config)
    try:
        place = first_place(in_edition(parsed, "official"))
    except InputError:  # about the mirror: said when data are loaded; records need none
        place = None
    found = place is not None and not place.remote
    return {**config, "edition": "official" if found else "pooled"}


def open_editions(config: Mapping[str, Any]) -> tuple[Edition, ...]:
    """The editions among which `settle` chooses; none where the configuration names one or has one.

    Parameters
    ----------
    config : mapping of str to object
        Of a data set, as a plain dict, not yet settled.
    """
    return ("official", "pooled") if config.get("edition") == "auto" else ()


def registered_digest(config: Mapping[str, Any]) -> str | None:
    """Digest of the content that a settled configuration stands for; None: known by loading only.

    Parameters
    ----------
    config : mapping of str to object
        Of a data set, as a plain dict.
    """
    if config.get("edition") == "official":
        return text_digest(config["official"]["sha256"], config["official"]["struct"])
    expected = config.get("expected") or {}
    return expected.get("digest")


def in_edition(config: FileConfig, edition: Edition) -> FileConfig:
    """The configuration with the sources of one edition alone.

    The pooled content is known by its digest; the official by that of the file, in which it is
    one of several variables.

    Raises
    ------
    InputError
        The set has no official edition.
    """
    official = config.official
    if edition != "official":
        return replace(config, edition=edition)
    if official is None:
        raise InputError(f"data.edition=official is not to be had: {config.name} has no such file.")
    layout = Layout(format="mat", inputs="x", label="t", struct=official.struct)
    mirrored = Source("mirror", (official.mirror,), layout)
    digest = text_digest(official.sha256, official.struct)
    return replace(
        config,
        edition="official",
        sources=(mirrored, Source("url", (official.url,), layout)),
        folder=str(PurePosixPath(official.mirror).parent),  # one copy for all sets of the file
        sha256=official.sha256,
        expected=config.expected and replace(config.expected, digest=digest, splits_digest=None),
    )


def _embedded_path(location: str) -> str:
    """Path of a file inside an installed package, found without importing the package."""
    package, _, inside = location.partition("/")
    spec = importlib.util.find_spec(package)
    return str(Path(str(spec and spec.origin)).parent / inside)


def _in_mirror(mirror: str, location: str) -> str:
    return f"{mirror}/{quote(location)}" if is_http(mirror) else str(Path(mirror, location))
