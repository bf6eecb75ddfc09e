"""What stands beside the code says what is true of it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hatchling.builders.wheel import WheelBuilder
from packaging.specifiers import SpecifierSet
from stated import recorded

import mklbench
from mklbench import cli, errors
from mklbench.report.analysis.candidate import scores_path, to_scores
from mklbench.report.loading import load_table, table_names

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    content: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return content["project"]


@pytest.mark.parametrize("extra", sorted(errors.EXTRAS))
def test_an_extra_has_the_package_that_it_is_asked_for(extra: str, project: dict[str, Any]) -> None:
    packages = list(errors.EXTRAS[extra].values())
    listed = project["optional-dependencies"][extra]
    assert [needed.split(">=")[0] for needed in listed] == packages
    assert not any(needed.startswith(tuple(packages)) for needed in project["dependencies"])
    assert errors.missing(extra, "this test") is None, "the tests have all extras"


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


def test_a_wheel_has_the_tables_and_what_check_and_compare_read() -> None:
    files = {f.distribution_path for f in WheelBuilder(str(ROOT)).recurse_included_files()}
    of_results = {path.removeprefix("mklbench/") for path in files if "/results/" in path}
    tables = {f"tables/{name}.{ending}" for name in table_names() for ending in ("csv", "md")}
    scores = {f"scores/{name}.csv" for name in RANKED}
    wanted = {*tables, *scores, "check.jsonl"}
    assert of_results == {f"results/{path}" for path in wanted}
    configs = {str(path.relative_to(ROOT)) for path in (ROOT / "configs").rglob("*.yaml")}
    assert {f"mklbench/{path}" for path in configs} <= files
    assert all(path.startswith(("mklbench/", "hydra_plugins/")) for path in files)


RANKED = [name for name in table_names() if load_table(name).ranking is not None]


@pytest.mark.xdist_group("stated")
@pytest.mark.parametrize("name", RANKED)
def test_the_scores_are_those_of_the_records(name: str) -> None:
    assert to_scores(recorded(name)) == scores_path(ROOT / "results", name).read_text("utf-8")


class TestInstalled:
    """Where the records behind the tables are not, which `make wheel-check` sees in full."""

    @pytest.fixture(autouse=True)
    def installed(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "tables").symlink_to(ROOT / "results" / "tables")
        monkeypatch.setattr("mklbench.resources.recorded_results", lambda: tmp_path)
        monkeypatch.setattr("mklbench.resources.checkout", lambda: None)

    def test_a_recorded_table_is_the_file_of_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["table", "picard2012_table1", "--recorded", "--all"]) == 0
        written = (ROOT / "results/tables/picard2012_table1.md").read_text(encoding="utf-8")
        assert capsys.readouterr().out == written
        assert len(mklbench.table("picard2012_table1")) > 100

    @pytest.mark.parametrize(
        "arguments", [["table", "picard2012_table1", "--recorded", "--format", "latex"], ["report"]]
    )
    def test_what_needs_the_records_says_where_they_are(
        self, arguments: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(arguments) == cli.INPUT_ERROR
        assert "clone the repository of mklbench" in capsys.readouterr().err


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
