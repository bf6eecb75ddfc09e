"""Times of several CPU models on a page: letters and notes, and what is not formed of them."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from report_fakes import csv_lines, found, plain, record

from mklbench.experiments.record import Record
from mklbench.report.analysis.assemble import Place, Report, SlotRecords, assemble
from mklbench.report.claims import KINDS, judge_claims
from mklbench.report.figures.sweep import GrowthCurves
from mklbench.report.layout.page import lay_out
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import (
    Baseline,
    Claim,
    Column,
    Comparison,
    PaperTable,
    Protocol,
    Ranking,
    Row,
    Slot,
    Sweep,
)
from mklbench.report.table.verdict import Published

LETTERS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
MODELS = ("Test CPU", "Old CPU", "New CPU")
N_SPLITS = 6
NOTE = "Times without a letter were measured on "

# About the seconds of a fit by column; those of no two runs are the same.
SECONDS = {"slow": 600.0, "fast": 200.0, "third": 300.0}
ROWS, SIZES = ("a", "b", "c"), (2.0, 10.0)
NO_SWEEP = (Protocol("once", "measured"), Protocol("twice", "measured again"))
SWEEP = Sweep("kernel.n_widths", "widths", SIZES)

Models = Mapping[Place, Sequence[str]]


def claims(*kinds: str, metric: str = "cpu_time") -> tuple[Claim, ...]:
    return tuple(
        Claim(
            text=f"So it is said of {kind}.",
            kind=kind,
            metric=metric,
            columns=("slow", "fast")[: KINDS[kind].n_columns or 1],
            at_least=2.0,
        )
        for kind in kinds
    )


def paper(**changes: object) -> PaperTable:
    """A table with everything that is formed of times; published, ranked or along a sweep."""
    protocols = SWEEP.protocols() if "sweep" in changes else NO_SWEEP
    made = PaperTable(
        name="timed",
        title="Timed",
        citation="Nobody, nowhere.",
        rows=tuple(Row(name, f"Set {name}") for name in ROWS),
        columns=tuple(
            Column(name, f"The {name} one", metrics=("accuracy", "cpu_time")) for name in SECONDS
        ),
        protocols=protocols,
        claims=claims("ratio", "median_ratio", "median_difference", "mean_difference", "largest"),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def published() -> PaperTable:
    return paper(
        published={("a", "slow", "accuracy"): Published(80.0, 2.0)},
        baseline=Baseline("fast", "cpu_time", 0.1),
    )


def ranked() -> PaperTable:
    return paper(
        comparisons=(Comparison("is fast faster?", "fast", "slow", "cpu_time"),),
        ranking=Ranking("cpu_time", "once", ("fast",), ("slow", "third")),
    )


def swept() -> PaperTable:
    figure = GrowthCurves(name="times", title="Times", metric="cpu_time", columns=("slow", "fast"))
    kinds = claims("growth", "ratio", "median_difference", "largest")
    return paper(sweep=SWEEP, claims=kinds, figures=(figure,))


TABLES = {"published": published, "ranked": ranked, "swept": swept}


def run(place: Place, models: Sequence[str]) -> list[Record]:
    row, column, protocol = place
    level = SECONDS[column] + 10 * ROWS.index(row) + len(protocol)
    return [
        record(split, fit_cpu_seconds=level * (1 + split / 50), provenance={"cpu": model})
        for split, model in enumerate(models)
    ]


def report(table: PaperTable, models: Models) -> Report:
    """All runs of the table, on the first of the models where they are not given."""

    def find(slot: Slot) -> SlotRecords:
        made = run(slot.place, models.get(slot.place, MODELS[:1] * N_SPLITS))
        return found(made, n_splits=len(made))

    return assemble(table, find)


def any_models(table: PaperTable, seed: int) -> dict[Place, Sequence[str]]:
    """Some runs on other models, and some on several."""
    generator = random.Random(seed)
    chosen = {
        0: lambda: generator.choices(MODELS, k=1) * N_SPLITS,
        1: lambda: generator.choices(MODELS, k=N_SPLITS),
        2: lambda: MODELS[:1] * N_SPLITS,
    }
    return {slot.place: chosen[generator.randrange(3)]() for slot in table.slots()}


def meaning(page: str) -> dict[str, set[str]]:
    """The models by letter, as the first note of a page says."""
    note = next(line for line in page.splitlines() if line.startswith(NOTE))
    main, *others = note.removeprefix(NOTE).partition(". ")[0].split("; ")
    by_letter = dict(other.split(" on ", 1) for other in others)
    return {"": {main}} | {
        letter: set(models.removesuffix(", each in some splits").split(" and "))
        for letter, models in by_letter.items()
    }


@pytest.mark.parametrize("name", TABLES)
def test_every_time_has_the_letter_of_its_models(name: str) -> None:
    """Read back: of every number on the page the note says the models that its records have."""
    table = TABLES[name]()
    models = any_models(table, 0)
    made = report(table, models)
    page = plain(lay_out(made))
    letters = meaning(page)
    shown = {
        f"{METRICS['cpu_time'].format(n.measured.mean)} ± ": set(models[place[:3]])
        for place, n in made.numbers.items()
        if n.measured is not None and n.metric.is_time
    }
    found_letters = re.findall(rf"([\d.]+ ± )[\d.]+([{LETTERS}]?)", page)
    seen = [(mean, letter) for mean, letter in found_letters if mean in shown]
    assert {mean for mean, _ in seen} == shown.keys()
    for mean, letter in seen:
        assert letters[letter] == shown[mean]
    assert all(letter == "" for mean, letter in found_letters if mean not in shown)
    for (row, column, protocol), line in csv_lines(made, "row", "column", "protocol").items():
        assert set(line["cpu"].split("; ")) == set(models[row, column, protocol])


class TestNotFormed:
    """All of the slow column on one model, all of the fast one on another."""

    def split_in_two(self, table: PaperTable) -> Report:
        other = {s.place: [MODELS[1]] * N_SPLITS for s in table.slots() if s.column.name == "slow"}
        return report(table, other)

    @pytest.mark.parametrize(
        "kind", ["ratio", "median_ratio", "median_difference", "mean_difference"]
    )
    def test_a_claim_does_not_hold_or_fail(self, kind: str) -> None:
        made = self.split_in_two(paper(claims=claims(kind)))
        (judged,) = judge_claims(made)
        assert (judged.measured, judged.holds) == (None, None)
        assert "not done" in plain(lay_out(made)).partition("## Claims")[2]

    def test_growth_is_not_formed_over_two_models(self) -> None:
        models = {("a", "slow", "widths=2"): [MODELS[1]] * N_SPLITS}
        assert "Set a" not in judge_claims(report(swept(), models))[0].details
        assert "Set a" in judge_claims(report(swept(), {}))[0].details

    def test_no_time_stands_out_against_a_baseline_on_another_model(self) -> None:
        apart, together = self.split_in_two(published()), report(published(), {})
        standing = {column for _, column, _, _ in together.standings}
        assert standing == {"slow", "third"}
        assert {column for _, column, _, _ in apart.standings} == {"third"}

    def test_comparisons_and_ranks_are_not_formed(self) -> None:
        page = plain(lay_out(self.split_in_two(ranked())))
        compared = page.partition("## Comparisons")[2].partition("## ")[0]
        assert "  - measured: –\n  - measured again: –" in compared
        assert "## Ranks" not in page
