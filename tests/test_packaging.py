"""What stands beside the code says what is true of it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import mklbench
from mklbench import extras

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    content: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return content["project"]


@pytest.mark.parametrize("extra", sorted(extras._PACKAGES))
def test_an_extra_has_the_package_that_it_is_asked_for(extra: str, project: dict[str, Any]) -> None:
    packages = list(extras._PACKAGES[extra].values())
    listed = project["optional-dependencies"][extra]
    assert [needed.split(">=")[0] for needed in listed] == packages
    assert not any(needed.startswith(tuple(packages)) for needed in project["dependencies"])
    assert extras.missing(extra, "this test") is None, "the tests have all extras"


def test_the_citation_is_of_a_version_that_the_changelog_has() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["license"] == "BSD-3-Clause"
    assert cited["version"] == mklbench.__version__
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = dict(re.findall(r"^## \[([\d.]+)\] - ([\d-]+)$", text, flags=re.MULTILINE))
    assert released[mklbench.__version__] == cited["date-released"]


def test_what_contributing_names_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, _, table = text.partition("| a new | files |")
    changes = re.findall(r"^\| ([a-z ]+) \| (.*) \|$", table, flags=re.MULTILINE)
    assert len(changes) == 10
    for _, files in changes:
        for path in re.findall(r"`([^`]+)`", files):
            mine = re.search(r"/(mine|author2020_table1)\.", path)
            there = (ROOT / path).parent.is_dir() if mine else (ROOT / path).is_file()
            assert there or path == "configs/executor/mine.yaml", path
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z-]+)", text):
        assert f"\n{target}:" in makefile, target


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps_of(workflow: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return every step of a workflow with its job."""
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [(job, step) for job in jobs for step in job["steps"]]


def test_workflows_run_all_of_the_gate() -> None:
    commands = [step.get("run", "") for path in WORKFLOWS for _, step in steps_of(path)]
    assert "bash .ci/run" in commands


def test_workflows_make_what_there_is_on_every_python(project: dict[str, Any]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    allowed = SpecifierSet(project["requires-python"])
    pythons = {f"3.{minor}" for minor in range(30) if f"3.{minor}" in allowed}
    made = set()
    for path in WORKFLOWS:
        for job, step in steps_of(path):
            matrix = job.get("strategy", {}).get("matrix", {})
            assert set(matrix.get("python", pythons)) == pythons, path
            for target in re.findall(r"make (\S+|\$\{\{.*?\}\})", step.get("run", "")):
                named = matrix["target"] if target.startswith("${{") else [target]
                made |= set(named)
    assert {"test-oldest", "test-newest", "archives", "docs"} <= made
    for target in made:
        assert f"\n{target}:" in makefile, target
