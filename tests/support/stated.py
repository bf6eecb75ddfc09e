"""What texts state of the recorded tables, and these tables without a minute of composing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from mklbench.experiments.record import Record
from mklbench.experiments.records import read_records, record_path
from mklbench.report.analysis.assemble import Report, SlotRecords, assemble
from mklbench.report.layout.evidence import Pair, discoveries
from mklbench.report.loading import load_table
from mklbench.report.table.paper_table import Slot

ROOT = Path(__file__).parents[2]


@cache
def lines_of(name: str) -> list[Record]:
    return read_records(record_path(ROOT / "results" / "records", name))


@cache
def recorded(name: str) -> Report:
    """The recorded table, its runs in the order in which they were exported.

    So nothing has to be composed, which takes a minute for all tables.
    """
    table = load_table(name)
    runs: list[list[Record]] = []
    for line in lines_of(name):
        if line.split == 0:
            runs.append([])
        runs[-1].append(line)
    of_place = {s.place: run for s, run in zip(table.slots(), runs, strict=True)}

    def find(slot: Slot) -> SlotRecords:
        found = of_place[slot.place]
        ends = {record.status for record in found}
        assert ends <= {"done", "timeout"}
        if "timeout" not in ends:
            return SlotRecords("done", found, len(found))
        # Splits that were not begun have no line; other columns have as many.
        n_splits = max(len(run) for place, run in of_place.items() if place[0] == slot.place[0])
        return SlotRecords("timeout", found, n_splits)

    return assemble(table, find)


@cache
def text_of(path: str) -> str:
    """The words of files with single spaces, without the signs of links, code and quoting."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(ROOT.glob(path)))
    return " ".join(re.sub(r"\]\([^)]*\)|[`\[\]*]", " ", text).split())


def states(path: str, sentence: str) -> None:
    assert " ".join(sentence.split()) in text_of(path)


def mean(table: str, *place: str) -> float:
    found = recorded(table).finished_mean(place)  # type: ignore[arg-type]
    assert found is not None
    return found


def n_discoveries(pairs: Mapping[str, Pair]) -> tuple[int, int]:
    """How many comparisons set by set are better, and worse, of all methods together."""
    counts = [map(int, count.split(" / ")) for count in discoveries(pairs).values()]
    better, worse = map(sum, zip(*counts, strict=True))
    return better, worse
