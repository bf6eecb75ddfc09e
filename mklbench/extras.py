"""The packages that few need, which are installed as extras of this one."""

from __future__ import annotations

from importlib.util import find_spec

# As they are imported and as they are called, by the name of the extra in pyproject.toml.
_PACKAGES = {
    "images": ("skimage", "scikit-image"),
    "ranks": ("scikit_posthocs", "scikit-posthocs"),
}


def missing(extra: str, what: str) -> str | None:
    """Return the sentence that asks for an extra; None if it is installed.

    Parameters
    ----------
    extra : str
        Its name in ``mklbench[...]``.
    what : str
        What needs it, as a user types it: "data=flowers17".
    """
    module, package = _PACKAGES[extra]
    if find_spec(module) is not None:
        return None
    return f"{what} needs {package}, which is not installed: pip install 'mklbench[{extra}]'."
