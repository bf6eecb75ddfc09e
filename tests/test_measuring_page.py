"""The page "Measuring": its commands and its code run, one after the other, on small data."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from mklbench import cli
from mklbench.report.table.metrics import METRICS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "measuring.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL)

# In the place of sets that have to be downloaded, and of their twenty splits.
INSTEAD = {
    "data=sonar": ["data=csv", "data.path=sonar.csv", "data.label=y", "split.n_splits=4"],
    "data=arm": [
        "data=csv",
        "data.path=arm.csv",
        "data.label=y",
        "data.task=regression",
        "split=random70",
        "split.n_splits=2",
    ],
}


def write_data() -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((60, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.assign(y=np.where(X[:, 0] > X[:, 1] ** 2 - 0.5, "mine", "rock")).to_csv(
        "sonar.csv", index=False
    )
    frame.assign(y=np.sin(X[:, 0]) + X[:, 1]).to_csv("arm.csv", index=False)
    return X


def run(command: str) -> str:
    """Run a command line of the page, which has to succeed; return what it says."""
    words = shlex.split(command, comments=True)
    assert words[0] == "mklbench"
    words = [part for word in words[1:] for part in INSTEAD.get(word, [word])]
    if words[0] == "run":
        words.append("progress=none")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert cli.main(words) == 0, command
    return said.getvalue()


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Return what the page's code leaves behind, in the directory where it has run."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("page"))
    try:
        found: dict[str, Any] = {"X": write_data(), "said": []}
        for language, block in BLOCKS:
            if language == "sh":
                found["said"] += [run(line) for line in block.splitlines()]
            elif language == "python":
                exec(compile(block, "measuring.md", "exec"), found)
        yield found
    finally:
        os.chdir(before)


@pytest.mark.slow
def test_the_rows_of_a_run_have_the_metrics(names: dict[str, Any]) -> None:
    rows = pd.read_csv("rows.csv")
    assert set(rows["algo"]) == {"mkl", "svm"}
    for metric in ("roc_auc", "f1_macro", "balanced_accuracy"):
        assert rows[metric].between(0.0, 1.0).all()
    assert rows["neg_brier_score"].between(-1.0, 0.0).all()


@pytest.mark.slow
def test_the_tables_are_in_their_formats(names: dict[str, Any]) -> None:
    for file in ("table1.tex", "summary.tex"):
        assert "\\toprule" in Path(file).read_text(encoding="utf-8")
    assert len(pd.read_csv("table1.csv")) > 5
    assert "\\toprule" in names["latex"]
    assert isinstance(names["numbers"], pd.DataFrame)
    assert isinstance(names["splits"], pd.DataFrame)
    assert len(names["numbers"]) > 5


@pytest.mark.slow
def test_the_exported_models_predict(names: dict[str, Any]) -> None:
    assert set(names["labels"]) == {"mine", "rock"}
    right = names["labels"] == pd.read_csv("sonar.csv")["y"].to_numpy()
    assert right.mean() > 0.8


def test_the_metrics_of_a_table_are_known() -> None:
    (block,) = [text for language, text in BLOCKS if language == "yaml"]
    from sklearn.metrics import get_scorer_names

    assert set(yaml.safe_load(block)["metrics"]) <= set(METRICS) | set(get_scorer_names())


def test_every_block_is_of_a_language() -> None:
    assert {language for language, _ in BLOCKS} == {"sh", "python", "yaml"}
    assert PAGE.count("```") == 2 * len(BLOCKS)
