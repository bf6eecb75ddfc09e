"""The entries of a list of kernels, from the forms in which a user writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mklbench.errors import InputError
from mklbench.kernels.builders.forms import builder_from, shown
from mklbench.kernels.builders.named import KernelBuilder
from mklbench.kernels.contract import builder_of

FORMS = "(name, kernel, columns) or (name, kernel, columns, transformer)"


@dataclass(frozen=True)
class Entry:
    """An entry of a list of kernels.

    Attributes
    ----------
    name : str or None
        What the user calls it; None of a kernel on all columns.
    builder : KernelBuilder
        Of its kernels.
    columns : object
        What `positions` accepts.
    transformer : object or None
        With ``fit`` and ``transform``; None for the columns as they are.
    """

    name: str | None
    builder: KernelBuilder
    columns: Any
    transformer: Any = None

    @property
    def called(self) -> str:
        """The entry in messages."""
        return f"kernel {shown(self.builder)}" if self.name is None else f"view {self.name!r}"

    @property
    def takes_rows(self) -> bool:
        """Whether the kernels are on row numbers, not on columns."""
        return builder_of(self.builder).takes_rows


def entry_of(given: Any) -> Entry:
    """Return the entry that a user has written.

    Parameters
    ----------
    given : object
        A kernel, ``(name, kernel, columns)`` or ``(name, kernel, columns, transformer)``.

    Raises
    ------
    InputError
        If it is none of these.
    """
    if not isinstance(given, tuple):
        return Entry(None, builder_from(given), None)
    if len(given) not in (3, 4) or not isinstance(given[0], str):
        raise InputError(f"kernel has the entry {given!r}: give a kernel, or {FORMS}.")
    name, kernel, columns, *transformer = given
    try:
        builder = builder_from(kernel)
    except InputError as error:
        raise InputError(f"view {name!r}: {error}") from error
    passing = transformer and isinstance(transformer[0], str) and transformer[0] == "passthrough"
    return Entry(name, builder, columns, None if passing or not transformer else transformer[0])
