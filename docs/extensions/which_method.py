"""The table "which method when": each piece of advice beside what the records say of it.

A row states what has to hold in the records for its advice to stand. Where new records no longer
bear it out, the documentation is not built, and tests/docs/test_method_pages.py fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from evidence import TUNED, UNIFORM, Evidence
from rst import NO_BREAK, table

from mklbench.kernels.row_factors import MANY


@dataclass(frozen=True)
class Said:
    """A sentence on the records, and whether they bear the advice out."""

    sentence: str
    holds: bool


@dataclass(frozen=True)
class Advice:
    """What somebody has, what to try, and what the records say of it."""

    situation: str
    advice: str
    said: Callable[[Evidence], Said]


def which_method(evidence: Evidence) -> Iterator[str]:
    """Yield the lines of the table.

    Raises
    ------
    ValueError
        If the records do not bear a piece of advice out.
    """
    rows = [["you have", "try", "the records say"]]
    for each in ADVICE:
        said = each.said(evidence)
        if not said.holds:
            raise ValueError(
                f"the advice for {each.situation} is not what the records say: {said.sentence} "
                "Change it in docs/extensions/which_method.py."
            )
        sentence = re.sub(r"(?<=\d) (?=%|ms|times)", NO_BREAK, said.sentence)
        rows.append([each.situation, each.advice, sentence])
    yield from table(rows, "Which method when")


def _mean(evidence: Evidence, column: str, field: str, rows: Iterable[str] | None = None) -> float:
    """Return the mean over sets of the mean over their splits."""
    rows = evidence.rows(column) if rows is None else rows
    return float(np.mean([np.mean(evidence.values(column, row, field)) for row in rows]))


def _accuracy(evidence: Evidence, column: str, rows: Iterable[str] | None = None) -> float:
    return 100 * _mean(evidence, column, "accuracy", rows)


def _seconds(evidence: Evidence, column: str) -> float:
    """Return the median over sets of the median CPU seconds of a fit."""
    values = (evidence.values(column, row, "fit_cpu_seconds") for row in evidence.rows(column))
    return float(np.median([np.median(each) for each in values]))


def _exact(evidence: Evidence) -> Said:
    calls = {
        name: _mean(evidence, name, "svm_calls") for name in ("mkl", "hessianmkl", "simplemkl")
    }
    listed = ", ".join(f"``{name}`` {count:.0f}" for name, count in calls.items())
    return Said(
        f"SVM calls of a fit, mean over nine sets: {listed}",
        min(calls, key=calls.__getitem__) == "mkl",
    )


def _many(evidence: Evidence) -> Said:
    return Said(f"from {MANY:,} samples on; seconds and memory in :doc:`../scale`", MANY > 1000)


def _all_of_use(evidence: Evidence) -> Said:
    uniform, dense, sparse = (_accuracy(evidence, name) for name in (UNIFORM, "mkl_p2", "mkl"))
    found = evidence.against("mkl", UNIFORM)
    return Said(
        f"mean accuracy on nine sets: ``uniform`` {uniform:.1f} %, ``p=2`` {dense:.1f} %, sparse "
        f"{sparse:.1f} %; sparse weights are better than equal ones on {len(found.better)} of them",
        min(uniform, dense) > sparse and not found.better,
    )


def _views(evidence: Evidence) -> Said:
    names = (UNIFORM, "vskl", "ckl", "late_fusion")
    found = {name: _accuracy(evidence, name, ["mfeat"]) for name in names}
    worse = evidence.against("late_fusion", UNIFORM).worse
    listed = ", ".join(f"``{name}`` {value:.1f} %" for name, value in found.items())
    return Said(
        f"mfeat, six views: {listed}; ``late_fusion`` is worse than ``uniform`` on {len(worse)} of "
        "nine sets",
        found[UNIFORM] > max(found.values()) - 0.5 and len(worse) >= 3,
    )


def _no_time(evidence: Evidence) -> Said:
    names = (UNIFORM, "easymkl", "align", "mkl", "simplemkl")
    seconds = {name: _seconds(evidence, name) for name in names}
    quick = [UNIFORM, "easymkl", "align"]
    never_worse = all(
        not evidence.against(name, other).worse
        for name in quick
        for other in {UNIFORM, TUNED} - {name}
    )
    listed = ", ".join(f"``{name}`` {1000 * value:.0f} ms" for name, value in seconds.items())
    return Said(
        f"a fit, median over the sets: {listed}; the first three are worse than ``uniform`` or one "
        "tuned Gaussian on none",
        never_worse and seconds[UNIFORM] == min(seconds.values()),
    )


def _noise(evidence: Evidence) -> Said:
    shares = {
        name: 100
        * np.mean(
            [
                share
                for record in evidence.tables["picard2012_table2"]
                if record.algo == name and (share := record.relevant_weight) is not None
            ]
        )
        for name in ("qnpkl_printed", "qnpkl", "simplemkl")
    }
    listed = ", ".join(f"``{name}`` {share:.0f} %" for name, share in shares.items())
    return Said(
        f"weight on the true features beside 25 of noise, three sets: {listed}; "
        ":doc:`../findings/picard2012`",
        shares["qnpkl_printed"] > max(shares["qnpkl"], shares["simplemkl"]),
    )


def _widths(evidence: Evidence) -> Said:
    found = evidence.against("ikl", UNIFORM)
    ratio = np.median(
        [
            np.median(evidence.values("ikl", row, "fit_cpu_seconds"))
            / np.median(evidence.values("mkl", row, "fit_cpu_seconds"))
            for row in evidence.rows("ikl")
        ]
    )
    tuned = evidence.against(TUNED, UNIFORM)
    return Said(
        f"against ``uniform`` one tuned Gaussian is worse on {len(tuned.worse)} of nine sets; "
        f"``ikl`` is better on {len(found.better)} and worse on {len(found.worse)}, and a fit "
        f"takes {ratio:.0f} times that of ``mkl``; on Image, SEG and Splice it pays: "
        ":doc:`../findings/gehler2008`",
        not tuned.worse and not found.worse and ratio > 10,
    )


def _real(evidence: Evidence) -> Said:
    rmse: dict[str, list[float]] = {"krr": [], "nkrr": []}
    for record in evidence.tables["cortes2009_degrees"]:
        if record.kernel and record.rmse is not None:
            rmse[record.algo].append(record.rmse)
    uniform, learned = (float(np.mean(rmse[name])) for name in ("krr", "nkrr"))
    return Said(
        f"an arm of eight links, mean RMSE over all sizes and degrees: learned {learned:.2f}, "
        f"equal weights {uniform:.2f}; :doc:`../findings/cortes2009`",
        learned < uniform,
    )


def _papers(evidence: Evidence) -> Said:
    return Said(":doc:`../findings/index` counts what matches", True)


ADVICE = (
    Advice(
        "a bank of kernels, and want the optimum of sparse weights",
        ":doc:`mkl`, the default: exact, certified, the fewest SVM calls",
        _exact,
    ),
    Advice(
        "the same, with many samples, and kernels of single features",
        ':doc:`mkl` with ``method="joint"``, which it takes by itself where it is faster',
        _many,
    ),
    Advice(
        "kernels that are all of some use",
        ":doc:`uniform`, the plain sum, or :doc:`mkl` with ``p=2``: sparse weights throw something "
        "away there",
        _all_of_use,
    ),
    Advice(
        "several descriptors of each sample (views), as 300 samples with four of them",
        ":doc:`uniform` first; then :doc:`vskl` or :doc:`ckl`, which know of the groups. "
        ":doc:`late_fusion` only where every view is enough by itself",
        _views,
    ),
    Advice(
        "a few hundred samples and no time",
        ":doc:`uniform`, :doc:`easymkl` or :doc:`align`: no search for weights",
        _no_time,
    ),
    Advice(
        "features of which some are noise",
        ":doc:`qnpkl_printed`, the long descent, if you want to know which; for accuracy "
        ":doc:`qnpkl`, which ends early",
        _noise,
    ),
    Advice(
        "no idea of the widths of the kernels",
        "one Gaussian, tuned; :doc:`ikl`, which finds one a feature, if its time is no matter",
        _widths,
    ),
    Advice(
        "real targets",
        ":doc:`mkl_svr`, :doc:`nkrr`, or :doc:`alignf` with ``learner=krr``",
        _real,
    ),
    Advice("the numbers of a paper", "the algorithm of that paper, by its name", _papers),
)
