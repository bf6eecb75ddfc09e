"""Hydra's compose, with errors of one sentence, and a choice of groups composed only once."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.hydra import Hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig

from mklbench import resources
from mklbench.config.choices import ROOT, choose
from mklbench.config.explain import explain
from mklbench.config.overrides import check_readable, parsed
from mklbench.config.own_configs import search_path
from mklbench.errors import InputError

# A pickled config takes 8 kB.
_CHOICES_KEPT = 1024


def compose(overrides: Iterable[str] = (), config_dir: Path | str | None = None) -> DictConfig:
    """Compose the config of one cell from override strings, as ``mklbench run`` would.

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
    given = list(overrides)
    if config_dir is not None:
        resources.check_config_dir(config_dir)
    check_readable(given)
    with explained(given, config_dir):
        return composed(given, config_dir)


@contextmanager
def explained(overrides: list[str], config_dir: Path | str | None) -> Iterator[None]:
    """Turn what Hydra raises over `overrides` into an InputError of one sentence."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # some of Hydra's checks are bare errors
        if os.environ.get("HYDRA_FULL_ERROR") == "1":  # set by a user who wants the traceback
            raise
        raise explain(error, overrides, partial(composed, config_dir=config_dir)) from error


def composed(overrides: Sequence[str], config_dir: Path | str | None) -> DictConfig:
    """Compose as `compose` does, with the errors of Hydra.

    What chooses configs of groups is composed once; the other overrides are applied by Hydra's
    function to a copy of that, which is what Hydra does with them, too.
    """
    directory = None if config_dir is None else str(config_dir)
    if directory is not None:
        resources.look_for_modules(directory)
    choices: list[str] = []
    values: list[Override] = []
    for text in overrides:
        override = plain_override(text)
        if override is None:
            return _by_hydra(tuple(overrides), directory)
        if not isinstance(override.value(), dict) and is_group(override.key_or_group, directory):
            choices.append(text)
        else:
            values.append(override)
    config = _chosen(tuple(choices), directory)
    ConfigLoaderImpl._apply_overrides_to_config(values, config)
    return config


def plain_override(text: str) -> Override | None:
    """Parse an override; None for what is left to Hydra as a whole.

    That is what it refuses before it composes anything, and what may be about its own config.
    """
    if "hydra" in text:
        return None
    try:
        override = parsed(text)
    except HydraException:
        return None
    return None if override.is_sweep_override() else override


def is_group(key: str, directory: str | None) -> bool:
    """Tell whether Hydra takes `key` for that of a group, as it does with any directory."""
    roots = [str(resources.configs()), *([] if directory is None else [directory])]
    return any(os.path.isdir(os.path.join(root, key)) for root in roots)


@dataclass(frozen=True)
class _Choice:
    """A composed choice of configs, pickled, as that is the quickest to copy.

    `own` are the user's own files that went into it, as they were.
    """

    pickled: bytes
    own: dict[str, tuple[int, int, int] | None]

    def is_current(self) -> bool:
        return all(_state(path) == state for path, state in self.own.items())


def _chosen(choices: tuple[str, ...], directory: str | None) -> DictConfig:
    """Return the config of a choice of groups; composed once, unless files have changed."""
    here = os.getcwd()  # which a directory may be relative to
    choice = _choice(choices, directory, here)
    if not choice.is_current():
        _choice.cache_clear()
        choice = _choice(choices, directory, here)
    config = pickle.loads(choice.pickled)
    assert isinstance(config, DictConfig)
    return config


@lru_cache(maxsize=_CHOICES_KEPT)
def _choice(choices: tuple[str, ...], directory: str | None, here: str) -> _Choice:
    chosen = choose(map(parsed, choices)) if directory is None else None
    pickled = pickle.dumps(_by_hydra(choices, directory) if chosen is None else chosen)
    return _Choice(pickled, {path: _state(path) for path in _own_files(choices, directory)})


def _by_hydra(overrides: tuple[str, ...], directory: str | None) -> DictConfig:
    with hydra_program():
        return hydra_compose(ROOT, searching(directory, overrides))


def _own_files(choices: tuple[str, ...], directory: str | None) -> list[str]:
    """Return the files of the user's own configs that a choice of groups brings in."""
    if directory is None:
        return []
    with hydra_program() as program:
        found = program.config_loader.compute_defaults_list(
            ROOT, searching(directory, choices), RunMode.RUN
        )
    paths = (os.path.join(directory, f"{item.config_path}.yaml") for item in found.defaults)
    return [path for path in paths if os.path.isfile(path)]


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def searching(directory: Path | str | None, overrides: Iterable[str]) -> list[str]:
    """Return `overrides` with that by which Hydra looks for configs in `directory`, too."""
    return [*([] if directory is None else [search_path(directory)]), *overrides]


@contextmanager
def hydra_program() -> Iterator[Hydra]:
    """Give Hydra with our configs, and leave an application that uses it as it was."""
    with initialize_config_dir(str(resources.configs()), job_name="mklbench", version_base="1.3"):
        program = GlobalHydra.instance().hydra
        assert program is not None
        yield program
