"""From a composed config to what is run: the checked groups, and the options of the run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from mklbench.config.callables import arguments, check_arguments
from mklbench.config.schemas import (
    GROUPS,
    OptionWhere,
    RunConfig,
    RunOptions,
    SearchConfig,
    SplitConfig,
    scorers,
)
from mklbench.errors import InputError, first_line, hint
from mklbench.grids import first_values
from mklbench.reader import T, read


def by_key(overrides: Iterable[str]) -> dict[str, str]:
    """Return overrides by what they set, take out or add."""
    return {text.partition("=")[0].lstrip("+~"): text for text in overrides}


def run_config(composed: DictConfig, by_hand: Iterable[str] = ()) -> RunConfig:
    """Return the config of a run from what is composed, resolved and checked.

    Parameters
    ----------
    composed : DictConfig
        The config.
    by_hand : iterable of str, default=()
        Overrides by which a user has set values: these are used, and not searched for.

    Raises
    ------
    InputError
        Naming the first key or value that cannot be accepted.
    """
    groups = {group: _group(composed, group) for group in GROUPS}
    return checked_groups({**groups, "metrics": _plain(composed, "metrics")}, by_hand)


def checked_groups(resolved: dict[str, Any], by_hand: Iterable[str] = ()) -> RunConfig:
    """Return the config of a run from its resolved groups and metrics.

    Raises
    ------
    InputError
        Naming the first key or value that cannot be accepted.
    """
    # As JSON has it, keys are text: what is stored, sent to workers and run is then the same.
    groups = json.loads(json.dumps(resolved, default=str))
    algo, kernel, data, search = (groups[name] for name in ("algo", "kernel", "data", "search"))
    for option in ("grid", "fits"):
        tree = search.get(option) or {}
        search[option] = _flatten(tree) if isinstance(tree, Mapping) else tree
    _take_out(search, by_hand)
    for group in ("algo", "kernel", "data"):
        name = groups[group].get("name")
        if not isinstance(name, str | int) or isinstance(name, bool) or name == "":
            raise InputError(f"{group}.name={name} is not accepted: it must be a text.")
    for group in ("algo", "kernel"):
        check_arguments(group, groups[group], arguments(groups[group]))
    sought = _read_group(SearchConfig, "search", json.dumps(search))
    for path, values in sought.grid.items():
        group, _, name = path.partition(".")
        for value in first_values(values):
            try:
                check_arguments(group, groups[group], {name: value})
            except InputError as error:
                raise InputError(
                    f"search={search.get('name')} tries {path}: {error} Take it out with "
                    f"'~search.grid.{path}', and name what is tried, as in "
                    "'+search.grid.algo.lam=[0.1,1]'."
                ) from error
    fits = {path.removeprefix("algo."): value for path, value in (sought.fits or {}).items()}
    check_arguments("algo", algo, fits)
    # Those that change nothing change no key.
    changed = {f"algo.{name}": value for name, value in fits.items() if algo.get(name) != value}
    if sought.tol is not None:
        check_arguments("algo", algo, {"tol": sought.tol})
    split = _read_group(SplitConfig, "split", json.dumps(groups["split"]))
    metrics = tuple(scorers(groups["metrics"]))
    return RunConfig(algo, kernel, data, split, replace(sought, fits=changed or None), metrics)


@lru_cache(maxsize=256)
def _read_group(kind: type[T], name: str, text: str) -> T:
    """Read a group from JSON, once for all runs of all tables that share it."""
    return read(kind, json.loads(text), OptionWhere((name,)))


def _take_out(search: dict[str, Any], by_hand: Iterable[str]) -> None:
    """Take what is set by hand out of the grid of a search.

    Raises
    ------
    InputError
        If the search, or what it tries, is chosen by hand, too.
    """
    given = by_key(by_hand)
    for key in [key for key in given if key in search["grid"]]:
        if "search" in given or f"search.grid.{key}" in given:
            value = given[key].partition("=")[2]
            raise InputError(
                f"{key}={value} is not accepted, as search={search.get('name')} chooses it: "
                "leave it out, set search=fixed, or have it alone tried with "
                f"search.grid.{key}=[{value}]."
            )
        del search["grid"][key]
        if not search["grid"]:
            search["name"] = "fixed"


def run_options(composed: DictConfig) -> RunOptions:
    """Return the checked options of a run (jobs, timeout, results_dir, out, progress)."""
    options = [item.name for item in fields(RunOptions)]
    for key in composed:
        if key not in (known := [*GROUPS, "metrics", *options]):
            raise InputError(f"{key!s} is not known: {hint(str(key), known)}.")
    values = {key: _plain(composed, key) for key in options if key in composed}
    values["executor"] = _group(composed, "executor")
    return read(RunOptions, values, OptionWhere(()))


def _group(config: DictConfig, group: str) -> dict[str, Any]:
    """Return a group as a plain dict, resolved.

    Raises
    ------
    InputError
        If it is not there, or lacks a value.
    """
    if not OmegaConf.is_dict(config.get(group)):
        raise InputError(f"{group} is no config, but every run needs one: choose {group}=NAME.")
    return dict(_plain(config, group))


def _plain(config: DictConfig, key: str) -> Any:
    """Return what is at a key, in plain containers, resolved."""
    try:
        found = config[key]
        if not OmegaConf.is_config(found):
            return found
        return OmegaConf.to_container(found, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        path = error.full_key or key
        why = "" if isinstance(error, MissingMandatoryValue) else f", {first_line(error)}"
        raise InputError(f"{path} is not set{why}: give it a value, as in {path}=VALUE.") from error


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested mappings as one, keyed by dotted paths."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        path = f"{prefix}{key}"
        flat |= _flatten(value, f"{path}.") if isinstance(value, Mapping) else {path: value}
    return flat
