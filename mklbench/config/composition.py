"""Hydra with our configs: composing one, and its own program with its flags and sweeps.

Its messages are kept, in one line; a misspelt group, key or value gets the nearest names. The
config of a position of a table is put together from the shipped files without it: all tables have
3,500 positions, and Hydra takes 50 ms for each. A test compares the two.
"""

from __future__ import annotations

import copy
import glob
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError

from mklbench import resources
from mklbench.config.runs import checked_groups, run_config
from mklbench.config.schemas import GROUPS, RunConfig
from mklbench.contract import FORMER_NAMES
from mklbench.errors import InputError, hint, unknown, warn

ROOT, _VERSION = "config", "1.3"
_RERUN = "--experimental-rerun"
_SWEEP_FLAGS = ("-m", "--multirun")
# Options whose values may be patterns of files in a sweep.
_PATHS = ("data.path", "kernel.files", "split.path")

# What a config says that chooses the config of another group.
_CHOOSES = re.compile(r"override /(\w+)@_global_\.\1")
# A value of the published splits of the data, or else what stands behind the comma.
_PUBLISHED = re.compile(r"\$\{(?:oc\.select:)?data\.splits\.(\w+)(?:,(\w+))?\}")


def compose(overrides: Iterable[str] = (), config_dir: Path | str | None = None) -> DictConfig:
    """Compose the config of one run from override strings, as ``mklbench run`` would.

    Parameters
    ----------
    overrides : iterable of str, default=()
        Hydra overrides such as ``"algo=svm"`` or ``"algo.C=10"``.
    config_dir : Path, str or None, default=None
        A directory of the user's own configs, searched after ours.

    Raises
    ------
    InputError
        For an unknown choice or key, or an override that cannot be read.
    """
    given = _with_present_names(overrides)
    if config_dir is not None:
        resources.check_config_dir(config_dir)
        resources.look_for_modules(config_dir)
        given.insert(0, f"hydra.searchpath=['file://{Path(config_dir).absolute()}']")
    with (
        _explained(given),
        hydra.initialize_config_dir(str(resources.configs()), version_base=_VERSION),
    ):
        return hydra.compose(ROOT, given)


def config_of(overrides: Iterable[str], config_dir: Path | str | None = None) -> RunConfig:
    """Return the checked config of the run of `overrides`: `run_config` of what they compose.

    Raises
    ------
    InputError
        For an unknown choice, key or value.
    """
    given = list(overrides)
    config = _put_together(given) if config_dir is None else None
    return run_config(compose(given, config_dir)) if config is None else checked_groups(config)


def _put_together(overrides: Sequence[str]) -> dict[str, Any] | None:
    """Return the groups and metrics of a run; None for what is left to Hydra, as all mistakes."""
    chosen: dict[str, str] = {}
    changes = []
    for text in overrides:
        if (override := _parsed(text)) is None:
            return None
        if override.key_or_group in GROUPS:
            chosen[override.key_or_group] = str(override.value())
        else:
            changes.append(override)
    config = _chosen(chosen)
    if config is None or not all(_change(config, override) for override in changes):
        return None
    splits = config["data"].get("splits")
    published = splits if isinstance(splits, dict) else {}
    for name, value in config["split"].items():
        if reference := _PUBLISHED.fullmatch(str(value)):
            config["split"][name] = published.get(reference[1], reference[2])
            if config["split"][name] is None:
                return None
    text = str(config)
    return None if "${" in text or "???" in text else config


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Override | None:
    """Parse an override; None unless it chooses a group, or sets or deletes one plain value."""
    try:
        override = OverridesParser.create().parse_override(text)
    except HydraException:
        return None
    if override.is_sweep_override() or override.package or isinstance(override.value(), dict):
        return None
    is_group = override.key_or_group in GROUPS
    if override.is_delete() and (is_group or override.value() is not None):
        return None
    return None if is_group and override.is_add() else override


def _chosen(chosen: dict[str, str]) -> dict[str, Any] | None:
    """Return the groups as their files have them.

    A config may choose that of a group which stands before its own among the defaults of the root;
    of several the last does, and `chosen` wins over any of them.
    """
    wanted = dict(chosen)
    root = _content(f"{ROOT}.yaml")
    assert root is not None
    groups: dict[str, Any] = {"metrics": []}
    for group, default in reversed([item for item in root["defaults"] if item[0] in GROUPS]):
        if (content := _content(f"{group}/{wanted.pop(group, default)}.yaml")) is None:
            return None
        for key, value in content["defaults"]:
            chooses = _CHOOSES.fullmatch(key)
            if chooses is None or chooses[1] in groups:
                return None
            wanted.setdefault(chooses[1], value)
        groups[group] = json.loads(content["rest"])
    return None if wanted else groups


def _change(config: dict[str, Any], override: Override) -> bool:
    """Change or delete a value as Hydra would; return False for what is left to it."""
    *parents, name = override.key_or_group.split(".")
    node: Any = config
    for key in parents:
        node = node.setdefault(key, {}) if override.is_add() else node.get(key)
        if not isinstance(node, dict):
            return False
    if override.is_delete():
        return node.pop(name, None) is not None
    new = node.get(name) is None if override.is_add() else name in node
    if not (new or override.is_force_add()):
        return False
    node[name] = copy.deepcopy(override.value())
    return True


@cache
def _content(name: str) -> dict[str, Any] | None:
    """Return the defaults of a file as pairs, and the rest of it as JSON; None if there is none."""
    path = resources.configs() / name
    if not path.is_file():
        return None
    rest = resources.read_yaml(path)
    defaults = [item for item in rest.pop("defaults", []) if item != "_self_"]
    pairs = [pair for item in defaults for pair in item.items()]
    return {"defaults": pairs, "rest": json.dumps(rest)}


@dataclass(frozen=True)
class ComposedRun:
    """The composed config of one run, and the overrides that it was asked for with."""

    config: DictConfig
    overrides: tuple[str, ...]

    @classmethod
    def of(cls, config: DictConfig, options: Any) -> ComposedRun:
        """Return the job of a config and of Hydra's own ``options``."""
        for source in options.runtime.config_sources:
            if source.schema == "file" and source.provider != "main":
                resources.look_for_modules(source.path)
        own = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
        return cls(own, tuple(options.overrides.task))


class Task:
    """What Hydra calls with the config of a run, and our launcher with those of a sweep.

    Parameters
    ----------
    run : callable
        Called with the jobs, of a sweep perhaps more than once; it returns a number for each.
    """

    def __init__(self, run: Callable[[list[ComposedRun]], Sequence[float]]) -> None:
        self._run = run
        self.alone: list[ComposedRun] = []
        self.began = False

    def __call__(self, config: DictConfig) -> None:
        self.alone.append(ComposedRun.of(config, HydraConfig.get()))

    def take(self, configs: Sequence[DictConfig]) -> Sequence[float]:
        """Run the jobs of a sweep."""
        if not configs:
            raise InputError("The sweep has no run: give each range or glob a value at least.")
        jobs = [ComposedRun.of(config, config.hydra) for config in configs]
        self.began = True
        found = self._run(jobs)
        self.began = False
        return found


def run_hydra(arguments: Sequence[str], run: Callable[[list[ComposedRun]], Sequence[float]]) -> int:
    """Be Hydra's program, and have `run` called with what it composes; return the exit status.

    Parameters
    ----------
    arguments : sequence of str
        Overrides and flags of Hydra, in any order.
    run : callable
        As of `Task`. It is not called where a flag such as ``--help`` shows something instead.

    Raises
    ------
    InputError
        For what cannot be composed; and what `run` raises.
    """
    overrides = _with_present_names(text for text in arguments if _is_override(text))
    flags = [text for text in arguments if not _is_override(text)]
    # Hydra takes the beginning of a long flag for it, too.
    if any(len(text) > 2 and _RERUN.startswith(text.partition("=")[0]) for text in flags):
        raise InputError(f"{_RERUN} is not accepted: it would unpickle a file.")
    if sweeping := bool(set(flags) & set(_SWEEP_FLAGS)):
        overrides = [_with_files(text) for text in overrides]
    task = Task(run)
    main = hydra.main(str(resources.configs()), config_name=ROOT, version_base=_VERSION)(task)
    # The basic sweeper writes a multirun.yaml, which nobody needs who names no place for it.
    temporary = TemporaryDirectory(prefix="mklbench-sweep-") if sweeping else nullcontext("")
    with temporary as folder:
        place = [f"hydra.sweep.dir='{folder}'"] if sweeping else []
        os.environ["HYDRA_FULL_ERROR"] = "1"  # it raises what it would otherwise print
        before, sys.argv = sys.argv, [sys.argv[0], *place, *overrides, *flags]
        try:
            with _explained(overrides, lambda: task.began):
                main()
        except SystemExit as end:
            return 2 if end.code else 0
        finally:
            sys.argv = before
    if task.alone:
        run(task.alone)
    return 0


def jobs_of(arguments: Sequence[str], config_dir: str | None = None) -> list[ComposedRun]:
    """Return the jobs that overrides and flags describe, without running them."""
    found: list[ComposedRun] = []
    flags = [] if config_dir is None else ["--config-dir", config_dir]

    def collect(jobs: list[ComposedRun]) -> Sequence[float]:
        found.extend(jobs)
        return [0.0] * len(jobs)

    run_hydra([*arguments, *flags], collect)
    return found


def _with_present_names(overrides: Iterable[str]) -> list[str]:
    """Return overrides with the present names of IKL's options; warn of a former one."""
    given = list(overrides)
    for i, text in enumerate(given if "algo=ikl" in given else ()):
        key, equals, value = text.partition("=")
        path, _, option = key.rpartition(".")
        if path.lstrip("+").endswith("algo") and (name := FORMER_NAMES.get(option)):
            given[i] = f"{path}.{name}{equals}{value}"
            warn(f"{text} is written {given[i]} now: the former name goes with the next release.")
    return given


def _with_files(override: str) -> str:
    """Return an override of a path such as ``data.path=studies/*.csv`` as a choice of the files."""
    key, _, pattern = override.partition("=")
    if key not in _PATHS or pattern.startswith("[") or not glob.has_magic(pattern):
        return override
    if not (found := sorted(glob.glob(os.path.expanduser(pattern), recursive=True))):
        raise InputError(f"{override} names no file: correct the pattern.")
    return f"{key}={','.join(repr(path) for path in found)}"


def _is_override(text: str) -> bool:
    # Hydra's own parser takes no overrides on both sides of a flag.
    return not text.startswith("-") and ("=" in text or text.startswith("~"))


@contextmanager
def _explained(
    overrides: Sequence[str], ours: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Turn what Hydra raises into an InputError of one sentence; not what is `ours`."""
    try:
        yield
    except (InputError, BrokenPipeError):  # whoever read the help has gone
        raise
    except Exception as error:
        if ours():
            raise
        raise _explain(error, overrides) from error


def _explain(error: Exception, overrides: Sequence[str]) -> InputError:
    if isinstance(error, OverrideParseException):
        return InputError(
            f"{error.override} cannot be read as an override: write key=value, and quote a value "
            "that holds spaces, brackets or commas, as in 'key=\"a, b\"'."
        )
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        group, _, choice = str(error.missing_cfg_file).rpartition("/")
        return unknown(group, choice, error.options)
    cause = error.__cause__
    if isinstance(cause, ConfigAttributeError | ConfigKeyError) and cause.parent_node is not None:
        key = str(cause.full_key)
        given = next((text for text in overrides if text.partition("=")[0] == key), key)
        parent = key.rpartition(".")[0]
        known = [name for name in cause.parent_node if not str(name).startswith("_")]
        near = hint(cause.key, known, f"{parent}." if parent else "")
        new = f", or write ++{given} to add it" if parent else ""
        return InputError(f"{given} is not known: {near}{new}.")
    said: BaseException = error
    while not str(said).strip() and said.__cause__ is not None:
        said = said.__cause__
    text = " ".join(str(said).split()) or type(said).__name__
    return InputError(f"The config cannot be composed: {text.rstrip('.')}.")
