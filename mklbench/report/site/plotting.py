"""The plotting library of the page: Vega-Lite, as vl-convert ships it, in one script."""

from __future__ import annotations

from mklbench.extras import missing

# What the page has to say of the library that it carries.
LICENCE = """\
/* Vega, Vega-Lite and Vega-Embed (https://vega.github.io), bundled by vl-convert.
   Copyright (c) 2015-2025, University of Washington Interactive Data Lab and contributors.
   BSD-3-Clause licence. */
"""


def library() -> tuple[str, str]:
    """Return the script of the library, and a sentence that asks for it where it is missing.

    Without the library the script is empty, and the page has all but its plots.
    """
    if (sentence := missing("report", "A report with plots")) is not None:
        return "", sentence
    import vl_convert

    return LICENCE + vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"), ""
