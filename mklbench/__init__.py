"""Multiple kernel learning: algorithms, kernel operators, and the papers' experiments run again.

The estimators and `records` are imported when first asked for, so that the command line, which
does without them, does not wait for scikit-learn and pandas.
"""

from __future__ import annotations

from mklbench._version import __version__ as __version__

TYPE_CHECKING = False  # as type checkers know it; importing typing takes longer than all the rest
if TYPE_CHECKING:
    from typing import Any

    from mklbench.estimators import (
        CKL,
        GMKL,
        IKL,
        KRR,
        MKL,
        NKRR,
        QNPKL,
        VSKL,
        Align,
        AlignF,
        AlignFRegressor,
        AlignRegressor,
        BestKernel,
        EarlyFusion,
        HessianMKL,
        KernelSVC,
        KernelSVR,
        KRRClassifier,
        LateFusion,
        NKRRClassifier,
        SimpleMKL,
        UniformMKL,
    )
    from mklbench.report.frames import records as records

__all__ = [
    "CKL",
    "GMKL",
    "IKL",
    "KRR",
    "MKL",
    "NKRR",
    "QNPKL",
    "VSKL",
    "Align",
    "AlignF",
    "AlignFRegressor",
    "AlignRegressor",
    "BestKernel",
    "EarlyFusion",
    "HessianMKL",
    "KRRClassifier",
    "KernelSVC",
    "KernelSVR",
    "LateFusion",
    "NKRRClassifier",
    "SimpleMKL",
    "UniformMKL",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from mklbench import estimators

        return getattr(estimators, name)
    if name == "records":
        from mklbench.report.frames import records

        return records
    raise AttributeError(f"module 'mklbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "records"])
