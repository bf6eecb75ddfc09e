"""Multiple kernel learning: algorithms, kernel operators, and the papers' experiments run again.

The estimators, displays, `load`, `records`, `table` and `rendered` are imported when
first asked for, so that the command line, which does without them, does not wait for scikit-learn
and pandas.
"""

from __future__ import annotations

__version__ = "0.2.0"

TYPE_CHECKING = False  # as type checkers know it; importing typing takes longer than all the rest
if TYPE_CHECKING:
    from mklbench.displays import *
    from mklbench.estimators import *
    from mklbench.estimators.transformers import KernelTransformer as KernelTransformer
    from mklbench.report.frames import records as records
    from mklbench.report.frames import rendered as rendered
    from mklbench.report.frames import table as table
    from mklbench.saving import load as load
else:  # a checker that saw this would ask nobody else what the package has
    from importlib import import_module

    _MODULES = {
        "records": "report.frames", "rendered": "report.frames", "table": "report.frames",
        "load": "saving", "KernelTransformer": "estimators.transformers",
    }  # fmt: skip

    def __getattr__(name):
        found = _MODULES.get(name)
        if found is None and (name == "__all__" or name[:1].isupper()):  # modules are in lower case
            found = "displays" if name.endswith("Display") else "estimators"
        if found is None:
            raise AttributeError(f"module 'mklbench' has no attribute {name!r}")
        return getattr(import_module(f"mklbench.{found}"), name)

    def __dir__():
        lists = [import_module(f"mklbench.{name}").__all__ for name in ("displays", "estimators")]
        return sorted({*globals(), *_MODULES}.union(*lists))
