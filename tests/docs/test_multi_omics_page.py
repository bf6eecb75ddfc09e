"""What the page on several omics says is understood of its files, by the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from written import blocks, words_of

from mklbench import cli


def test_the_files_are_understood_as_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, show, understood, *_ = blocks("docs/multi-omics.md")
    monkeypatch.chdir(tmp_path)
    exec(compile(files.text, str(files), "exec"), {})
    (command,) = show.commands()
    assert cli.main(words_of(command)[1:]) == 0
    assert capsys.readouterr().out.startswith(understood.text)
