"""What the pages state of the tables of sets of several views, computed once more."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from narrowing import present
from scipy.stats import t, ttest_ind_from_stats
from stated import mean, n_discoveries, recorded, states

from mklbench.report.analysis.significance import (
    LEVEL,
    detectable_over_sets,
    upper_end,
)
from mklbench.report.layout.evidence import (
    Pair,
    groups_of,
    made_rule,
    outcome,
    pair_of,
    verdict,
)
from mklbench.report.layout.ranking import tally
from mklbench.report.loading import load_table
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Ranking

DUAN, DUAN_PAGE = "duan2025_table2", "docs/findings/duan2025.md"
VIEWS, LEARNING = "learning_pays_views", "docs/findings/learning.md"


def accuracies(table: str, *place: str) -> list[float]:
    """The accuracies in % of a run by split."""
    records = recorded(table).slots[place][1].done  # type: ignore[index]
    return [100 * present(record.accuracy) for record in records]


def listed(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}"


def against_published(row: str, column: str) -> Counter[str]:
    """How many published networks a method is better and worse than by Welch's test."""
    table = load_table(DUAN)
    own = accuracies(DUAN, row, column, "ours")
    found = Counter[str]()
    for (_, where, _), other in table.published.items():
        if where == column:
            test = ttest_ind_from_stats(
                statistics.fmean(own),
                statistics.stdev(own),
                len(own),
                other.mean,
                other.std,
                table.published_n_splits,
                equal_var=False,
            )
            sides = "better" if statistics.fmean(own) > other.mean else "worse"
            found[sides if test.pvalue < LEVEL else "alike"] += 1
    return found


def test_kernels_beside_deep_networks() -> None:
    table = load_table(DUAN)
    sets = [column.name for column in table.columns if column.rows is None]
    found = sum((against_published("uniform", name) for name in sets), Counter[str]())
    states(
        DUAN_PAGE,
        f"in {found['better']} of {found.total()} comparisons it is better by Welch's test at the "
        f"5 % level, in {found['alike']} the two are alike, and in {found['worse']} it is worse",
    )
    assert found["worse"] == 0
    states(
        "README.md",
        f"better in {found['better']} of {found.total()} comparisons with published networks, and "
        "worse in none",
    )
    alike = {name: against_published("uniform", name)["alike"] for name in sets}
    assert alike == {"mfeat": 9, "scene15": 0, "landuse21": 0, "leaves100": 1, "pie10": 1}
    records = [recorded(DUAN).slots["mkl", name, "ours"][1].done for name in ("mfeat", "scene15")]
    assert {record.C for found in records for record in found} == {10}  # as the page says
    early = mean(DUAN, "early", "landuse21", "ours", "accuracy")
    states(DUAN_PAGE, f"one Gaussian on all features, standardised, has {early:.1f} % on LandUse")
    for name in ("scene15", "landuse21"):
        best = max(of.mean for (_, where, _), of in table.published.items() if where == name)
        own = mean(DUAN, "uniform", name, "ours", "accuracy")
        states(DUAN_PAGE, f"{own:.1f} % against {best:.1f} % of the best network")


def test_rows_of_duan_that_were_added_later() -> None:
    names = ("lp", "late", "uniform", "alignf")
    pie = {name: mean(DUAN, name, "pie10", "ours", "accuracy") for name in names}
    states(
        DUAN_PAGE,
        f"MKL in an l2 ball has {pie['lp']:.1f} % on PIE and late fusion {pie['late']:.1f} %, "
        f"where the plain sum has {pie['uniform']:.1f} %; ALIGNF, whose weights are made before "
        f"the machine is learned, has {pie['alignf']:.1f} % there.",
    )
    scene = [mean(DUAN, name, "scene15", "ours", "accuracy") for name in ("lp", "late", "alignf")]
    states(DUAN_PAGE, "On Scene they have {:.1f}, {:.1f} and {:.1f} %.".format(*scene))
    views = ("mfeat", "pie10", "leaves100", "scene15")
    view = [mean(DUAN, "best_view", name, "ours", "accuracy") for name in views]
    states(
        DUAN_PAGE,
        "has {:.1f} % on the digits, {:.1f} % on PIE, {:.1f} % on Leaves and {:.1f} % on "
        "Scene.".format(*view),
    )


ROSMAP = "wang2021_rosmap"


def test_kernels_on_three_omics() -> None:
    published = load_table(ROSMAP).published

    def of(row: str, metric: str, protocol: str = "official") -> float:
        known = published.get((row, "rosmap", metric))
        return known.mean if known else mean(ROSMAP, row, "rosmap", protocol, metric)

    def both(row: str) -> str:
        return f"{of(row, 'roc_auc'):.3f} and {of(row, 'accuracy'):.1f} %"

    names = {row for row, _, _ in published}
    assert max(names, key=lambda row: of(row, "roc_auc")) == "acml"
    states(
        "docs/findings/wang2021.md",
        f"has an AUC of {of('late', 'roc_auc'):.3f} and an accuracy of "
        f"{of('late', 'accuracy'):.1f} %; MOGONET has {both('mogonet')}, the best of the "
        f"{len(names)}, ACML, {both('acml')}. The plain sum of Gaussians has {both('uniform')}, "
        f"MKL {both('mkl')}:",
    )
    spreads = {
        protocol: statistics.stdev(accuracies(ROSMAP, "late", "rosmap", protocol))
        for protocol in ("official", "pooled")
    }
    states(
        "docs/findings/wang2021.md",
        f"has a standard deviation of {spreads['official']:.1f} points over them",
    )
    ours = [row.name for row in load_table(ROSMAP).rows if row.name not in names]
    areas = [of(name, "roc_auc", "pooled") for name in ours]
    states(
        "docs/findings/wang2021.md",
        f"late fusion has {of('late', 'accuracy', 'pooled'):.1f} %, with a standard deviation of "
        f"{spreads['pooled']:.1f} points, and every method an AUC between {min(areas):.3f} and "
        f"{max(areas):.3f}",
    )
    states("README.md", f"the best of {len(names)} published methods {of('acml', 'roc_auc'):.3f};")
    areas_of_two = f"{of('late', 'roc_auc'):.3f}, where MOGONET has {of('mogonet', 'roc_auc'):.3f}"
    for page in ("README.md", "docs/multi-omics.md"):
        states(page, f"an AUC of {areas_of_two}")
        states(page, f"MKL has {of('mkl', 'roc_auc'):.3f}")


# The second edition of the large comparison.


def ranking() -> Ranking:
    return present(load_table(VIEWS).ranking)


@cache
def pair(name: str, reference: str = "uniform", group: str = "all sets") -> Pair:
    report = recorded(VIEWS)
    rows = dict(groups_of(report, ranking()))[group]
    return pair_of(report, ranking(), rows, name, reference)


def interval(values: list[float]) -> tuple[float, float]:
    """The 95 % interval of a mean over sets."""
    error = statistics.stdev(values) / len(values) ** 0.5
    half = float(t.ppf(0.975, len(values) - 1)) * error
    return statistics.fmean(values) - half, statistics.fmean(values) + half


def with_interval(values: list[float]) -> str:
    """Their mean over sets, and its 95 % interval."""
    return "{:+.1f} ({:+.1f} to {:+.1f})".format(statistics.fmean(values), *interval(values))


def test_what_learning_gains_on_small_sets_of_several_views() -> None:
    table, learners = load_table(VIEWS), ranking().learners
    labels = {name: table.label_of(name) for name in learners}
    states(LEARNING, f"{len(table.rows)} sets of several views with {len(table.columns)} methods")
    gains = {name: statistics.fmean(pair(name).means) for name in learners}
    best = max(gains, key=lambda name: gains[name])
    low, high = interval(pair(best).means)
    states(
        LEARNING,
        f"the {len(learners)} methods that learn gain {min(gains.values()):+.1f} to "
        f"{max(gains.values()):+.1f} points over the plain sum; that of {labels[best]} has a 95 % "
        f"interval of {low:+.1f} to {high:+.1f}",
    )
    over_sets = [detectable_over_sets(pair(name).means, len(learners)) for name in learners]
    states(LEARNING, f"one of {statistics.median(over_sets):.1f} would have been found")
    # The rule of the plan.
    chances = {name: outcome(pair(name), 1.0) for name in learners}
    likeliest = max(learners, key=lambda name: chances[name].better)
    states(
        LEARNING,
        f"the probability of being better by a point is {chances[likeliest].better:.2f} at most "
        f"({labels[likeliest]})",
    )
    assert chances[likeliest].better < 0.95  # so learning is not said to pay,
    assert any(found.better > 0.05 for found in chances.values())  # nor not to pay


def test_where_learning_gains_and_loses() -> None:
    gains = {
        row.name: mean(VIEWS, row.name, "mkl", "widths", "accuracy")
        - mean(VIEWS, row.name, "uniform", "widths", "accuracy")
        for row in load_table(VIEWS).rows
    }
    pages = [gains[f"webkb_{name}"] for name in ("cornell", "washington", "wisconsin")]
    states(
        LEARNING,
        f"mkl gains {pages[0]:.1f}, {pages[1]:.1f} and {pages[2]:.1f} points on the pages of "
        f"Cornell, Washington and Wisconsin, and {gains['liver_toxicity']:.1f} on Liver toxicity",
    )
    states(LEARNING, f"loses {-gains['ngs500']:.1f} on NGs")
    assert min(gains, key=lambda name: gains[name]) == "ngs500"


def test_how_many_differences_survive_set_by_set() -> None:
    pairs = {name: pair(name) for name in ranking().learners}
    better, worse = n_discoveries(pairs)
    states(
        LEARNING,
        f"Of {sum(len(pair.gains) for pair in pairs.values())} comparisons set by set {better} are "
        f"better and {worse} worse at a false discovery rate of 5 %",
    )


def test_the_hypotheses_of_the_plan() -> None:
    names = ranking().learners
    n_inferior = sum(upper_end(pair(name).means) >= 1.0 for name in names)
    states(LEARNING, f"against {n_inferior} of {len(names)} it may be inferior by a point or more")
    for name in ("svm", "linear"):
        low, high = interval(pair(name).means)
        states(
            LEARNING,
            f"{statistics.fmean(pair(name).means):+.1f} points ({low:+.1f} to {high:+.1f})",
        )
    for name in ("mkl", "smkl"):
        omics, others = (
            statistics.fmean(pair(name, group=group).means)
            for group in ("omics", "texts, links and images")
        )
        states(LEARNING, f"{load_table(VIEWS).label_of(name)} {omics:+.1f} and {others:+.1f}")


# The second edition on sets of several views.
SECOND = "learning_pays_views_2"


def said_of_the_second_edition() -> Iterator[str]:
    """Yield the sentences of the page, in their order."""
    table, report = load_table(SECOND), recorded(SECOND)
    plan = present(table.ranking)
    learners = plan.learners

    def against(name: str, reference: str = "uniform", protocol: str = "widths") -> Pair:
        return pair_of(report, replace(plan, protocol=protocol), table.rows, name, reference)

    pairs = {name: against(name) for name in learners}
    yield (
        f"has {len(table.rows)} of the 28 sets of its plan, with {len(table.columns)} "
        "methods, 20 splits and two protocols."
    )
    gains = {name: statistics.fmean(pair.means) for name, pair in pairs.items()}
    best = max(learners, key=lambda name: gains[name])
    low, high = interval(pairs[best].means)
    of_weights = against("banded", "ridge").means
    most = max(gain for name, gain in gains.items() if name != "banded")
    states(
        "README.md",
        f"On {len(table.rows)} sets of several views, by a plan that was made before any result, "
        f"learned weights of an SVM gain up to {most:.1f} points on average, which the records do "
        "not tell from none; those of banded ridge regression, added later, "
        "{:.1f} (95 % interval {:+.1f} to {:+.1f})".format(
            statistics.fmean(of_weights), *interval(of_weights)
        ),
    )
    over_sets = [detectable_over_sets(pair.means, len(learners)) for pair in pairs.values()]
    likeliest = max(learners, key=lambda name: outcome(pairs[name], 1.0).better)
    yield (
        f"With three widths a view the {len(learners)} methods that learn gain "
        f"{min(gains.values()):+.1f} to {max(gains.values()):+.1f} points over the plain sum; "
        f"{table.label_of(best)} has a 95 % interval of {low:+.1f} to {high:+.1f}, and a gain of "
        f"{statistics.median(over_sets):.1f} would have been found. On another such set the "
        f"probability of being better by a point is {outcome(pairs[likeliest], 1.0).better:.2f} "
        f"at most ({table.label_of(likeliest)})."
    )
    found = verdict(list(pairs.values()), 1.0).format("these sets").lower()
    yield f"The verdict of the rule: {found}"
    better, worse = n_discoveries(pairs)
    n_shown = sum(upper_end(pair.means) < 1.0 for pair in pairs.values())
    yield (
        f"The plain sum is shown to be not inferior by a point to {n_shown} of {len(learners)}. Of "
        f"{sum(len(pair.gains) for pair in pairs.values())} comparisons set by set {better} are "
        f"better and {worse} worse at a false discovery rate of 5 %."
    )
    labels = [row.label for row in table.rows]
    pages = [m for row, m in zip(table.rows, of_weights, strict=True) if "webkb" in row.name]
    yield (
        "Banded ridge joined when the other results were known. Of its gain "
        f"{with_interval(against('ridge').means)} is that of ridge regression on the plain sum, "
        f"and {with_interval(of_weights)} that of the weights: "
        f"{min(pages):+.1f} to {max(pages):+.1f} on the four sets of web pages, and "
        "{:+.1f} on {}.".format(*min(zip(of_weights, labels, strict=True)))
    )
    single = {
        name: statistics.fmean(pair.means)
        for name in learners
        if (pair := against(name, protocol="one")).gains
    }
    yield (
        f"With one kernel a view the gains are {min(single.values()):+.1f} to "
        f"{max(single.values()):+.1f} points."
    )
    others = [
        f"{table.label_of(name)} {with_interval(against(name).means)}"
        for name in ("svm", "linear", "logistic", "boosting", "best_view", "late")
    ]
    yield f"Over the plain sum, the others have, in points: {', '.join(others)}."
    trees = sorted(zip(against("boosting").means, labels, strict=True))
    (least, loser), (most, winner) = trees[0], trees[-1]
    n_ahead, n_behind = (sum(sign * gain > 1.0 for gain, _ in trees) for sign in (1, -1))
    yield (
        f"By more than a point, gradient boosting is ahead on {n_ahead} sets, most on {winner} "
        f"({most:+.1f}), and behind on {n_behind}, most on {loser} ({least:+.1f}). On the four "
        "sets of web pages it is ahead of banded ridge, too."
    )
    states(
        LEARNING,
        f"it differs from the plain sum by more than a point on {n_ahead + n_behind} of "
        f"{len(trees)} sets, in either direction",
    )
    over_banded = zip(table.rows, against("boosting", "banded").means, strict=True)
    assert min(m for row, m in over_banded if "webkb" in row.name) > 0
    for part in made_rule(report, plan):
        pattern = r"the others: (.*?), else.*?(gains \S+) .*?(begins at \S+)\."
        rule, gained, start = re.findall(pattern, str(part))[0]
        yield (
            f"The rule that was best on one half of the sets: {rule}. On the other half it "
            f"{gained} points, and the one-sided 95 % interval {start}."
        )


def test_the_second_edition() -> None:
    for sentence in said_of_the_second_edition():
        states(LEARNING, sentence)


IKL = "learning_ikl_views"


def test_ikl_on_sets_of_several_views() -> None:
    table = load_table(IKL)
    names = [row.label for row in table.rows]

    def of(column: str, metric: str = "accuracy") -> list[float]:
        return [mean(IKL, row.name, column, "widths", metric) for row in table.rows]

    def by_set(column: str) -> str:
        return f"{listed(f'{accuracy:.1f}' for accuracy in of(column))} %"

    states(
        LEARNING,
        f"On {listed(names)} it has {by_set('ikl')}, the plain sum of three widths a view "
        f"{by_set('uniform')}, mkl {by_set('mkl')}, one tuned Gaussian {by_set('svm')} and "
        f"gradient boosting {by_set('boosting')}.",
    )
    both = zip(of("ikl", "search_time"), of("mkl", "search_time"), strict=True)
    assert min(ikl / mkl for ikl, mkl in both) > 100  # as the page says
    found = {
        c.against: tally(recorded(IKL), "ikl", c.against, "widths", METRICS["accuracy"])
        for c in table.comparisons
    }
    n_better = sum(len(each.better) for each in found.values())
    worse = {name: list(each.worse) for name, each in found.items() if each.worse}
    assert worse == {"mkl": ["CLL"], "svm": ["CRC (gut)"]}
    states(
        LEARNING,
        f"By a corrected test it is better in {n_better} of {len(names) * len(found)} comparisons, "
        f"and worse in {len(worse)}: than mkl on CLL, and than one tuned Gaussian on CRC (gut).",
    )


ADDED = "learning_more_views"


def said_of_added_views() -> Iterator[str]:
    """Yield what the page says of views that are added to real sets, and of widths."""
    table = load_table(ADDED)

    def at(protocol: str, name: str) -> list[float]:
        return [mean(ADDED, row.name, name, protocol, "accuracy") for row in table.rows]

    def changes(name: str) -> str:
        both = zip(table.rows, at("as_is", name), at("noise5", name), strict=True)
        return listed(f"from {a:.1f} to {b:.1f} % on {row.label}" for row, a, b in both)

    yield (
        f"With five views of noise the plain sum goes {changes('uniform')}, and mkl "
        f"{changes('mkl')}."
    )
    clean, noisy = (
        [a - b for a, b in zip(at(protocol, "mkl"), at(protocol, "uniform"), strict=True)]
        for protocol in ("as_is", "noise5")
    )
    n_larger = sum(b > a for a, b in zip(clean, noisy, strict=True))
    assert [row.label for row, b in zip(table.rows, noisy, strict=True) if b < 0] == ["NGs"]
    yield (
        f"So mkl gains more on the plain sum with five views of noise than with none on {n_larger} "
        f"of the {len(table.rows)}, as was expected; on NGs it loses less."
    )
    copied = {
        name: listed(
            f"{round(a - b, 1) + 0.0:.1f}"
            for a, b in zip(at("as_is", name), at("copies", name), strict=True)
        )
        for name in ("uniform", "mkl")
    }
    yield (
        f"Three copies of the last view cost the plain sum {copied['uniform']} points, and mkl "
        f"{copied['mkl']}."
    )
    least = min(
        a - b
        for column in table.columns
        for a, b in zip(at("as_is", column.name), at("narrow", column.name), strict=True)
    )
    yield (
        f"Widths that are all too narrow cost every method {int(least)} points or more: weights do "
        "not mend them."
    )


def test_the_page_on_views_that_are_added() -> None:
    for sentence in said_of_added_views():
        states(LEARNING, sentence)
