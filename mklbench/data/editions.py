"""Editions of a data set: official, with the splits of its publications, or pooled, rows alone.

The Rätsch benchmarks come in both. Which one is used is settled once, when a cell is made, from
what is at hand: so every split of a cell is of one edition, and its key tells which. Either key
follows from the configuration alone, so that recorded results are found without any data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from mklbench.data.schema import Edition, FileConfig, Layout, Source, parse_config
from mklbench.data.sources import first_place
from mklbench.errors import InputError


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
        expected=config.expected
        and replace(
            config.expected,
            digest=_official_digest(official.sha256, official.struct),
            splits_digest=None,
        ),
    )


def _official_digest(sha256: str, struct: str) -> str:
    return f"sha256:{hashlib.sha256(f'{sha256} {struct}'.encode()).hexdigest()}"
