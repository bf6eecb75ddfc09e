"""How far the search of a step is, told while it goes on to whoever listens.

A search may take minutes, in a process of its own: its executor passes on what is told to the
progress of the run.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

# Of the fits of a search: how many are done, and of how many.
Listener = Callable[[int, int], object]

# Seconds between two of what a listener is told; a search that takes less is not spoken of.
_INTERVAL = 0.5

_listeners: list[Listener] = []


def tell(n_done: int, n_fits: int) -> None:
    """Tell that a search has done so many of its fits."""
    for listener in _listeners:
        listener(n_done, n_fits)


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within the context, have `listener` told now and then."""
    last = time.monotonic()

    def now_and_then(n_done: int, n_fits: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _INTERVAL:
            last = now
            listener(n_done, n_fits)

    _listeners.append(now_and_then)
    try:
        yield
    finally:
        _listeners.remove(now_and_then)
