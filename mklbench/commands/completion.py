"""Shell completion: sub-commands and names of tables here, the overrides of `run` by Hydra."""

from __future__ import annotations

import os

from mklbench.commands.run import run
from mklbench.report.loading import table_names

_TAKE_TABLES = ("table", "reproduce", "check")


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
    names = commands if len(words) == 1 else table_names() if words[0] in _TAKE_TABLES else ()
    found = [name for name in names if name.startswith(words[-1])]
    print(("\n" if shell == "fish" else " ").join(found))
    return 0
