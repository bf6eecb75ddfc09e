"""The config of a position of a table, put together from the shipped files without Hydra.

All tables have 3,500 positions, and Hydra takes 50 ms for each. A test compares the two.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mklbench import resources
from mklbench.config.composition import ROOT, compose
from mklbench.config.runs import checked_groups, run_config
from mklbench.config.schemas import GROUPS, RunConfig

# What a config says that chooses the config of another group.
_CHOOSES = re.compile(r"override /(\w+)@_global_\.\1")
# What a group may refer to.
_TO_DATA = re.compile(r"\$\{(?:oc\.select:)?data\.")


def config_of(overrides: Iterable[str], config_dir: Path | str | None = None) -> RunConfig:
    """Return the checked config of the run of `overrides`: `run_config` of what they compose.

    Raises
    ------
    InputError
        For an unknown choice, key or value.
    """
    given = list(overrides)
    groups = _put_together(given) if config_dir is None else None
    if groups is None:
        return run_config(compose(given, config_dir))
    return checked_groups(groups)


def _put_together(overrides: Sequence[str]) -> dict[str, Any] | None:
    """Return the groups of a run; None for what is left to Hydra, such as all mistakes."""
    chosen: dict[str, str] = {}
    changes = []
    for text in overrides:
        override = _parsed(text)
        if override is None:
            return None
        if override.key_or_group in GROUPS and not text.startswith("+"):
            chosen[override.key_or_group] = str(override.value())
        else:
            changes.append(override)
    groups = _chosen(chosen)
    if groups is None or not all(_change(groups, override) for override in changes):
        return None
    for group in GROUPS:
        if any(mark in str(groups[group]) for mark in ("${", "???")):
            parts = {group: groups[group], "data": groups["data"]}  # what it may refer to
            resolved = _resolved(group, json.dumps(parts))
            if resolved is None:
                return None
            groups[group] = json.loads(resolved)
    return groups


@lru_cache(maxsize=4096)
def _resolved(group: str, parts: str) -> str | None:
    """Return a group as JSON with its references resolved; None where they lead nowhere."""
    if parts.count("${") != len(_TO_DATA.findall(parts)):
        return None
    config = OmegaConf.create(json.loads(parts))
    try:
        return json.dumps(
            OmegaConf.to_container(config[group], resolve=True, throw_on_missing=True)
        )
    except OmegaConfBaseException:
        return None


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Override | None:
    """Parse an override; None unless it gives one key a value that is no mapping."""
    try:
        override = OverridesParser.create().parse_override(text)
    except HydraException:
        return None
    simple = not (override.is_delete() or override.is_sweep_override() or override.package)
    return override if simple and not isinstance(override.value(), dict) else None


def _chosen(chosen: dict[str, str]) -> dict[str, Any] | None:
    """Return the groups as their files have them.

    A config may choose that of a group which stands before its own among the defaults of the root;
    of several the last does, and `chosen` wins over any of them.
    """
    wanted = dict(chosen)
    groups: dict[str, Any] = {}
    for group, default in reversed(_defaults().items()):
        path = resources.configs() / group / f"{wanted.pop(group, default)}.yaml"
        if not path.is_file():
            return None
        content = _content(path)
        for key, value in ((k, v) for item in content["defaults"] for k, v in item.items()):
            chooses = _CHOOSES.fullmatch(key)
            if chooses is None or chooses[1] in groups:
                return None
            wanted.setdefault(chooses[1], value)
        groups[group] = json.loads(content["rest"])
    return None if wanted else {group: groups[group] for group in GROUPS}


def _change(groups: dict[str, Any], override: Override) -> bool:
    """Change a value as Hydra would; return False for what is left to it."""
    *parents, name = override.key_or_group.split(".")
    node: Any = groups
    for key in parents:
        node = node.setdefault(key, {}) if override.is_add() else node.get(key)
        if not isinstance(node, dict):
            return False
    new = node.get(name) is None if override.is_add() else name in node
    if not parents or not (new or override.is_force_add()):
        return False
    node[name] = copy.deepcopy(override.value())
    return True


@cache
def _defaults() -> dict[str, str]:
    """Return the groups of a run with the names that the root gives them."""
    items = _content(resources.configs() / f"{ROOT}.yaml")["defaults"]
    pairs = (pair for item in items if item != "_self_" for pair in item.items())
    return {group: name for group, name in pairs if group in GROUPS}


@cache
def _content(path: Path) -> dict[str, Any]:
    rest = resources.read_yaml(path)
    return {"defaults": rest.pop("defaults", []), "rest": json.dumps(rest)}
