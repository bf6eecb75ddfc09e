"""Every block of code on a page that is written by hand runs, or is named here with the reason.

Nothing is listed that runs: blocks are found on the pages. The code of a page runs as one program
in an empty folder, in its order, with its commands in between. Runs are made small: the data are
replaced by a few rows, and of the splits one is done.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from written import ROOT, Block, blocks, pages, spans, words_of

from mklbench import cli, resources
from mklbench.commands import grammar
from mklbench.config import jobs_of, run_options
from mklbench.report.loading import load_table, table_names

# Blocks of Python that do not run here, by a piece of each, and why.
NOT_RUN = {
    "def solve(operator, y, C=1.0, *, my_option=3) -> Solution: ...": "the outline of a function",
    'executor=Slurm(partition="cpu")': "needs a Slurm cluster: tests/cluster has one",
    "/where/the/workers/see/it/K.npy": "a module for the workers of a Dask cluster",
}
# Commands that are only parsed and composed, by a pattern of them, and why.
ONLY_READ = {
    r"executor[=.]": "needs a cluster: tests/cluster has one",
    r"data=(flowers17|msrc_v1|mfeat|leaves100|scene15|caltech101)": "has to be downloaded",
    r"data (fetch|verify)": "has to be downloaded",
    r"--config-dir": "needs files of one's own, which tests/examples and tests/commands have",
    r"mklbench (check|report|compare|doctor|plot|reproduce)\b": "takes long; tests/commands has it",
    r"/archive/": "is a folder of somebody else",
    r"\b(algo|data|kernel)=mine\b": "needs what the page has told to write",
    r"wine\.mat|clinic\.csv|patients\.csv data\.label=diagnosis": "has a file of tests/examples",
    r"^mklbench run$|^mklbench run -m algo=mkl$|^mklbench table --recorded$": "is only a name",
}
# Programs other than ours whose commands are not tried, and why.
OTHERS = {
    "ssh": "another machine",
    "cd": "the shell's own",
    "dask": "that of Dask, which tests/cluster starts",
    "python3": "makes an environment",
    "sinfo": "that of Slurm",
}
SMALL = 60  # rows of the files that stand for those of the reader
# Pages whose code divides the rows of a data set by their numbers.
OF_MANY_ROWS = ("docs/saving-models.md", "docs/with-scikit-learn.md")


def written_commands(*, once_more: bool = True) -> list[tuple[str, str]]:
    """Return the pages and the commands on them, in blocks and in sentences.

    With `once_more` also those that run with the code of their page.
    """
    found = [
        (page, command)
        for page in pages()
        for block in blocks(page)
        for command in block.commands()
        if once_more or page in OF_MANY_ROWS or not is_to_run(command)
    ]
    found += [(page, command) for page in pages() for command in spans(page)]
    return sorted(set(found))


def reason_not_to_run(command: str) -> str | None:
    words = " ".join(words_of(command))
    return next((why for pattern, why in ONLY_READ.items() if re.search(pattern, words)), None)


def is_to_run(command: str) -> bool:
    return command.startswith("mklbench ") and reason_not_to_run(command) is None


# Commands are understood, where they do not run.
NOT_TO_RUN = written_commands(once_more=False)


def flags_and_overrides(words: list[str]) -> tuple[list[str], list[str]]:
    overrides = [word for word in words if re.match(r"\+?[\w.@]+=", word)]
    return [word for word in words if word not in overrides], overrides


def understand_run(words: list[str]) -> None:
    flags, overrides = flags_and_overrides(words)
    if "--config-dir" in flags or "--help" in flags or re.search("=mine( |$)", " ".join(words)):
        return  # its files are on no page
    assert set(flags) <= {"-m"}
    overrides = [word for word in overrides if not re.match(r"\+executor\.options\.", word)]
    for job in jobs_of([*overrides, *flags]):
        assert run_options(job.config)


def understand(command: str) -> None:
    """Raise unless the program takes a command as it stands."""
    words = words_of(command)[1:]
    if words[0] == "run":
        understand_run(words[1:])
        return
    if words[0] in ("--version", "--help"):
        return
    flags, overrides = flags_and_overrides(words)
    given = grammar.parse(words)
    names = [name for name in given.get("names", []) if "=" not in name]
    has_own = given.get("config_dir") is not None
    if words[0] == "data":
        assert set(names) <= set(resources.choices("data"))
    elif words[0] in ("reproduce", "check") and not has_own:
        assert set(names) <= {*table_names(), "author2020_table1"}  # which CONTRIBUTING makes up
    elif words[0] == "table" and not has_own:
        assert load_table(given["name"])
    elif words[0] in ("redo", "export") and overrides:
        assert jobs_of([*overrides, *({"-m"} & set(flags))])


@cache
def targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


@cache
def extras() -> set[str]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return set(tomllib.loads(text)["project"]["optional-dependencies"])


@pytest.mark.parametrize(("page", "command"), NOT_TO_RUN, ids=map(" ".join, NOT_TO_RUN))
def test_a_command_is_understood(page: str, command: str) -> None:
    words = words_of(command)
    if words[0] == "mklbench":
        understand(command)
    elif words[0] == "make":
        assert [word for word in words[1:] if "=" not in word and word not in targets()] == []
    elif words[0] == "pip":
        for named in re.findall(r"\[([\w,]+)\]", command):
            assert set(named.split(",")) <= extras()
    elif words[0] in ("python", "PYTHONPATH=."):
        folder = (ROOT / page).parent
        scripts = [word for word in words if word.endswith(".py")]
        assert all((folder / script).is_file() for script in scripts)
        tests = (ROOT / "tests" / "examples").glob("*.py")
        assert any(f'"{folder.name}"' in path.read_text(encoding="utf-8") for path in tests)
    else:
        assert words[0] in OTHERS, f"{page}: is {words[0]} a program that we know of?"


# Code and commands run.


def write_files() -> None:
    """Write what the pages call the reader's own files, small."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((2, SMALL, 3))
    y = np.tile([0, 1], SMALL // 2)
    names = np.array(["no", "yes"])[y]
    patients = pd.DataFrame(X[0], columns=["a", "b", "c"]).assign(sick=names)
    patients["ward"] = np.array(["east", "west", "north", "north"])[np.arange(SMALL) % 4]
    patients.loc[3, "b"] = np.nan
    patients.to_csv("patients.csv")
    for name in ("kernels.npz", "mine.npz"):
        np.savez(name, KH=np.moveaxis(X @ X.transpose(0, 2, 1), 0, 2), Y=y)
    Path("labels.txt").write_text("\n".join(names), encoding="utf-8")
    rows = np.arange(SMALL).tolist()
    split = {"train": rows[:40], "validation": rows[40:50], "test": rows[50:]}
    Path("splits.json").write_text(json.dumps([split]), encoding="utf-8")


def write_table(path: str, label: str) -> None:
    """Write a file that a command names, with the column that it takes for the label."""
    if path.startswith("[") or Path(path).exists():  # a list is of files that the page writes
        return
    generator = np.random.default_rng(0)
    y = np.arange(SMALL) % 2
    frame = pd.DataFrame(generator.standard_normal((SMALL, 3)) + y[:, None], columns=list("abc"))
    if label == "real":
        frame[label] = np.sin(frame["a"]) + frame["b"]
    else:
        frame[label] = np.array(["no", "yes"])[y]
    if path.endswith(".parquet"):
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)


def is_replaced(data: str) -> bool:
    """Tell whether a set is read from a file which is not the reader's own."""
    path = resources.choices("data").get(data)
    if path is None or data == "csv":
        return False
    return "generator" not in yaml.safe_load(path.read_text(encoding="utf-8"))


def made_small(words: list[str], n_splits: int) -> list[str]:
    """Return a run with other data where these are to be downloaded, and fewer splits."""
    small = []
    for word in words:
        name, _, value = word.partition("=")
        if name == "data" and any(map(is_replaced, value.split(","))):
            small += ["data=csv", "data.path=stand_in.csv", "data.label=label"]
        elif word == "data=arm":
            small += ["data=csv", "data.path=real_targets.csv", "data.label=real"]
            small += ["data.task=regression", "split=random70"]
        elif name in ("data.n_samples", "kernel.n_widths"):
            small.append(f"{name}={min(int(value), 5 * SMALL)}")
        elif name not in ("jobs", "split.n_splits"):
            small.append(word)
    options = dict(word.split("=", 1) for word in small)
    if "data.label" in options:
        write_table(options["data.path"], options["data.label"])
    return small + ([] if options.get("split") == "file" else [f"split.n_splits={n_splits}"])


def run_command(command: str, n_splits: int = 1) -> str:
    """Run a command of a page, which has to succeed, and return what it says."""
    words = words_of(command)[1:]
    if words[0] in ("run", "export", "redo"):
        flags, overrides = flags_and_overrides(words)
        words = [*flags, *made_small(overrides, n_splits)]
    if words[0] == "run" and "--help" not in words:
        words.append("progress=none")
    with (
        contextlib.redirect_stdout(io.StringIO()) as said,
        contextlib.suppress(SystemExit),  # of --help and --version
    ):
        assert cli.main(words) == 0, (command, words)
    return said.getvalue()


def first_rows(return_X_y: bool, as_frame: bool = False) -> tuple[Any, Any]:
    """Return the first samples of scikit-learn's `load_breast_cancer`."""
    X, y = load_breast_cancer(return_X_y=return_X_y, as_frame=as_frame)
    return X[: 2 * SMALL], y[: 2 * SMALL]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Be in an empty folder but for files of one's own, and draw nothing on a screen."""
    monkeypatch.chdir(tmp_path)
    write_files()
    matplotlib.use("Agg")
    yield tmp_path
    pyplot.close("all")


def is_code(block: Block) -> bool:
    return block.language == "python" or any(
        command.startswith("mklbench ") for command in block.commands()
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow if page in OF_MANY_ROWS else [])
        for page in pages()
        if any(map(is_code, blocks(page)))
    ],
)
def test_the_code_of_a_page_runs(page: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page not in OF_MANY_ROWS:
        monkeypatch.setattr("sklearn.datasets.load_breast_cancer", first_rows)
    generator = np.random.default_rng(0)
    X = generator.standard_normal((SMALL, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 1, 1, -1)
    names: dict[str, Any] = {"X": X, "y": y}
    numbers = re.findall(r"--split (\d+)", (ROOT / page).read_text(encoding="utf-8"))
    n_splits = 1 + max(map(int, numbers), default=0)
    for block in blocks(page):
        if block.language == "python" and not any(piece in block.text for piece in NOT_RUN):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.text, str(block), "exec"), names)
        for command in block.commands():
            if is_to_run(command):
                run_command(command, n_splits)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", sorted({command for page in pages() for command in spans(page)})
)
def test_a_command_within_a_sentence_runs(command: str, here: Path) -> None:
    if reason_not_to_run(command) is None and not re.search(r" (export|redo)\b", command):
        run_command(command)


# The lists above are no longer than they have to be.


def test_what_is_not_run_is_still_on_a_page() -> None:
    code = [block.text for page in pages() for block in blocks(page) if block.language == "python"]
    for piece in NOT_RUN:
        assert any(piece in text for text in code), piece
    commands = [" ".join(words_of(command)) for _, command in written_commands()]
    for pattern in ONLY_READ:
        assert any(re.search(pattern, command) for command in commands), pattern


def test_every_block_says_what_it_is() -> None:
    """A block that begins as a command or as code does has a language, and so is run."""
    for page in pages():
        for block in blocks(page):
            if block.language == "" and not block.commands():
                first = block.text.strip().split()[0]
                assert first not in ("import", "from", "$", "mklbench", "def"), str(block)
