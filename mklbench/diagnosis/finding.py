"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "slow", "problem"]


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    level : {"ok", "note", "slow", "problem"}
        A note, a performance warning ("slow") or a problem: something does not work.
    what : str
        What was looked at.
    said : str
        What was found.
    remedy : str
        What to do about it; empty if nothing has to be done.
    """

    level: Level
    what: str
    said: str
    remedy: str = ""


def count(n: int, what: str) -> str:
    """Return a number with its noun: "1 thread", "2 threads"."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
