"""Hydra's compose, with errors of one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from mklbench import resources
from mklbench.config.explain import explain
from mklbench.config.overrides import check_readable
from mklbench.config.own_configs import search_path

# What Hydra raises for overrides it cannot use; some of its checks are bare errors.
_ERRORS = (HydraException, OmegaConfBaseException, ValueError, TypeError, RecursionError)


def compose(overrides: Iterable[str] = (), config_dir: Path | str | None = None) -> DictConfig:
    """Compose the config of one cell from override strings, as ``mklbench run`` would.

    Parameters
    ----------
    overrides : Hydra overrides such as ``"algo=svm"`` or ``"algo.C=10"``.
    config_dir : a directory of the user's own configs, searched after ours.

    Raises
    ------
    InputError : for an unknown choice or key, or an override that cannot be read.
    """
    given = list(overrides)
    if config_dir is not None:
        resources.check_config_dir(config_dir)
    check_readable(given)
    try:
        return _compose(given, config_dir)
    except _ERRORS as error:
        raise explain(error, given, partial(_compose, config_dir=config_dir)) from error


def _compose(overrides: list[str], config_dir: Path | str | None) -> DictConfig:
    if config_dir is not None:
        overrides = [search_path(config_dir), *overrides]
    # As a context manager this leaves an application that uses Hydra itself as it was.
    with initialize_config_dir(str(resources.configs()), version_base="1.3"):
        return hydra_compose("config", overrides)
