"""A page a method: problem, formula, reference, parameters, cost, when it pays, what was measured.

Problem, formula and reference are the docstring of its module, parameters that of its `solve`; all
numbers are computed from the records (`evidence`).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from evidence import COMPARISON, TUNED, UNIFORM, Evidence, Growth
from rst import NO_BREAK, heading, listing, literal, table
from which_method import which_method

import mklbench
from mklbench import resources

# Pages on the findings of a paper, by the beginning of the names of its tables.
FINDINGS = {
    "picard2012": "QN-PKL",
    "gehler2008": "infinite kernel learning",
    "aflalo2011": "kernels in groups",
    "cortes2009": "polynomial combinations",
    "bertsimas2025": "sparse MKL",
    "wang2021": "three omics",
    "duan2025": "beside deep networks",
    COMPARISON: "does learning pay?",
}
# Solvers whose growth is measured by itself as well, one size varied at a time.
SCALED = ("hessianmkl", "ikl", "mkl", "simplemkl", "vskl")


def pages() -> dict[str, str]:
    """Return the pages of all methods and of their overview, by their paths."""
    evidence = Evidence()
    written = {f"methods/{name}.rst": method(name, evidence) for name in methods()}
    return written | {"methods/index.rst": _overview(evidence)}


def methods() -> dict[str, dict[str, Any]]:
    """Return the configs of the algorithms by their names."""
    return {name: read(path) for name, path in resources.choices("algo").items()}


def read(path: Path) -> dict[str, Any]:
    """Return the content of a config."""
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def options(path: Path) -> list[str]:
    """Return the lines of a config that are options, with their comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith(("name:", "title:", "_target_:"))]


def method(name: str, evidence: Evidence) -> str:
    """Return the page of a method.

    Parameters
    ----------
    name : str
        As in ``algo=NAME``.
    evidence : Evidence
        All records.
    """
    config = methods()[name]
    module = config["_target_"].rpartition(".")[0]
    of_module = module.rpartition(".")[2]
    is_own = of_module == name
    lines = [*heading(name, "="), f"*{config['title']}*", ""]
    lines += [*heading("Problem", "-")]
    lines += [f".. automodule:: {module}" if is_own else f"That of :doc:`{of_module}`.", ""]
    lines += [*heading("In use", "-"), *_in_use(name, module)]
    lines += [*heading("When it pays", "-"), *_pays(name, evidence)]
    lines += [*heading("What it costs", "-"), *_cost(name, evidence)]
    lines += [*heading("How its fits end", "-"), *_ends(name, evidence)]
    columns = evidence.columns(name)
    if columns:
        lines += [*heading("Measured", "-"), *_measured(columns, evidence)]
    if is_own:
        lines += [*heading("Parameters", "-"), f".. autofunction:: {config['_target_']}"]
        lines += ["   :no-index:", ""]
    return "\n".join(lines)


def _in_use(name: str, module: str) -> Iterator[str]:
    classes = _estimators_of(module)
    if classes:
        yield f"In Python: {', '.join(f':class:`mklbench.{each}`' for each in classes)}."
        yield ""
    yield "On the command line, with the options of the config as they stand:"
    yield ""
    yield from literal([f"mklbench run algo={name} data=wdbc"], "sh")
    yield from literal(options(resources.choices("algo")[name]), "yaml")


def _estimators_of(module: str) -> list[str]:
    names = vars(importlib.import_module("mklbench.estimators"))["__all__"]
    found = ((name, getattr(mklbench, name)) for name in sorted(names))
    return [
        name
        for name, each in found
        if getattr(each, "_algorithm") == module  # noqa: B009
    ]


def _cost(name: str, evidence: Evidence) -> Iterator[str]:
    runs = evidence.sizes(name)
    found = evidence.growth(name)
    if found is None:
        sizes = len({(run.n, run.m) for run in runs})
        yield f"Too few sizes are recorded ({sizes}) to say how its time grows."
    else:
        yield from _grows(found)
        if "M" in found.exponents:
            seconds = found.seconds(300, 100)
            yield f"By this a fit of 300 samples and 100 kernels takes {seconds:.2g} s."
    if name in SCALED:
        yield "With one size varied at a time, to one certified gap, it is measured in"
        yield ":doc:`../measured/scaling`."
    yield ""


def _grows(found: Growth) -> Iterator[str]:
    n = [run.n for run in found.runs]
    kernels = [run.m for run in found.runs if run.m is not None]
    powers = [
        f"{size} to the power of {exponent:.1f}{NO_BREAK}±{NO_BREAK}{error:.1f}"
        for size, (exponent, error) in found.exponents.items()
    ]
    untold = [size for size, (exponent, error) in found.exponents.items() if exponent < 2 * error]
    names = {"n": "n samples", "M": "M kernels"}
    yield f"CPU seconds of a fit with {' and '.join(names[size] for size in found.exponents)} grow"
    yield f"like {' and '.join(powers)} (with one standard error)."
    if untold:
        yield f"Whether they grow with {' and '.join(untold)} at all these runs do not tell."
    yield f"Fitted to the {len(found.runs)} recorded runs of two classes or real targets on one"
    of_kernels = f", M from {min(kernels):,} to {max(kernels):,}" if kernels else ""
    yield f"processor model, n from {min(n):,} to {max(n):,}{of_kernels}; runs of one size count"
    yield f"as one, which leaves {found.n_sizes}. They differ in data, kernels, options and"
    yield f"tolerance, and lie above or below the law by a factor of {found.spread:.1f} (one"
    yield "standard deviation): a rule of thumb within these sizes, and none beyond."


def _pays(name: str, evidence: Evidence) -> Iterator[str]:
    columns = evidence.columns(name)
    if not columns:
        yield f"It has no column in the comparison of all methods (``{COMPARISON}``)."
    else:
        yield f"On the sets of the table :doc:`../tables/{COMPARISON}`, ten splits each, by the"
        yield "corrected resampled t-test (Nadeau & Bengio 2003) at the 5 % level. *Alike* is where"
        yield "it finds no difference, which ten splits do not prove to be none."
    yield ""
    for column in columns:
        if len(columns) > 1:
            yield f"**{evidence.label(column)}**"
            yield ""
        for other in (UNIFORM, TUNED):
            if other != column:
                yield f"- against {_standing(column, other, evidence)}"
        yield f"- mean rank {evidence.ranks[column]:.1f} of {len(evidence.ranks)} (1 is the best)"
        yield ""
    yield from _findings(name, evidence)


def _standing(column: str, other: str, evidence: Evidence) -> str:
    found = evidence.against(column, other)
    parts = [
        f"{word} on {_sets(sets)}" if sets else f"{word} on none"
        for word, sets in (("better", found.better), ("worse", found.worse))
    ]
    return f"``{other}`` ({evidence.label(other)}): {', '.join(parts)}, alike on {len(found.alike)}"


def _sets(sets: Mapping[str, float]) -> str:
    return ", ".join(f"{label} ({gain:+.1f} points)" for label, gain in sets.items())


def _findings(name: str, evidence: Evidence) -> Iterator[str]:
    tables = evidence.of(name)
    links = [
        f":doc:`{title} <../findings/{'learning' if beginning == COMPARISON else beginning}>`"
        for beginning, title in FINDINGS.items()
        if any(table.startswith(beginning) for table in tables)
    ]
    if links:
        yield f"In words: {', '.join(links)}."
        yield ""


def _ends(name: str, evidence: Evidence) -> Iterator[str]:
    tables = evidence.of(name)
    n_fits, failed = sum(map(len, tables.values())), evidence.failed(name)
    early = evidence.early(name)
    yield f"Of {n_fits:,} recorded fits {failed or 'none'} failed."
    if not early:
        yield "All met their stopping rule."
    yield ""
    for table_name, (ended, of, worst) in early.items():
        gap = "" if worst is None else f", the largest gap or residual at the end being {worst:.2g}"
        yield f"- ``{table_name}``: {ended} of {of:,} ended before their rule was met{gap}"
    yield ""


def _measured(columns: Sequence[str], evidence: Evidence) -> Iterator[str]:
    yield "Accuracy in per cent (mean and standard deviation over ten splits) beside a single tuned"
    yield "Gaussian and the uniform combination, number of kernels in use, and median CPU seconds"
    yield f"of a fit: from the table ``{COMPARISON}``, which ``mklbench table {COMPARISON}"
    yield "--recorded`` prints with all methods."
    yield ""
    labels = {row.name: row.label for row in evidence.table.rows}
    for column in columns:
        others = [each for each in (TUNED, UNIFORM) if each != column]
        headings = [f"``{column}``", *(f"``{each}``" for each in others), "kernels", "seconds"]
        rows = [["data", *headings]]
        for row in evidence.rows(column):
            accuracies = [accuracy(evidence, each, row) for each in (column, *others)]
            kernels = np.mean(evidence.values(column, row, "n_kernels"))
            seconds = np.median(evidence.values(column, row, "fit_cpu_seconds"))
            rows.append([labels[row], *accuracies, f"{kernels:.1f}", f"{seconds:.2g}"])
        yield from table(rows)


def accuracy(evidence: Evidence, column: str, row: str) -> str:
    """Return mean and standard deviation of a run in per cent, on one line."""
    values = 100 * np.array(evidence.values(column, row, "accuracy"))
    return f"{values.mean():.1f}{NO_BREAK}±{NO_BREAK}{values.std(ddof=1):.1f}"


def _overview(evidence: Evidence) -> str:
    lines = [*heading("Methods", "="), *which_method(evidence)]
    rows = [["method", "what it is", f"mean rank of {len(evidence.ranks)}"]]
    for name, config in methods().items():
        ranks = [f"{evidence.ranks[column]:.1f}" for column in evidence.columns(name)]
        rows.append([f":doc:`{name}`", config["title"], ", ".join(ranks)])
    return "\n".join([*lines, *heading("All of them", "-"), *table(rows), *listing(methods())])
