"""A part of a table: the positions of one row, column or protocol, and their first splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mklbench.errors import InputError, unknown
from mklbench.report.table.paper_table import Column, PaperTable, Protocol, Row, Slot


@dataclass(frozen=True)
class TableSelection:
    """What of a table is asked for; None: all.

    `row`, `column` and `protocol` are a name or what labels begin with.
    """

    row: str | None = None
    column: str | None = None
    protocol: str | None = None
    n_splits: int | None = None

    @property
    def given(self) -> dict[str, str]:
        """What limits the positions, by the word for it."""
        limits = {"row": self.row, "column": self.column, "protocol": self.protocol}
        return {what: text for what, text in limits.items() if text is not None}

    def __bool__(self) -> bool:
        """Whether it is less than the whole table."""
        return bool(self.given) or self.n_splits is not None


WHOLE = TableSelection()


def part_of(table: PaperTable, selection: TableSelection) -> PaperTable:
    """Return `table`, or the positions of it that are selected, whose runs stay as they are.

    Raises
    ------
    InputError
        If the table has no such row, column or protocol, or no position with all of them.
    """
    if not selection:
        return table
    entries: dict[str, Sequence[Row | Column | Protocol]] = {
        "row": table.rows,
        "column": table.columns,
        "protocol": table.protocols,
    }
    accepted = [
        _names(f"{table.name}: {what}", selection.given.get(what), of)
        for what, of in entries.items()
    ]
    places = [
        slot.place
        for slot in table.slots()
        if all(name in names for name, names in zip(slot.place, accepted, strict=True))
    ]
    if not places:
        asked = ", ".join(f"{what}={text}" for what, text in selection.given.items())
        raise InputError(
            f"{table.name} has no position with {asked}: mklbench reproduce {table.name} --list "
            "prints those that it has."
        )
    rows, columns, protocols = map(set, zip(*places, strict=True))
    baseline = table.baseline
    return replace(
        table,
        rows=tuple(row for row in table.rows if row.name in rows),
        columns=tuple(column for column in table.columns if column.name in columns),
        protocols=tuple(one for one in table.protocols if one.name in protocols),
        published={
            place: number
            for place, number in table.published.items()
            if place[0] in rows and place[1] in columns
        },
        baseline=baseline if baseline is not None and baseline.column in columns else None,
        sweep=None,
        ranking=None,
        is_part=True,
    )


def first_splits(slot: Slot, n_splits: int) -> Slot:
    """Return the position with a run of its first splits alone."""
    others = (text for text in slot.overrides if not text.startswith("split.n_splits="))
    return replace(slot, overrides=(*others, f"split.n_splits={n_splits}"))


def _names(option: str, text: str | None, entries: Sequence[Row | Column | Protocol]) -> list[str]:
    """Return the names of the entries that `text` stands for; None stands for all."""
    named = [e.name for e in entries if text in (None, e.name)]
    found = named or [e.name for e in entries if e.label.startswith(str(text))]
    if not found:
        raise unknown(option, text, [words for e in entries for words in (e.name, e.label)])
    return found
