"""Mutation testing: do the tests of a module notice when its code is changed? (`make mutants`)

Cosmic Ray makes the mutants and runs the tests on them, in a copy of the checkout. What is here
chooses a sample of its mutants and prints what became of them. One is taken from each of as many
places of a module as `mutants.toml` asks for, since there are ten ways to replace a plus and one to
leave out a condition. Left out beforehand are annotations, which nothing evaluates.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult
from tabulate import tabulate

ROOT = Path(__file__).parent.parent
CONFIG = Path(__file__).with_suffix(".toml")
COPIED = (
    "mklbench",
    "hydra_plugins",
    "configs",
    "datasets",
    "tests",
    "benchmarks",
    "docs",
    "faults",
)
GOAL = 0.95


@dataclass
class Outcome:
    """What became of the mutants of one module; `survivors` are their diffs."""

    module: str
    killed: int = 0
    equivalent: int = 0
    survivors: list[str] = field(default_factory=list)

    @property
    def mutants(self) -> int:
        """All but those that do the same as the original."""
        return self.killed + len(self.survivors)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the mutants of all modules, or of those named; 0 if enough of them are killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="parts of module names; default: all")
    parser.add_argument("--build", default=str(ROOT / "build" / "mutants"), help="where to work")
    options = parser.parse_args(arguments)
    config = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    build = Path(options.build)
    copy_checkout(build / "checkout")
    outcomes = []
    for subject in config["subjects"]:
        if not options.modules or any(part in subject["module"] for part in options.modules):
            session = run_module(subject, config, build)
            outcomes.append(read_outcome(subject["module"], config.get("equivalent", ()), session))
            print(describe(outcomes[-1:]), flush=True)
    print(describe(outcomes))
    total = sum(outcome.mutants for outcome in outcomes)
    return 0 if sum(outcome.killed for outcome in outcomes) >= GOAL * total else 1


def copy_checkout(target: Path) -> None:
    """Copy what the tests need, so that no mutant ever stands in the checkout itself."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    ignore = shutil.ignore_patterns("__pycache__", "cache")
    for name in COPIED:
        shutil.copytree(ROOT / name, target / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "Makefile"):
        shutil.copy(ROOT / name, target / name)


def run_module(subject: Mapping[str, Any], config: Mapping[str, Any], build: Path) -> Path:
    """Run Cosmic Ray on one module and return its session."""
    session = (build / Path(subject["module"]).stem).with_suffix(".sqlite")
    session.unlink(missing_ok=True)
    settings = session.with_suffix(".toml")
    pytest = f"{sys.executable} -m pytest -m 'not slow' -x -q -p no:cacheprovider"
    settings.write_text(
        "[cosmic-ray]\n"
        f'module-path = "{subject["module"]}"\n'
        f"timeout = {config['timeout']}\n"
        "excluded-modules = []\n"
        f'test-command = "{pytest} {" ".join(subject["tests"])}"\n'
        '[cosmic-ray.distributor]\nname = "local"\n',
        encoding="utf-8",
    )
    checkout = build / "checkout"
    _cosmic_ray(["init", str(settings), str(session)], checkout)
    _cosmic_ray(["baseline", str(settings)], checkout)
    with use_db(str(session), WorkDB.Mode.open) as work:
        source = (checkout / subject["module"]).read_text(encoding="utf-8")
        keep_sample(work, source, subject["mutants"], config["seed"])
    _cosmic_ray(["exec", str(settings), str(session)], checkout)
    return session


def _cosmic_ray(arguments: Sequence[str], checkout: Path) -> None:
    command = [sys.executable, "-m", "cosmic_ray.cli", *arguments]
    limits = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(command, cwd=checkout, env={**os.environ, **limits}, check=True)


def keep_sample(work: WorkDB, source: str, size: int, seed: int) -> None:
    """Mark all work items of a module as skipped but for a sample, one a place."""
    places: dict[tuple[object, ...], list[WorkItem]] = {}
    skipped = set()
    annotations = list(_annotations(source))
    for item in work.work_items:
        (mutation,) = item.mutations
        if any(start <= mutation.start_pos < end for start, end in annotations):
            skipped.add(item.job_id)
        else:
            family = mutation.operator_name.split("_")[0]
            places.setdefault((mutation.start_pos, family), []).append(item)
    chance = random.Random(seed)
    chosen = [
        chance.choice(
            sorted(
                items,
                key=lambda item: (item.mutations[0].operator_name, item.mutations[0].occurrence),
            )
        )
        for _, items in sorted(places.items(), key=lambda pair: repr(pair[0]))
    ]
    kept = {item.job_id for item in chance.sample(chosen, min(size, len(chosen)))}
    for item in list(work.work_items):
        if item.job_id not in kept:
            work.set_result(item.job_id, WorkResult(WorkerOutcome.SKIPPED, "not in the sample"))


def _annotations(source: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where annotations start and end: (line, column), the lines from 1."""
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if isinstance(part, ast.expr):
                yield (
                    (part.lineno, part.col_offset),
                    (part.end_lineno or part.lineno, part.end_col_offset or 0),
                )


def read_outcome(module: str, equivalent: Sequence[Mapping[str, str]], session: Path) -> Outcome:
    """Count what became of the mutants of a session that are listed as no equivalent ones."""
    same = {item["mutant"] for item in equivalent if item["module"] == module}
    outcome = Outcome(module)
    with use_db(str(session), WorkDB.Mode.open) as work:
        for _, result in work.completed_work_items:
            if result.worker_outcome == WorkerOutcome.SKIPPED:
                continue
            changed = _changed_lines(result.diff or "")
            if result.test_outcome != TestOutcome.SURVIVED:
                outcome.killed += 1
            elif " ".join(changed[1].split()) in same:
                outcome.equivalent += 1
            else:
                outcome.survivors.append("\n".join(changed))
    return outcome


def _changed_lines(diff: str) -> tuple[str, str]:
    """Return what a diff takes away and what it adds, without the signs in front."""
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    taken = "\n".join(line[1:] for line in lines if line.startswith("-"))
    added = "\n".join(line[1:] for line in lines if line.startswith("+"))
    return taken, added


def describe(outcomes: Sequence[Outcome]) -> str:
    """Return the table and the survivors."""
    rows = [[o.module, o.mutants, o.killed, len(o.survivors), o.equivalent] for o in outcomes]
    if len(outcomes) > 1:
        rows.append(["all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])])
    head = ["module", "mutants", "killed", "survived", "equivalent besides"]
    text = tabulate(rows, headers=head, tablefmt="pipe")
    for outcome in outcomes:
        for survivor in outcome.survivors:
            text += f"\n\n{outcome.module}:\n{survivor}"
    return text


if __name__ == "__main__":
    sys.exit(main())
