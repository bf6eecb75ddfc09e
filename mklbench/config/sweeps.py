"""The cells that a sweep asks for: how many, and the overrides of each."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, cast

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Glob, Override, RangeSweep

from mklbench import resources
from mklbench.errors import InputError

# Composing so many cells takes half a minute.
MAX_CELLS = 10_000


def expanded(overrides: list[str], config_dir: Path | str | None) -> list[list[str]]:
    """Return the overrides of each cell of a sweep, in the order of Hydra's own sweeper.

    Raises
    ------
    InputError
        Unless there are between one cell and `MAX_CELLS`.
    HydraException
        For what cannot be parsed.
    """
    choices = cast(ConfigLoader, _Choices(config_dir))
    parsed = OverridesParser.create(config_loader=choices).parse_overrides(overrides)
    _check_size(parsed, config_dir)
    (cells,) = BasicSweeper.split_arguments(parsed, None)
    return cells


class _Choices:
    """The choices of a group, as far as ``glob(...)`` asks for them."""

    def __init__(self, config_dir: Path | str | None) -> None:
        self.config_dir = config_dir

    def get_group_options(self, group_name: str, **_: Any) -> list[str]:
        return list(resources.choices(group_name, self.config_dir))


def _check_size(overrides: list[Override], config_dir: Path | str | None) -> None:
    sizes: dict[str, int] = {}
    for override in overrides:
        text = str(override.input_line)
        size = _size(override, text, config_dir) if override.is_sweep_override() else 1
        if size == 0:
            raise InputError(f"{text} names no value to sweep over: give at least one.")
        sizes[override.get_key_element()] = size
    n_cells = math.prod(sizes.values())
    if n_cells > MAX_CELLS:
        texts = (str(override.input_line) for override in overrides)
        swept = " ".join(text for text in texts if sizes.get(text.partition("=")[0], 1) > 1)
        raise InputError(
            f"{swept} asks for {_count(n_cells)} runs, and one sweep takes at most {MAX_CELLS}: "
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
