"""Names of the config groups, and the nearest names for errors about configs."""

from __future__ import annotations

from collections.abc import Iterable

from mklbench.errors import nearest

GROUPS = ("algo", "kernel", "data", "split", "search")


def hint(name: str, accepted: Iterable[str], prefix: str = "") -> str:
    """Return "did you mean ..." with the names nearest to `name`, or the list to choose from."""
    names = sorted(accepted)
    near = nearest(str(name), names)
    if near:
        return f"did you mean {' or '.join(prefix + match for match in near)}"
    if names:
        return f"choose one of {', '.join(prefix + known for known in names)}"
    return "there is nothing to set here"
