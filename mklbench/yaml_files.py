"""YAML files of the user's own, read within bounds: what one may cost is known beforehand.

The rules are OmegaConf's (``1e-3`` is a number, a key may stand once). Beyond them a file has a
largest size, and so has what it stands for once every alias is replaced by its anchor: ten nested
lists of ten aliases each are three hundred bytes and ten thousand million values.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklbench.errors import InputError

if TYPE_CHECKING:
    from omegaconf import DictConfig, ListConfig

MAX_BYTES = 256 * 1024
MAX_VALUES = 10_000
MAX_DEPTH = 40

# What JSON can hold, in which a config is stored and sent to workers; and `<<`, which merges.
_TYPES = ("map", "seq", "str", "int", "float", "bool", "null", "merge")
_ACCEPTED_TAGS = {f"tag:yaml.org,2002:{name}" for name in _TYPES}


def read_text(path: Path) -> str:
    """Return the text of a YAML file of at most `MAX_BYTES`.

    Raises
    ------
    InputError
        If it is no plain file, is too large, cannot be read, or is not UTF-8.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe must not wait for a writer
        with open(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InputError(f"{path} is no plain file: give a YAML file of that name.")
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} cannot be read: {reason}; give a YAML file.") from error
    if len(content) > MAX_BYTES:
        raise InputError(
            f"{path} has more than {MAX_BYTES} bytes, which no config needs: keep data in files of "
            "their own."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} cannot be read as YAML: byte {error.start} is not UTF-8; save it as UTF-8."
        ) from error


def load(path: Path) -> DictConfig | ListConfig:
    """Return what a YAML file holds, its interpolations (``${data.name}``) unresolved.

    Raises
    ------
    InputError
        If it cannot be read (`read_text`), is no YAML, or stands for more than
        `MAX_VALUES` values or `MAX_DEPTH` levels.
    """
    return parse(read_text(path), path)


def parse(text: str, path: Path) -> DictConfig | ListConfig:
    """Return what `text` holds, the content of the file `path`; raises what `load` does."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    found = plain(text, path)
    try:
        return OmegaConf.create(found)
    except (OmegaConfBaseException, ValueError) as error:
        raise InputError(f"{path} cannot be read as YAML: {_reason(error)}.") from error


def plain(text: str, path: Path) -> dict[Any, Any] | list[Any]:
    """Return the same in plain containers, in a third of the time; raises what `load` does."""
    from yaml import YAMLError

    try:
        found = _loader()(text).get_single_data()
    except _OutOfBoundsError as error:
        raise InputError(f"{path} cannot be used: {error}.") from error
    except (YAMLError, ValueError) as error:
        raise InputError(f"{path} cannot be read as YAML: {_reason(error)}.") from error
    if isinstance(found, (dict, list)):
        return found
    if found is None:
        return {}
    raise InputError(
        f"{path} holds {str(found)[:40]!r} where it needs keys with values: write key: value."
    )


class _OutOfBoundsError(Exception):
    """What a file holds is YAML, and more or other than a config may hold."""


def _loader() -> Any:
    """Return OmegaConf's loader with the bounds of this module."""
    # The one place where OmegaConf's rules for YAML can be had; Hydra takes them from there, too.
    from omegaconf._utils import get_yaml_loader
    from yaml import AliasEvent

    class BoundedLoader(get_yaml_loader()):  # type: ignore[misc]
        def __init__(self, stream: str) -> None:
            super().__init__(stream)
            self._depth = self._count = 0
            self._sizes: dict[int, int] = {}  # of what anchors name, by the id of its node

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            start = self._count
            if isinstance(event, AliasEvent):
                node = super().compose_node(parent, index)
                if id(node) not in self._sizes:
                    raise _OutOfBoundsError(
                        f"{_line(event)}: the alias *{event.anchor} stands inside the anchor "
                        "that it names; write the values out"
                    )
                self._count += self._sizes[id(node)]
            else:
                self._count, self._depth = self._count + 1, self._depth + 1
                if self._depth > MAX_DEPTH:
                    raise _OutOfBoundsError(
                        f"{_line(event)}: more than {MAX_DEPTH} levels of nesting, which no config "
                        "needs; write it flat"
                    )
                node = super().compose_node(parent, index)
                self._depth -= 1
                if node.tag not in _ACCEPTED_TAGS:
                    raise _OutOfBoundsError(
                        f"{_line(event)}: the tag {node.tag.replace('tag:yaml.org,2002:', '!!')} "
                        "is not accepted; write texts, numbers, lists and mappings"
                    )
                self._sizes[id(node)] = self._count - start
            if self._count > MAX_VALUES:
                raise _OutOfBoundsError(
                    f"{_line(event)}: more than {MAX_VALUES} values, its aliases replaced by what "
                    "they name; keep data in files of their own"
                )
            return node

    return BoundedLoader


def _line(event: Any) -> str:
    return f"line {event.start_mark.line + 1}"


def _reason(error: Exception) -> str:
    """Say in one clause what is wrong and where, and for tabs and duplicates what to do."""
    from yaml import MarkedYAMLError

    if not isinstance(error, MarkedYAMLError) or error.problem is None:
        return str(error).strip().partition("\n")[0].rstrip(".")
    mark = error.problem_mark or error.context_mark
    where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
    remedy = ""
    if "'\\t'" in error.problem:
        remedy = "; indent with spaces, not with tabs"
    elif "duplicate key" in error.problem:
        remedy = "; give it once"
    elif "another document" in error.problem:
        remedy = "; a config is one document, so leave out the lines ---"
    return f"{where}{error.problem.removeprefix('but ').rstrip('.')}{remedy}"
