"""Why the file of a data set is not used: absent, unreadable, too large or damaged.

Each is a `DataError`, of which `mklbench.data.sources` makes a sentence about the place.
"""

from __future__ import annotations

from mklbench.errors import DataError


class AbsentError(DataError):
    """A place does not have the file."""


class UnreadableError(DataError):
    """A place may have the file, but it cannot be read: no permission, no network, a stall."""


class TooLargeError(DataError):
    """A file that holds, or unpacks to, more than it may."""


class DamagedError(DataError):
    """A packed file that cannot be unpacked."""
