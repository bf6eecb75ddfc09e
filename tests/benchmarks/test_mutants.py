"""The rooms of `make mutants`, and its list of mutants that do the same as the original."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = tomllib.loads((ROOT / "benchmarks" / "mutants.toml").read_text(encoding="utf-8"))
EQUIVALENT = CONFIG["equivalent"]


def test_every_room_has_its_module_and_tests() -> None:
    for room in CONFIG["rooms"]:
        assert (ROOT / room["module"]).is_file()
        assert all((ROOT / path).is_file() for path in room["tests"])
    assert sum(room["mutants"] for room in CONFIG["rooms"]) >= 100


@pytest.mark.parametrize("item", EQUIVALENT, ids=[item["mutant"] for item in EQUIVALENT])
def test_what_is_listed_as_equivalent_is_a_change_of_a_line_there_is(item: dict[str, str]) -> None:
    lines = (ROOT / item["module"]).read_text(encoding="utf-8").splitlines()
    assert item["original"] in [" ".join(line.split()) for line in lines]
    assert item["mutant"] != item["original"]
    assert item["reason"].endswith(".")
