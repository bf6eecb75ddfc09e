"""The page on kernels on columns: its code runs, one block after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "kernels-on-columns.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_code_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```python\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "kernels-on-columns.md", "exec"), names)
    assert "linear on colour" in capsys.readouterr().out
    assert names["model"].score(names["X"], names["y"]) > 0.9
    assert set(names["search"].best_params_) == {"C", "kernel"}
