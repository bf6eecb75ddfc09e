"""What a record says of its making, on one machine and as a job of a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from experiment_fakes import tiny_run

from mklbench.experiments.evaluation import run_split
from mklbench.experiments.files import verified, with_checksum
from mklbench.experiments.provenance import JOB_VARIABLE, NODE_VARIABLE, provenance
from mklbench.experiments.record import Record

RECORDED = sorted((Path(__file__).parents[2] / "results" / "records").glob("*.jsonl"))


@pytest.fixture(autouse=True)
def outside_of_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (NODE_VARIABLE, JOB_VARIABLE):
        monkeypatch.delenv(name, raising=False)


def in_job(monkeypatch: pytest.MonkeyPatch, node: str = "n07", job: str = "12_3") -> Record:
    monkeypatch.setenv(NODE_VARIABLE, node)
    monkeypatch.setenv(JOB_VARIABLE, job)
    return run_split(tiny_run(), 0)


def test_on_one_machine_a_record_says_neither_node_nor_job() -> None:
    with RECORDED[0].open(encoding="utf-8") as lines:
        recorded = json.loads(next(lines))
    assert provenance().keys() == recorded["provenance"].keys()


def test_a_job_says_where_it_ran_and_the_record_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    record = in_job(monkeypatch)
    assert (record.provenance["node"], record.provenance["job"]) == ("n07", "12_3")
    assert record.cpu == record.provenance["cpu"]
    assert Record.from_json(verified(with_checksum(record.to_json()).encode())) == record
