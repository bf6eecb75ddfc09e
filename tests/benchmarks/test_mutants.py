"""The modules of `make mutants`, and its list of mutants that do the same as the original."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = tomllib.loads((ROOT / "benchmarks" / "mutants.toml").read_text(encoding="utf-8"))
EQUIVALENT = CONFIG["equivalent"]


def test_every_module_and_its_tests_are_there() -> None:
    for subject in CONFIG["subjects"]:
        assert (ROOT / subject["module"]).is_file()
        assert all((ROOT / path).is_file() for path in subject["tests"])
    assert sum(subject["mutants"] for subject in CONFIG["subjects"]) >= 100


@pytest.mark.parametrize("item", EQUIVALENT, ids=[item["mutant"] for item in EQUIVALENT])
def test_what_is_listed_as_equivalent_is_a_change_of_a_line_there_is(item: dict[str, str]) -> None:
    lines = (ROOT / item["module"]).read_text(encoding="utf-8").splitlines()
    assert item["original"] in [" ".join(line.split()) for line in lines]
    assert item["mutant"] != item["original"]
    assert item["reason"].endswith(".")
