"""What the page on many samples and the README say of the families is what was measured."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def measured(method: str, n: str = "100,000") -> list[list[str]]:
    """Return the columns of a method's lines with so many rows, family by family."""
    text = (ROOT / "results" / "bench" / "families.md").read_text(encoding="utf-8")
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    return [line for line in lines if line[1:3] == [method, n]]


def test_the_table_of_families_is_that_of_the_benchmark() -> None:
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    table = page.partition("| 100,000 rows, C = 10")[2].partition("\n\n")[0].splitlines()[2:]
    told = [re.findall(r"[\d.]+", "".join(row.split("|")[3:6])) for row in table]
    numbers = [
        [f"{float(own[3]):.1f}", own[6], own[5], own[8][:-1], f"{float(peer[3]):.1f}", peer[8][:-1]]
        for own, peer in zip(measured("mkl"), measured("gradient boosting"), strict=True)
    ]
    assert told == numbers
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    few, many = ([float(own[3]) for own in measured("mkl", n)] for n in ("100,000", "1,000,000"))
    assert f"take {min(few):.1f} to {max(few):.0f} s with 100,000 samples" in readme
    assert f"and {min(many):.0f} to {max(many):.0f} s with a million." in readme
    normal = measured("mkl", "1,000,000")[0]
    assert f"take {float(normal[3]):.0f} s and {float(normal[5]):.1f} GB on two cores" in readme
