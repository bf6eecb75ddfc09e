"""``--detach``: what of a command may be left to other machines."""

from __future__ import annotations

from collections.abc import Iterable

from mklbench.errors import InputError

FLAG = "--detach"


def detached(overrides: Iterable[str]) -> str:
    """Return the override that the flag stands for.

    Raises
    ------
    InputError
        If the overrides choose no executor on other machines.
    """
    chosen = [text for text in overrides if text.startswith("executor=")]
    if chosen[-1:] in ([], ["executor=local"]):
        raise InputError(
            f"{FLAG} is for jobs on other machines: choose executor=slurm or executor=dask, or "
            "leave it out."
        )
    return "executor.detach=true"
