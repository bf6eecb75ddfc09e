"""The page "More than one machine" against the program: commands, options, code and sentences."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "more-than-one-machine.md").read_text(encoding="utf-8")
EXECUTORS = ("dask", "slurm")
# Keys of a config that are no options.
NO_OPTIONS = {"name", "title", "_target_"}


@cache
def options(executor: str) -> dict[str, Any]:
    path = ROOT / "configs" / "executor" / f"{executor}.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: value for name, value in config.items() if name not in NO_OPTIONS}


@cache
def said() -> list[str]:
    """Return what the program may say, with an ellipsis for what is put in."""
    texts = []
    for path in sorted((ROOT / "mklbench").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    part.value if isinstance(part, ast.Constant) else "…" for part in node.values
                ]
                texts.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
    return texts


def is_said(sentence: str) -> bool:
    """Tell whether the program has a text with these pieces in this order."""
    pieces = [re.escape(piece.strip()) for piece in sentence.split("…")]
    return any(re.search(".*".join(pieces), text, re.DOTALL) for text in said())


def test_the_table_of_options_has_all_options_with_their_defaults() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([a-z, ]+) \| `([^`]+)` \|", PAGE, re.MULTILINE)
    told = {
        (name, executor): yaml.safe_load(default)
        for name, executors, default in rows
        for executor in executors.split(", ")
    }
    assert told == {
        (name, executor): value
        for executor in EXECUTORS
        for name, value in options(executor).items()
    }


def test_every_option_on_the_page_exists() -> None:
    known = {name for executor in (*EXECUTORS, "local") for name in options(executor)}
    named = set(re.findall(r"executor\.([a-z_]+)", PAGE))
    assert len(named) > 5
    assert named <= known


@pytest.mark.parametrize(
    "sentence", re.findall(r"^\| `([^`]+)` \|", PAGE.split("## When it does not work")[1], re.M)
)
def test_a_sentence_of_the_page_is_one_of_the_program(sentence: str) -> None:
    assert is_said(sentence), sentence
