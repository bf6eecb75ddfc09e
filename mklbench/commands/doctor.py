"""``mklbench doctor``: what this machine offers, what is wrong, and what to do about it."""

from __future__ import annotations

from mklbench.diagnosis import Finding, findings
from mklbench.diagnosis.finding import count
from mklbench.experiments.store import Store


def doctor(store: Store) -> int:
    """Print what was found, with remedies; return 1 if something does not work, else 0.

    Parameters
    ----------
    store : Store
        Whose claims and disk are looked at.

    Raises
    ------
    InputError
        If the store is no directory.
    """
    store.check()
    counts = dict.fromkeys(("problem", "slow", "note"), 0)
    for finding in findings(store):
        print(_line(finding), flush=True)
        if finding.level in counts:
            counts[finding.level] += 1
    print(_total(counts))
    return 1 if counts["problem"] else 0


def _line(finding: Finding) -> str:
    line = f"{finding.level:8}{finding.what:10} {finding.said}"
    return f"{line}\n{'':19}-> {finding.remedy}" if finding.remedy else line


def _total(counts: dict[str, int]) -> str:
    if not any(counts.values()):
        return "All is well."
    words = {"problem": "problem", "slow": "performance warning", "note": "note"}
    return ", ".join(count(n, words[level]) for level, n in counts.items() if n) + "."
