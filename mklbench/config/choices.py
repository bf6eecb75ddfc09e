"""A choice of groups composed without Hydra's own config, which is nine tenths of the work."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository, ConfigRepository
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra._internal.defaults_list import create_defaults_list
from hydra.core.default_element import GroupDefault
from hydra.plugins.config_source import ConfigResult
from omegaconf import DictConfig, OmegaConf

from mklbench import resources
from mklbench.config.overrides import parsed

# The config at the root, whose defaults are the groups.
ROOT = "config"


def choose(choices: tuple[str, ...]) -> DictConfig:
    """Compose the shipped configs that overrides of groups choose.

    The steps are Hydra's, and so is what it raises; tests compare with Hydra's compose. Of what it
    raises here the sentences may be about less than the user has typed: let Hydra compose it all.
    """
    loader = _loader()
    repository = CachingConfigRepository(loader.repository)
    found = create_defaults_list(
        repository,
        ROOT,
        [parsed(text) for text in choices],
        prepend_hydra=False,
        skip_missing=False,
    )
    config = loader._compose_config_from_defaults_list(found.defaults, repository)
    OmegaConf.set_struct(config, True)
    return config


@cache
def _loader() -> ConfigLoaderImpl:
    paths = ConfigSearchPathImpl()
    paths.append("main", str(resources.configs()))
    paths.append("schema", "structured://")
    loader = ConfigLoaderImpl(paths)
    loader.repository = _OursAlone(paths)
    return loader


class _OursAlone(ConfigRepository):
    """The shipped configs, each file read once, without what they say to Hydra itself."""

    def __init__(self, paths: ConfigSearchPathImpl) -> None:
        super().__init__(paths)
        self._read: dict[str, bytes] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> _OursAlone:
        return self  # each composition asks for a copy; what changes here is what has been read

    def load_config(self, config_path: str) -> ConfigResult | None:
        if config_path not in self._read:
            self._read[config_path] = pickle.dumps(self._ours(config_path))
        result: ConfigResult | None = pickle.loads(self._read[config_path])
        return result

    def _ours(self, config_path: str) -> ConfigResult | None:
        result = super().load_config(config_path)
        if result is not None and config_path == ROOT:
            assert isinstance(result.config, DictConfig)
            del result.config["hydra"]
            result.defaults_list = [
                item
                for item in result.defaults_list or ()
                if not (isinstance(item, GroupDefault) and str(item.group).startswith("hydra/"))
            ]
        return result
