"""What the page on choosing C says of classifiers as constructed is what was measured."""

from __future__ import annotations

import csv

from written import ROOT

PAGE = (ROOT / "docs" / "choosing-c.md").read_text(encoding="utf-8")
# As benchmarks/defaults.py has it.
MOST_BELOW = 2.0


def measured() -> list[dict[str, str]]:
    with open(ROOT / "results" / "bench" / "defaults.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_table_is_that_of_the_benchmark() -> None:
    lines = measured()
    shown = [line for line in PAGE.partition("## Without choosing")[2].splitlines() if "|" in line]
    runs = [[run.strip(" `") for run in line.strip("|").split("|")] for line in shown]
    assert runs[0] == list(lines[0])
    assert runs[2:] == [list(line.values()) for line in lines]


def test_who_is_further_below_an_svc_has_a_reason_there() -> None:
    svc, *others = [dict(line) for line in measured()]
    del svc["classifier"]
    reasons = PAGE.rpartition("|")[2]
    for line in others:
        below = any(float(line[name]) < float(svc[name]) - MOST_BELOW for name in svc)
        assert below == (f"`{line['classifier']}`" in reasons), line
