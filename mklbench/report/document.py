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
from pathlib import Path
from typing import Any

# What stands in a table where there is no number.
NOTHING = "–"

# Signs in a line of a grid; a wider grid is split into blocks that fit a terminal of 120 columns.
MOST_SIGNS = 118

# Verdicts by their marks, and the states of runs that have none.
_TONES = {"✓": "match", "≈": "close", "▲": "differs", "▼": "differs"}
_UNFINISHED = re.compile(r"\b(missing|failed|timeout|incomplete|data not at hand)\b")
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
    """Return a text in Markdown as a part of a page; see `to_html`."""
    text = _ADDRESS.sub(r"<\1>", markdown)
    return str(_parser().render(text, {"directory": directory or Path()}))


def to_inline(markdown: str) -> str:
    """Return one line of Markdown as HTML without a paragraph around it."""
    return str(_parser().renderInline(_ADDRESS.sub(r"<\1>", markdown)))


@cache
def _parser() -> Any:
    """Return the reader of Markdown; what looks like HTML is shown as it stands."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _table(renderer: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    """Open a table that scrolls by itself where it is wider than the page."""
    return '<div class="scroll" tabindex="0" role="region" aria-label="table"><table>\n'


def _end_of_table(renderer: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    return "</table></div>\n"


def _line(renderer: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    """Open a line of a table; one of published numbers has a class of its own."""
    end = next(i for i in range(at, len(tokens)) if tokens[i].type == "tr_close")
    texts = [token.content for token in tokens[at:end] if token.type == "inline"]
    return '<tr class="published">\n' if "published" in texts[1:2] else "<tr>\n"


def _entry(renderer: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    """Open an entry of a table; its class says whether it is words, and what its verdict is."""
    token, text = tokens[at], tokens[at + 1].content
    names = ["label"] if token.attrGet("style") == "text-align:left" else []
    if token.tag == "td":
        names += [tone for mark, tone in _TONES.items() if mark in text]
        names += ["unfinished"] if "label" not in names and _UNFINISHED.search(text) else []
    of_class = f' class="{" ".join(names)}"' if names else ""
    return f"<{token.tag}{of_class}>"


def _picture(renderer: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    """Embed a picture."""
    path = Path(env.get("directory", ""), tokens[at].attrGet("src"))
    if not path.is_file():
        return html.escape(tokens[at].content)
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<img alt="{html.escape(tokens[at].content)}" src="data:image/png;base64,{data}">'


_RULES = {
    "table_open": _table, "table_close": _end_of_table, "tr_open": _line, "td_open": _entry,
    "th_open": _entry, "image": _picture,
}  # fmt: skip

# What the tables in LaTeX need.
NEEDS = r"""% In the preamble:
%   \usepackage{booktabs, amsmath, amssymb, siunitx}
%   \sisetup{separate-uncertainty=true}
"""

# A number, with its standard deviation if it has one, that is no part of a word.
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_MEASURED = re.compile(rf"(?<![\w.])({_NUMBER})(?: ± ({_NUMBER}))?(?![\w.])")

_SIGNS = {
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
}


def to_latex(document: Document) -> str:
    """Return the grids of a document as tables of booktabs, with numbers by siunitx.

    The heading before a grid is its caption, and the paragraphs that follow it stand below it.
    What the preamble needs is said in a comment.
    """
    tables, title, caption = [NEEDS], "", ""
    for at, part in enumerate(document):
        if isinstance(part, Grid):
            words = ". ".join(text.rstrip(".") for text in (title, caption) if text)
            below = list(_paragraphs(document[at + 1 :]))
            tables += [_latex_table(block, words, below) for block in part.blocks()]
        elif part.startswith("# "):
            title, caption = part.lstrip("# "), ""
        elif part.startswith("#"):
            caption = part.lstrip("# ")
    return "\n".join(tables)


def escaped(text: str) -> str:
    """Return text as LaTeX prints it."""
    return "".join(map(_latex_sign, text))


def _latex_sign(sign: str) -> str:
    """Return one sign of a text; letters that are raised, as those of notes, stay so."""
    if sign in _SIGNS:
        return _SIGNS[sign]
    kind, _, letter = unicodedata.decomposition(sign).partition(" ")
    return rf"\textsuperscript{{{chr(int(letter, 16))}}}" if kind == "<super>" else sign


def _paragraphs(parts: Document) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Grid) or part.startswith("#"):
            return
        yield escaped(part.replace("`", ""))


def _latex_table(grid: Grid, caption: str, below: Sequence[str]) -> str:
    """Return one floating table."""
    from pandas import DataFrame

    n_labels = grid.n_label_columns
    rows = [
        [_latex_entry(text, is_label=at < n_labels) for at, text in enumerate(row)]
        for row in grid.rows
    ]
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


def _latex_entry(text: str, *, is_label: bool) -> str:
    """Return an entry with its numbers as siunitx prints them, and its emphasis."""
    plain = text.strip("*")
    command = {0: "", 1: r"\textit", 2: r"\textbf"}[(len(text) - len(plain)) // 2]
    printed = escaped(plain) if is_label else _with_numbers(plain)
    return f"{command}{{{printed}}}" if command else printed


def _with_numbers(text: str) -> str:
    parts, end = [], 0
    for found in _MEASURED.finditer(text):
        number = found[1] if found[2] is None else f"{found[1]} +- {found[2]}"
        parts += [escaped(text[end : found.start()]), rf"\num{{{number}}}"]
        end = found.end()
    return "".join([*parts, escaped(text[end:])])
