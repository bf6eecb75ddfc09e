"""The resolved config of a cell as plain dicts, and the callables it names."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from mklbench.config.composition import compose
from mklbench.config.names import GROUPS
from mklbench.config.schemas import RunConfig, SearchConfig, SplitConfig, checked, scorers
from mklbench.config.signatures import arguments, check_arguments, root_cause, target
from mklbench.contract import Algorithm, algorithm_of
from mklbench.errors import InputError, first_line, hint
from mklbench.grids import first_values
from mklbench.kernels.contract import builder_of

# Options of the search that are keyed by dotted paths, and what they map.
_PATHS_OF_SEARCH = {
    "grid": "hyperparameters to lists of values, as in +search.grid.algo.C=[1,10]",
    "fits": "options of the algorithm to values, as in +search.fits.algo.max_iter=50",
}


def cell_config(composed: DictConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Return the resolved, checked groups of a composed config as plain dicts.

    Raises
    ------
    InputError
        Naming the first key or value that cannot be accepted.
    """
    node = composed if isinstance(composed, DictConfig) else OmegaConf.create(dict(composed))
    groups = checked_groups({group: plain_group(node, group) for group in GROUPS})
    if asked := scorers(_metrics(node)):
        groups["metrics"] = {"scorers": asked}
    return groups


def checked_groups(groups: dict[str, Any]) -> dict[str, Any]:
    """Return the groups of a cell, resolved, with the types of their schemas.

    Raises
    ------
    InputError
        Naming the first key or value that cannot be accepted.
    """
    for option in _PATHS_OF_SEARCH:
        groups["search"][option] = _by_path(option, groups["search"].get(option))
    groups["split"] = asdict(checked("split", SplitConfig, groups["split"]))
    groups["search"] = asdict(checked("search", SearchConfig, groups["search"]))
    for group in ("algo", "kernel", "data"):
        name = groups[group].get("name")
        if name is None or name == "":
            raise InputError(f"The config of {group} has no name: add the key {group}.name.")
        if not isinstance(name, (str, int)) or isinstance(name, bool):
            raise InputError(f"{group}.name={name} is not accepted: it must be a text.")
    for group in ("algo", "kernel"):
        partial_ = groups[group].get("_partial_", True)
        if not isinstance(partial_, bool):
            raise InputError(
                f"{group}._partial_={partial_} is not accepted: it must be true or false."
            )
        check_arguments(group, groups[group], arguments(groups[group]))
    for path, values in groups["search"]["grid"].items():
        group, _, name = path.partition(".")
        for value in first_values(values):
            check_arguments(group, groups[group], {name: value})
    fits = {}
    for path, value in groups["search"]["fits"].items():
        name = path.removeprefix("algo.")
        check_arguments("algo", groups["algo"], {name: value})
        if groups["algo"].get(name) != value:
            fits[path] = value
    groups["search"]["fits"] = fits or None  # those that change nothing change no key
    tol = groups["search"]["tol"]
    if tol is not None and "tol" not in groups["algo"]:
        raise InputError(
            f"search.tol={tol} is not accepted: algo={groups['algo']['name']} has no tolerance "
            "algo.tol; set search.tol=null."
        )
    return groups


def _metrics(node: DictConfig) -> Any:
    """Return what is given for ``metrics``, resolved."""
    try:
        found = node.get("metrics")
    except OmegaConfBaseException as error:
        raise InputError(f"metrics is not accepted: {first_line(error)}.") from error
    return OmegaConf.to_container(found) if OmegaConf.is_config(found) else found


def run_config(composed: DictConfig) -> RunConfig:
    """Return the checked options of a run (jobs, timeout, results_dir, out, progress)."""
    options = [item.name for item in fields(RunConfig)]
    for key in composed:
        if key not in (*GROUPS, "metrics", *options):
            known = [*GROUPS, "metrics", *options]
            raise InputError(f"{key!s} is not known: {hint(str(key), known)}.")
    given = [key for key in options if key in composed or OmegaConf.is_missing(composed, key)]
    values = {key: _option(composed, key) for key in given if key != "executor"}
    values["executor"] = plain_group(composed, "executor")
    for key in ("results_dir", "out", "predictions", "progress"):  # a folder may be 2012
        value = values.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            values[key] = str(value)
    return checked("", RunConfig, values)


def _option(composed: DictConfig, key: str) -> Any:
    """Return the value of an option of the run, resolved.

    Raises
    ------
    InputError
        If it is ``???`` or refers to what is not there, or is a list or a mapping.
    """
    try:
        value = composed[key]
    except MissingMandatoryValue as error:
        raise InputError(f"{key} is not set: give it a value, as in {key}=VALUE.") from error
    except OmegaConfBaseException as error:
        raise InputError(f"{key} is not accepted: {first_line(error)}.") from error
    if OmegaConf.is_config(value):
        text = str(OmegaConf.to_container(value)).replace("'", "").replace(", ", ",")
        raise InputError(
            f"{key}={text} is not accepted, as brackets make a list: quote a text that has them, "
            f"as in '{key}=\"{text}\"'."
        )
    return value


def algorithm(config: Mapping[str, Any]) -> Callable[..., Any]:
    """Return ``solve`` of an algo config with its hyperparameters bound: call it (operator, y)."""
    return _callable("algo", config)


def kernel(config: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the builder of a kernel config with its parameters bound: call it with X_train."""
    return _callable("kernel", config)


def executor(config: Mapping[str, Any], jobs: int, timeout: float | None) -> Any:
    """Return the executor that a config describes, for so many jobs and seconds a cell.

    Raises
    ------
    InputError
        If it cannot be made, or does not have one of its options.
    """
    check_arguments("executor", config, arguments(config))
    try:
        made = _callable("executor", config)(jobs, timeout)
    except InputError:
        raise
    except Exception as error:
        raise _unusable("executor", config, root_cause(error)) from error
    if not hasattr(made, "run"):
        raise _unusable("executor", config, "it makes nothing that runs steps")
    return made


def executor_of(
    overrides: Iterable[str], jobs: int, timeout: float | None, config_dir: Path | str | None = None
) -> Any:
    """Return the executor that overrides such as ``executor=slurm`` describe.

    Raises
    ------
    InputError
        As `executor`, and for an unknown choice, key or value.
    """
    return executor(run_config(compose(overrides, config_dir)).executor, jobs, timeout)


def declared(config: Mapping[str, Any]) -> Algorithm:
    """Return what the algorithm of an algo config declares."""
    return algorithm_of(target("algo", config))


def path_algorithm(config: Mapping[str, Any]) -> Callable[..., Any]:
    """Return ``solve_path`` beside the callable of an algo config that has a path in an option.

    Called with (operator, y, values) it returns the solutions for several values of that option at
    once; the other hyperparameters are bound.
    """
    algorithm = declared(config)
    assert algorithm.solve_path is not None
    others = {name: v for name, v in arguments(config).items() if name != algorithm.path_option}
    return partial(algorithm.solve_path, **others)


def kernel_versions(config: Mapping[str, Any]) -> dict[str, int]:
    """Return by name the versions above 1 of the builders that a kernel config names.

    These are its callable and, where a kernel is made from another, its ``base``.
    """
    from mklbench.kernels.builders.named import BUILDERS

    named = [target("kernel", config), BUILDERS.get(str(config.get("base")))]
    builders = [builder_of(builder) for builder in named if builder is not None]
    return {builder.name: builder.version for builder in builders if builder.version > 1}


def new_kernel_options(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the options of a kernel config that are no part of a key while they are not set."""
    return builder_of(target("kernel", config)).new_options


def with_values(config: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cell config with the values at dotted paths (``{"algo.C": 10}``) replaced."""
    changed = {group: dict(node) for group, node in config.items()}
    for path, value in values.items():
        group, _, name = path.partition(".")
        changed[group][name] = value
    return changed


def _callable(group: str, config: Mapping[str, Any]) -> Callable[..., Any]:
    bound = arguments(config)
    if config.get("_partial_", True) and "_target_" not in repr(bound):
        # All that Hydra would do, in no time: it copies the config again and again.
        return partial(target(group, config), **bound)
    call = {"_target_": config["_target_"], "_partial_": config.get("_partial_", True)}
    try:
        made = instantiate({**call, **bound}, _convert_="all")
    except InstantiationException as error:
        if isinstance(error.__cause__, InputError):
            raise error.__cause__ from error
        raise _unusable(group, config, root_cause(error)) from error
    if not callable(made):
        raise _unusable(group, config, "it makes no callable")
    return made


def _unusable(group: str, config: Mapping[str, Any], why: str) -> InputError:
    return InputError(f"{group}={config.get('name')} cannot be used: {why}.")


def plain_group(node: DictConfig, group: str) -> dict[str, Any]:
    """Return a group of a composed config as a plain dict, resolved.

    Raises
    ------
    InputError
        If it is not there, or lacks a value, or has one that is no number.
    """
    if group not in node:
        raise InputError(
            f"{group} is taken away, but every run needs one: choose it with {group}=NAME."
        )
    try:
        plain: Any = _resolved(node, group)
    except MissingMandatoryValue as error:
        raise InputError(
            f"{error.full_key!s} is not set: give it a value, as in {error.full_key!s}=VALUE."
        ) from error
    except OmegaConfBaseException as error:
        raise _incomplete(node, group, error) from error
    if not isinstance(plain, dict):
        raise InputError(f"{group}={plain} is not a config with keys.")
    for path, value in _flatten(plain, f"{group}.").items():
        values = value if isinstance(value, list) else [value]
        if any(isinstance(item, float) and math.isnan(item) for item in values):
            raise InputError(f"{path}={value} is not accepted: nan is no number, give one.")
    # As JSON has it, keys are text: what is stored, sent to workers and run is then the same.
    return dict(json.loads(json.dumps(plain)))


def _resolved(node: DictConfig, group: str) -> Any:
    """Return a group in plain containers; OmegaConf is asked only where it has to resolve."""
    plain = unresolved(node._get_node(group))
    if not any(mark in str(plain) for mark in ("${", "???")):
        return plain
    return OmegaConf.to_container(node[group], resolve=True, throw_on_missing=True)


def unresolved(node: Any) -> Any:
    """Return what a node holds in plain containers, as `OmegaConf.to_container` but faster."""
    value = node._value()
    if isinstance(value, dict):
        return {key: unresolved(below) for key, below in value.items()}
    if isinstance(value, list):
        return [unresolved(below) for below in value]
    return value


def _incomplete(node: DictConfig, group: str, error: OmegaConfBaseException) -> InputError:
    """Build the error for a group that refers to what is not there."""
    reason = first_line(error)
    if absent := re.search(r"'data\.([\w.]+)' not found", reason):
        return InputError(
            f"{group}={node[group].get('name')} takes {group}.{error.key} from data.{absent[1]}, "
            f"which data={node['data'].get('name')} does not state: choose another {group}."
        )
    remedy = f"; give {error.full_key} a value" if error.full_key else ""
    return InputError(f"The config of {group} is incomplete: {reason}{remedy}.")


def _by_path(option: str, tree: object) -> dict[str, Any]:
    """Return an option of the search keyed by dotted paths; none is an empty one."""
    if tree is not None and not isinstance(tree, Mapping):
        maps = _PATHS_OF_SEARCH[option]
        raise InputError(f"search.{option}={tree} is not accepted: it maps {maps}.")
    return _flatten(tree or {})


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested mappings as one, keyed by dotted paths."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        path = f"{prefix}{key}"
        flat |= _flatten(value, f"{path}.") if isinstance(value, Mapping) else {path: value}
    return flat
