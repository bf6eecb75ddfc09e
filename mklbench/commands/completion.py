"""Shell completion: sub-commands here, the overrides of `run` by Hydra."""

from __future__ import annotations

import os

from mklbench.commands.run import run


def complete(arguments: list[str], commands: list[str]) -> int:
    """Answer ``mklbench -sc install=SHELL | uninstall=SHELL | query=SHELL``.

    Hydra knows nothing of sub-commands: it is shown the line without ``run``.
    """
    line = os.environ.get("COMP_LINE", "")
    words = line.split()
    if not any(argument.startswith("query=") for argument in arguments):
        return run(arguments)
    if words[1:2] == ["run"]:
        os.environ["COMP_LINE"] = line.replace(" run", "", 1)
        return run(arguments)
    if len(words) < 2 or (len(words) == 2 and not line.endswith(" ")):
        print(" ".join(commands))
    return 0
