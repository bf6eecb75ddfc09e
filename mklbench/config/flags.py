"""What Hydra's own program does: its flags that show something, completion, options ``hydra.*``."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from hydra._internal.hydra import Hydra
from hydra._internal.utils import get_args_parser
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from mklbench.config.choices import ROOT
from mklbench.config.composition import explained, hydra_program, searching
from mklbench.config.overrides import is_hydra
from mklbench.errors import InputError

_BASIC_LAUNCHER = "hydra._internal.core_plugins.basic_launcher.BasicLauncher"


def read(flags: list[str], overrides: list[str]) -> Namespace | None:
    """Parse arguments as Hydra does; None if that has shown all there is to show (--version).

    Raises
    ------
    InputError
        If they cannot be parsed, or do not go together.
    """
    parser = get_args_parser()
    parser.error = _refuse  # type: ignore[method-assign]
    try:
        chosen = parser.parse_args([*flags, *overrides])
    except SystemExit:
        return None
    if chosen.help or chosen.hydra_help:
        return chosen
    if chosen.resolve and chosen.cfg is None:
        raise InputError(
            "The config cannot be composed: The --resolve flag can only be used in conjunction "
            "with --cfg or --help."
        )
    if sum((chosen.run, chosen.multirun, shows(chosen))) > 1 or _n_shown(chosen) > 1:
        raise InputError(
            "The config cannot be composed: Only one of --run, --multirun, --cfg, --info and "
            "--shell_completion can be specified."
        )
    return chosen


def _refuse(message: str) -> NoReturn:
    raise InputError(f"mklbench run: {message} (see mklbench run --help).")


def _n_shown(chosen: Namespace) -> int:
    return sum((chosen.cfg is not None, chosen.shell_completion, chosen.info is not None))


def shows(chosen: Namespace) -> bool:
    """Tell whether flags ask for something to be shown instead of a run."""
    return bool(chosen.help or chosen.hydra_help or _n_shown(chosen))


def show(chosen: Namespace, config_dir: Path | str | None) -> None:
    """Print what flags ask for.

    Raises
    ------
    InputError
        If the overrides cannot be composed.
    """
    typed = chosen.overrides
    chosen.overrides = searching(config_dir, typed)
    with explained(typed, config_dir), hydra_program() as program:
        if chosen.help:
            program.app_help(ROOT, args_parser=get_args_parser(), args=chosen)
        elif chosen.hydra_help:
            program.hydra_help(ROOT, args_parser=get_args_parser(), args=chosen)
        elif chosen.cfg:
            _show_config(program, chosen)
        elif chosen.info:
            program.show_info(chosen.info, ROOT, chosen.overrides)
        else:
            if not os.environ.get("COMP_LINE"):  # a shell sets it, and Hydra relies on it
                os.environ["COMP_LINE"] = "mklbench"
            program.shell_completion(ROOT, chosen.overrides)


def _show_config(program: Hydra, chosen: Namespace) -> None:
    if chosen.package not in (None, "_global_"):
        config = program.compose_config(ROOT, chosen.overrides, RunMode.RUN)
        shown = program.get_sanitized_cfg(config, chosen.cfg)
        if OmegaConf.select(shown, chosen.package) is None:
            _refuse(f"package '{chosen.package}' not found in config")
    program.show_cfg(ROOT, chosen.overrides, chosen.cfg, chosen.package, chosen.resolve)


def carry_out(overrides: list[str], config_dir: str | None, sweeping: bool) -> None:
    """Do what the options ``hydra.*`` among `overrides` ask for, by a run of Hydra's of nothing."""
    own = searching(config_dir, filter(is_hydra, overrides))
    with hydra_program() as program, TemporaryDirectory(prefix="mklbench-sweep-") as folder:
        mode = RunMode.MULTIRUN if sweeping else RunMode.RUN
        hydra = program.compose_config(ROOT, own, mode).hydra
        if hydra.launcher._target_ != _BASIC_LAUNCHER:
            raise InputError(
                f"hydra/launcher={hydra.runtime.choices['hydra/launcher']} is not supported: use "
                "jobs=N, or start the same command on several machines with one results_dir."
            )
        if not sweeping:
            program.run(ROOT, _nothing, own)
            return
        # The sweeper writes a multirun.yaml; where nobody has named a place, it is deleted.
        program.multirun(ROOT, _nothing, [f"hydra.sweep.dir='{folder}'", *own])


def _nothing(config: DictConfig) -> None:
    """Be the task of a run that is Hydra's only."""
