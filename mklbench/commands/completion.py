"""Shell completion: sub-commands and names of tables here, the overrides of `run` by Hydra."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable

from mklbench.commands.run import run
from mklbench.report.loading import load_table, table_names

_TAKE_TABLES = ("table", "reproduce", "check")
_PLACES = {"--row": "row", "--column": "column", "--protocol": "protocol"}


def complete(arguments: list[str], commands: list[str]) -> int:
    """Answer ``mklbench -sc install=SHELL | uninstall=SHELL | query=SHELL``.

    Hydra knows nothing of sub-commands: it is shown the line without ``run``.
    """
    line = os.environ.get("COMP_LINE", "")
    words = line.split()[1:]
    shell = next((text.removeprefix("query=") for text in arguments if "query=" in text), None)
    if shell is None or words[:1] == ["run"]:
        os.environ["COMP_LINE"] = line.replace(" run", "", 1)  # where Hydra looks for it
        return run(["--shell-completion", *arguments[1:]])
    if line.endswith(" ") or not words:
        words.append("")
    found = (name for name in _names(words[:-1], commands) if name.startswith(words[-1]))
    print(("\n" if shell == "fish" else " ").join(found))
    return 0


def _names(before: list[str], commands: list[str]) -> Iterable[str]:
    """Return what may follow the words of a line: first the sub-commands."""
    if not before:
        return commands
    command, last = before[0], before[-1]
    if command in _TAKE_TABLES:
        tables = table_names()
        if last not in _PLACES:
            return tables
        named = [load_table(name).names[_PLACES[last]] for name in before if name in tables]
        return dict.fromkeys(itertools.chain.from_iterable(named))
    if command == "plot":
        return [figure.name for name in table_names() for figure in load_table(name).figures]
    return []
