"""From a document to the tables of a paper in LaTeX: booktabs, numbers by siunitx."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from mklbench.report.document.blocks import Block, Document, Entry, Grid, Heading, Paragraph

NEEDS = r"""% In the preamble:
%   \usepackage{booktabs, amsmath, amssymb, siunitx}
%   \sisetup{separate-uncertainty=true}
"""

_EMPHASIS = {"": "{}", "bold": r"\textbf{{{}}}", "italic": r"\textit{{{}}}"}

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
# A number, with its standard deviation if it has one, that is no part of a word.
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
    """Render the grids of a document as tables, each with the heading before it as its caption.

    The paragraphs that follow a grid stand below it. What the preamble needs is said in a comment.

    Parameters
    ----------
    document : Document
        The blocks.
    """
    return NEEDS + "\n" + "\n".join(_tables(document))


def escaped(text: str) -> str:
    """Return text as LaTeX prints it."""
    return "".join(map(_printed, text))


def _printed(sign: str) -> str:
    """Return one sign of a text; letters that are raised, as those of notes, stay so."""
    if sign in _SIGNS:
        return _SIGNS[sign]
    kind, _, letter = unicodedata.decomposition(sign).partition(" ")
    return rf"\textsuperscript{{{chr(int(letter, 16))}}}" if kind == "<super>" else sign


def _tables(document: Document) -> Iterator[str]:
    title = caption = ""
    for number, block in enumerate(document):
        if isinstance(block, Heading):
            title, caption = (block.text, "") if block.level == 1 else (title, block.text)
        elif isinstance(block, Grid):
            below = _paragraphs(document[number + 1 :])
            words = ". ".join(filter(None, [title.rstrip("."), caption.rstrip(".")]))
            yield _table(block, f"{words}." if words else "", list(below))


def _paragraphs(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if not isinstance(block, Paragraph):
            return
        yield block.text.replace("`", "")


def _table(grid: Grid, caption: str, below: Sequence[str]) -> str:
    """Return one floating table."""
    lines = [
        r"\begin{table}",
        r"  \centering",
        *([rf"  \caption{{{escaped(caption)}}}"] if caption else []),
        r"  \small",
        rf"  \begin{{tabular}}{{{''.join(_columns(grid))}}}",
        r"    \toprule",
        f"    {' & '.join(_headings(grid))} \\\\",
        r"    \midrule",
        *(f"    {' & '.join(_cells(grid, row))} \\\\" for row in grid.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        *(rf"  \par\smallskip\footnotesize {escaped(text)}" for text in below),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _columns(grid: Grid) -> Iterator[str]:
    """Yield the type of each column: S, aligned at the point, where all of it are plain numbers."""
    for at in range(len(grid.headings)):
        if at < grid.n_label_columns:
            yield "l"
        elif _is_plain(grid, at):
            texts = [row[at].text for row in grid.rows if row[at].text]
            whole = max(len(text.lstrip("-").partition(".")[0]) for text in texts)
            sign = "-" if any(text.startswith("-") for text in texts) else ""
            decimals = max(len(text.partition(".")[2]) for text in texts)
            yield f"S[table-format={sign}{whole}.{decimals}]"
        else:
            yield "r"


def _is_plain(grid: Grid, at: int) -> bool:
    entries = [row[at] for row in grid.rows]
    texts = [entry.text for entry in entries if entry.text]
    return (
        bool(texts)
        and not any(entry.emphasis for entry in entries)
        and all(re.fullmatch(r"-?\d+(\.\d+)?", text) for text in texts)
    )


def _headings(grid: Grid) -> Iterator[str]:
    for at, heading in enumerate(grid.headings):
        text = escaped(heading)
        yield text if at < grid.n_label_columns else f"{{{text}}}"


def _cells(grid: Grid, row: Sequence[Entry]) -> Iterator[str]:
    for at, entry in enumerate(row):
        if at < grid.n_label_columns:
            yield _EMPHASIS[entry.emphasis].format(escaped(entry.text))
        elif _is_plain(grid, at):
            yield entry.text
        else:
            yield _EMPHASIS[entry.emphasis].format(_with_numbers(entry.text))


def _with_numbers(text: str) -> str:
    """Return text with its numbers as siunitx prints them."""
    parts, end = [], 0
    for found in _MEASURED.finditer(text):
        number = found[1] if found[2] is None else f"{found[1]} +- {found[2]}"
        parts += [escaped(text[end : found.start()]), rf"\num{{{number}}}"]
        end = found.end()
    return "".join([*parts, escaped(text[end:])])
