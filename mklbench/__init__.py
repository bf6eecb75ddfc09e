"""Multiple kernel learning: algorithms, kernel operators, and the papers' experiments run again.

The estimators are imported when first asked for, so that the command line, which does without
them, does not wait for scikit-learn.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it; importing typing takes longer than all the rest
if TYPE_CHECKING:
    from typing import Any

    from mklbench.estimators import (
        CKL,
        GMKL,
        IKL,
        MKL,
        QNPKL,
        VSKL,
        HessianMKL,
        KernelSVC,
        SimpleMKL,
        UniformMKL,
    )
    from mklbench.fusion import (
        Align,
        AlignF,
        AlignFRegressor,
        AlignRegressor,
        BestKernel,
        EarlyFusion,
        KernelSVR,
        LateFusion,
    )
    from mklbench.regressors import KRR, NKRR, KRRClassifier, NKRRClassifier

__version__ = "0.1.0"

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

# The estimators that are not in mklbench.estimators.
_ELSEWHERE = {
    "mklbench.fusion": (
        "Align", "AlignF", "AlignFRegressor", "AlignRegressor", "BestKernel", "EarlyFusion",
        "KernelSVR", "LateFusion",
    ),
    "mklbench.regressors": ("KRR", "KRRClassifier", "NKRR", "NKRRClassifier"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in __all__:
        from importlib import import_module

        own = (module for module, names in _ELSEWHERE.items() if name in names)
        return getattr(import_module(next(own, "mklbench.estimators")), name)
    raise AttributeError(f"module 'mklbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
