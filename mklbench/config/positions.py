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

from mklbench import resources
from mklbench.config.composition import ROOT, compose
from mklbench.config.runs import checked_groups, run_config
from mklbench.config.schemas import GROUPS, RunConfig

# What a config says that chooses the config of another group.
_CHOOSES = re.compile(r"override /(\w+)@_global_\.\1")
# A value of the published splits of the data, or else what stands behind the comma.
_PUBLISHED = re.compile(r"\$\{(?:oc\.select:)?data\.splits\.(\w+)(?:,(\w+))?\}")


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
        override = _parsed(text)
        if override is None:
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
        content = _content(f"{group}/{wanted.pop(group, default)}.yaml")
        if content is None:
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
