"""Multiple kernel learning: algorithms, kernel operators, and the papers' experiments run again.

The estimators are imported when first asked for, so that the command line, which does without
them, does not wait for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    "HessianMKL",
    "KRRClassifier",
    "KernelSVC",
    "NKRRClassifier",
    "SimpleMKL",
    "UniformMKL",
]

_REGRESSORS = ("KRR", "KRRClassifier", "NKRR", "NKRRClassifier")


def __getattr__(name: str) -> Any:
    if name in __all__:
        module = "mklbench.regressors" if name in _REGRESSORS else "mklbench.estimators"
        return getattr(import_module(module), name)
    raise AttributeError(f"module 'mklbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
