"""The page "Your own data": its commands run, and what it names exists."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from mklbench import cli

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "own-data.md").read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"^```sh\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]


def _write_files(directory: Path) -> None:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((2, 40, 3))
    y = np.tile([0, 1], 20)
    frame = pd.DataFrame(X[0], columns=["a", "b", "c"])
    frame["ward"] = np.array(["east", "west", "north", "north"])[np.arange(40) % 4]
    frame["sick"] = np.array(["no", "yes"])[y]
    frame.loc[3, "b"] = np.nan
    frame.to_csv(directory / "patients.csv")
    np.savez(directory / "kernels.npz", KH=np.moveaxis(X @ X.transpose(0, 2, 1), 0, 2), Y=y)
    (directory / "labels.txt").write_text("\n".join(np.array(["no", "yes"])[y]))
    rows = np.arange(40).tolist()
    split = {"train": rows[:20], "validation": rows[20:30], "test": rows[30:]}
    (directory / "splits.json").write_text(json.dumps([split]))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    _write_files(tmp_path)
    words = shlex.split(command)
    assert words[0] == "mklbench"
    assert cli.main([*words[1:], "progress=none"]) == 0
    assert "done" in capsys.readouterr().out


def test_every_option_on_the_page_exists() -> None:
    named = set(re.findall(r"\b(data|kernel|split)\.([a-z_]+)=", PAGE))
    files = {
        "data": ("data/csv", "data/openml"),
        "kernel": ("kernel/grams",),
        "split": ("split/file",),
    }
    assert len(named) > 8
    for group, option in named:
        options = {"n_splits"} if group == "split" else set()
        for file in files[group]:
            options |= set(yaml.safe_load((ROOT / "configs" / f"{file}.yaml").read_text()))
        assert option in options, f"{group}.{option}"


def test_the_readme_leads_to_the_page() -> None:
    assert "(docs/own-data.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
