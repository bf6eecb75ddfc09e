"""``mklbench run``: Hydra composes the cells, one executor runs them all."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from mklbench import config as configs
from mklbench import resources
from mklbench.errors import InputError

_SWEEP_FLAGS = ("-m", "--multirun")
_CONFIG_DIR_FLAGS = ("-cd", "--config-dir")

# The flags of Hydra that take the next argument as their value.
_FLAGS_WITH_VALUE = (
    *_CONFIG_DIR_FLAGS,
    *("-c", "--cfg", "-p", "--package", "-cp", "--config-path", "-cn", "--config-name"),
    "--experimental-rerun",
)
_FLAGS_WITH_OPTIONAL_VALUE = ("-i", "--info")
_BASIC_LAUNCHER = "hydra._internal.core_plugins.basic_launcher.BasicLauncher"


def run(arguments: list[str]) -> int:
    """Run the cells that overrides and Hydra flags describe; return the exit status."""
    composed = compose_all(arguments)
    if not composed:  # --help, --cfg and the like have printed what was asked for
        return 0
    options = _common_options(composed)

    from mklbench.commands.execution import execute
    from mklbench.experiments.cell import Cell

    return execute([Cell.from_config(config, download=True) for config in composed], options)


def compose_all(arguments: list[str]) -> list[DictConfig]:
    """Let Hydra compose what `arguments` describe: one config, or all those of a sweep.

    Hydra's task only collects the configs. So a mistake in any of them is found before anything is
    run, and all cells of a sweep share the workers, the progress and the CSV file.

    Raises
    ------
    InputError : for arguments that cannot be composed.
    """
    composed: list[DictConfig] = []

    def collect(config: DictConfig) -> None:
        if HydraConfig.get().launcher._target_ != _BASIC_LAUNCHER:
            choice = HydraConfig.get().runtime.choices["hydra/launcher"]
            raise InputError(
                f"hydra/launcher={choice} is not supported: use jobs=N, or start the same command "
                "on several machines with one results_dir."
            )
        composed.append(config)

    main = hydra.main(
        version_base="1.3", config_path=str(resources.configs()), config_name="config"
    )(collect)
    flags, overrides = _separate(arguments)
    config_dir = _config_dir(flags)
    try:
        with _sweep_directory(arguments) as extra, _as_arguments([*flags, *overrides, *extra]):
            _quiet_exit(main)
    except configs.COMPOSE_ERRORS as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":  # set by the user, who wants the traceback
            raise
        look_up = partial(configs.compose, config_dir=config_dir)
        raise configs.explain(error, overrides, look_up) from error
    return composed


def _quiet_exit(main: object) -> None:
    """Call Hydra's main so that its errors come as exceptions, and its usage errors as one line."""
    assert callable(main)
    shown = io.StringIO()
    chosen = os.environ.get("HYDRA_FULL_ERROR")
    os.environ["HYDRA_FULL_ERROR"] = "1"  # raise instead of printing and exiting
    try:
        with contextlib.redirect_stderr(shown):
            main()
    except SystemExit as end:
        if end.code not in (None, 0):
            message = shown.getvalue().strip().splitlines()[-1:] or ["the arguments cannot be read"]
            reason = message[0].rpartition("error: ")[2]
            raise InputError(f"mklbench run: {reason} (see mklbench run --help).") from end
    finally:
        if chosen is None:
            del os.environ["HYDRA_FULL_ERROR"]
        else:
            os.environ["HYDRA_FULL_ERROR"] = chosen
    sys.stderr.write(shown.getvalue())


@contextlib.contextmanager
def _as_arguments(arguments: list[str]) -> Iterator[None]:
    """Put `arguments` where Hydra looks for them, keeping the program's name for completion."""
    kept = sys.argv
    sys.argv = [kept[0], *arguments]
    try:
        yield
    finally:
        sys.argv = kept


@contextlib.contextmanager
def _sweep_directory(arguments: list[str]) -> Iterator[list[str]]:
    """Give the multirun.yaml that Hydra's sweeper always writes a place where it is deleted."""
    sweeping = any(flag in arguments for flag in _SWEEP_FLAGS)
    if not sweeping or any(text.startswith("hydra.sweep.dir=") for text in arguments):
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="mklbench-sweep-") as directory:
        yield [f"hydra.sweep.dir='{directory}'"]


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
        if text in _FLAGS_WITH_VALUE:
            flags.extend(value for value in [next(rest, None)] if value is not None)
        elif text in _FLAGS_WITH_OPTIONAL_VALUE:
            following = next(rest, None)
            if following is not None:
                (overrides if "=" in following else flags).append(following)
    return flags, overrides


def _config_dir(flags: list[str]) -> str | None:
    """Return the value of --config-dir, checked, for looking up names in it."""
    value = None
    for flag, following in pairwise([*flags, ""]):
        if flag in _CONFIG_DIR_FLAGS and following:
            value = following
        elif flag.startswith("--config-dir="):
            value = flag.partition("=")[2]
    if value is not None:
        resources.check_config_dir(value)
    return value


def _common_options(composed: list[DictConfig]) -> configs.RunConfig:
    """Return the options of the run, which a sweep must not vary."""
    options = [configs.run_config(config) for config in composed]
    for other in options[1:]:
        for name, value in vars(options[0]).items():
            if getattr(other, name) != value:
                raise InputError(
                    f"{name}={value},{getattr(other, name)} cannot be swept: "
                    "it is one for the whole run."
                )
    return options[0]
