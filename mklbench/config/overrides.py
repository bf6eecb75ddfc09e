"""Overrides as they are typed, and what cannot be read in them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from mklbench import resources
from mklbench.config.names import GROUPS
from mklbench.errors import InputError, unknown

# What is chosen by a name.
_CHOSEN = (*GROUPS, "executor")

# Longer than a list of all rows of a large data set; Hydra's parser takes seconds for more.
_MAX_CHARACTERS = 20_000
_MAX_BRACKETS = 100
# Hydra looks for files of these names.
_MAX_NAME = 200


@lru_cache(maxsize=1024)
def parsed(override: str) -> Override:
    """Parse an override by Hydra's grammar; once each, as all cells of a table share most."""
    return OverridesParser.create().parse_override(override)


def key_of(override: str) -> str:
    """Return the key of an override, without its prefix."""
    return override.lstrip("+~").partition("=")[0]


def is_hydra(override: str) -> bool:
    """Tell whether an override is of Hydra's own options."""
    return key_of(override).replace("/", ".").replace("@", ".").partition(".")[0] == "hydra"


def check_readable(overrides: Iterable[str]) -> None:
    """Raise InputError for the first override that is too long or too nested to be parsed."""
    for override in overrides:
        if len(override) > _MAX_CHARACTERS:
            raise InputError(
                f"{override[:60]}... has {len(override)} characters, and an override at most "
                f"{_MAX_CHARACTERS}: put long lists into a config of your own, see --config-dir."
            )
        key, _, value = override.partition("=")
        if not key_of(override) and "=" in override:
            raise unreadable(override, "")
        longest = max(len(key), len(value) if key_of(override) in GROUPS else 0)
        if longest > _MAX_NAME:
            raise InputError(
                f"{override[:60]}... has a name of {longest} characters: no option or config is "
                "called so, see mklbench run --help."
            )
        if sum(override.count(bracket) for bracket in "[{(") > _MAX_BRACKETS and _deep(override):
            raise InputError(
                f"{override[:60]}... is nested more than {_MAX_BRACKETS} levels deep, which no "
                "option needs: write it flat."
            )


def _deep(override: str) -> bool:
    depth = deepest = 0
    for character in override:
        depth += (character in "[{(") - (character in "]})")
        deepest = max(deepest, depth)
    return deepest > _MAX_BRACKETS


def unreadable(override: str, reason: str) -> InputError:
    """Build the error for an override that Hydra's grammar does not have.

    Parameters
    ----------
    override : str
        As typed.
    reason : str
        What Hydra says, in several lines.
    """
    key, equals, value = override.partition("=")
    evaluated = reason.partition("while evaluating ")[2].partition("': ")[2].partition("\n")[0]
    if evaluated:  # a function such as choice() or range() that did not accept its arguments
        return InputError(
            f"{override} cannot be read as an override: {evaluated.strip().rstrip('.')}; for the "
            f"text itself write {_quoted(key, value)}."
        )
    if not equals or not _is_key(key):
        return InputError(
            f"{override} cannot be read as an override: write key=value with the name of an option "
            "as the key, such as algo.C=10."
        )
    return InputError(
        f"{override} cannot be read as an override: quote a value that holds spaces, brackets, "
        f"commas or other signs, as in {_quoted(key, value)}."
    )


def _quoted(key: str, value: str) -> str:
    """Return an override with its value as a text, in quotes for Hydra and for the shell."""
    text = value.strip("\"'").replace("\\", "\\\\").replace('"', '\\"').replace("'", "'\\''")
    return f"'{key}=\"{text}\"'"


def _is_key(key: str) -> bool:
    try:
        parsed(f"{key}=0")
    except HydraException:
        return False
    return bool(key_of(key))


def check_choices(overrides: Iterable[str]) -> None:
    """Raise InputError for the first override that gives a group something else than a name."""
    for text in overrides:
        override = parsed(text)
        group, value = override.key_or_group, override.value()
        if group not in _CHOSEN or override.is_delete() or override.is_sweep_override():
            continue
        names = value if isinstance(value, list) else [value]
        if not all(isinstance(name, (str, dict)) for name in names):
            raise unknown(group, text.partition("=")[2], resources.choices(group))
