"""Every bad input of the corpus (`tests/bad_inputs`) ends in its sentence."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from bad_input_values import called, valued

from mklbench import cli
from mklbench.errors import InputError
from mklbench.experiments import run

CORPUS = Path(__file__).parent / "bad_inputs"


def entries() -> list[Any]:
    """Return the entries of all areas, each with what its area has in common."""
    found, told = [], set()
    for path in sorted(CORPUS.glob("*.yaml")):
        area = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        common = {"common": area.get("common", ""), "files": area.get("files", {})}
        for number, entry in enumerate(area["entries"]):
            files = common["files"] | entry.get("files", {})
            name = f"{path.stem}-{number}-{_shown(entry)}"
            bare = "line" in entry, _bare(entry)
            marks = [pytest.mark.slow] if "line" in entry and bare in told else []
            told.add(bare)
            found.append(pytest.param({**common, **entry, "files": files}, id=name, marks=marks))
    return found


def _bare(entry: dict[str, Any]) -> str:
    """Return its sentence without names and values: `make test` asks for each such one once."""
    words = (entry.get("says") or entry["matches"]).split()
    return " ".join(word for word in words if re.fullmatch(r"[A-Za-z-]+", word.rstrip(",.:;")))


def _shown(entry: dict[str, Any]) -> str:
    text = entry["line"] if "line" in entry else f"{entry['call']} {entry['given']}"
    return re.sub(r"[^ -~]", "?", str(text))[:70]


ALL = entries()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in an empty directory, from which modules of the user's own can be imported."""
    monkeypatch.chdir(tmp_path)
    run._load.cache_clear()  # the same names of files stand for others here
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("MKLBENCH_MIRROR", raising=False)
    monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "cache"))
    # The modules of an entry must not be those of the one before.
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("own_"):
            del sys.modules[name]


@pytest.mark.parametrize("entry", [p for p in ALL if "line" in p.values[0]])
def test_of_the_command_line(
    entry: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, content in entry["files"].items():
        write(tmp_path / name, content)
    before = everything(tmp_path)
    arguments = shlex.split(entry["line"])
    if arguments[:1] == ["run"]:
        arguments[1:1] = shlex.split(entry["common"])
    if entry.get("process"):
        status, said = in_a_process(arguments, entry)
    else:
        status = cli.main(arguments)
        printed = capsys.readouterr()
        assert printed.out == ""
        said = printed.err
    assert "Traceback" not in said
    start = "mklbench: error: "
    assert said.startswith(start), said
    assert said.endswith(".\n")
    assert said.count("\n") == 1
    check_sentence(entry, said[len(start) : -1])
    assert status == 2
    assert everything(tmp_path) == before


@pytest.mark.parametrize("entry", [p for p in ALL if "call" in p.values[0]])
def test_of_the_library(entry: dict[str, Any]) -> None:
    function, given = called(entry["call"]), valued(entry["given"])
    # What scikit-learn's own checks of estimators say is taken as it is.
    expected = (TypeError, ValueError) if entry.get("scikit-learn") else InputError
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn, such as that a vector was expected
        with pytest.raises(expected) as caught:
            function(**given)
    check_sentence(entry, str(caught.value))


def test_none_is_there_twice() -> None:
    texts = [str({**p.values[0], "says": "", "matches": ""}) for p in ALL]
    assert [text for text, times in Counter(texts).items() if times > 1] == []


def check_sentence(entry: dict[str, Any], sentence: str) -> None:
    """Compare what was said with what is expected: all of it, and a sentence."""
    if "says" in entry:
        assert sentence == entry["says"]
    else:
        assert re.fullmatch(entry["matches"], sentence), sentence


def write(path: Path, content: Any) -> None:
    """Write a file of an entry."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    elif "hex" in content:
        path.write_bytes(bytes.fromhex(content["hex"]))
    elif "copy" in content:
        path.write_text(content.get("before", "") + content["copy"] * content["times"])
    elif content["made"] == "fifo":
        os.mkfifo(path)
    elif content["made"] == "directory":
        path.mkdir()
    elif content["made"] == "link":
        path.symlink_to(content["to"])
    else:
        raise AssertionError(content)


def everything(directory: Path) -> list[str]:
    """Return the names of all that lies in a directory, but for compiled modules."""
    return sorted(str(path) for path in directory.rglob("*") if "__pycache__" not in path.parts)


def in_a_process(arguments: list[str], entry: dict[str, Any]) -> tuple[int, str]:
    """Run the program as a user does; return its exit status and what it said."""
    root = Path(cli.__file__).parents[1]
    finished = subprocess.run(
        [sys.executable, "-m", "mklbench", *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(root), "."])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert finished.stdout == ""
    return finished.returncode, finished.stderr
