"""How much a file of a data set may take: seconds to come, bytes as it comes and unpacked."""

from __future__ import annotations

from dataclasses import dataclass

from mklbench.data.schema import Layout
from mklbench.data.settings import SECONDS_VARIABLE, download_seconds, download_timeout
from mklbench.errors import InputError

# Four times the largest file of a set of this program, the photographs of Flowers-17.
DEFAULT_BYTES = 256_000_000


@dataclass(frozen=True)
class Limits:
    """What reading one file may take.

    Attributes
    ----------
    stall : float
        Seconds to wait for a connection, and for each next byte.
    seconds : float
        For a whole download: looking up the host, redirects and second attempts included.
    n_bytes : int
        Of the file, and of what it unpacks to.
    """

    stall: float
    seconds: float
    n_bytes: int

    @classmethod
    def of(cls, layout: Layout, timeout: float | None = None) -> Limits:
        """The limits of a file that is read by `layout`.

        Parameters
        ----------
        layout : Layout
            Of the file; says how large it may be.
        timeout : float or None, default=None
            As for `download_timeout`.

        Raises
        ------
        InputError
            A number of seconds, stated or in the environment, is not positive.
        """
        return cls(download_timeout(timeout), download_seconds(), most_bytes(layout))

    @property
    def late(self) -> str:
        """What is said of a download that is not finished in time."""
        return f"not finished within {self.seconds:g} s, the limit of {SECONDS_VARIABLE}"

    @property
    def beyond(self) -> str:
        """What is said of a file that is too large, after "more than"."""
        return beyond(self.n_bytes)


def most_bytes(layout: Layout) -> int:
    """Bytes that a file of this layout may hold or unpack to."""
    return DEFAULT_BYTES if layout.max_bytes is None else layout.max_bytes


def check_numbers(option: str, n_rows: int, n_columns: int) -> None:
    """Raise InputError, naming an option and its value, for more numbers than a file may make.

    Of a text file of `DEFAULT_BYTES` come a number for every two bytes at most.
    """
    most = DEFAULT_BYTES // 2
    if n_rows * n_columns > most:
        raise InputError(
            f"{option} makes {n_columns} columns of {n_rows} rows, "
            f"{megabytes(8 * n_rows * n_columns)}, where at most {most // n_rows} fit: choose "
            "fewer."
        )


def beyond(n_bytes: int) -> str:
    """Say a limit of bytes, and how it is raised, after "more than"."""
    return f"the {megabytes(n_bytes)} it may (++data.max_bytes=N allows N bytes)"


def megabytes(n_bytes: int) -> str:
    """A number of bytes as a reader wants it."""
    return f"{n_bytes / 1e6:.3g} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:,.4g} GB"
