"""``mklbench run``: Hydra composes the cells, one executor runs them all."""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import cast

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from mklbench import config as configs
from mklbench import interruption, resources
from mklbench.config.overrides import check_readable, check_sweep, key_of
from mklbench.errors import InputError

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
        given = HydraConfig.get().overrides.task
        # Unresolved, as an override may refer to what there is not.
        by_hand = cast(list[str], OmegaConf.to_container(given, resolve=False))
        composed.append(configs.without_search_of(config, by_hand))

    main = hydra.main(
        version_base="1.3", config_path=str(resources.configs()), config_name="config"
    )(collect)
    if any(text in ("-sc", "--shell-completion") for text in arguments):
        os.environ.setdefault("COMP_LINE", "mklbench")  # set by a shell, and Hydra relies on it
    flags, overrides = _separate(arguments)
    flags, config_dir = _config_dir(flags)
    sweeping = "hydra.mode=MULTIRUN" in overrides or any(flag in flags for flag in _SWEEP_FLAGS)
    _check_overrides(overrides, config_dir, sweeping)
    own = [] if config_dir is None else [configs.search_path(config_dir)]
    try:
        with (
            _sweep_directory(overrides, sweeping) as extra,
            _as_arguments([*flags, *own, *overrides, *extra]),
        ):
            _quiet_exit(main)
    except Exception as error:  # what is ours in there collects configs, and does nothing else
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
def _sweep_directory(overrides: list[str], sweeping: bool) -> Iterator[list[str]]:
    """Give the multirun.yaml that Hydra's sweeper always writes a place where it is deleted."""
    if not sweeping or any(text.startswith("hydra.sweep.dir=") for text in overrides):
        yield []
        return
    with interruption.temporary_directory("mklbench-sweep-") as directory:
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


def _check_overrides(overrides: list[str], config_dir: str | None, sweeping: bool) -> None:
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
    if sweeping:
        check_sweep(overrides, config_dir)


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
