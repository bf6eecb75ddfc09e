"""Options of an algorithm, checked before there are kernels.

Building a bank may take seconds and gigabytes, and a wrong C should not wait for it. Every `solve`
checks its options before it asks the kernels for anything. So it is called with kernels that are
not there: what it refuses is wrong whatever the kernels, and where it asks for them, all is well so
far. No rule is stated twice that way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mklbench.contract import algorithm_of
from mklbench.errors import InputError, KindError
from mklbench.kernels.base import Bank
from mklbench.kernels.continuous import Family

_LABELS = np.array([-1.0, 1.0, -1.0, 1.0])


class _AskedFor(Exception):
    """An algorithm has asked kernels for something that are not there."""


class _Nothing:
    """Kernels on as many samples that are not there."""

    def __getattribute__(self, name: str) -> Any:
        if name == "n_samples":
            return len(_LABELS)
        if name == "__class__":
            return object.__getattribute__(self, name)
        raise _AskedFor(name)


class _NoBank(_Nothing, Bank):
    pass


class _NoFamily(_Nothing, Family):
    pass


# Of abstract classes there are no instances but for those that leave nothing open.
_NoBank.__abstractmethods__ = _NoFamily.__abstractmethods__ = frozenset()


def check_options(solve: Callable[..., Any]) -> None:
    """Raise an InputError for an option of an algorithm that it refuses whatever the kernels.

    Parameters
    ----------
    solve : callable
        ``solve`` of a module with its options bound, called (operator, y). What one from
        outside of this package refuses that does not say ``OPTIONS_FIRST = True`` is found when it
        runs (`mklbench.contract`).
    """
    if not algorithm_of(solve).options_first:
        return
    for nothing in (_NoBank, _NoFamily):
        try:
            solve(nothing(), _LABELS.copy())  # type: ignore[abstract]
        except (KindError, _AskedFor):
            continue
        except InputError:
            raise
        except Exception:  # it needs the kernels to say what is wrong
            continue
