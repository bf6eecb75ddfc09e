"""The packages that few need, which are installed as extras of this one."""

from __future__ import annotations

from importlib.util import find_spec

# As they are imported and as they are called, by the name of the extra in pyproject.toml.
_PACKAGES = {
    "dask": {"distributed": "distributed"},
    "files": {"h5py": "h5py", "pyarrow": "pyarrow", "openpyxl": "openpyxl"},
    "images": {"skimage": "scikit-image"},
    "report": {"vl_convert": "vl-convert-python"},
    "slurm": {"submitit": "submitit"},
}


def missing(extra: str, what: str, only: str | None = None) -> str | None:
    """Return the sentence that asks for an extra; None if it is installed.

    Parameters
    ----------
    extra : str
        Its name in ``mklbench[...]``.
    what : str
        What needs it, as a user types it: "data=flowers17".
    only : str or None, default=None
        The module of the extra that is needed; None: all of them are.
    """
    for module, package in _PACKAGES[extra].items():
        if only in (None, module) and find_spec(module) is None:
            return (
                f"{what} needs {package}, which is not installed: pip install 'mklbench[{extra}]'."
            )
    return None
