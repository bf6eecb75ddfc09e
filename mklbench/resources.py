"""The files that travel with the package, where they live and how they are read.

And how any file is written: whole, or not at all.
"""

from __future__ import annotations

import contextlib
import os
import sys
import uuid
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mklbench.errors import InputError

_PACKAGE = Path(__file__).resolve().parent


def configs() -> Path:
    """Return the directory of the Hydra configs.

    In a wheel they are package data (``mklbench/configs``); in a checkout they stand beside the
    package (``../configs``), which is also what an editable installation sees.
    """
    packaged = _PACKAGE / "configs"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "configs"


def recorded_results() -> Path:
    """Return the directory of the recorded results, beside the configs in checkout and wheel."""
    return configs().parent / "results"


def checkout() -> Path | None:
    """Return the root of the source checkout this package runs from, or None for a wheel."""
    root = _PACKAGE.parent
    return root if (root / "pyproject.toml").is_file() and (root / "configs").is_dir() else None


def choices(group: str, config_dir: Path | str | None = None) -> dict[str, Path]:
    """Return the YAML files of a config group by the name a user types, sorted.

    Parameters
    ----------
    group : str
        The directory below the configs, e.g. "algo".
    config_dir : Path, str or None, default=None
        A directory of the user's own configs; its files hide ours of the same name.

    Raises
    ------
    InputError
        If there is no such directory.
    """
    roots = [configs()]
    if config_dir is not None:
        check_config_dir(config_dir)
        roots.append(Path(config_dir))
    files = {path.stem: path for root in roots for path in (root / group).glob("*.yaml")}
    return dict(sorted(files.items()))


def check_config_dir(config_dir: Path | str) -> None:
    """Raise InputError unless `config_dir` is a directory."""
    if not os.path.isdir(config_dir):
        raise InputError(
            f"--config-dir {config_dir} is not a directory: name one that has algo/, data/, ..."
        )


def look_for_modules(config_dir: Path | str) -> None:
    """Have Python find what stands beside the user's own configs, behind all it finds already.

    These are the modules and packages in `config_dir`, and the modules in its groups: ``mine.py``
    in it or in its ``algo/`` is what ``_target_: mine.solve`` means.

    Parameters
    ----------
    config_dir : Path or str
        The directory, which is there.
    """
    root = Path(config_dir).absolute()
    groups = sorted({path.parent for path in root.glob("*/*.py") if path.name != "__init__.py"})
    find_modules_in([str(root), *(str(group) for group in groups if _is_group(group))])


def find_modules_in(directories: Sequence[str]) -> None:
    """Have Python find the modules in these directories, too."""
    sys.path += [directory for directory in directories if directory not in sys.path]


def _is_group(directory: Path) -> bool:
    """Tell whether a directory is a group of configs, rather than a package of modules."""
    return (configs() / directory.name).is_dir() and not (directory / "__init__.py").exists()


def read_yaml(path: Path) -> Any:
    """Read a YAML file by OmegaConf's rules (``1e-3`` is a number) into plain containers.

    References to other configs (``${data.name}``) are left as they are written.

    Raises
    ------
    InputError
        If the file cannot be read, or holds no YAML of keys or a list.
    """
    from yaml import YAMLError, load

    try:
        found = load(path.read_text(encoding="utf-8-sig"), _yaml_loader())  # a safe one
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; give a YAML file.") from error
    except (YAMLError, ValueError) as error:
        why = " ".join(str(error).split()).removesuffix(".")
        raise InputError(f"{path} cannot be read as YAML: {why}.") from error
    if isinstance(found, (dict, list)):
        return found
    if found is None:
        return {}
    raise InputError(
        f"{path} holds {str(found)[:40]!r} where it needs keys with values: write key: value."
    )


@cache
def _yaml_loader() -> Any:
    """Return OmegaConf's loader, where there is libyaml on its parser: an eighth of the time."""
    # The one place where OmegaConf's rules for YAML can be had; Hydra takes them from there, too.
    import yaml
    from omegaconf._utils import get_yaml_loader

    own = get_yaml_loader()
    return type("Loader", (yaml.CSafeLoader, own), {}) if yaml.__with_libyaml__ else own


def write_atomically(path: Path | str, content: str | bytes, *, durable: bool = True) -> None:
    """Write a file (text as UTF-8) so that a reader sees the old one or the new, each whole.

    A link is replaced, not what it leads to. What is not `durable` a power cut may take, which
    saves some milliseconds of waiting for the disk.

    Raises
    ------
    OSError
        If it cannot be written; the old content is then untouched.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name[:40]}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        with open(temporary, "xb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def remove_unfinished(path: Path) -> None:
    """Delete what writers of a file who were killed have left; nobody may be writing it now."""
    for temporary in path.parent.glob(f".{path.name[:40]}.*.tmp"):
        temporary.unlink(missing_ok=True)
