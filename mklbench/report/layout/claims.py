"""The claims in a paper's text on the page of a table, each beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator

from mklbench.report.analysis.assemble import Report
from mklbench.report.claims.judged import Judged, judge_claims
from mklbench.report.document.blocks import Block, Entry, Grid, Heading, Paragraph
from mklbench.report.layout.entries import NOTHING
from mklbench.report.table.paper_table import Claim


def claim_blocks(report: Report) -> Iterator[Block]:
    """Yield the claims with what was measured and whether they hold."""
    if not report.table.claims:
        return
    lines = [_line(judged) for judged in judge_claims(report)]
    yield Heading(2, "Claims")
    yield Paragraph(
        "What the text of the paper says, beside what the records behind this page say: of means "
        "over the splits; a largest value is that of any split."
    )
    headings = ["Claim", "Quantity", "Where", "claimed", "measured", "verdict"]
    yield Grid(headings, lines, n_label_columns=3)


def claimed(claim: Claim) -> str:
    """Print the bound of a claim, and what the paper's own numbers have."""
    bound = f"at {'most' if claim.is_upper else 'least'} {claim.bound:g}"
    return bound if claim.own_value is None else f"{bound}; its own numbers {claim.own_value:.3g}"


def _line(judged: Judged) -> list[Entry]:
    claim = judged.claim
    verdicts = {
        None: ("not formed" if judged.details else "not done", "unfinished"),
        True: ("holds", "match"),
        False: ("does not hold", "differs"),
    }
    verdict, tone = verdicts[judged.holds]
    return [
        Entry(claim.text),
        Entry(judged.quantity),
        Entry(judged.details),
        Entry(claimed(claim), "published"),
        Entry(NOTHING if judged.measured is None else f"{judged.measured:.3g}"),
        Entry(verdict, tone),
    ]
