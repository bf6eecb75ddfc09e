"""The page "More than one machine" against the program: commands, options, code and sentences."""

from __future__ import annotations

import ast
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from mklbench.commands import grammar
from mklbench.config import compose, executor_of, run_options
from mklbench.errors import missing

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "more-than-one-machine.md").read_text(encoding="utf-8")
EXECUTORS = ("dask", "slurm")
# Keys of a config that are no options.
NO_OPTIONS = {"name", "title", "_target_"}
# Options of sbatch, which only it knows.
OF_ENGINES = re.compile(r"\+executor\.options\.[a-z_]+=")


def blocks(*languages: str) -> list[str]:
    found = re.findall(r"^```(\w+)\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return [text for language, text in found if language in languages]


def commands() -> list[list[str]]:
    """Return the command lines of mklbench on the page, each as a list of words."""
    lines = [
        line.removeprefix("$ ") for text in blocks("sh", "console") for line in text.split("\n")
    ]
    lines += re.findall(r"`(mklbench [^`]+)`", PAGE)
    return [shlex.split(line)[1:] for line in lines if line.startswith("mklbench ")]


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


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_a_command_of_the_page_is_understood(words: list[str]) -> None:
    command, arguments = words[0], words[1:]
    overrides = [word for word in arguments if "=" in word]
    if command == "run":
        flags = set(arguments) - set(overrides)
        assert flags <= {"-m"}
        first = [re.sub(r"=([^,\[]+),.*", r"=\1", text) for text in overrides]
        chosen = run_options(compose(first)).executor
        for name in re.findall(r"executor\.(\w+)=", " ".join(OF_ENGINES.split(" ".join(first)))):
            assert name in options(chosen["name"])
        return
    given = grammar.parse([command, *arguments])
    if command in ("reproduce", "check"):
        run_options(compose([text for text in given["names"] if "=" in text]))


@pytest.mark.skipif(missing("slurm", "") is not None, reason="submitit is not installed")
def test_the_executors_of_the_page_are_made() -> None:
    made = executor_of(["executor=slurm", "executor.partition=cpu"], jobs=1, timeout=None)
    assert hasattr(made, "run")


def test_the_code_of_the_page_imports_what_there_is() -> None:
    imported = 0
    for text in blocks("python"):
        tree = ast.parse(text)
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                exec(compile(ast.Module([node], []), "page", "exec"), {})
                imported += 1
    assert imported >= 5


@pytest.mark.parametrize(
    "sentence", re.findall(r"^\| `([^`]+)` \|", PAGE.split("## When it does not work")[1], re.M)
)
def test_a_sentence_of_the_page_is_one_of_the_program(sentence: str) -> None:
    assert is_said(sentence), sentence


def test_other_sentences_are_not_taken_for_ours() -> None:
    assert not is_said("executor=slurm has no coffee")
    assert not is_said("… is not accepted: an array of this cluster has no …")


def test_the_readme_leads_to_the_page() -> None:
    assert "(docs/more-than-one-machine.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
