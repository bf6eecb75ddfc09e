"""What stands in a page of HTML, read without a browser."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any


@dataclass
class Place:
    """A number of a table: where it stands, by the names of the table, and its text."""

    table: str
    group: str
    line: str
    column: str
    metric: str
    number: int
    text: str = ""


@dataclass
class Page(HTMLParser):
    """Ids, links, addresses that are loaded, and the numbers of the tables."""

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    referred: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._table = self._group = self._line = ""
        self._heads: list[tuple[str, str]] = []
        self._at = 0
        self._open: Place | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.links.append(given.get("href", ""))
        elif tag in ("link", "script", "img", "iframe", "source", "object", "embed"):
            self.loaded += [given[name] for name in ("href", "src", "data") if name in given]
        self.referred += given.get("aria-labelledby", "").split()
        if tag == "table":
            self._table, self._heads = given.get("data-table", ""), []
        elif tag == "th" and "data-column" in given:
            self._heads.append((given["data-column"], given["data-metric"]))
        elif tag == "tbody":
            self._group = given.get("data-group", "")
        elif tag == "tr":
            self._line, self._at = given.get("data-line", ""), -1  # after that of the line's label
        elif tag == "td":
            if "data-number" in given:
                column, metric = self._heads[self._at]
                number = int(given["data-number"])
                self._open = Place(self._table, self._group, self._line, column, metric, number)
                self.places.append(self._open)
            self._at += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "td":
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._open.text += data


def read(html: str) -> Page:
    """Return what stands in a page."""
    page = Page()
    page.feed(html)
    return page


def data_of(html: str) -> dict[str, Any]:
    """Return what the scripts of a page read."""
    found = re.search(r'<script type="text/plain" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    content: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(found[1])))
    return content
