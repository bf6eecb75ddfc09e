"""The user's own configs as Hydra finds them: what ``--config-dir`` names, read within bounds."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult, ConfigSource
from omegaconf import DictConfig, OmegaConf

from mklbench import yaml_files
from mklbench.errors import InputError


class OwnConfigs(FileConfigSource):
    """A directory of configs that are read by `mklbench.yaml_files`."""

    @staticmethod
    def scheme() -> str:
        return "mklbench-own"

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the config at a path below the directory.

        Raises
        ------
        InputError
            If it cannot be read, is out of bounds, is no mapping, or comes upon itself
            among its defaults, which Hydra would follow without end.
        """
        text, config = self._read(config_path)
        self._check_defaults(config_path, config, (config_path,))
        return ConfigResult(
            config=config,
            path=self.full_path(),
            provider=self.provider,
            header=ConfigSource._get_header_dict(text),
        )

    def _file(self, config_path: str) -> Path:
        return Path(self.path, self._normalize_file_name(config_path))

    def _read(self, config_path: str) -> tuple[str, DictConfig]:
        path = self._file(config_path)
        text = yaml_files.read_text(path)
        config = yaml_files.parse(text, path)
        if not isinstance(config, DictConfig):
            raise InputError(f"{path} holds a list where it needs keys with values: key: value.")
        return text, config

    def _check_defaults(self, at: str, config: DictConfig, trail: tuple[str, ...]) -> None:
        for following in _defaults(at, config, self._file(at)):
            if following in trail:
                circle = [*trail[trail.index(following) :], following]
                raise InputError(
                    f"{self._file(at)} has defaults that lead back to themselves: "
                    f"{' -> '.join(circle)}; leave one of them out."
                )
            if self.is_config(following):
                self._check_defaults(following, self._read(following)[1], (*trail, following))


def _defaults(at: str, config: DictConfig, file: Path) -> Iterator[str]:
    """Yield the paths of the configs that the defaults of the config at `at` bring in.

    Raises
    ------
    InputError
        If the defaults are no list of names and of mappings with one key.
    """
    content: Any = OmegaConf.to_container(config, resolve=False)
    items = content.get("defaults", [])
    if not isinstance(items, list):
        raise InputError(f"{file} has defaults={items}: give a list of the names of configs.")
    if items.count("_self_") > 1:
        raise InputError(f"{file} has _self_ more than once among its defaults: give it once.")
    for item in items:
        if isinstance(item, str):
            if item != "_self_":
                yield _path(at, "", item)
            continue
        if not isinstance(item, Mapping) or len(item) != 1:
            raise InputError(
                f"{file} has {item} among its defaults: each is a name or one group: name."
            )
        ((key, value),) = item.items()
        words = str(key).split()
        names = value if isinstance(value, list) else [value]
        if words and "override" not in words:
            yield from (_path(at, words[-1], str(name)) for name in names)


def _path(at: str, group: str, name: str) -> str:
    """Return the path of config `name` in `group`, both relative to the config at `at`."""
    below = posixpath.join("/", posixpath.dirname(at), group.partition("@")[0])
    name = name.removeprefix("optional ").partition("@")[0].strip()
    return posixpath.normpath(posixpath.join(below, name)).lstrip("/")


def search_path(config_dir: Path | str) -> str:
    """Return the override by which Hydra looks for configs in `config_dir`, too."""
    Plugins.instance().register(OwnConfigs)
    place = QuotedString(f"{OwnConfigs.scheme()}://{config_dir}", Quote.single)
    return f"hydra.searchpath=[{place.with_quotes()}]"
