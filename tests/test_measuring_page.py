"""The page "Measuring": what it names exists; its commands and its code run in tests/docs."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from sklearn.metrics import get_scorer_names

from mklbench.report.table.metrics import METRICS

PAGE = (Path(__file__).parents[1] / "docs" / "measuring.md").read_text(encoding="utf-8")


def test_the_metrics_of_a_table_are_known() -> None:
    (block,) = re.findall(r"^```yaml\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert set(yaml.safe_load(block)["metrics"]) <= set(METRICS) | set(get_scorer_names())
