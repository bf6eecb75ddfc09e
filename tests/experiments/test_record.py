"""The type of a record: JSON both ways, whatever version wrote it."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path

import pytest
from experiment_fakes import tiny_run

from mklbench.experiments.evaluation import run_split, unfinished
from mklbench.experiments.files import verified, with_checksum
from mklbench.experiments.record import Record, Selection

RECORDED = sorted((Path(__file__).parents[2] / "results" / "records").glob("*.jsonl"))


@pytest.fixture(scope="module")
def done() -> Record:
    return run_split(tiny_run(), 0)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_line_is_written_as_it_was_read(path: Path) -> None:
    """Of every table each kind of line, older ones with fewer values, and every fiftieth."""
    kinds: set[tuple[str, ...]] = set()
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True)):
        kind = tuple(json.loads(line)) if number % 50 else ()
        if number % 50 == 0 or kind not in kinds:
            kinds.add(kind)
            record = Record.from_json(verified(line))
            assert with_checksum(record.to_json()).encode() == line


def test_what_older_records_lack_is_none_and_stays_away(done: Record) -> None:
    content = done.to_json()
    for name in ("n_problems", "search_rmse"):
        del content[name]
    record = Record.from_json(content)
    assert (record.n_problems, record.search_rmse) == (None, None)
    assert record.to_json() == content


def test_what_newer_records_say_is_kept(done: Record) -> None:
    content = {**done.to_json(), "watts": 12.5}
    record = Record.from_json(content)
    assert record.unknown == {"watts": 12.5}
    assert record.to_json() == content
    assert replace(record, unknown={}) == done


def test_of_a_split_that_failed_every_result_is_stated_as_none() -> None:
    failed = unfinished(tiny_run(), 3, "timeout", "too long", "details")
    assert (failed.split, failed.error, failed.traceback) == (3, "too long", "details")
    assert not failed.is_done
    content = failed.to_json()
    assert set(content) == set(run_split(tiny_run(), 3).to_json())
    assert {content[name] for name in ("accuracy", "gap", "weights", "n_train")} == {None}
    assert Record.from_json(json.loads(json.dumps(content))) == failed


@pytest.mark.parametrize("kind", [Record, Selection])
def test_every_value_is_explained(kind: type[Record] | type[Selection]) -> None:
    lines = (inspect.getdoc(kind) or "").splitlines()
    headings = [line for line in lines if " : " in line and not line.startswith(" ")]
    explained = [name for line in headings for name in line.partition(" : ")[0].split(", ")]
    assert sorted(explained) == sorted(kind.__annotations__)
