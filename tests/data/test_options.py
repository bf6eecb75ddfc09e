"""Data configurations: the shipped ones are in order, and mistakes in others are named."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from data_fakes import shipped_configs, toy_config

from mklbench.data.catalogue import list_row
from mklbench.data.schema import FileConfig, GeneratedConfig, parse_config
from mklbench.errors import InputError

CONFIGS = shipped_configs()
README = Path(__file__).parents[2] / "datasets" / "README.md"


@pytest.mark.parametrize("name", CONFIGS)
def test_a_shipped_configuration_is_complete(name: str) -> None:
    config = dict(CONFIGS[name])
    assert config["name"] == name
    assert config["title"]
    assert config["licence"]
    assert config["noise_features"] == 0
    is_yours = "path" in config
    if is_yours:
        config["path"] = "mine.csv"
    parsed = parse_config(config)
    if isinstance(parsed, GeneratedConfig) or is_yours:
        return
    assert parsed.citation
    assert parsed.expected is not None
    assert re.fullmatch("sha256:[0-9a-f]{64}", parsed.expected.digest)
    n_in_classes = 0 if parsed.task == "regression" else parsed.expected.n_samples
    assert sum(parsed.expected.classes.values()) == n_in_classes
    if len(parsed.expected.classes) == 2:
        assert list(parsed.expected.classes)[-1] == parsed.positive
    assert "mirror" in [source.kind for source in parsed.sources]


@pytest.mark.parametrize("name", CONFIGS)
def test_a_data_set_has_its_section_in_the_readme(name: str) -> None:
    text = README.read_text(encoding="utf-8")
    section = re.search(rf"^## `{name}`\n(.+?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section is not None, f"datasets/README.md has no section for {name}"
    for subject in ("Origin", "Licence", "Citation", "Handling"):
        assert f"- {subject}: " in section[1]
    assert CONFIGS[name]["licence"] in section[1]


def test_a_layout_may_differ_from_source_to_source() -> None:
    parsed = parse_config(CONFIGS["wdbc"])
    assert isinstance(parsed, FileConfig)
    assert [source.kind for source in parsed.sources] == ["embedded", "mirror", "url", "url"]
    embedded, mirror, *_ = (source.layout for source in parsed.sources)
    assert (embedded.label, embedded.drop, embedded.skip_lines) == ("last", (), 1)
    assert (mirror.label, mirror.drop, mirror.skip_lines) == (2, (1,), 0)


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"nois_features": 3}, "nois_features is not known: did you mean noise_fea"),
    "unknown key of a source": ({"sources": [{"miror": "a/b"}]}, "miror is not known: did you me"),
    "two places": ({"sources": [{"mirror": "a", "url": "b"}]}, "needs exactly one of embedded, "),
    "a bare source": ({"sources": ["a/b"]}, "data.sources: expected a mapping, found 'a/b'"),
    "numbers for names": ({"drop_features": [1]}, "data.drop_features[0]=1 must be text"),
    "no delimiter": ({"delimiter": ""}, "as in 'data.delimiter=\";\"', which is"),
    "column 0": ({"label": 0}, "data.label=0 is not a column"),
}


@pytest.mark.parametrize(("options", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        parse_config(toy_config(**options))


def test_a_number_serves_as_a_label() -> None:
    parsed = parse_config(toy_config(positive=1, label_names={1: "sick"}))
    assert isinstance(parsed, FileConfig)
    assert parsed.positive == "1"
    assert parsed.sources[0].layout.label_names == {"1": "sick"}


def test_the_list_has_a_row_a_set_and_says_where_it_is(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MKLBENCH_MIRROR", raising=False)
    rows = {row["name"]: row for row in map(list_row, CONFIGS.values())}
    assert set(rows) == set(CONFIGS)
    assert (rows["wpbc"]["n"], rows["wpbc"]["d"]) == (194, 33)
    assert rows["sonar"]["classes"] == "R: 97, M: 111"
    where = {name: row["where"] for name, row in rows.items()}
    assert where["wdbc"] == "embedded"
    assert where["sonar"] == "upstream"
    assert where["twonorm"] == "generated"
    assert where["csv"] == "your file"
    (tmp_path / "mirror" / "pima").mkdir(parents=True)
    (tmp_path / "mirror" / "pima" / "pima-indians-diabetes.data").touch()
    (cache / "sonar").mkdir(parents=True)
    (cache / "sonar" / "sonar.all-data").touch()
    monkeypatch.setenv("MKLBENCH_MIRROR", str(tmp_path / "mirror"))
    rows = {row["name"]: row for row in map(list_row, CONFIGS.values())}
    assert rows["sonar"]["where"] == "cached"
    assert rows["pima"]["where"] == "mirror"
    assert rows["liver"]["where"] == "upstream"
