"""Overrides as they are typed: what cannot be read in them, and how large a sweep they ask for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Glob, Override, RangeSweep
from hydra.errors import HydraException

from mklbench import resources
from mklbench.config.names import GROUPS
from mklbench.errors import InputError, unknown

# Composing so many cells takes a quarter of an hour.
MAX_CELLS = 10_000

# What is chosen by a name.
_CHOSEN = (*GROUPS, "executor")

# Longer than a list of all rows of a large data set; Hydra's parser takes seconds for more.
_MAX_CHARACTERS = 20_000
_MAX_BRACKETS = 100
# Hydra looks for files of these names.
_MAX_NAME = 200


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
    override : as typed.
    reason : what Hydra says, in several lines.
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
        OverridesParser.create().parse_override(f"{key}=0")
    except HydraException:
        return False
    return bool(key_of(key))


def check_choices(overrides: Iterable[str]) -> None:
    """Raise InputError for the first override that gives a group something else than a name."""
    parser = OverridesParser.create()
    for text in overrides:
        override = parser.parse_override(text)
        group, value = override.key_or_group, override.value()
        if group not in _CHOSEN or override.is_delete() or override.is_sweep_override():
            continue
        names = value if isinstance(value, list) else [value]
        if not all(isinstance(name, (str, dict)) for name in names):
            raise unknown(group, text.partition("=")[2], resources.choices(group))


def check_sweep(overrides: Iterable[str], config_dir: Path | str | None) -> None:
    """Raise InputError unless a sweep over `overrides` has between one cell and `MAX_CELLS`.

    What cannot be parsed is left for Hydra to say.
    """
    parser, sizes = OverridesParser.create(), dict[str, int]()
    for text in overrides:
        try:
            override = parser.parse_override(text)
        except HydraException:
            return
        size = _size(override, text, config_dir) if override.is_sweep_override() else 1
        if size == 0:
            raise InputError(f"{text} names no value to sweep over: give at least one.")
        sizes[override.get_key_element()] = size
    n_cells = math.prod(sizes.values())
    if n_cells > MAX_CELLS:
        swept = " ".join(text for text in overrides if sizes.get(text.partition("=")[0], 1) > 1)
        raise InputError(
            f"{swept} asks for {_count(n_cells)} cells, and one sweep takes at most {MAX_CELLS}: "
            "sweep over fewer values, or write several commands."
        )


def _count(n_cells: int) -> str:
    return "more than 1000000000" if n_cells > 1_000_000_000 else str(n_cells)


def _size(override: Override, text: str, config_dir: Path | str | None) -> int:
    """Return how many values an override sweeps over, without making them."""
    value = override.value()
    if isinstance(value, ChoiceSweep):
        return len(value.list)
    if isinstance(value, RangeSweep):
        return _steps(value, text)
    if isinstance(value, Glob):
        return len(value.filter(list(resources.choices(override.key_or_group, config_dir))))
    raise InputError(
        f"{text} is an interval, whose values cannot be counted: sweep over a list such as "
        f"{override.key_or_group}=0.1,1,10, or over range(start,stop,step)."
    )


def _steps(swept: RangeSweep, text: str) -> int:
    try:
        start, stop, step = (Decimal(str(part)) for part in (swept.start, swept.stop, swept.step))
        return max(0, math.ceil((stop - start) / step))
    except (ArithmeticError, InvalidOperation, ValueError, OverflowError) as error:
        raise InputError(
            f"{text} cannot be swept over: give range(start,stop,step) finite numbers and a step "
            "that is not 0."
        ) from error
