"""The pages of the methods: all parts on each, and numbers that are those of the records."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "results" / "tables" / "all_methods.md").read_text(encoding="utf-8")
PARTS = ("Problem", "In use", "What it costs", "When it pays", "How its fits end")
pytestmark = pytest.mark.slow  # all records are read


@pytest.fixture(scope="module")
def extensions() -> Iterator[SimpleNamespace]:
    """Return the modules that write the pages; they find one another by name, as for Sphinx."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs" / "extensions"))
        evidence, pages, which = map(
            importlib.import_module, ("evidence", "method_pages", "which_method")
        )
        yield SimpleNamespace(evidence=evidence, pages=pages, which=which)
    for name in ("evidence", "method_pages", "which_method", "rst"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def records(extensions: SimpleNamespace) -> Any:
    return extensions.evidence.Evidence()


def sizes(extensions: SimpleNamespace, seconds: Any) -> list[Any]:
    """Return twelve runs of growing n and M, at the times that a function of these gives."""
    return [
        extensions.evidence.Size(n, m, seconds(n, m))
        for n in (100, 200, 400, 800)
        for m in (5, 20, 80)
    ]


# How the time grows.


def test_a_law_is_found_again(extensions: SimpleNamespace) -> None:
    found = extensions.evidence.growth(sizes(extensions, lambda n, m: 1e-6 * n**1.5 * m**0.5))
    assert found.exponents["n"][0] == pytest.approx(1.5)
    assert found.exponents["M"][0] == pytest.approx(0.5)
    assert found.seconds(300, 100) == pytest.approx(1e-6 * 300**1.5 * 10)
    assert found.spread == pytest.approx(1.0)
    assert found.n_sizes == len(found.runs) == 12


def test_many_runs_of_few_sizes_are_few(extensions: SimpleNamespace) -> None:
    runs = sizes(extensions, lambda n, m: 1e-3 * n)
    assert extensions.evidence.growth(runs[:7] * 10) is None
    assert extensions.evidence.growth(runs[:8] * 10) is not None


def test_what_hardly_varies_has_no_exponent(extensions: SimpleNamespace) -> None:
    Size = extensions.evidence.Size
    narrow = [Size(100 + i, 2**i, 1.0) for i in range(9)]
    assert extensions.evidence.growth(narrow) is None
    alone = extensions.evidence.growth([Size(100 * 2**i, 30 + i, 2.0**i) for i in range(9)])
    assert set(alone.exponents) == {"n"}
    assert alone.exponents["n"][0] == pytest.approx(1.0)


def test_families_are_not_mixed_with_banks(records: Any) -> None:
    """IKL learns in families, which have no number of kernels, and on the banks of one table."""
    runs = records.sizes("ikl")
    assert len({run.m is None for run in runs}) == 1


# Where a method pays.


def test_what_is_better_and_worse_is_what_the_table_counts(records: Any) -> None:
    """The table is written by the report, the pages by themselves."""
    ranked = TABLE.partition("## Ranks")[2].partition("\n## ")[0]
    rows = [
        [run.strip() for run in line.strip("|").split("|")]
        for line in ranked.splitlines()
        if re.match(r"\| [^\s:]", line) and not line.startswith("| Method")
    ]
    columns = {column.label: column.name for column in records.table.columns}
    counted = 0
    for label, rank, _, against_uniform, _, against_tuned, _ in rows:
        assert f"{records.ranks[columns[label]]:.2f}" == rank
        for other, said in (("uniform", against_uniform), ("svm", against_tuned)):
            if said:
                found = records.against(columns[label], other)
                counts = (len(found.better), len(found.alike), len(found.worse))
                assert " / ".join(map(str, counts)) == said, (label, other)
                assert all(gain > 0 for gain in found.better.values())
                assert all(gain < 0 for gain in found.worse.values())
                counted += 1
    assert counted == 2 * len(records.table.columns) - 2


def test_the_advice_is_what_the_records_say(extensions: SimpleNamespace, records: Any) -> None:
    assert len(extensions.which.ADVICE) >= 9
    for advice in extensions.which.ADVICE:
        said = advice.said(records)
        assert said.holds, f"{advice.situation}: {said.sentence}"


# The pages.


def test_every_method_has_a_page_with_all_parts(extensions: SimpleNamespace, records: Any) -> None:
    methods = extensions.pages.methods()
    assert len(methods) == len(list((ROOT / "configs" / "algo").glob("*.yaml")))
    for name in methods:
        page = extensions.pages.method(name, records)
        for part in PARTS:
            assert f"\n{part}\n---" in page, (name, part)
        is_measured = bool(records.columns(name))
        assert ("\nMeasured\n---" in page) == is_measured
        assert "Too few sizes" in page or "to the power of" in page
        assert f"`mklbench run algo={name}" in page or f"run algo={name}" in page


def test_fits_that_ended_early_are_those_of_the_tables(records: Any) -> None:
    ended = re.findall(r"(\d+) of [\d,]+ fits ended before their stopping rule", TABLE)
    counts = [
        count
        for algo in {record.algo for record in records.tables["all_methods"]}
        for table, (count, _, _) in records.early(algo).items()
        if table == "all_methods"
    ]
    assert [str(sum(counts))] == ended


def test_every_method_states_its_problem_as_a_formula(extensions: SimpleNamespace) -> None:
    for name, config in extensions.pages.methods().items():
        module = importlib.import_module(config["_target_"].rpartition(".")[0])
        assert re.search(r"^ {4}\S", module.__doc__ or "", re.MULTILINE), name
