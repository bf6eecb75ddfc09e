"""The page "Your own data": what it names exists; its commands run in tests/docs."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "own-data.md").read_text(encoding="utf-8")


def test_every_option_on_the_page_exists() -> None:
    named = set(re.findall(r"\b(data|kernel|split)\.([a-z_]+)=", PAGE))
    files = {
        "data": ("data/csv",),
        "kernel": ("kernel/grams",),
        "split": ("split/file", "split/kfold"),
    }
    assert len(named) > 8
    for group, option in named:
        options: set[str] = set()
        for file in files[group]:
            options |= set(yaml.safe_load((ROOT / "configs" / f"{file}.yaml").read_text()))
        assert option in options, f"{group}.{option}"
