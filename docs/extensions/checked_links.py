"""Whether every link of the built pages leads somewhere: to a file, and to a place in it.

Nothing is asked of the network: links to elsewhere are only listed, in `external-links.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

EXTERNAL = "external-links.txt"
# What links, and where it says whereto.
_LINKS = {"a": "href", "img": "src", "link": "href", "script": "src", "source": "src"}


class Page(HTMLParser):
    """The places of a page that links may name, and its own links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.places: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what the tag names, and where it leads."""
        of = dict(attrs)
        self.places |= {of[name] or "" for name in ("id", "name") if name in of}
        link = of.get(_LINKS.get(tag, ""))
        if link:
            self.links.add(link)


def setup(app: Any) -> dict[str, bool]:
    """Look at the links once all pages are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _check(app: Any, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    from sphinx.errors import ExtensionError

    out = Path(app.outdir)
    pages = read(out)
    (out / EXTERNAL).write_text("".join(f"{each}\n" for each in external(pages)), encoding="utf-8")
    found = list(broken(pages, out))
    if found:
        raise ExtensionError("links that lead nowhere:\n" + "\n".join(found))


def read(out: Path) -> dict[Path, Page]:
    """Return all built pages.

    Parameters
    ----------
    out : Path
        The folder of the built pages.

    Returns
    -------
    dict from Path to Page
        By the resolved path of the file.
    """
    pages = {}
    out = out.resolve()
    for path in sorted(set(out.rglob("*.html")) - set(out.glob("_static/**/*.html"))):
        pages[path] = Page()
        pages[path].feed(path.read_text(encoding="utf-8"))
    return pages


def external(pages: dict[Path, Page]) -> list[str]:
    """Return the links to elsewhere, each once, in order."""
    links = {link for page in pages.values() for link in page.links}
    return sorted(link for link in links if _is_elsewhere(link))


def broken(pages: dict[Path, Page], out: Path) -> Iterator[str]:
    """Yield a sentence for each link that leads nowhere.

    Parameters
    ----------
    pages : dict from Path to Page
        As `read` returns them.
    out : Path
        The folder of the built pages, which no link leaves.
    """
    out = out.resolve()
    for path, page in pages.items():
        for link in sorted(page.links):
            if _is_elsewhere(link):
                continue
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            name, place = path.relative_to(out), unquote(parts.fragment)
            if not target.is_relative_to(out) or not target.is_file():
                yield f"{name}: {link} is no file of the documentation"
            elif place and target in pages and place not in pages[target].places:
                yield f"{name}: {link} names no place of {target.relative_to(out)}"


def _is_elsewhere(link: str) -> bool:
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)
