"""The config of a cell put together from its groups, each composed once for all that share it.

The cells of a table, and there are a thousand, are made of a few hundred such parts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from omegaconf import OmegaConf, open_dict

from mklbench.config.cells import cell_config, checked_groups, plain_group, unresolved
from mklbench.config.choices import chosen_names, shipped
from mklbench.config.composition import compose, is_group, plain_override
from mklbench.config.names import GROUPS
from mklbench.config.overrides import check_readable, parsed

# What a part may refer to beside itself.
_TO_DATA = re.compile(r"\$\{(oc\.select:)?data\.[\w.]+(,\w+)?\}")

# A group, the name of its config and the overrides of what is in it.
_Part = tuple[str, str, tuple[str, ...]]


def config_of(overrides: Iterable[str], config_dir: Path | str | None = None) -> dict[str, Any]:
    """Return the checked config of the cell of `overrides`: `cell_config` of what they compose.

    Raises
    ------
    InputError
        For an unknown choice, key or value.
    """
    given = list(overrides)
    check_readable(given)
    groups = None if config_dir is not None else _groups(given)
    if groups is None:
        return cell_config(compose(given, config_dir))
    return checked_groups(groups)


def _groups(overrides: Sequence[str]) -> dict[str, Any] | None:
    """Return the groups from their parts; None for what has to be composed as a whole."""
    choices, values = [], dict[str, list[str]]({group: [] for group in GROUPS})
    for text in overrides:
        override = plain_override(text)
        if override is None:
            return None
        group = override.key_or_group.partition(".")[0]
        if not isinstance(override.value(), dict) and is_group(override.key_or_group, None):
            choices.append(override)
        elif group in values:
            values[group].append(text)
        else:
            return None
    names = chosen_names(choices)
    if names is None:
        return None
    parts = {group: (group, names[group], tuple(values[group])) for group in GROUPS}
    texts = {group: _composed(part, parts["data"]) for group, part in parts.items()}
    if None in texts.values():
        return None
    return {group: json.loads(str(text)) for group, text in texts.items()}


def _composed(part: _Part, data: _Part) -> str | None:
    refers = _refers(part)
    if refers is None or (refers and (part == data or _refers(data) is not False)):
        return None
    return _text(part, data if refers else None)


@lru_cache(maxsize=4096)
def _refers(part: _Part) -> bool | None:
    """Tell whether a part refers to the data; None if it refers to anything else."""
    group, name, values = part
    text = f"{unresolved(shipped(group, name))} {values}"
    references = len(_TO_DATA.findall(text))
    return references > 0 if text.count("${") == references else None


@lru_cache(maxsize=4096)
def _text(part: _Part, data: _Part | None) -> str | None:
    """Return a group as JSON, and None for what is wrong; `data` is what it may refer to."""
    config = OmegaConf.create()
    OmegaConf.set_struct(config, True)
    try:
        for group, name, values in (part,) if data is None else (data, part):
            with open_dict(config):
                config[group] = shipped(group, name)
            changes = [parsed(text) for text in values]
            ConfigLoaderImpl._apply_overrides_to_config(changes, config)
        return json.dumps(plain_group(config, part[0]))
    except Exception:  # what is wrong is said where the whole is composed
        return None
