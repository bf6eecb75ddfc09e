"""The page against the records that it was built from, without a browser."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
import report_pages
import report_picture

import mklbench
from mklbench import resources
from mklbench.experiments.records import read_records
from mklbench.report.loading import load_table, table_names
from mklbench.report.site.build import build
from mklbench.report.site.content import rounded
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import PaperTable

Built = Any

pytestmark = pytest.mark.xdist_group("site")


@pytest.fixture(scope="session")
def page(built: Built) -> report_pages.Page:
    return report_pages.read(built.html)


@pytest.fixture(scope="session")
def tables(page: report_pages.Page) -> dict[str, PaperTable]:
    """The recorded tables on the page."""
    return {name: load_table(name) for name in table_names() if name in page.ids}


@pytest.mark.slow
def test_all_tables_are_on_one_page_of_less_than_5_mb() -> None:
    html = build()
    assert len(html.encode()) < 5_000_000
    page = report_pages.read(html)
    assert set(table_names()) <= set(page.ids)
    test_ids_are_unique_and_links_lead_somewhere(page)


def test_nothing_is_loaded_from_elsewhere(built: Built, page: report_pages.Page) -> None:
    assert page.loaded
    assert all(address.startswith("data:") for address in page.loaded)
    styles = "".join(re.findall(r"<style>(.*?)</style>", built.html, re.DOTALL))
    assert "@import" not in styles
    assert "url(" not in styles
    assert re.search(r'Content-Security-Policy" content="default-src \'none\';', built.html)


def test_ids_are_unique_and_links_lead_somewhere(page: report_pages.Page) -> None:
    assert [name for name, count in Counter(page.ids).items() if count > 1] == []
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside
    assert inside <= set(page.ids)
    assert set(page.referred) <= set(page.ids)
    outside = [link for link in page.links if not link.startswith("#")]
    assert all(link.startswith("http") for link in outside)


def test_what_is_told_of_numbers_is_that_of_the_records(
    built: Built, page: report_pages.Page, tables: dict[str, PaperTable]
) -> None:
    checked = 0
    for name in ("gehler2008_table1", "all_methods"):
        splits = mklbench.records(name)
        means = splits.groupby(["row", "column", "protocol"]).accuracy.agg(["mean", "std", "count"])
        for place in (one for one in page.places if one.table == name):
            if place.metric not in ("accuracy", "error"):
                continue
            row, column = place.group, place.column
            mean, std, count = means.loc[(row, column, place.line)]  # type: ignore[index]
            told = built.data["numbers"][place.number]
            expected = 100 * mean if place.metric == "accuracy" else 100 - 100 * mean
            assert float(told["mean"]) == pytest.approx(expected, abs=5.1e-4)
            assert float(told["sd"]) == pytest.approx(100 * std, abs=5.1e-4)
            assert told["splits"] == f"{count:.0f}/{count:.0f}"
            published = tables[name].published.get((row, column, place.metric))
            assert ("published" in told) == (published is not None)
            if published is not None:
                assert told["published"].startswith(METRICS[place.metric].format(published.mean))
                difference = float(told["difference"])
                assert difference == pytest.approx(expected - published.mean, abs=0.051)
            checked += 1
    assert checked > 300


def test_the_numbers_of_splits_are_those_of_the_records(built: Built) -> None:
    recorded = (run for run in built.data["runs"] if not run["own"])
    runs = {(run["key"], run["n"]): run for run in recorded}
    directory = resources.recorded_results() / "records"
    checked = 0
    for path in sorted(directory.glob("picard2012_table?.jsonl*")):
        by_key: dict[str, dict[int, Any]] = {}
        for record in read_records(path):
            by_key.setdefault(record.key, {})[record.split] = record
        for key, of_run in by_key.items():
            run = runs[key, len(of_run)]
            assert run["splits"] == sorted(of_run)
            for name, digits in (("accuracy", 5), ("gap", 2), ("svm_calls", 7)):
                found = [rounded(METRICS[name].value(of_run[at]), digits) for at in sorted(of_run)]
                shown = run["split"][name]
                assert shown == found or {shown} == set(found)
                checked += len(found)
    assert checked > 10_000


def test_the_counts_of_the_bars_are_those_of_the_table(built: Built) -> None:
    printed = mklbench.table("gehler2008_table1").query("protocol == 'paper'")
    verdicts = printed.verdict.value_counts()
    words = (
        f"of 86 published numbers {verdicts['match']} match, {verdicts['close']} close, "
        f"{verdicts['differs (higher)']} differs, higher, "
        f"{verdicts['differs (lower)']} differs, lower"
    )
    assert f'aria-label="Gehler &amp; Nowozin 2008: {words}"' in built.html


def test_the_picture_in_the_documentation_is_of_this_report(built: Built) -> None:
    again = "python tests/support/report_picture.py takes it again"
    assert report_picture.words_shown() == report_picture.words(built.html), again


def test_an_entry_of_the_ledger_is_told_at_the_numbers_that_it_concerns(
    built: Built, page: report_pages.Page, tables: dict[str, PaperTable]
) -> None:
    ledger = tables["gehler2008_table1"].ledger
    points: dict[str, set[str]] = {}
    for place in (one for one in page.places if one.table == "gehler2008_table1"):
        told = built.data["numbers"][place.number].get("ledger", [])
        points.setdefault(place.group, set()).update(ledger[at].point for at in told)
    assert [row for row, found in points.items() if "Size of Image" in found] == ["image"]
    assert [row for row, found in points.items() if "Features of DNA" in found] == ["dna"]


def test_the_findings_have_their_numbers(built: Built, tables: dict[str, PaperTable]) -> None:
    count = sum(len(table.findings) for table in tables.values())
    found = re.search(r'<ul class="findings">(.*?)</ul>', built.html, re.DOTALL)
    assert found is not None
    assert found[1].count("<li>") == count > 4
    assert "{" not in found[1]
    wanted = "row == 'splice' and metric == 'error' and protocol == 'paper'"
    errors = mklbench.table("gehler2008_table1").query(wanted)
    measured = errors.set_index("column").measured_mean
    assert f"has {measured['ikl_products']:.1f} % test error" in found[1]
    assert f"a tuned SVM {measured['svm']:.1f} %" in found[1]
