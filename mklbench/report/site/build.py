"""Building the report: collecting, drawing, and filling the templates."""

from __future__ import annotations

import base64
import json
import tempfile
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mklbench import __version__
from mklbench.errors import missing
from mklbench.experiments.store import Store
from mklbench.report.analysis.agreement import n_matching
from mklbench.report.results import recorded_figures, write_figures
from mklbench.report.site.collected import collect, compare
from mklbench.report.site.content import Runs, content, run_command
from mklbench.report.site.papers import KINDS, paper_pages

SCRIPTS = ("page.js", "tables.js", "explore.js", "advise.js", "plots.js")


def build(store: Store | None = None, config_dir: str | None = None) -> str:
    """Return the report as one page of HTML, which says itself what it cannot show.

    Parameters
    ----------
    store : Store or None, default=None
        The reader's own results, which are laid beside the recorded ones.
    config_dir : str or None, default=None
        A directory of the reader's own configs, with tables of their own in ``table/``.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    collected = collect(store, config_dir)
    runs, numbers = Runs(), list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as directory:
        # By the name of the table and their own: recorded, or else drawn.
        figures = {
            one.table.name: recorded_figures(one.table)
            if one.recorded
            else write_figures(one.shown, Path(directory), ("png",), of_records=True)
            for one in collected
        }
        papers = paper_pages(collected, runs, numbers, figures)
    known = content(collected, runs, numbers, store, config_dir)
    script, asked = _library()
    environment = Environment(
        loader=PackageLoader("mklbench.report.site", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    compared = list(compare(collected)) if store is not None else []
    page: str = environment.get_template("report.html.j2").render(
        version=__version__,
        date=datetime.now(UTC).date().isoformat(),
        papers=papers,
        tables=[page for paper in papers for page in paper.tables],
        n_runs=len(runs.content),
        n_matching=n_matching,
        run_command=run_command,
        kinds=[*KINDS.values()],
        store=None if store is None else str(store.path),
        compared=compared,
        n_moved=sum(one["moved"] for one in compared),
        n_loose=sum(len(table["places"]) for table in known["tables"] if not table["name"]),
        library=packed(script) if script else "",
        asked=asked,
        # A number that is not finite is a ValueError: JSON does not have it.
        data=packed(json.dumps(known, separators=(",", ":"), ensure_ascii=False, allow_nan=False)),
        scripts=[_text(name) for name in SCRIPTS],
        style=_text("report.css"),
    )
    return page


def packed(text: str) -> str:
    """Return a text deflated, in base 64, as it may stand inside a script; ``page.js`` unpacks."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _library() -> tuple[str, str]:
    """Return the script of the plots, and a sentence that asks for it where it is missing."""
    if (sentence := missing("report", "A report with plots")) is not None:
        return "", sentence
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"), ""


def _text(name: str) -> str:
    return (Path(__file__).parent / "page" / name).read_text(encoding="utf-8")
