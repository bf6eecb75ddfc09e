"""The resolved config of a cell as plain dicts, and the callables it names."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from functools import partial
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from mklbench.config.names import GROUPS, hint
from mklbench.config.schemas import RunConfig, SearchConfig, SplitConfig, checked
from mklbench.config.signatures import arguments, check_arguments, root_cause, target
from mklbench.errors import InputError


def cell_config(composed: DictConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Return the resolved, checked groups of a composed config as plain dicts.

    Raises
    ------
    InputError : naming the first key or value that cannot be accepted.
    """
    node = composed if isinstance(composed, DictConfig) else OmegaConf.create(dict(composed))
    groups = {group: _plain(node, group) for group in GROUPS}
    groups["search"]["grid"] = _grid(groups["search"].get("grid"))
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
        for value in values:
            check_arguments(group, groups[group], {name: value})
    tol = groups["search"]["tol"]
    if tol is not None and "tol" not in groups["algo"]:
        raise InputError(
            f"search.tol={tol} is not accepted: algo={groups['algo']['name']} has no tolerance "
            "algo.tol; set search.tol=null."
        )
    return groups


def run_config(composed: DictConfig) -> RunConfig:
    """Return the checked options of a run (jobs, timeout, results_dir, out, progress)."""
    options = [item.name for item in fields(RunConfig)]
    for key in composed:
        if key not in (*GROUPS, *options):
            raise InputError(f"{key!s} is not known: {hint(str(key), [*GROUPS, *options])}.")
    given = [key for key in options if key in composed or OmegaConf.is_missing(composed, key)]
    values = {key: _option(composed, key) for key in given}
    for key in ("results_dir", "out", "progress"):  # a folder may be called 2012
        value = values.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            values[key] = str(value)
    return checked("", RunConfig, values)


def _option(composed: DictConfig, key: str) -> Any:
    """Return the value of an option of the run, resolved.

    Raises
    ------
    InputError : if it is ``???`` or refers to what is not there, or is a list or a mapping.
    """
    try:
        value = composed[key]
    except MissingMandatoryValue as error:
        raise InputError(f"{key} is not set: give it a value, as in {key}=VALUE.") from error
    except OmegaConfBaseException as error:
        raise InputError(f"{key} is not accepted: {_first_line(error)}.") from error
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


def path_option(config: Mapping[str, Any]) -> str | None:
    """Return the option that the algorithm has a path in, or None.

    It is ``PATH_OPTION`` of the module of its callable, where that has a ``solve_path``, too.
    """
    module = sys.modules[target("algo", config).__module__]
    return getattr(module, "PATH_OPTION", None) if hasattr(module, "solve_path") else None


def path_algorithm(config: Mapping[str, Any]) -> Callable[..., Any]:
    """Return ``solve_path`` beside the callable of an algo config that has a `path_option`.

    Called with (operator, y, values) it returns the solutions for several values of that option at
    once; the other hyperparameters are bound.
    """
    solve_path = sys.modules[target("algo", config).__module__].solve_path
    option = path_option(config)
    others = {name: value for name, value in arguments(config).items() if name != option}
    return partial(solve_path, **others)


def takes_targets(config: Mapping[str, Any]) -> bool:
    """Tell whether an algo config's callable takes real targets: ``REGRESSION`` in its module."""
    return bool(getattr(sys.modules[target("algo", config).__module__], "REGRESSION", False))


def algorithm_version(config: Mapping[str, Any]) -> int:
    """Return ``VERSION`` of the module of an algo config's callable (1 if it has none)."""
    module = sys.modules[target("algo", config).__module__]
    version = getattr(module, "VERSION", 1)
    if not isinstance(version, int):
        raise InputError(
            f"{module.__name__}.VERSION={version!r} is not accepted: it must be a whole number."
        )
    return version


def kernel_versions(config: Mapping[str, Any]) -> dict[str, int]:
    """Return by name the versions above 1 of the builders that a kernel config names.

    These are its callable and, where a kernel is made from another, its ``base``.
    """
    from mklbench.kernels.builders.named import BUILDERS, VERSIONS

    made_by = target("kernel", config)
    named = [made_by, BUILDERS.get(str(config.get("base")))]
    functions = [item.func if isinstance(item, partial) else item for item in named if item]
    versions = {name: version for name, version in VERSIONS.items() if version > 1}
    names = {getattr(function, "__name__", "") for function in functions}
    return {name: version for name, version in versions.items() if name in names}


def new_options(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return ``NEW_OPTIONS`` of the module of an algo config's callable (see the algorithms)."""
    module = sys.modules[target("algo", config).__module__]
    return tuple(getattr(module, "NEW_OPTIONS", ()))


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
        reason = root_cause(error)
        raise InputError(f"{group}={config['name']} cannot be used: {reason}.") from error
    if not callable(made):
        raise InputError(f"{group}={config['name']} cannot be used: it makes no callable.")
    return made


def _plain(node: DictConfig, group: str) -> dict[str, Any]:
    if group not in node:
        raise InputError(
            f"{group} is taken away, and a cell needs one: choose it with {group}=NAME."
        )
    try:
        plain: Any = OmegaConf.to_container(node[group], resolve=True, throw_on_missing=True)
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


def _incomplete(node: DictConfig, group: str, error: OmegaConfBaseException) -> InputError:
    """Build the error for a group that refers to what is not there."""
    reason = _first_line(error)
    if absent := re.search(r"'data\.([\w.]+)' not found", reason):
        return InputError(
            f"{group}={node[group].get('name')} takes {group}.{error.key} from data.{absent[1]}, "
            f"which data={node['data'].get('name')} does not state: choose another {group}."
        )
    remedy = f"; give {error.full_key} a value" if error.full_key else ""
    return InputError(f"The config of {group} is incomplete: {reason}{remedy}.")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")


def _grid(grid: object) -> dict[str, Any]:
    """Return a grid keyed by dotted paths; none is an empty one."""
    if grid is not None and not isinstance(grid, Mapping):
        raise InputError(
            f"search.grid={grid} is not accepted: it maps hyperparameters to lists of values, as "
            "in +search.grid.algo.C=[1,10]."
        )
    return _flatten(grid or {})


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested mappings as one, keyed by dotted paths."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        path = f"{prefix}{key}"
        flat |= _flatten(value, f"{path}.") if isinstance(value, Mapping) else {path: value}
    return flat
