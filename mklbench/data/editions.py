"""Editions of a data set: official, with the splits of its publications, or pooled, rows alone.

The Rätsch benchmarks come in both. Which one is used is settled once, when a cell is made, from
what is at hand: so every split of a cell is of one edition, and its key tells which. Either key
follows from the configuration alone, so that recorded results are found without any data.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from mklbench.data import sources
from mklbench.data.options import parse_config
from mklbench.data.schema import Edition, Expected, FileConfig, Layout, OfficialFile, Source
from mklbench.errors import DataError, InputError

logger = logging.getLogger(__name__)

Directory = str | os.PathLike[str]


def settle(
    config: Mapping[str, Any],
    *,
    cache_dir: Directory | None = None,
    mirror: Directory | None = None,
    download: bool = False,
) -> dict[str, Any]:
    """Replace what a data configuration leaves open: ``edition: auto``.

    The edition is official where an intact copy of the official file is in the cache or in a mirror
    directory, else pooled. Nothing is downloaded, unless `download` is given and no file of
    either edition is at hand; then the official one is tried, once a process.

    Parameters
    ----------
    config : mapping of str to object
        Of a data set, as a plain dict.
    cache_dir, mirror : Directory or None, default=None
        As for `mklbench.data.load`.
    download : bool, default=False
        Whether the network may be used.

    Returns
    -------
    A copy of `config`; without changes where there is nothing to settle.
    """
    if config.get("edition") != "auto":
        return dict(config)
    parsed = parse_config(config)
    if not isinstance(parsed, FileConfig):
        return dict(config)
    official = in_edition(parsed, "official")
    try:
        found = _is_at_hand(official, cache_dir, mirror)
        if not found and download and not any(_local(parsed, cache_dir, mirror)):
            found = _is_downloaded(official, cache_dir, mirror)
    except InputError:  # about the mirror: said when data are loaded; records need none
        found = False
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
        return _official_digest(config["official"]["sha256"], config["official"]["struct"])
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
    return replace(
        config,
        edition="official",
        sources=(
            Source("mirror", (official.mirror,), layout),
            Source("url", (official.url,), layout),
        ),
        folder=str(PurePosixPath(official.mirror).parent),  # one copy for all sets of the file
        sha256=official.sha256,
        expected=_expected(config.expected, official),
    )


def verify_file(content: bytes, config: FileConfig, place: str) -> None:
    """Raise DataError unless `content` has the digest that the configuration registers, if any."""
    if config.sha256 is None:
        return
    digest = hashlib.sha256(content).hexdigest()
    if digest != config.sha256:
        raise DataError(
            f"{place} is not the published file: its SHA-256 is {digest[:12]}... instead of "
            f"{config.sha256[:12]}...."
        )


def _expected(expected: Expected | None, official: OfficialFile) -> Expected | None:
    if expected is None:
        return None
    digest = _official_digest(official.sha256, official.struct)
    return replace(expected, digest=digest, splits_digest=None)


def _official_digest(sha256: str, struct: str) -> str:
    return f"sha256:{hashlib.sha256(f'{sha256} {struct}'.encode()).hexdigest()}"


def _local(
    config: FileConfig, cache_dir: Directory | None, mirror: Directory | None
) -> Iterator[Path]:
    """The single files of a set that are there, in the order in which they are tried."""
    for place in sources.places(config, cache_dir, mirror):
        if not place.remote:
            paths = [Path(location) for location in place.locations]
            yield from paths if all(path.is_file() for path in paths) else ()


def _is_at_hand(
    official: FileConfig, cache_dir: Directory | None, mirror: Directory | None
) -> bool:
    for path in _local(official, cache_dir, mirror):
        status = path.stat()
        if _file_digest(path, status.st_mtime_ns, status.st_size) == official.sha256:
            return True
        _warn_of(path)
    return False


@lru_cache
def _file_digest(path: Path, modified: int, size: int) -> str | None:
    """SHA-256 of a file; time and size only tell whether it is the one that was read before."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


@lru_cache
def _warn_of(path: Path) -> None:
    logger.warning("%s is not the published file, and the pooled rows are used.", path)


_not_downloaded: set[str | None] = set()  # official files, by digest


def _is_downloaded(
    official: FileConfig, cache_dir: Directory | None, mirror: Directory | None
) -> bool:
    """Try to put the official file into the cache; once a process, as it may take a while."""
    if official.sha256 in _not_downloaded:
        return False

    def accept(contents: Sequence[bytes], layout: Layout, place: str) -> None:
        verify_file(contents[0], official, place)

    try:
        sources.resolve(official, accept, cache_dir=cache_dir, mirror=mirror)
    except DataError as error:
        _not_downloaded.add(official.sha256)
        logger.warning("%s The pooled rows are used instead.", error)
        return False
    return _is_at_hand(official, cache_dir, mirror)
