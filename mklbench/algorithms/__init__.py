"""The algorithms: one module each, with a function ``solve`` and an integer ``VERSION``.

What else a module may declare is in `mklbench.contract`.
May import `optim`, `penalties`, `kernels`, `libsvm`, `certify`, `contract` and `solution`; they are
imported by `estimators`, and by `config` as a config names them.
"""

from __future__ import annotations

import importlib
import pkgutil

from mklbench.contract import Algorithm, algorithm_of


def all_algorithms() -> dict[str, Algorithm]:
    """Return the algorithms here by the names of their modules.

    The modules are imported when this is called, not with the package.
    """
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return {
        name: algorithm_of(importlib.import_module(f"{__name__}.{name}").solve) for name in names
    }
