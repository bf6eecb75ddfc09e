"""What iterative algorithms note of each iteration, and who is told while they run.

An algorithm begins a history and notes an entry an iteration; at the end it is that of its
`Solution`. Whoever called it may watch: the estimators do for ``verbose=1``. Nothing that is solved
depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

Entry = dict[str, float]
History = list[Entry]


class Watcher:
    """Is told of each history that begins, and of each entry, in this order; nothing comes of it.

    Whoever makes something of it overrides the methods.
    """

    def begun(self, history: History) -> None:
        """Take notice of a history, empty as yet; one a binary problem, in the problems' order."""

    def noted(self, history: History) -> None:
        """Take notice of the last entry of a history."""

    def told(self, history: History, sentence: str) -> None:
        """Take notice of what a search has found about its problem."""


_NOBODY = Watcher()
# That of the thread at work, as searches fit several models at once.
_watcher = ContextVar("watcher", default=_NOBODY)


@contextmanager
def watched(watcher: Watcher | None) -> Iterator[None]:
    """Tell a watcher of what is noted within the context, in the place of any other.

    Parameters
    ----------
    watcher : Watcher or None
        Who is told; None for nobody, as for problems that are steps of another one.
    """
    token = _watcher.set(watcher or _NOBODY)
    try:
        yield
    finally:
        _watcher.reset(token)


def begin() -> History:
    """Return an empty history; it is to be called once a binary problem."""
    history: History = []
    _watcher.get().begun(history)
    return history


def note(history: History, weights: NDArray[np.float64], **values: float) -> None:
    """Append an entry to a history.

    Parameters
    ----------
    history : list of dict of str to float
        That of the problem, as `begin` has returned it.
    weights : ndarray of shape (M,)
        Kernel weights of the iterate. Those other than 0 are counted, as "n_active".
    **values : float
        What else is noted: at least "objective" and "n_svm_calls", and "gap" where it is known.
    """
    entry = {name: float(value) for name, value in values.items()}
    history.append(entry | {"n_active": float(np.count_nonzero(weights))})
    _watcher.get().noted(history)


def tell(history: History, sentence: str) -> None:
    """Tell who watches what a search has found about its problem.

    Parameters
    ----------
    history : list of dict
        That of the problem, as `begin` has returned it.
    sentence : str
        What it is.
    """
    _watcher.get().told(history, sentence)
