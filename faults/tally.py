"""What a campaign counts."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Tally:
    """The count of one campaign.

    Attributes
    ----------
    campaign : its name.
    tries : faults that were made.
    lost : splits that were finished before a fault, and after it were gone or run again.
    changed : rows of the final CSV that differ from those of an undisturbed run.
    tracebacks : processes that printed one.
    wrong : whatever else was not as promised, in a sentence each: a wrong exit status, a process or
        a file left behind, an end that took too long.
    skipped : why nothing was tried, or not all of it.
    seconds : how long it took.
    slowest : seconds of the slowest end after an interrupt, where that is measured.
    """

    campaign: str
    tries: int = 0
    lost: int = 0
    changed: int = 0
    tracebacks: int = 0
    wrong: list[str] = field(default_factory=list)
    skipped: str = ""
    seconds: float = 0.0
    slowest: float | None = None

    @property
    def held(self) -> bool:
        """Whether all that is promised was kept."""
        return not (self.lost or self.changed or self.tracebacks or self.wrong)

    def hear(self, printed: str, where: str) -> None:
        """Look for a traceback in what a process has printed.

        Not for that with which multiprocessing's resource tracker complains of a process of Dask
        that was killed.
        """
        if "multiprocessing/resource_tracker.py" in printed and "KeyError: '/mp-" in printed:
            return
        if "Traceback (most recent call last)" in printed or "Fatal Python error" in printed:
            self.tracebacks += 1
            self.wrong.append(f"{where}: {printed.strip().splitlines()[-1]}")

    def check(self, right: bool, said: str) -> None:
        """Note what is wrong unless it is right."""
        if not right:
            self.wrong.append(said)

    @contextlib.contextmanager
    def counted(self) -> Iterator[Tally]:
        """Count the seconds of the context."""
        began = time.monotonic()
        try:
            yield self
        finally:
            self.seconds += time.monotonic() - began
