"""``mklbench run``: the cells that overrides describe are composed, one executor runs them all."""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Iterator, Mapping
from typing import Any

from omegaconf import DictConfig

from mklbench import config as configs
from mklbench import resources
from mklbench.config import flags as hydra_flags
from mklbench.config.overrides import check_readable, is_hydra, key_of
from mklbench.errors import InputError

# Options whose values may be patterns of files in a sweep.
_PATHS = ("data.path", "kernel.files", "split.path")
_SWEEP_FLAGS = ("-m", "--multirun")
_CONFIG_DIR_FLAGS = ("-cd", "--config-dir")

# The flags of Hydra that take the next argument as their value.
_FLAGS_WITH_VALUE = (
    *_CONFIG_DIR_FLAGS,
    *("-c", "--cfg", "-p", "--package"),
)
_FLAGS_WITH_OPTIONAL_VALUE = ("-i", "--info")
_FLAGS = (
    *_FLAGS_WITH_VALUE,
    *_FLAGS_WITH_OPTIONAL_VALUE,
    *_SWEEP_FLAGS,
    *("-h", "--help", "--hydra-help", "--version", "--resolve", "-r", "--run"),
    *("-sc", "--shell-completion"),
)
# The first put other configs in the place of ours, which no cell can be made of; the last unpickles
# a file, and so runs whatever somebody has put into it.
_REFUSED_FLAGS = {
    **dict.fromkeys(
        ("-cp", "--config-path", "-cn", "--config-name"),
        "name the directory of your own configs with --config-dir DIR",
    ),
    "--experimental-rerun": (
        "it would run what is in the file; type the command again, it goes on from where it was"
    ),
}


def run(arguments: list[str]) -> int:
    """Run the cells that overrides and Hydra flags describe; return the exit status."""
    flags, overrides, config_dir = _read(arguments)
    chosen = hydra_flags.read(flags, overrides)
    if chosen is None:
        return 0
    if hydra_flags.shows(chosen):
        hydra_flags.show(chosen, config_dir)
        return 0
    from mklbench.commands.execution import execute
    from mklbench.experiments.cell import Cell

    cells: list[Cell] = []
    options: configs.RunConfig | None = None
    found = composed_cells(chosen.overrides, config_dir, chosen.multirun, overrides)
    for config in found:
        options = _common(options, configs.run_config(config))
        cells.append(Cell.from_config(config, download=True))
    assert options is not None  # a sweep has a cell
    return execute(cells, options)


def composed_cells(
    overrides: list[str],
    config_dir: str | None = None,
    sweeping: bool = False,
    typed: list[str] | None = None,
) -> Iterator[DictConfig]:
    """Compose what `overrides` describe, one at a time: one config, or all those of a sweep.

    Errors are explained by what was `typed`, where a flag has taken one of the overrides.

    Raises
    ------
    InputError
        For overrides that cannot be composed.
    """
    typed = overrides if typed is None else typed
    given = [text for text in overrides if not is_hydra(text)]
    given = [_with_files(text) if sweeping else text for text in given]
    with configs.explained(typed, config_dir):
        if len(given) < len(overrides):
            hydra_flags.carry_out(overrides, config_dir, sweeping)
        cells = configs.expanded(given, config_dir) if sweeping else [given]
    for cell in cells:
        with configs.explained(typed, config_dir):
            config = configs.composed(cell, config_dir)
        yield configs.without_search_of(config, cell)


def _with_files(override: str) -> str:
    """Return an override of a path such as ``data.path=studies/*.csv`` as a choice of the files."""
    key, _, pattern = override.partition("=")
    if key not in _PATHS or pattern.startswith("[") or not glob.has_magic(pattern):
        return override
    pattern = pattern.removeprefix("glob(").removesuffix(")") if "glob(" in pattern else pattern
    if not (found := sorted(glob.glob(os.path.expanduser(pattern), recursive=True))):
        raise InputError(f"{override} names no file: correct the pattern.")
    return f"{key}={','.join(repr(path) for path in found)}"


def _read(arguments: list[str]) -> tuple[list[str], list[str], str | None]:
    """Return the flags but for --config-dir, the overrides and the value of --config-dir."""
    flags, overrides = _separate(arguments)
    flags, config_dir = _config_dir(flags)
    _check_overrides(overrides)
    return flags, overrides, config_dir


def _separate(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the flags with their values, and the overrides, which may stand in any order.

    Hydra's own parser gives up on overrides that stand on both sides of a flag.
    """
    flags: list[str] = []
    overrides: list[str] = []
    rest = iter(arguments)
    for text in rest:
        if not text.startswith("-"):
            overrides.append(text)
            continue
        flags.append(text)
        _check_flag(text)
        if text in _FLAGS_WITH_VALUE:
            flags.extend(value for value in [next(rest, None)] if value is not None)
        elif text in _FLAGS_WITH_OPTIONAL_VALUE:
            following = next(rest, None)
            if following is not None:
                (overrides if "=" in following else flags).append(following)
    return flags, overrides


def _check_flag(text: str) -> None:
    """Raise InputError unless Hydra has the flag `text`, written out, and a cell can be made."""
    flag = text.partition("=")[0]
    if flag in _REFUSED_FLAGS:
        raise InputError(f"{flag} is not accepted: {_REFUSED_FLAGS[flag]}.")
    if text != "--" and flag not in _FLAGS:
        near = difflib.get_close_matches(flag, _FLAGS, n=1)
        remedy = f"did you mean {near[0]}" if near else "mklbench run --help shows the flags"
        raise InputError(f"{flag} is no flag of mklbench run: {remedy}.")


def _config_dir(flags: list[str]) -> tuple[list[str], str | None]:
    """Return the flags without --config-dir, which is not left to Hydra, and its value, checked."""
    others: list[str] = []
    value = None
    rest = iter(flags)
    for flag in rest:
        if flag in _CONFIG_DIR_FLAGS:
            value = next(rest, "")
        elif flag.partition("=")[0] in _CONFIG_DIR_FLAGS:
            value = flag.partition("=")[2]
        else:
            others.append(flag)
    if value is not None:
        resources.check_config_dir(value)
    return others, value


def _check_overrides(overrides: list[str]) -> None:
    """Raise InputError for overrides that Hydra would take too long over, or not take as meant."""
    check_readable(overrides)
    for text in overrides:
        if key_of(text) == "hydra.searchpath":
            raise InputError(
                f"{text} is not accepted: name the directory of your own configs with "
                "--config-dir DIR."
            )
        if key_of(text) == "hydra.mode":
            raise InputError(f"{text} is not accepted: write -m for a sweep, or leave it out.")


def _common(known: configs.RunConfig | None, options: configs.RunConfig) -> configs.RunConfig:
    """Return the options of the run, which a sweep must not vary."""
    for name, value in vars(known or options).items():
        other = getattr(options, name)
        if other == value:
            continue
        if name == "executor":
            name, value, other = _differing(value, other)
        raise InputError(f"{name}={value},{other} cannot be swept: it is one for the whole run.")
    return options


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, Any, Any]:
    """Return the first option in which two executors differ: its name and both values."""
    name = next(name for name in [*one, *other] if one.get(name) != other.get(name))
    return "executor" if name == "name" else f"executor.{name}", one.get(name), other.get(name)
