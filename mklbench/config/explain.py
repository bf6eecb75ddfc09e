"""One sentence for what Hydra says in five lines: the override, its fault, the nearest names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hydra.errors import MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf

from mklbench import resources
from mklbench.config.names import GROUPS, hint
from mklbench.config.signatures import LABELS, keywords
from mklbench.errors import InputError, unknown

Composer = Callable[[list[str]], DictConfig]

_NOT_OVERRIDDEN = re.compile(r"Could not override '([^']+)'")
_MISFIT = re.compile(r"Error merging override (.+)")
_AMBIGUOUS = re.compile(r"Ambiguous value for argument '(.+)'\n")


def explain(error: Exception, overrides: list[str], compose: Composer) -> InputError:
    """Turn an error of Hydra or OmegaConf about `overrides` into one sentence.

    Parameters
    ----------
    error : what composing the overrides raised.
    overrides : the override strings as the user typed them.
    compose : composes a config from override strings; used to look up which keys exist.
    """
    message = str(error)
    if isinstance(error, InputError):
        return error
    if isinstance(error, OverrideParseException):
        return InputError(
            f"{error.override} cannot be read as an override: "
            "write key=value (quote values that hold spaces, brackets or commas)."
        )
    if isinstance(error, MissingConfigException) and error.missing_cfg_file is not None:
        group, _, choice = str(error.missing_cfg_file).rpartition("/")
        return unknown(group or "config", choice, error.options or resources.choices(group))
    if match := _AMBIGUOUS.search(message):
        return InputError(
            f"{match[1]} names several values: add -m to run one cell for each of them, "
            "or write a list as key=[value,value]."
        )
    if match := _MISFIT.search(message):
        cause = str(error.__cause__ or "").strip().split("\n")[0].rstrip(".")
        return InputError(f"{match[1]} does not fit the value it replaces: {cause}.")
    if match := _NOT_OVERRIDDEN.search(message):
        return _unknown_key(match[1], overrides, compose)
    first_line = (message.strip() or type(error).__name__).splitlines()[0].rstrip(".")
    return InputError(f"{first_line}.")


def _unknown_key(key: str, overrides: list[str], compose: Composer) -> InputError:
    """Build the error for a key that the composed config does not have."""
    given = next((text for text in overrides if text.lstrip("~").split("=")[0] == key), key)
    group, _, name = key.partition(".")
    in_sweep = [choice for choice, keys in _swept(group, overrides, compose) if key in keys]
    if in_sweep:
        return InputError(
            f"{given} is known to {group}={','.join(in_sweep)} only, and a sweep needs keys that "
            f"the default {group} has too: write ++{given}."
        )
    config = compose(_group_choices(overrides))
    if group in ("algo", "kernel") and name in (keywords(group, config[group]) or ()):
        return InputError(
            f"{given} sets a keyword that {group}={config[group].name} leaves at its default: "
            f"write +{given}."
        )
    return InputError(f"{given} is not known: {_nearest(group, name, config)}.")


def _nearest(group: str, name: str, config: DictConfig) -> str:
    """Return the hint for a key that is neither in the config nor a keyword of its callable."""
    if not name or group not in config or not OmegaConf.is_dict(config[group]):
        return hint(group, (str(key) for key in config))
    names = {path for path in _leaves(config[group]) if path not in LABELS and path[0] != "_"}
    if group in ("algo", "kernel"):
        names |= set(keywords(group, config[group]) or ())
    return hint(name, names, f"{group}.")


def _swept(group: str, overrides: list[str], compose: Composer) -> Iterator[tuple[str, set[str]]]:
    """Yield (choice, its keys) for every choice of a group that the overrides sweep over."""
    if group not in GROUPS:
        return
    swept = next((text for text in overrides if text.startswith(f"{group}=") and "," in text), "")
    for choice in filter(None, swept.removeprefix(f"{group}=").split(",")):
        config = compose([f"{group}={choice}"])
        yield choice, {f"{group}.{path}" for path in _leaves(config[group])}


def _group_choices(overrides: list[str]) -> list[str]:
    """Return the overrides that choose one config of a group (not a sweep, not a value)."""
    pairs = (text.partition("=") for text in overrides)
    return [f"{key}={choice}" for key, _, choice in pairs if key in GROUPS and "," not in choice]


def _leaves(config: DictConfig) -> set[str]:
    tree: Any = OmegaConf.to_container(config, resolve=False)
    return set(_dotted(tree))


def _dotted(tree: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _dotted(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"
