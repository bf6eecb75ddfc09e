"""The HTML page of a document by a template of Jinja2, beside `mklbench.report.document.html`."""

from __future__ import annotations

import html
import inspect
from functools import partial

from benchmarks.timing import Result, alternate
from mklbench.report.document import html as own
from mklbench.report.document.blocks import (
    CodeBlock,
    Definitions,
    Document,
    Entry,
    Grid,
    Heading,
    Paragraph,
)
from mklbench.report.document.style import PAGE_STYLE

_ROWS = 100

_TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title | escaped }}</title>
<style>
{{ style }}</style>
</head>
<body>
<main>
{%- macro class(grid, position, tone) -%}
{%- set label = 'label' if position < grid.n_label_columns else '' -%}
{%- set names = [label, tone] | select | join(' ') -%}
{%- if names %} class="{{ names }}"{% endif -%}
{%- endmacro -%}
{%- macro entry(text, emphasis) -%}
{%- set tag = tags[emphasis] -%}
{%- if tag %}<{{ tag }}>{{ text | inline }}</{{ tag }}>{% else %}{{ text | inline }}{% endif -%}
{%- endmacro -%}
{%- for block in document %}
{% set kind = kind_of(block) -%}
{%- if kind == 'Heading' -%}
<h{{ block.level }}>{{ block.text | inline }}</h{{ block.level }}>
{%- elif kind == 'Paragraph' -%}
<p>{{ block.text | inline }}</p>
{%- elif kind == 'CodeBlock' -%}
<pre><code>{{ block.text | escaped }}</code></pre>
{%- elif kind == 'Definitions' -%}
<dl>
{%- for term, lines in block['items'] %}
<dt>{{ term | inline }}</dt>
{%- for line in lines %}
<dd>{{ line | inline }}</dd>
{%- endfor %}
{%- endfor %}
</dl>
{%- elif kind == 'Grid' -%}
<div class="scroll"><table>
<thead><tr>
{%- for text in block.headings -%}
<th{{ class(block, loop.index0, '') }}>{{ text | inline }}</th>
{%- endfor -%}
</tr></thead>
<tbody>
{%- for row in block.rows %}
<tr>
{%- for one in row -%}
<td{{ class(block, loop.index0, one.tone) }}>{{ entry(one.text, one.emphasis) }}</td>
{%- endfor -%}
</tr>
{%- endfor %}
</tbody>
</table></div>
{%- else -%}
{{ picture(block) }}
{%- endif -%}
{%- endfor %}
</main>
</body>
</html>
"""


def run() -> list[Result]:
    """Return lines of code and milliseconds of both, and whether their pages are equal."""
    try:
        import jinja2
    except ImportError:
        return []
    document = _document()
    environment = jinja2.Environment(keep_trailing_newline=True)
    environment.filters |= {"inline": own.inline, "escaped": html.escape}
    environment.globals |= {
        "tags": own.HTML_EMPHASIS,
        "style": PAGE_STYLE,
        "kind_of": lambda block: type(block).__name__,
        "picture": lambda block: own._html_picture(block.path, block.caption),
    }
    template = environment.from_string(_TEMPLATE)
    title = next(block.text for block in document if isinstance(block, Heading))
    by_template = partial(template.render, document=document, title=title)
    plain = partial(own.to_html, document)
    theirs, mine, ratio = alternate(by_template, plain, repeats=20)
    equal = "equal" if by_template() == plain() else "not equal"
    n_template, n_own = _TEMPLATE.count("\n"), _n_lines()
    return [
        Result(
            f"page of a table of {_ROWS} rows: Jinja2 / own",
            f"{ratio:.1f} ({theirs * 1e3:.1f} / {mine * 1e3:.1f} ms), {n_template} lines of "
            f"template for {n_own} of code, pages {equal}",
            "",
            None,
        )
    ]


def _document() -> Document:
    """Return a document with every kind of block but a picture, of the size of a large table."""
    entries = [
        Entry("77.9 ± 5.5"),
        Entry("81.5 ± 5.6 < `C`", tone="match"),
        Entry("80.3", "lower", "bold"),
    ]
    grid = Grid(
        ["data", *(f"algorithm {i} & <C>" for i in range(12))],
        [[Entry(f"set {i}"), *entries * 4] for i in range(_ROWS)],
    )
    notes = [
        (f"term `{i}`", ["see https://example.org/a?b=1&c=2.", 'it\'s "so"']) for i in range(30)
    ]
    return [
        Heading(1, "A & B"),
        Paragraph("of `this`"),
        CodeBlock("a < b"),
        grid,
        Definitions(notes),
    ]


def _n_lines() -> int:
    """Return the lines of the functions that a template replaces."""
    replaced = (
        own.to_html, own.html_block, own._html_definitions, own._html_grid, own._html_row,
        own._html_entry, own._html_class,
    )  # fmt: skip
    return sum(len(inspect.getsource(function).splitlines()) for function in replaced)
