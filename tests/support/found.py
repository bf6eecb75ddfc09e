"""What the tests of `mklbench doctor` ask of what was found."""

from __future__ import annotations

from mklbench.diagnosis import Finding


def levels(findings: list[Finding]) -> list[str]:
    return [finding.level for finding in findings]


def only(findings: list[Finding], level: str) -> Finding:
    (found,) = (finding for finding in findings if finding.level == level)
    return found


def assert_has_a_remedy(finding: Finding) -> None:
    assert finding.remedy
    assert not finding.remedy.endswith(".")
