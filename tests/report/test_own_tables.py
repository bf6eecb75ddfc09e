"""Tables of the user's own, with an algorithm of their own, from a directory of configs."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiment_fakes import fake_configs

from mklbench import cli
from mklbench.errors import InputError
from mklbench.report.loading import load_table, table_names

OWN_TABLE = """\
title: A table of our own
citation: "Ourselves, here."
common: [data=twonorm, data.n_samples=60, split.n_splits=2, search=fixed]
rows:
  - {name: twonorm, label: Twonorm}
columns:
  - {name: fake, label: Fake, overrides: [algo=fake]}
  - {name: svm, label: SVM, overrides: [algo=svm]}
protocols:
  - {name: fixed, label: fixed, overrides: [kernel=gaussian]}
figures:
  - name: own_gain
    kind: weights
    title: The weights of Fake
    row: twonorm
    protocol: fixed
    columns: [fake]
"""


@pytest.fixture
def configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Work in an empty directory that has the user's configs."""
    monkeypatch.chdir(tmp_path)
    directory = fake_configs(tmp_path)
    (directory / "table").mkdir()
    (directory / "table" / "own.yaml").write_text(OWN_TABLE, encoding="utf-8")
    return directory.name


def test_are_run_printed_and_drawn(configs: str, capsys: pytest.CaptureFixture[str]) -> None:
    own = ["--config-dir", configs]
    assert cli.main(["reproduce", "own", *own]) == 0
    written = Path("results/tables/own.md").read_text(encoding="utf-8")
    assert f"mklbench reproduce own --config-dir {configs}\n" in written
    assert "own_gain.png" in written
    capsys.readouterr()
    assert cli.main(["table", "own", *own]) == 0
    assert "2 of 2 runs are done" in capsys.readouterr().out
    assert cli.main(["plot", "own_gain", "--out", "gain.pdf", *own]) == 0
    assert Path("gain.pdf").read_bytes().startswith(b"%PDF")


def test_stand_beside_ours(configs: str) -> None:
    assert set(table_names(configs)) == {"own", *table_names()}
    with pytest.raises(InputError, match="table=owm is not known: did you mean own"):
        load_table("owm", configs)
    with pytest.raises(InputError, match="table=own is not known"):
        load_table("own")


def test_hide_ours_of_the_same_name(configs: str) -> None:
    ours = Path(configs, "table", "picard2012_table1.yaml")
    ours.write_text(OWN_TABLE, encoding="utf-8")
    assert load_table("picard2012_table1", configs).title == "A table of our own"
    assert load_table("picard2012_table1").title != "A table of our own"
