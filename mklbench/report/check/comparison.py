"""How a rerun of a split compares with its record: the same, within the stopping rule, or moved.

Numbers are the same to the digits; or they are not, the BLAS rounds otherwise than where they were
recorded, and they agree within what the stopping rule leaves open; or they have moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from mklbench.experiments.record import Record
from mklbench.report.check.config import CheckConfig, Tolerance

# Numbers that differ by no more are the same: other processors with the same BLAS kernels differ
# in the last digits. Where the objective is flat, weights and what follows from them differ by up
# to the root of its change.
_WEIGHT_DIGITS = 3e-5
_DIGITS = {
    "accuracy": 1e-12,
    "objective": 1e-9,  # of itself
    "gap": 1e-6,  # a hundredth of the sharpest stopping rule of the tables
    "rmse": _WEIGHT_DIGITS,  # of itself
}
_COUNTS = ("svm_calls", "n_iter", "n_kernels", "params")


class Outcome(StrEnum):
    """How one comparison ended; `SAME` and `WITHIN` are good, and `NOT_CHECKED` is neither."""

    SAME = "same"
    WITHIN = "within the tolerance of its stopping rule"
    MOVED = "MOVED"
    FAILED = "FAILED"
    NOT_RECORDED = "NOT RECORDED"
    NOT_CHECKED = "not checked"


def compare(
    now: Record, before: Record, config: CheckConfig, algorithm: str
) -> tuple[Outcome, str]:
    """Return how a rerun of a split compares with its record, and what is to be said of it."""
    if not now.is_done:
        return Outcome.FAILED, now.reason
    changes = differences(now, before)
    if not changes:
        return Outcome.SAME, ""
    rounding = other_rounding(before, now, config.blas_kernels)
    text = "; ".join(changes)
    if not rounding:
        return Outcome.MOVED, text
    text += f" (measured with {rounding})"
    if now.params != before.params:
        return Outcome.NOT_CHECKED, f"{text}: nothing to compare where another entry is chosen"
    tolerance = config.tolerance_of(algorithm)
    if compare_splits([now], {before.split: before}, tolerance):
        return Outcome.MOVED, text
    return Outcome.WITHIN, text


def compare_splits(
    now: Sequence[Record], before: Mapping[int, Record], tolerance: Tolerance
) -> list[str]:
    """Return one sentence for every number of the splits that moved further than allowed."""
    moved = []
    for record in now:
        reference = before[record.split]
        where = f"split {record.split}"
        is_regression = record.accuracy is None
        if record.accuracy is not None:
            assert reference.accuracy is not None
            assert record.n_test is not None
            n_moved = abs(record.accuracy - reference.accuracy) * record.n_test
            if n_moved > tolerance.accuracy + 0.5:  # counts of samples: half a sample is rounding
                moved.append(
                    f"{where}: accuracy {100 * record.accuracy:.2f}%, recorded "
                    f"{100 * reference.accuracy:.2f}% ({n_moved:.0f} test samples)"
                )
        for name in ("objective", "rmse") if is_regression else ("objective",):
            now_is, was = getattr(record, name), getattr(reference, name)
            change = _relative_change(now_is, was)
            if change > tolerance.objective:
                moved.append(
                    f"{where}: {name} {now_is}, recorded {was} (relative change {change:.1e})"
                )
    return moved


def differences(now: Record, before: Record) -> list[str]:
    """Return what differs between two records of a split beyond the last digits."""
    found = []
    for name in ("accuracy", "objective", "gap", "rmse"):
        old, new = getattr(before, name), getattr(now, name)
        scale = abs(old or 0.0) if name in ("objective", "rmse") else 1.0
        if _distance(new, old) > _DIGITS[name] * scale:
            found.append(f"{name} {_text(old)} -> {_text(new)}")
    found += [
        f"{name} {_text(old)} -> {_text(new)}"
        for name in _COUNTS
        if (old := getattr(before, name)) != (new := getattr(now, name))
    ]
    if _weights_differ(now.weights, before.weights):
        found.append("weights")
    return found


def other_rounding(before: Record, now: Record, kernels_of: Mapping[str, str]) -> str:
    """Say in what a record was measured with another rounding than another, if it was.

    Parameters
    ----------
    before, now : Record
        Two records of a split.
    kernels_of : mapping of str to str
        The BLAS kernels of a processor, for records that do not name theirs.
    """
    then, here = before.provenance, now.provenance
    known = then.get("blas_kernels") or kernels_of.get(str(then.get("cpu")))
    parts = [
        f"{name} {then['versions'].get(name)}, here {version}"
        for name, version in here["versions"].items()
        if name in ("numpy", "scipy", "libsvm") and then["versions"].get(name) != version
    ]
    if then.get("blas") != here["blas"]:
        parts.append(f"{then.get('blas')}, here {here['blas']}")
    if known != here["blas_kernels"]:
        parts.append(f"BLAS kernels for {known or then.get('cpu')}, here {here['blas_kernels']}")
    return "; ".join(parts)


def _relative_change(now: float | None, before: float | None) -> float:
    if now is None or before is None:
        return 0.0 if now is before else float("inf")
    return abs(now - before) / max(abs(before), 1e-12)


def _distance(now: float | None, before: float | None) -> float:
    if now is None or before is None:
        return 0.0 if now is before else float("inf")
    return abs(now - before)


def _text(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, int | float) else str(value)


def _weights_differ(now: Any, before: Any) -> bool:
    if now is None or before is None:
        return False  # of too many kernels they are not recorded
    one, other = ([np.asarray(row) for row in _rows(weights)] for weights in (now, before))
    return len(one) != len(other) or any(
        a.shape != b.shape
        or np.abs(a - b).max(initial=0.0) > _WEIGHT_DIGITS * np.abs(b).max(initial=0.0)
        for a, b in zip(one, other, strict=True)
    )


def _rows(weights: Sequence[Any]) -> Sequence[Any]:
    return weights if weights and isinstance(weights[0], list) else [weights]
