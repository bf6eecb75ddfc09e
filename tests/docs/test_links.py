"""Links of the pages lead somewhere, without a network: files, places in them, built pages."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest
from written import ROOT, blocks, pages

# Pages that a command writes are held to the same: their links are those of the program.
RECORDED = [
    path.relative_to(ROOT).as_posix()
    for folder in ("results/bench", "results/tables")
    for path in sorted((ROOT / folder).glob("*.md"))
]
ALL = [*pages(), *RECORDED, "CHANGELOG.md", "results/README.md"]


@cache
def prose(page: str) -> str:
    """Return a page without its blocks of code and its code within sentences."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    for block in blocks(page):
        first = block.line - 1
        for number in range(first, first + len(block.text.splitlines()) + 2 * bool(block.language)):
            if number < len(lines):
                lines[number] = ""
    return re.sub(r"`[^`\n]+`", "", "\n".join(lines))


def links(page: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", prose(page))


@cache
def places(page: str) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub and MyST make them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_elsewhere(link: str) -> bool:
    return bool(re.match(r"[a-z]+:", link))


@pytest.mark.parametrize("page", ALL)
def test_links_lead_to_files_and_to_places_in_them(page: str) -> None:
    for link in links(page):
        if is_elsewhere(link):
            continue
        name, _, place = link.partition("#")
        target = (ROOT / page).parent / unquote(name) if name else ROOT / page
        assert target.exists(), f"{page}: {link}"
        assert target.resolve().is_relative_to(ROOT), f"{page}: {link}"
        if place:
            of = target.resolve().relative_to(ROOT).as_posix()
            assert place in places(of), f"{page}: {link}"


def test_files_that_pages_name_are_there() -> None:
    """Paths in code type, such as tests/cluster: whoever moves a file sees who speaks of it."""
    pattern = r"`((?:mklbench|tests|configs|docs|examples|benchmarks|results)/[\w./-]+)`"
    named = 0
    for page in pages():
        text = (ROOT / page).read_text(encoding="utf-8")
        for path in re.findall(pattern, text):
            own = re.search(
                r"mine|author2020|/store|/build", path
            )  # what a reader or a command writes
            assert own or (ROOT / path).exists() or (ROOT / "mklbench" / path).exists(), (
                f"{page}: {path}"
            )
            named += 1
    assert named > 10


# The check of the built pages, which `make docs` does.


def checked_links() -> ModuleType:
    path = ROOT / "docs" / "extensions" / "checked_links.py"
    spec = importlib.util.spec_from_file_location("checked_links", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_built_page_with_a_link_to_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "index.html").write_text(
        '<a href="deep/page.html#here">a</a> <a href="deep/page.html#there">b</a> '
        '<a href="https://example.org/x">c</a> <img src="no.png"> <a href="../out.html">d</a> '
        '<a href="#top">e</a>',
        encoding="utf-8",
    )
    (tmp_path / "deep" / "page.html").write_text('<p id="here">', encoding="utf-8")
    module = checked_links()
    read = module.read(tmp_path)
    assert sorted(module.broken(read, tmp_path)) == [
        "index.html: #top names no place of index.html",
        "index.html: ../out.html is no file of the documentation",
        "index.html: deep/page.html#there names no place of deep/page.html",
        "index.html: no.png is no file of the documentation",
    ]
    assert module.external(read) == ["https://example.org/x"]
