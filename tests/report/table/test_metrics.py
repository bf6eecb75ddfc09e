"""How the values of metrics are printed."""

from __future__ import annotations

import pytest

from mklbench.report.table.metrics import METRICS


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (2.54e-5, "2.5e-05"),
        (0.0714, "0.071"),
        (3.46, "3.5"),
        (9999.0, "9999.0"),
        (7e296, "7.0e+296"),
    ],
)
def test_a_gap_is_printed_in_a_few_characters_however_large(value: float, printed: str) -> None:
    assert METRICS["gap"].format(value) == printed
