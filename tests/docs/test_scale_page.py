"""What the page on many samples and the README say of the families is what was measured."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def lines_of(name: str) -> list[list[str]]:
    """Return the cells of the lines of a benchmark's tables."""
    text = (ROOT / "results" / "bench" / f"{name}.md").read_text(encoding="utf-8")
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]


def measured(method: str, n: str = "100,000") -> list[list[str]]:
    """Return the columns of a method's lines with so many rows, family by family."""
    return [line for line in lines_of("families") if line[1:3] == [method, n]]


def test_what_the_page_begins_with_was_measured() -> None:
    page = " ".join((ROOT / "docs" / "scale.md").read_text(encoding="utf-8").split())
    cost = {tuple(line[:3]): line[3:5] for line in lines_of("scale") if len(line) == 7}
    for sentence, method, problem, n, gb_digits in (
        ("20,000 samples take {:.1f} s and {} GB on two cores", "joint", "noisy", "20,000", 2),
        ("100,000 take {:.1f} s and {} GB", "joint", "noisy", "100,000", 2),
        ("a million {:.0f} s and {} GB", "joint", "noisy", "1,000,000", 1),
        ("Gram matrices take {:.1f} s and {} GB at 8,000", "libsvm", "noisy", "8,000", 1),
        ("100,000 samples take {:.1f} s and {} GB.", "joint", "hard", "100,000", 2),
    ):
        seconds, gigabytes = (float(cell) for cell in cost[method, problem, n])
        assert sentence.format(seconds, f"{gigabytes:.{gb_digits}f}") in page


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
