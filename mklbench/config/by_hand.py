"""What a user sets by hand is used, also where the search of an algorithm tries values of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from omegaconf import DictConfig, OmegaConf, open_dict

from mklbench.config.overrides import key_of
from mklbench.errors import InputError


def without_search_of(composed: DictConfig, overrides: Iterable[str]) -> DictConfig:
    """Take what `overrides` set out of the grid of a composed config, and return the config.

    Raises
    ------
    InputError
        If `overrides` choose the search, too, or what it tries.
    """
    given = {key_of(override): override.partition("=")[2] for override in overrides}
    search = dict(composed.items_ex(resolve=False)).get("search")
    plain = OmegaConf.to_container(search, resolve=False) if OmegaConf.is_config(search) else None
    grid = _mapping(plain).get("grid")
    for key, value in given.items():
        group, _, name = key.rpartition(".")
        if name not in _mapping(_mapping(grid).get(group)):
            continue
        if "search" in given or f"search.grid.{key}" in given:
            raise InputError(
                f"{key}={value} is not accepted, as search={composed.search.name} chooses it: "
                "leave it out, set search=fixed, or have it alone tried with "
                f"search.grid.{key}=[{value}]."
            )
        with open_dict(composed):
            del composed.search.grid[group][name]
            if not any(composed.search.grid.values()):
                composed.search.grid = {}
                composed.search.name = "fixed"
    return composed


def _mapping(node: Any) -> dict[Any, Any]:
    return node if isinstance(node, dict) else {}
