"""A page as Markdown, whose tables are grids; and the page as HTML and its tables as LaTeX.

May import nothing else of `report`, and is imported by `layout`, `formats` and `site`.
"""

from __future__ import annotations

import base64
import html
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

# What stands in a table where there is no number.
NOTHING = "–"

# Signs in a line of a grid; a wider grid is split into blocks that fit a terminal of 120 columns.
MOST_SIGNS = 118

_ADDRESS = re.compile(r"(?<![<(\w])(https?://[^\s<>]+[^\s<>.,;)])")


@dataclass(frozen=True)
class Grid:
    """A table of texts in Markdown. The first `n_label_columns` columns are words, not numbers."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_label_columns: int = 1

    @property
    def widths(self) -> list[int]:
        """Signs that each column takes in Markdown."""
        columns = zip(self.headings, *self.rows, strict=True)
        return [max(3, *(len(_in_a_cell(text)) for text in texts)) for texts in columns]

    @property
    def fits(self) -> bool:
        """Whether it fits a terminal in one block."""
        return self._signs(self.widths) <= MOST_SIGNS

    @staticmethod
    def _signs(widths: Sequence[int]) -> int:
        return sum(widths) + 3 * len(widths) + 1

    def blocks(self) -> Iterator[Grid]:
        """Yield the table in blocks of columns that fit a terminal, each with all labels.

        Of several blocks each has only the lines in which something stands.
        """
        if self.fits:
            yield self
            return
        widths, n_labels = self.widths, self.n_label_columns
        labels, block = list(range(n_labels)), list[int]()
        for at in range(n_labels, len(widths)):
            if block and self._signs([widths[i] for i in (*labels, *block, at)]) > MOST_SIGNS:
                yield self._of(labels, block)
                block = []
            block.append(at)
        yield self._of(labels, block)

    def _of(self, labels: Sequence[int], columns: Sequence[int]) -> Grid:
        lines = [self.headings, *(row for row in self.rows if any(row[at] for at in columns))]
        headings, *rows = ([line[at] for at in (*labels, *columns)] for line in lines)
        return replace(self, headings=headings, rows=rows)

    def __str__(self) -> str:
        """Return the table in Markdown that also reads well on a terminal."""
        widths, n_labels = self.widths, self.n_label_columns
        rules = ["-" * width for width in widths]
        rules = [
            f":{rule[1:]}" if at < n_labels else f"{rule[1:]}:" for at, rule in enumerate(rules)
        ]
        lines = [
            [
                f"{_in_a_cell(text):{'<' if at < n_labels else '>'}{widths[at]}}"
                for at, text in enumerate(line)
            ]
            for line in (self.headings, rules, *self.rows)
        ]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _in_a_cell(text: str) -> str:
    return text.replace("|", "\\|")


Part = str | Grid
# Grids and pieces of Markdown: headings, paragraphs, lists.
Document = Sequence[Part]


def is_table(part: Part) -> bool:
    """Tell whether a part is a grid, or the heading of one, and no paragraph."""
    return isinstance(part, Grid) or part.startswith("#")


def definitions(items: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return a list of terms, each with its lines of text, in Markdown."""
    texts = []
    for term, lines in items:
        if len(lines) == 1:
            texts.append(f"- **{term}**: {lines[0]}")
        else:
            texts += [f"- **{term}**", *(f"  - {line}" for line in lines)]
    return "\n".join(texts)


def to_markdown(document: Document) -> str:
    """Return a document as one text for a terminal: its lines are wrapped, its grids split."""
    texts = []
    for part in document:
        if isinstance(part, Grid):
            texts += list(map(str, part.blocks()))
        elif part.startswith(("#", "```")):
            texts.append(part)
        else:
            texts.append("\n".join(map(_wrapped, part.split("\n"))))
    return "\n\n".join(texts) + "\n"


def _wrapped(line: str) -> str:
    """Wrap a paragraph or an item of a list, never before what would begin another block."""
    begin = re.match(r" *(?:- )?", line)
    indent = " " * len(begin[0]) if begin else ""
    joined = re.sub(r" (?=(?:[-+*>#=|]+|\d+[.)])(?: |$))", "\0", line)
    wrapped = textwrap.fill(
        joined, MOST_SIGNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return wrapped.replace("\0", " ")


def to_html(markdown: str, directory: Path | None = None) -> str:
    """Return a text in Markdown as one self-contained page.

    Parameters
    ----------
    markdown : str
        The text.
    directory : Path or None, default=None
        From where its pictures are looked up; they are embedded.
    """
    title = markdown.partition("\n")[0].lstrip("# ") or "mklbench"
    style = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{to_fragment(markdown, directory)}</main>\n</body>\n</html>\n"
    )


def to_fragment(markdown: str, directory: Path | None = None) -> str:
    """Return a text in Markdown as a part of a page; see `to_html`.

    What looks like HTML is shown as it stands, and a table that is wider than the page scrolls.
    """

    def embedded(found: re.Match[str]) -> str:
        path = Path(directory or "", found[1])
        if not path.is_file():
            return found[2]
        data = base64.b64encode(path.read_bytes()).decode("ascii")
        return f'<img alt="{found[2]}" src="data:image/png;base64,{data}">'

    text = str(_parser().render(_ADDRESS.sub(r"<\1>", markdown)))
    text = text.replace("</table>", "</table></div>").replace(
        "<table>", '<div class="scroll" tabindex="0" role="region" aria-label="table"><table>'
    )
    return re.sub(r'<img src="([^"]*)" alt="([^"]*)" />', embedded, text)


def to_inline(markdown: str) -> str:
    """Return one line of Markdown as HTML without a paragraph around it."""
    return str(_parser().renderInline(_ADDRESS.sub(r"<\1>", markdown)))


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


# What the tables in LaTeX need.
NEEDS = r"""% In the preamble:
%   \usepackage{booktabs, amsmath, amssymb, siunitx}
%   \sisetup{separate-uncertainty=true}
"""

# A number, with its standard deviation if it has one, that is no part of a word.
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_MEASURED = re.compile(rf"(?<![\w.])({_NUMBER}(?: ± {_NUMBER})?)(?![\w.])")

_SIGNS = str.maketrans({
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "–": "--",
    "−": "$-$",
    "✓": r"$\checkmark$",
    "≈": r"$\approx$",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "λ": r"$\lambda$",
    "γ": r"$\gamma$",
    "²": r"$^2$",
})  # fmt: skip


def to_latex(document: Document) -> str:
    """Return the grids of a document as tables of booktabs, with numbers by siunitx.

    The heading before a grid is its caption, and the paragraphs that follow it stand below it.
    What the preamble needs is said in a comment.
    """
    tables, title, caption = [NEEDS], "", ""
    for at, part in enumerate(document):
        if isinstance(part, Grid):
            words = ". ".join(text.rstrip(".") for text in (title, caption) if text)
            after = takewhile(lambda part: not is_table(part), document[at + 1 :])
            below = [escaped(str(part).replace("`", "")) for part in after]
            tables += [_latex_table(block, words, below) for block in part.blocks()]
        elif part.startswith("# "):
            title, caption = part.lstrip("# "), ""
        elif part.startswith("#"):
            caption = part.lstrip("# ")
    return "\n".join(tables)


def escaped(text: str) -> str:
    """Return text as LaTeX prints it; letters that are raised, as those of notes, stay so."""
    for sign in set(re.findall("[\u02b0-\u02e3\u1d43-\u1dbb\u2071\u207f]", text)):
        text = text.replace(sign, f"\0{unicodedata.normalize('NFKC', sign)}")
    return re.sub("\0(.)", r"\\textsuperscript{\1}", text.translate(_SIGNS))


def _latex_table(grid: Grid, caption: str, below: Sequence[str]) -> str:
    """Return one floating table."""
    from pandas import DataFrame

    n_labels = grid.n_label_columns
    rows = [[*map(escaped, row[:n_labels]), *map(_number, row[n_labels:])] for row in grid.rows]
    text: str = DataFrame(rows).to_latex(
        header=list(map(escaped, grid.headings)),
        index=False,
        escape=False,
        column_format="l" * n_labels + "r" * (len(grid.headings) - n_labels),
        caption=escaped(f"{caption}.") if caption else None,
        position="t",
    )
    notes = "".join(f"\\par\\smallskip\\footnotesize {note}\n" for note in below)
    return text.replace("\\end{table}", f"{notes}\\end{{table}}")


def _number(text: str) -> str:
    """Return an entry with its numbers as siunitx prints them, and its emphasis."""
    plain = text.strip("*")
    command = {0: "", 1: r"\textit", 2: r"\textbf"}[(len(text) - len(plain)) // 2]
    printed = _MEASURED.sub(r"\\num{\1}", escaped(plain).replace(r"$\pm$", "±"))
    printed = printed.replace("±", "+-")
    return f"{command}{{{printed}}}" if command else printed
