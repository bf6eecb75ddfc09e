"""``mklbench report`` as a user types it, with a store and a table of their own."""

from __future__ import annotations

import re
from typing import Any

import pytest

Built = Any

pytestmark = pytest.mark.xdist_group("site")


def test_it_lays_a_store_of_ones_own_beside_all_records(built: Built) -> None:
    assert built.printed.endswith("Wrote mine.html\n")
    states = re.findall(r'<tr data-state="(\w+)">', built.html)
    assert states.count("same") >= 2
    assert "moved" in states
    changed = re.findall(r'<tr data-state="moved">.*<td>(.+?)</td><td>20</td>', built.html)
    assert set(changed) == {"20 of 20"}  # points, on one of the splits
    assert '<article class="table" id="tiny"' in built.html
    # What is missing of it:
    missing = r"mklbench run split\.n_splits=2 algo=svm search=fixed .*--config-dir own</code>"
    assert re.search(missing, built.html)
    (loose,) = (shown for shown in built.data["tables"] if not shown["name"])
    assert [built.data["runs"][place[3]]["own"] for place in loose["places"]] == [True]
