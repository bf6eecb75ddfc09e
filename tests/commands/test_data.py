"""``mklbench data list`` on terminals of any width, and with data sets of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import mklbench
from mklbench import cli, resources

OWN = """\
name: own
title: a set of one's own
path: own.csv
"""


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert cli.main(["data", "list", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [200, 120, 100, 80])
def test_the_list_is_no_wider_than_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = listed(capsys)
    assert max(map(len, lines)) <= width
    names = {line.split()[0] for line in lines if line and line[0] != " "}
    assert set(resources.choices("data")) <= names


def test_every_column_has_room_in_120_and_the_narrow_terminal_says_what_has_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    headings = listed(capsys)[0].split()
    assert headings == ["name", "n", "d", "classes", "where", "licence", "title"]
    monkeypatch.setenv("COLUMNS", "50")
    narrow = listed(capsys, "sonar")
    assert narrow[0].split() == ["name", "n", "d", "classes", "where"]
    assert narrow[-1].startswith("No room for licence, title: ")


def test_sets_of_ones_own_are_listed_with_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "own.yaml").write_text(OWN)
    lines = listed(capsys, "--config-dir", str(tmp_path), "own", "sonar")
    assert [line.split()[0] for line in lines[2:] if line[0] != " "] == ["own", "sonar"]
    assert "a set of one's own" in " ".join(" ".join(lines).split())


def test_the_version_is_said_without_anything_being_loaded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"mklbench {mklbench.__version__}\n"
