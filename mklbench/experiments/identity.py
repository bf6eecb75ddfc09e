"""What determines a result, and the key that records of it are filed under.

Nobody must lose results to a new option, another place of a file or a number written otherwise, and
nobody must be given those of something else.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mklbench
from mklbench.config import RunConfig, declared
from mklbench.config.callables import kernel_versions, target
from mklbench.contract import FORMER_NAMES
from mklbench.errors import is_installed
from mklbench.kernels.contract import builder_of

# Raised when the meaning of a record changes: what was measured before is then measured anew.
PROTOCOL_VERSION = 1
# Options that were renamed keep the names under which results are recorded.
_RECORDED_AS = {
    f"{group}{name}": f"{group}{former}"
    for former, name in FORMER_NAMES.items()
    for group in ("", "algo.")
}
# The keys of a data config that change what is learned from; its digest stands for the rest.
_DATA_CHOICES = (
    "name", "noise_features", "drop_constant", "drop_features", "n_features", "scaling", "views",
    "more_views",
)  # fmt: skip


def identity_of(
    config: RunConfig, data_digest: str, splits_digest: str | None = None
) -> dict[str, Any]:
    """Return all that determines a result: configs, the content of files, versions of code.

    Parameters
    ----------
    config : RunConfig
        What is run.
    data_digest : str
        Of the content of its data.
    splits_digest : str or None, default=None
        Of the splits of a file, where there is one.
    """
    identity: dict[str, Any] = {
        group: {name: value for name, value in node.items() if name != "title"}
        for group, node in config.as_dict().items()
    }
    del identity["split"]["n_splits"]
    if splits_digest is not None:  # what the file states, wherever it lies
        del identity["split"]["first_row"]
        identity["split"]["path"] = splits_digest
    for group in ("split", "search"):  # without what is not set: new options keep old keys
        stated = identity[group].items()
        identity[group] = {name: value for name, value in stated if value is not None}
    algorithm = declared(config.algo)
    for name, old_value in algorithm.new_options.items():
        value = identity["algo"].pop(name, None)
        value = algorithm.default(name) if value is None else value
        if value != old_value:
            identity["algo"][name] = value
    identity["algo"] = _as_recorded(identity["algo"]) | dict(algorithm.former_options)
    for option in identity["search"].keys() & {"grid", "fits"}:
        identity["search"][option] = _as_recorded(identity["search"][option])
    for name in builder_of(target("kernel", config.kernel)).new_options:
        if identity["kernel"].get(name) is None:
            identity["kernel"].pop(name, None)
    identity["kernel"] = {name: _content(value) for name, value in identity["kernel"].items()}
    chosen = {name: identity["data"].get(name) for name in _DATA_CHOICES}
    identity["data"] = {name: value for name, value in chosen.items() if value}
    identity["data"]["digest"] = data_digest
    identity["algo"]["VERSION"] = algorithm.version
    if versions := kernel_versions(config.kernel):
        identity["kernel"]["VERSIONS"] = versions
    identity["protocol"] = PROTOCOL_VERSION
    # Ours says by its VERSION that its numbers have moved; of others' the content is asked.
    code = {group: own_code(getattr(config, group)) for group in ("algo", "kernel")}
    if any(code.values()):
        identity["code"] = code
    return identity


def _as_recorded(options: Mapping[str, Any]) -> dict[str, Any]:
    return {_RECORDED_AS.get(name, name): value for name, value in options.items()}


def own_code(config: Mapping[str, Any]) -> str | None:
    """Return a digest of the user's own code that an algo or kernel config names, if any.

    It is of the file of the module of each callable, or of all files of its package, where that is
    neither installed nor ours.
    """
    files = {file for target in _targets(config) for file in _own_files(target.partition(".")[0])}
    if not files:
        return None
    digests = sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()[:10]


def _own_files(name: str) -> list[Path]:
    """Return the files of a top-level module or package of the user's own; of any other none."""
    if name in (mklbench.__name__, *sys.stdlib_module_names):
        return []
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # said when it is imported
        return []
    places = [] if spec is None else spec.submodule_search_locations or [str(spec.origin)]
    if any(is_installed(place) for place in places):
        return []
    found = map(Path, places)
    return [file for top in found for file in (top.rglob("*.py") if top.is_dir() else [top])]


def _targets(node: Any) -> Iterator[str]:
    """Yield the callables that a config names by ``_target_``, at any depth."""
    if isinstance(node, Mapping):
        if isinstance(target := node.get("_target_"), str):
            yield target
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from _targets(item)


def _content(value: Any) -> Any:
    """Return the digest of the file that a value names, of each in a collection, or the value.

    Gram matrices from a file are what the file holds, wherever it lies.
    """
    if isinstance(value, Mapping):
        return {name: _content(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_content(item) for item in value]
    if not isinstance(value, str) or not Path(value).is_file():
        return value
    with open(value, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_of(identity: Mapping[str, Any]) -> str:
    """Return the digest (12 hexadecimal digits) of an identity."""
    # JSON that does not depend on the order of keys, nor on 1 being written as 1.0.
    text = json.dumps(_plain_numbers(identity), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_numbers(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
