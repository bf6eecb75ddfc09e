"""Multiple kernel learning: algorithms, kernel operators, and the papers' experiments run again.

The estimators, displays, `load`, `records`, `table` and `rendered` are imported when
first asked for, so that the command line, which does without them, does not wait for scikit-learn
and pandas.
"""

from __future__ import annotations

from mklbench._version import __version__ as __version__

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

    def __getattr__(name):
        if name in ("records", "rendered", "table"):
            from mklbench.report import frames

            return getattr(frames, name)
        if name == "load":
            from mklbench import saving

            return saving.load
        if name == "KernelTransformer":
            from mklbench.estimators import transformers

            return transformers.KernelTransformer
        if name == "__all__" or name[:1].isupper():  # modules have names in lower case
            from mklbench import estimators

            if name == "__all__" or name in estimators.__all__:
                return getattr(estimators, name)
        if name.endswith("Display"):
            from mklbench import displays

            if name in displays.__all__:
                return getattr(displays, name)
        raise AttributeError(f"module 'mklbench' has no attribute {name!r}")

    def __dir__():
        from mklbench import displays, estimators

        own = ["KernelTransformer", "load", "records", "rendered", "table"]
        return sorted([*globals(), *estimators.__all__, *displays.__all__, *own])
