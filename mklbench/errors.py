"""Errors a user can mend, each one sentence: the option, its value, and what would be accepted."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """An option, a value or an input that cannot be accepted as it is.

    The message is one sentence that names the option, the value and the remedy. The command line
    prints it without a traceback and exits with status 2; in the library it is a ``ValueError``.
    """


class SingularError(InputError):
    """A ridge lambda too small for a kernel: the system is singular to working precision."""


class DataError(InputError):
    """A data set that cannot be had, read or verified."""


def unknown(option: str, value: object, accepted: Iterable[str]) -> InputError:
    """Build the error for a name that is not among `accepted`, naming the nearest ones."""
    names = sorted(accepted)
    near = difflib.get_close_matches(str(value), names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}" if near else f"choose one of {', '.join(names)}"
    return InputError(f"{option}={value} is not known: {hint}.")
