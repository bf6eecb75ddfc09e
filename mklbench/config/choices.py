"""A choice of the shipped configs composed without Hydra, which takes a hundred times as long."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from hydra.core.override_parser.types import Override, OverrideType
from omegaconf import DictConfig, OmegaConf, flag_override

from mklbench import resources, yaml_files

# The config at the root, whose defaults are the groups.
ROOT = "config"

# What a config says that chooses the config of another group.
_CHOOSES = re.compile(r"override /(\w+)@_global_\.\1")


@dataclass(frozen=True)
class _File:
    """A shipped config: its defaults, and the rest, pickled, as that is the quickest to copy."""

    defaults: list[Any]
    pickled: bytes

    def node(self) -> DictConfig:
        node = pickle.loads(self.pickled)
        assert isinstance(node, DictConfig)
        return node


def choose(choices: Iterable[Override]) -> DictConfig | None:
    """Compose the shipped configs that overrides of groups choose, to what Hydra makes of them.

    Tests compare the two for every place of every table. None is for what is left to Hydra: any
    override but GROUP=NAME with a NAME that there is, and defaults of other forms than ours have.
    """
    names = chosen_names(choices)
    if names is None:
        return None
    config = OmegaConf.create()
    with flag_override(config, "no_deepcopy_set_nodes", True):
        for group, name in names.items():
            config[group] = shipped(group, name)
        for key, value in _file(None, ROOT).node().items_ex(resolve=False):
            if key != "hydra":
                config[key] = value
    OmegaConf.set_struct(config, True)
    return config


def shipped(group: str, name: str) -> DictConfig:
    """Return a shipped config, without its defaults."""
    return _file(group, name).node()


def chosen_names(choices: Iterable[Override]) -> dict[str, str] | None:
    """Return the names of the configs of all groups, in the order of the root's defaults.

    A config may choose that of a group before its own; of several the last does, and `choices`
    before any of them. None as for `choose`.
    """
    wanted: dict[str, str] = {}
    for override in choices:
        name = override.value()
        if override.type != OverrideType.CHANGE or override.package or not isinstance(name, str):
            return None
        wanted[override.key_or_group] = name
    names: dict[str, str] = {}
    for group, default in reversed(_defaults().items()):
        name = wanted.pop(group, default)
        if name not in _names(group):
            return None
        names[group] = name
        for item in _file(group, name).defaults:
            ((key, value),) = item.items() if isinstance(item, dict) else ((item, ""),)
            chooses = _CHOOSES.fullmatch(key)
            if chooses is None or chooses[1] in names:
                return None
            wanted.setdefault(chooses[1], value)
    return None if wanted else dict(reversed(names.items()))


@cache
def _defaults() -> dict[str, str]:
    """Return the groups with the names that the root gives them."""
    items = [item for item in _file(None, ROOT).defaults if item != "_self_"]
    pairs = [pair for item in items for pair in item.items()]
    return {group: name for group, name in pairs if "hydra/" not in group}


@cache
def _names(group: str) -> frozenset[str]:
    return frozenset(resources.choices(group))


@cache
def _file(group: str | None, name: str) -> _File:
    config = yaml_files.load(resources.configs() / (group or "") / f"{name}.yaml")
    assert isinstance(config, DictConfig)
    defaults: Any = OmegaConf.to_container(config.pop("defaults", OmegaConf.create([])))
    return _File(defaults, pickle.dumps(config))
