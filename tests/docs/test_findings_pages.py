"""What pages of findings state, computed from the records again.

The other findings are held in tests/report/test_stated_numbers.py.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from narrowing import present
from stated import lines_of, mean, recorded, states, text_of

from mklbench.experiments.record import Record
from mklbench.report.analysis.agreement import judged_numbers, n_as_printed, n_matching
from mklbench.report.analysis.assemble import Number
from mklbench.report.analysis.significance import LEVEL, corrected_p_value
from mklbench.report.claims import judge_claims
from mklbench.report.table.verdict import JUDGING, Sample, Verdict, judge

CORTES, ROUSU = "docs/findings/cortes2009.md", "docs/findings/rousu2017.md"
GEHLER, LEARNING = "docs/findings/gehler2008.md", "docs/findings/learning.md"
UCI, REVIEWS, ARM = "cortes2009_uci", "cortes2009_sentiment", "cortes2009_degrees"
pytestmark = pytest.mark.slow


@cache
def runs(table: str) -> dict[tuple[str, str, str], list[Record]]:
    found = recorded(table).slots.items()
    return {(place[0], place[1], place[2]): slots.done for place, (_, slots) in found}


def differ(first: list[Record], second: list[Record], field: str) -> float:
    """Return how much more the first has where the corrected test finds a difference, else 0."""
    one, other = ({r.split: getattr(r, field) for r in records} for records in (first, second))
    share = present(first[0].n_test) / present(first[0].n_train)
    if corrected_p_value(one, other, share) >= LEVEL:
        return 0.0
    return float(np.mean(list(one.values())) - np.mean(list(other.values())))


# Cortes et al. 2009.


def test_learned_weights_on_the_uci_sets() -> None:
    found = [
        differ(records, runs(UCI)[row, f"{degree}_base", protocol], "rmse")
        for (row, column, protocol), records in runs(UCI).items()
        for degree, learned in [column.split("_")]
        if learned != "base"
    ]
    better, worse = (sum(np.sign(found) == sign) for sign in (-1, 1))
    states(
        CORTES,
        f"in {len(found)} comparisons of learned with equal weights (degree 1 and 2, norm-1 and "
        "norm-2, four sets, three scalings) a corrected test finds "
        f"{better} better and {worse} worse",
    )


def test_degree_2_on_the_uci_sets() -> None:
    found: dict[str, set[float]] = {}
    for row, column, protocol in runs(UCI):
        if column == "quadratic_base":
            pair = runs(UCI)[row, column, protocol], runs(UCI)[row, "linear_base", protocol]
            found.setdefault(row, set()).add(np.sign(differ(*pair, "rmse")))
    helps = {row for row, signs in found.items() if -1 in signs and 1 not in signs}
    hurts = {row for row, signs in found.items() if 1 in signs and -1 not in signs}
    assert helps == {"ionosphere", "sonar"}
    assert hurts == {"breast_cancer_wisconsin"}
    states(CORTES, "It helps on Ionosphere and Sonar and hurts on Breast")
    breast = [
        mean(UCI, "breast_cancer_wisconsin", column, protocol, "rmse")
        for protocol in ("standard", "minmax")
        for column in ("linear_base", "quadratic_base")
    ]
    states(
        CORTES,
        "standardised, Breast has an RMSE of {:.2f} at degree 1 and {:.2f} at degree 2, scaled to "
        "-1, 1  {:.2f} and {:.2f}.".format(*breast),
    )


def test_learned_weights_on_reviews() -> None:
    gains = [
        abs(mean(REVIEWS, row, column, protocol, "rmse")
            - mean(REVIEWS, row, "linear_base", protocol, "rmse"))
        for row, column, protocol in runs(REVIEWS)
        if column.startswith("linear") and column != "linear_base"
    ]  # fmt: skip
    states(CORTES, f"and on reviews to {max(gains):.3f} in RMSE")
    last = "features=5000"
    quadratic, linear = (
        mean(REVIEWS, "electronics", f"{degree}_base", last, "rmse")
        for degree in ("quadratic", "linear")
    )
    states(CORTES, f"it is worse throughout, {quadratic:.2f} against {linear:.2f} on electronics")
    for row, column, protocol in runs(REVIEWS):
        if column == "quadratic_base":
            other = mean(REVIEWS, row, "linear_base", protocol, "rmse")
            assert mean(REVIEWS, row, column, protocol, "rmse") > other


def test_learned_weights_on_the_arm() -> None:
    def rmse(column: str, n: int) -> float:
        return mean(ARM, "arm", column, f"training samples={n}", "rmse")

    states(
        CORTES,
        f"the RMSE at 500 training samples is {rmse('norm1_4', 500):.3f} with learned weights "
        f"(norm-1) and {rmse('uniform4', 500):.3f} with equal ones; at 1000 samples it is "
        f"{rmse('norm1_4', 1000):.3f}, where the best of all degrees with equal weights has "
        f"{min(rmse(f'uniform{d}', 1000) for d in (1, 2, 3, 4)):.3f}",
    )
    states(
        CORTES,
        f"learned weights gain from degree 2 on ({rmse('norm1_2', 100):.3f} against "
        f"{rmse('uniform2', 100):.3f})",
    )


def test_steps_of_the_projected_gradient() -> None:
    learned = [record for record in lines_of(UCI) if record.algo == "nkrr"]
    steps = [present(record.n_iter) for record in learned]
    share = sum(count <= 20 for count in steps) / len(steps)
    assert all(record.converged for record in lines_of(UCI))
    states(
        CORTES,
        f"takes {statistics.median(steps):.0f} steps of projected gradient to a gap or residual of "
        f"1e-4, and {100 * share:.0f} % take 20 at most; all {len(lines_of(UCI)):,} fits met",
    )


# The lecture.


def of(column: str) -> dict[str, list[Record]]:
    return {row: records for (row, name, _), records in runs("all_methods").items()
            if name == column}  # fmt: skip


def accuracy(column: str) -> float:
    """Return the mean over the sets in per cent."""
    means = [np.mean([present(r.accuracy) for r in records]) for records in of(column).values()]
    return 100 * float(np.mean(means))


def seconds(column: str) -> dict[str, float]:
    return {
        row: statistics.median(present(record.fit_cpu_seconds) for record in records)
        for row, records in of(column).items()
    }


def against_uniform(column: str) -> dict[str, float]:
    return {
        row: 100 * differ(records, of("uniform")[row], "accuracy")
        for row, records in of(column).items()
    }


WAYS = {
    "early_fusion": "early fusion",
    "late_fusion": "late fusion",
    "align": "ALIGN",
    "alignf": "ALIGNF",
    "align_sdp": "semidefinite alignment",
    "simplemkl": "SimpleMKL",
}


@pytest.mark.parametrize("name", ["uniform", *WAYS])
def test_the_table_of_the_lecture(name: str) -> None:
    gains = list(against_uniform(name).values())
    counts = [sum(np.sign(gains) == sign) for sign in (1, 0, -1)]
    held = "" if name == "uniform" else " / ".join(map(str, counts))
    label = WAYS.get(name, "plain sum of kernels")
    time = statistics.median(seconds(name).values())
    row = f"| {label} | {accuracy(name):.1f} | {held} | {time:.2g} |"
    assert " ".join(row.split()) in text_of(ROUSU)


def test_who_beats_the_plain_sum() -> None:
    found = {name: against_uniform(name) for name in WAYS if name != "simplemkl"}
    found |= {name: against_uniform(name) for name in ("simplemkl", "f_heuristic")}
    beaten = [(name, row) for name, gains in found.items() for row in gains if gains[row] > 0]
    assert beaten == [("early_fusion", "ionosphere")]
    n = sum(map(len, found.values()))
    states(
        ROUSU,
        f"is beaten once in {n} comparisons with these and the F-heuristic, by early fusion on",
    )


def test_semidefinite_programmes() -> None:
    slow, fast = seconds("align_sdp"), seconds("alignf")
    ratios = [slow[row] / fast[row] for row in slow]
    early = [r for records in of("align_sdp").values() for r in records if r.converged is False]
    said = re.findall(r"takes (\d+) to (\d+) times as long as of the other", text_of(ROUSU))
    ((low, high),) = said
    assert float(low) == pytest.approx(min(ratios), rel=0.1)
    assert float(high) == pytest.approx(max(ratios), rel=0.1)
    states(ROUSU, f"and {len(early)} of 90 fits ended above their tolerance")


def test_calls_of_the_svm() -> None:
    for name, opening in (("simplemkl", "which it calls"), ("mkl", "solves the same problem in")):
        calls = [
            statistics.mean(present(record.svm_calls) for record in records)
            for records in of(name).values()
        ]
        states(ROUSU, f"{opening} {min(calls):.0f} to {max(calls):.0f}")


def test_centring_and_late_fusion() -> None:
    for name in ("align", "f_heuristic"):
        assert not any(against_uniform(name).values())
    states(ROUSU, f"at {accuracy('align'):.1f} and {accuracy('f_heuristic'):.1f} % in the mean")
    lost = [-gain for gain in against_uniform("late_fusion").values() if gain < 0]
    assert len(lost) == 6
    states(ROUSU, f"loses {min(lost):.0f} to {max(lost):.0f} points on six of the nine sets")
    late, plain = (
        100 * np.mean([present(r.accuracy) for r in of(name)["mfeat"]])
        for name in ("late_fusion", "uniform")
    )
    states(ROUSU, f"it has {late:.1f} % and the plain sum {plain:.1f}")


def test_what_a_gap_of_a_hundredth_does_to_the_accuracy() -> None:
    states(
        "docs/certificate-says-no.md",
        f"to a gap of 1e-2, is {accuracy('simplemkl'):.1f} %, and that of mkl , to 1e-4, is "
        f"{accuracy('mkl'):.1f} %",
    )


# Gehler & Nowozin 2008, and what learning costs.


def test_what_differs_in_the_table_of_gehler() -> None:
    report = recorded("gehler2008_table1")
    judged = [
        (place[0], place[1], number)
        for place, number in report.numbers.items()
        if place[2:] == ("paper", "error") and number.verdict is not None
    ]
    of_products = [
        number.verdict for _, column, number in judged
        if column == "ikl_products" and number.published is not None
    ]  # fmt: skip
    banana = report.numbers["banana", "ikl_products", "paper", "error"]
    matches, closes = (of_products.count(each) for each in (Verdict.MATCH, Verdict.CLOSE))
    states(
        GEHLER,
        f"Of the {len(of_products)} errors published for it {matches} match and {closes} are "
        f"close; Banana is {present(banana.difference):.1f} points higher",
    )
    differ = [
        (row, column, present(number.difference))
        for row, column, number in judged
        if number.verdict in (Verdict.HIGHER, Verdict.LOWER)
    ]
    columns = [column for _, column, _ in differ]
    assert len(differ) == 8
    assert "ikl_products" not in columns
    assert columns.count("svm") + columns.count("mkl_single") == 3
    assert columns.count("mkl_separate") == 3
    assert columns.count("ikl_single") == 2
    assert all(abs(gap) < 1 for _, column, gap in differ if column != "ikl_single")
    measured = mean("gehler2008_table1", "splice", "ikl_single", "paper", "error")
    states(GEHLER, f"Splice has {measured:.1f} % where the paper has 12.6")


def test_the_numbers_that_do_not_match_as_printed() -> None:
    report = recorded("gehler2008_table1")
    printed, *others = report.table.protocols
    by_protocol: dict[str, dict[tuple[str, str, str], Number]] = {}
    for (row, column, protocol, metric), number in report.numbers.items():
        if number.verdict in JUDGING:
            by_protocol.setdefault(protocol, {})[row, column, metric] = number
    as_printed = by_protocol[printed.name]

    def told(numbers: Sequence[Number]) -> str:
        return ", ".join(f"{n.slot.protocol.label} {present(n.measured).mean:.1f}" for n in numbers)

    for place, number in as_printed.items():
        if number.verdict != Verdict.MATCH:
            also = [by_protocol[p.name][place] for p in others if place in by_protocol[p.name]]
            matching = [other for other in also if other.verdict == Verdict.MATCH]
            states(
                GEHLER,
                f"| {number.slot.row.label}, {number.slot.column.label} | "
                f"{present(number.published).mean} | {present(number.measured).mean:.1f} | "
                f"{told(matching)} | {told([n for n in also if n not in matching])} |",
            )
    judged = judged_numbers([report])
    states(
        GEHLER,
        f"Of {len(judged)} numbers that can be judged {n_as_printed(judged)} match as printed and "
        f"{n_matching(judged)} under some protocol",
    )
    for changed in others:
        here = by_protocol[changed.name]
        now = {place for place, number in here.items() if number.verdict == Verdict.MATCH}
        before = {
            place
            for place, number in here.items()
            for values in [report.slots[as_printed[place].slot.place][1].by_split(number.metric)]
            for splits in [report.slots[number.slot.place][1].by_split(number.metric)]
            for sample in [Sample.of([values[split] for split in splits if split in values])]
            if judge(number.published, number.published_n_splits or 1, present(sample))
            == Verdict.MATCH
        }
        rest = sum(
            number.verdict == Verdict.MATCH
            for place, number in as_printed.items()
            if place not in here
        )
        counts = (len(here), len(before), len(now), len(now - before), len(before - now))
        found = " | ".join(map(str, (*counts, rest + len(before), rest + len(now))))
        states(GEHLER, f"| {changed.label} | {found} |")


def test_the_claims_on_ikl() -> None:
    many, few, gaps, grid = judge_claims(recorded("gehler2008_speed"))
    states(
        GEHLER,
        f"takes 1/{present(many.measured):.1f} of SimpleMKL's CPU time in the median of five sets "
        f"at C = 1 and 100 (0.31 to 1.6 of it), and on 13 kernels 1/{present(few.measured):.1f}.",
    )
    assert many.details.startswith("0.62 (Titanic, C = 100) to 3.2 (Thyroid, C = 1)")
    assert gaps.holds
    states(GEHLER, f"an objective {100 * present(grid.measured) - 100:.1f} % higher in the median")


def where_two_searches_have_ended(column: str) -> tuple[int, dict[str, Number]]:
    """Return how many fits of IKL have both gaps, below 1e-3, and the kernels of each set."""
    searched = {
        row: records for (row, *place), records in runs("gehler2008_table1").items()
        if place == [column, "paper"] and records[0].family_gap is not None
    }  # fmt: skip
    fits = [record for records in searched.values() for record in records]
    assert all(record.converged for record in fits)
    assert all(present(record.family_gap) <= 1e-3 for record in fits)
    numbers = recorded("gehler2008_table1").numbers
    return len(fits), {row: numbers[row, column, "paper", "n_kernels"] for row in searched}


def measured_and_published(number: Number) -> tuple[float, float]:
    return present(number.measured).mean, present(number.published).mean


def test_the_kernels_of_ikl_where_two_searches_have_ended() -> None:
    n_fits, numbers = where_two_searches_have_ended("ikl_products")
    assert set(numbers) == {row.name for row in recorded("gehler2008_table1").table.rows}
    states(GEHLER, f"all {n_fits} fits on {len(numbers)} sets have both gaps below 1e-3")
    differences = [each.difference for each in numbers.values() if each.difference is not None]
    n_more = sum(difference > 0 for difference in differences)
    shown = ", ".join(
        "{} {:.0f} against {:.0f}".format(row.title(), *measured_and_published(numbers[row]))
        for row in ("german", "heart", "image")
    )
    states(
        GEHLER,
        f"more kernels than published on {n_more} of the {len(differences)} of them that the paper "
        f"has: {shown}",
    )


def test_the_kernels_of_ikl_with_one_width() -> None:
    n_fits, numbers = where_two_searches_have_ended("ikl_single")
    assert set(numbers) == {row.name for row in recorded("gehler2008_table1").table.rows}
    states(GEHLER, f"all {n_fits:,} fits of IKL, on {len(numbers)} sets, have both gaps below 1e-3")
    distances = {row: abs(present(number.difference)) for row, number in numbers.items()}
    furthest = max(distances, key=lambda row: distances[row])
    ours, theirs = measured_and_published(numbers[furthest])
    states(
        GEHLER,
        f"less than one from the published one on {sum(far < 1 for far in distances.values())} of "
        f"them, and furthest on {furthest.upper()} ({ours:.1f} against {theirs:.1f})",
    )
    shown = [measured_and_published(numbers[row]) for row in ("seg", "abe", "sat")]
    measured, published = zip(*shown, strict=True)
    states(
        GEHLER,
        "became {:.1f}, {:.1f} and {:.1f} (published {:.1f}, {:.1f} and {:.1f})".format(
            *measured, *published
        ),
    )


def test_what_learning_costs() -> None:
    plain = seconds("uniform")
    mkl = statistics.median(time / plain[row] for row, time in seconds("mkl").items())
    states(
        LEARNING, f"takes {mkl:.0f} times as long as one of the plain sum (median over the sets)"
    )
