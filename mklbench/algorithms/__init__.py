"""The algorithms: one module each, with a function ``solve`` and an integer ``VERSION``.

What else a module may declare is in `mklbench.contract`.
May import `optim`, `penalties`, `kernels`, `libsvm`, `certify`, `contract` and `solution`; they are
imported by `estimators`, and by `config` as a config names them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from mklbench.contract import Algorithm, algorithm_of
from mklbench.solution import Solution


def all_algorithms() -> dict[str, Algorithm]:
    """Return the algorithms here by the names of their modules.

    The modules are imported when this is called, not with the package.
    """
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return {
        name: algorithm_of(importlib.import_module(f"{__name__}.{name}").solve) for name in names
    }


def exact_solvers() -> dict[str, Callable[..., Solution]]:
    """Return name -> ``solve`` of every module here that says ``EXACT = True``, by name."""
    return {name: found.solve for name, found in all_algorithms().items() if found.exact}
