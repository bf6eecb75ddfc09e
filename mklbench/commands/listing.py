"""``mklbench list``: the choices of a config group with their titles."""

from __future__ import annotations

from pathlib import Path

from mklbench import resources, terminal

_GROUPS = {
    "algos": "algo",
    "kernels": "kernel",
    "data": "data",
    "splits": "split",
    "searches": "search",
    "executors": "executor",
    "tables": "table",
}


def run(what: str, config_dir: str | None = None) -> int:
    """Print the choices of a group, one a line."""
    titles = list_titles(what, config_dir)
    names = max(map(len, titles), default=0)
    for name, title in titles.items():
        line = f"{name:<{names}}  {title}".rstrip()
        print(terminal.wrapped(line, terminal.width(), indent=names + 2))
    return 0


def list_titles(what: str, config_dir: str | None = None) -> dict[str, str]:
    """Return name -> title of the choices of "algos", "kernels", "data", ... ."""
    files = resources.choices(_GROUPS[what], config_dir)
    return {name: _title(path) for name, path in files.items()}


def _title(path: Path) -> str:
    content = resources.read_yaml(path)
    return str(content.get("title", "")) if isinstance(content, dict) else ""
