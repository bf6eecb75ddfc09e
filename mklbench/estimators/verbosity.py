"""What ``verbose=1`` prints of a fit: a line an iteration, as algorithms note them."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from mklbench.iterations import History


class Printer:
    """Prints a line for each entry of the histories that it is told of.

    Parameters
    ----------
    estimator : str
        What is fitted.
    problems : sequence of str
        A name for each binary problem, in their order; none where there is only one.
    """

    def __init__(self, estimator: str, problems: Sequence[str] = ()) -> None:
        self._estimator, self._problems = estimator, problems
        self._histories: list[History] = []
        self._started = perf_counter()

    def begun(self, history: History) -> None:
        """Take notice of the history of the next binary problem."""
        self._histories.append(history)

    def noted(self, history: History) -> None:
        """Print the last entry: the objective J, its gap, the kernels in use, the time so far."""
        entry = history[-1]
        told = [f"J {entry['objective']:.6g}"]
        if np.isfinite(entry.get("gap", np.inf)):  # that of the start may not be known
            told.append(f"gap {entry['gap']:.1e}")
        n_active = round(entry["n_active"])
        told.append(f"{n_active} active kernel{'' if n_active == 1 else 's'}")
        told.append(f"{perf_counter() - self._started:.2f} s")
        print(f"[{self._called(history)}] {', '.join(told)}", flush=True)

    def _called(self, history: History) -> str:
        """Return which iteration of which problem it is; the start is number 0."""
        number = next(k for k, each in enumerate(self._histories) if each is history)
        problem = f" {self._problems[number]}," if self._problems else ""
        return f"{self._estimator}{problem} iteration {len(history) - 1}"
