"""The algorithms: one module each, with a function ``solve`` and an integer ``VERSION``.

May import `optim`, `penalties`, `kernels`, `libsvm`, `certify` and `solution`; they are imported by
`estimators`, and by `config` as a config names them.

``VERSION`` is part of what identifies a recorded result; it is raised when a change can move the
numbers an algorithm returns.

``NEW_OPTIONS`` names options that came after results had been recorded: left at None they are no
part of what identifies one, so that the records keep their names.

A module with ``REGRESSION = True`` takes real targets as well as labels -1 and +1. One with
``PATH_OPTION``, the name of an option of `solve` such as the ridge "lam" or a number of
"iterations", has beside it ``solve_path(operator, y, values, ...)`` with the other keywords of
`solve`: the solutions for several values of that option, where these cost less together; a search
over it then uses it.

A module with ``EXACT = True`` solves exactly the problem of SimpleMKL (`mklbench.algorithms.
simplemkl`), kernel weights on the simplex with the hinge loss. Its ``solve(bank, y, C, tol=...,
max_iter=...)`` takes `tol`, the relative duality gap to stop at, and `max_iter`, a limit on its
iterations, and returns a `Solution` whose history holds for every iteration

- ``objective``: J at its weights,
- ``gap``: the relative gap at that point, by `mklbench.certify`,
- ``n_svm_calls``: the SVM problems solved so far.

`exact_solvers` finds these modules, and ``make bench`` measures all of them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from mklbench.solution import Solution


def exact_solvers() -> dict[str, Callable[..., Solution]]:
    """Return name -> ``solve`` of every module here that says ``EXACT = True``, by name.

    The modules are imported when this is called, not with the package.
    """
    modules = {
        found.name: importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
    }
    return {
        name: module.solve
        for name, module in sorted(modules.items())
        if getattr(module, "EXACT", False)
    }
