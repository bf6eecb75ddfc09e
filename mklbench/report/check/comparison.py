"""How a rerun of a split compares with its record: alike as far as its stopping rule says, or not.

Another processor rounds otherwise, and a solver then ends at another point. Each end is within its
gap or its tolerance of the optimum, so that two objectives differ by no more than the sum. Where
the objective is as flat as that, weights differ by up to the root of it. A descent on a function
that is not convex may end in another local minimum, which is said and is not held against it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from mklbench.config.callables import declared
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.run import Run

_ROUNDING = 1e-8  # relative, where a gap is 0, as of one linear system
# A gap above the tolerance is of another stopping rule. With the BLAS kernels of other processors
# it was three times as large at most; a tolerance a hundred times as large leaves more.
_LARGER_GAP = 5.0
# How far another local minimum may be: its objective relative, and its accuracy in standard errors
# of the difference of two accuracies of as many test samples.
_OTHER_OBJECTIVE = 0.1
_OTHER_ERRORS = 2.0


class Outcome(StrEnum):
    """How one comparison ended; only `SAME` is good, and `NOT_CHECKED` is neither.

    `ELSEWHERE` is another local minimum of about the same worth.
    """

    SAME = "same"
    ELSEWHERE = "ended elsewhere"
    MOVED = "MOVED"
    FAILED = "FAILED"
    NOT_RECORDED = "NOT RECORDED"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Finding:
    """What was compared, how it ended, and what is to be said of it."""

    subject: str
    outcome: Outcome
    detail: str = ""


def passed(findings: Iterable[Finding], *accepted: Outcome) -> bool:
    """Tell whether all findings are the same, not checked, or one of what is `accepted`."""
    good = (Outcome.SAME, Outcome.NOT_CHECKED, *accepted)
    return all(finding.outcome in good for finding in findings)


def told(findings: Iterable[Finding]) -> list[str]:
    """Return a line for all of which the same is to be said; of most that agree it is nothing."""
    subjects: dict[tuple[Outcome, str], list[str]] = {}
    for finding in findings:
        if finding.outcome is not Outcome.SAME or finding.detail:
            subjects.setdefault((finding.outcome, finding.detail), []).append(finding.subject)
    lines = []
    # What is wrong is printed last.
    for outcome, detail in sorted(subjects, key=lambda said: said[0] is not Outcome.SAME):
        names = subjects[outcome, detail]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        lines.append(f"{outcome}: {'; '.join(names[:3])}{more}: {detail}")
    return lines


def differences(run: Run, now: Record, before: Record) -> Iterator[str]:
    """Yield what moved further than the stopping rule allows, the hyperparameters aside.

    Parameters
    ----------
    run : Run
        What was run.
    now, before : Record
        Finished records of one split, at the same hyperparameters.
    """
    share = _share(run, now, before)
    flat = 2.0 * math.sqrt(share)
    distance = _distance(now.weights, before.weights)
    # Where weights are not those of the smallest objective, it moves as far as they do.
    allowed = share + distance * declared(run.config.algo).combines_once
    if _gap(now) > max(_LARGER_GAP * _gap(before), _tolerance(run), _ROUNDING):
        yield f"gap {_gap(now):.2g}, recorded {_gap(before):.2g}"
    if now.accuracy is not None and before.accuracy is not None:
        assert now.n_test is not None
        n_moved = round(abs(now.accuracy - before.accuracy) * now.n_test)
        if n_moved > 1 + share * now.n_test:
            yield (
                f"accuracy {100 * now.accuracy:.2f}%, recorded {100 * before.accuracy:.2f}% "
                f"({n_moved} test samples)"
            )
    elif (change := _change(now.rmse, before.rmse)) > flat:
        yield f"rmse {now.rmse}, recorded {before.rmse} (relative change {change:.1e})"
    if (change := _change(now.objective, before.objective)) > allowed:
        yield (
            f"objective {now.objective}, recorded {before.objective} "
            f"(relative change {change:.1e}, {allowed:.1e} allowed)"
        )
    n_now, n_before = now.n_kernels or 0.0, before.n_kernels or 0.0
    is_given = now.n_base_kernels is not None  # of infinitely many kernels others are found
    if is_given and abs(n_now - n_before) > 1 + flat * n_before:
        yield f"kernels {n_now:g}, recorded {n_before:g}"
    if distance > flat:
        yield f"weights by {distance:.1e} of their sum ({flat:.1e} allowed)"


def is_near_tie(run: Run, now: Record, before: Record) -> bool:
    """Tell whether two records of a split chose otherwise between candidates that are as good.

    That is, where the scores of the two choices are within what the stopping rule allows, or that
    of the search where it is looser.
    """
    share = max(_share(run, now, before), 2.0 * (run.config.search.tol or 0.0))

    def alike(one: Selection, other: Selection) -> bool:
        if one.params == other.params:
            return True
        if one.accuracy is not None and other.accuracy is not None and now.n_train is not None:
            n_moved = round(abs(one.accuracy - other.accuracy) * now.n_train)
            return n_moved <= 1 + share * now.n_train
        changes = (_change(one.rmse, other.rmse), _change(one.score, other.score))
        return max(changes) <= 2.0 * math.sqrt(share)

    pairs = zip(_selections(now), _selections(before), strict=True)
    return all(alike(one, other) for one, other in pairs)


def judged(run: Run, now: Record, before: Record, turned: str = "") -> tuple[Outcome, str]:
    """Return how a finished split compares with its record, and what is to be said of it.

    Parameters
    ----------
    run, now, before : Run and Record
        As for `differences`.
    turned : str, default=""
        What `choice` says of it.
    """
    moved = list(differences(run, now, before))
    outcome = Outcome.SAME
    if moved:
        outcome = Outcome.ELSEWHERE if _is_elsewhere(run, now, before) else Outcome.MOVED
    return outcome, "; ".join(filter(None, [*moved, turned]))


def _is_elsewhere(run: Run, now: Record, before: Record) -> bool:
    """Tell whether a nonconvex descent ended in another minimum of about the same worth."""
    if declared(run.config.algo).convex or now.accuracy is None or before.accuracy is None:
        return False
    assert now.n_test is not None
    mean = 0.5 * (now.accuracy + before.accuracy)
    error = math.sqrt(2.0 * mean * (1.0 - mean) / now.n_test)
    return (
        abs(now.accuracy - before.accuracy) <= _OTHER_ERRORS * error
        and _change(now.objective, before.objective) <= _OTHER_OBJECTIVE
    )


def choice(run: Run, now: Record, before: Record) -> tuple[bool, str]:
    """Tell whether what cross-validation takes now is as good; say what it is if it is another."""
    if now.params == before.params:
        return True, ""
    here, there = (
        ", ".join(f"{path}={value}" for path, value in (record.params or {}).items()) or "nothing"
        for record in (now, before)
    )
    text = f"cross-validation takes {here}, recorded {there}"
    if is_near_tie(run, now, before):
        return True, f"{text}, which is as good and is compared"
    return False, text


def _selections(record: Record) -> list[Selection]:
    own = Selection(
        dict(record.params or {}),
        record.search_accuracy,
        rmse=record.search_rmse,
        score=record.search_score,
    )
    return list(record.shared_selections.values()) or [own]


def _share(run: Run, now: Record, before: Record) -> float:
    """Return by how much two objectives may differ, relative.

    A gap of 1 says nothing of where the optimum is: what has it takes the same steps each time.
    """
    tolerance = _tolerance(run)
    gaps = (gap if gap < 1.0 else 0.0 for gap in (_gap(now), _gap(before)))
    return _ROUNDING + sum(max(gap, tolerance) for gap in gaps)


def _gap(record: Record) -> float:
    """Return the gap, of infinite kernel learning with what is beyond the kernels found."""
    return max(record.gap or 0.0, record.family_gap or 0.0, 0.0)


def _tolerance(run: Run) -> float:
    """Return the tolerance of the run's solver; 0 where it has none but that of its SVMs."""
    return float(run.config.algo.get("tol") or 0.0)


def _change(now: float | None, before: float | None) -> float:
    """Return the relative change."""
    if now is None or before is None:
        return 0.0 if now is before else math.inf
    return abs(now - before) / max(abs(before), 1e-12)


def _distance(now: Any, before: Any) -> float:
    """Return the sum of the changes of the weights as a share of their sum.

    It is 0 where they cannot be compared: of too many kernels they are not recorded, and kernels
    that the solver found are others each time.
    """
    pairs = list(zip(_rows(now), _rows(before), strict=False))
    return max(
        (float(np.abs(one - other).sum() / max(np.abs(other).sum(), 1e-12))
         for one, other in pairs if one.shape == other.shape),
        default=0.0,
    )  # fmt: skip


def _rows(weights: Sequence[Any] | None) -> list[Any]:
    """Return the weights of each class as an array; one where there are two classes."""
    if not weights:
        return []
    return [np.asarray(row) for row in (weights if isinstance(weights[0], list) else [weights])]


def check_passed(again: Sequence[Finding], verdicts: Sequence[Finding]) -> bool:
    """Tell whether nothing is bad and at least one run was really made again."""
    return passed((*again, *verdicts)) and any(f.outcome is Outcome.SAME for f in again)


def describe(again: Sequence[Finding], verdicts: Sequence[Finding]) -> str:
    """Return what there is to say of the findings of the check, and the conclusion."""
    findings = (*again, *verdicts)
    outcomes = [finding.outcome for finding in findings]
    counts = ", ".join(f"{outcomes.count(o)} {o}" for o in Outcome if o in outcomes)
    ending = "passed" if check_passed(again, verdicts) else "failed"
    if all(finding.outcome is Outcome.NOT_CHECKED for finding in again):
        ending = "failed, because no run could be made again"
    return "\n\n".join([*told(findings), f"The check {ending}: {counts}."])
