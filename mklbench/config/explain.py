"""One sentence for what Hydra says in five lines: the override, its fault, the nearest names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hydra.errors import MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf

from mklbench import resources
from mklbench.config.names import GROUPS
from mklbench.config.overrides import check_choices, is_hydra, key_of, unreadable
from mklbench.config.signatures import LABELS, keywords
from mklbench.errors import InputError, hint, unknown

Composer = Callable[[list[str]], DictConfig]

_NOT_OVERRIDDEN = re.compile(r"Could not override '([^']+)'")
_MISFIT = re.compile(r"Error merging override (.+)")
_AMBIGUOUS = re.compile(r"Ambiguous value for argument '(.+)'\n")
_PRESENT = re.compile(r"Could not append to config. An item is already at '([^']+)'")
_ABSENT = re.compile(r"Could not delete from config. '([^']+)' does not exist")
_OTHER_VALUE = re.compile(r"Could not delete from config. The value of '([^']+)' is (.*) and not")
_SECOND = re.compile(r"(?:Multiple values for )?(\S+)(?: appears more than once in|\. To override)")
_SEVERAL = re.compile(r"Sweep parameters '(.+)' requires --multirun")
_UNRESOLVED = re.compile(r"Error resolving interpolation '(.+)', possible")
_DIGITS = re.compile(r"Exceeds the limit \((\d+) digits\)")
_IN_FILE = re.compile(r"In '([^']+)': (.+)", re.DOTALL)


def explain(error: Exception, overrides: list[str], compose: Composer) -> InputError:
    """Turn an error of Hydra or OmegaConf about `overrides` into one sentence.

    Parameters
    ----------
    error : Exception
        What composing the overrides raised.
    overrides : list of str
        The override strings as the user typed them.
    compose : Composer
        Composes a config from override strings; used to look up which keys exist.
    """
    message = str(error)
    if isinstance(error, BrokenPipeError):  # the reader of --help has gone
        raise error
    if isinstance(error, InputError):
        return error
    if isinstance(error, OverrideParseException):
        return unreadable(error.override, message)
    if isinstance(error, MissingConfigException) and error.missing_cfg_file is not None:
        return _missing(error, overrides)
    if (removed := _removed_group(overrides)) is not None:
        return removed
    if match := _AMBIGUOUS.search(message) or _SEVERAL.search(message):
        return InputError(
            f"{match[1]} names several values: add -m to run once for each of them, "
            "or write a list as key=[value,value]."
        )
    if match := _MISFIT.search(message):
        cause = str(error.__cause__ or "").strip().split("\n")[0].rstrip(".")
        return InputError(f"{match[1]} does not fit the value it replaces: {cause}.")
    if (explained := _prefix(message, overrides)) is not None:
        return explained
    if match := _IN_FILE.match(message):
        return InputError(
            f"{match[1]}.yaml cannot be used: {_clause(match[2])}; mend its defaults."
        )
    if match := _NOT_OVERRIDDEN.search(message):
        return _unknown_key(match[1], overrides, compose)
    if match := _UNRESOLVED.search(message):
        given = next((text for text in overrides if match[1] in text), match[1])
        return InputError(f"{given} refers to what is not there: write the name itself.")
    if match := _DIGITS.search(message):
        digits = re.compile(rf"\d{{{match[1]}}}")
        given = next((text for text in overrides if digits.search(text)), "A number")
        return InputError(
            f"{given[:40]}... has more than {match[1]} digits: write a large number as 1e10."
        )
    try:
        check_choices(overrides)
    except InputError as found:
        return found
    given = " ".join(filter(is_hydra, overrides))
    cause = _clause(_root(error))
    if given:
        return InputError(f"{given} is not accepted by Hydra: {cause}; leave it out.")
    return InputError(f"The config cannot be composed: {cause}.")


def _root(error: BaseException) -> str:
    """Return the first message among an error and its causes, or the name of the error."""
    found: BaseException | None = error
    while found is not None and not str(found).strip():
        found = found.__cause__ or found.__context__
    return type(error).__name__ if found is None else str(found)


def _clause(message: str) -> str:
    """Return the first line of a message without its full stop."""
    return message.strip().splitlines()[0].strip().rstrip(".")


def _missing(error: MissingConfigException, overrides: Sequence[str]) -> InputError:
    """Build the error for a config that is not there, named by an override or by a config."""
    path = str(error.missing_cfg_file)
    group, _, choice = path.rpartition("/")
    if (first := path.partition("/"))[0] in GROUPS:  # the choice may be a path itself
        group, _, choice = first
    accepted = error.options or resources.choices(group)
    by_user = any(choice in text.partition("=")[2] for text in overrides)
    if not by_user and (match := _IN_FILE.match(str(error))):
        return unknown(f"The defaults of {match[1]}.yaml name {group}", choice, accepted)
    return unknown(group or "config", choice, accepted)


def _removed_group(overrides: Sequence[str]) -> InputError | None:
    """Return the error for the first group that the overrides take away, if there is one."""
    for text in overrides:
        group = key_of(text)
        if text.startswith("~") and group in GROUPS:
            return InputError(
                f"{text} takes the {group} away, but every run needs one: choose it with "
                f"{group}=NAME."
            )
    return None


def _prefix(message: str, overrides: Sequence[str]) -> InputError | None:
    """Return the error for a prefix, + or ~, that does not fit the config; None if that is fine."""
    if match := _PRESENT.search(message):
        given = _given(match[1], overrides)
        return InputError(
            f"{given} adds what the config has already: write {given.lstrip('+')} to change it."
        )
    if match := _ABSENT.search(message):
        given = _given(match[1], overrides)
        return InputError(f"{given} takes away what the config does not have: leave it out.")
    if match := _OTHER_VALUE.search(message):
        given = _given(match[1], overrides)
        return InputError(
            f"{given} is not accepted, as {match[1]} is {match[2]}: write ~{match[1]} alone."
        )
    if match := _SECOND.search(message):
        given = _given(match[1], overrides)
        return InputError(
            f"{given} adds a second {match[1]}, but a run has only one: write {match[1]}=NAME."
        )
    return None


def _given(key: str, overrides: Sequence[str]) -> str:
    """Return the last override of a key as it was typed; the key where there is none."""
    return next((text for text in reversed(overrides) if key_of(text) == key), key)


def _unknown_key(key: str, overrides: list[str], compose: Composer) -> InputError:
    """Build the error for a key that the composed config does not have."""
    given = _given(key, overrides)
    group, _, name = key.partition(".")
    if key.startswith("search.grid."):
        return InputError(
            f"{given} is not in the grid of the search: write +{given} to add it to it."
        )
    in_sweep = [choice for choice, keys in _swept(group, overrides, compose) if key in keys]
    if in_sweep:
        return InputError(
            f"{given} is known to {group}={','.join(in_sweep)} only, and a sweep needs keys that "
            f"the default {group} has too: write ++{given}."
        )
    config = compose(_group_choices(overrides))
    if name and OmegaConf.is_dict(OmegaConf.select(config, key)):
        return InputError(f"{given} has keys that {key} has not: write ++{given} to add them.")
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
    if group == "executor" and config[group].name == "local":
        return "executor=local has executor.rows alone, executor=slurm and executor=dask have more"
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
    return [f"{key}={choice}" for key, _, choice in pairs if _is_group(key) and "," not in choice]


def _is_group(key: str) -> bool:
    return key in (*GROUPS, "executor")


def _leaves(config: DictConfig) -> set[str]:
    tree: Any = OmegaConf.to_container(config, resolve=False)
    return set(_dotted(tree))


def _dotted(tree: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _dotted(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"
