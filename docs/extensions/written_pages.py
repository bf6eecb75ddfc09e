"""Pages that are written from the program itself: methods, command line, configs.

They are made before Sphinx reads its sources, so that none of them can be out of date.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import pkgutil
import re
from pathlib import Path
from typing import Any

import method_pages
from rst import NO_BREAK, heading, literal

import mklbench
from mklbench import cli, resources
from mklbench.commands import grammar

# Groups of configs in the order in which a newcomer meets them.
GROUPS = {
    "algo": "Algorithms",
    "kernel": "Kernels",
    "data": "Data sets",
    "split": "Splits",
    "search": "Choice of hyperparameters",
    "executor": "Executors",
    "table": "Tables",
}
# Pages that are made of files elsewhere in the checkout, by what links to these look like.
_LINKS = {
    r"results/bench/([\w-]+)\.md": r"measured/\1.md",
    r"results/tables/([\w-]+)\.md": r"tables/\1.md",
    r"examples/([\w-]+)(?:/README\.md|/)?": r"examples/\1.md",
    r"docs/([\w-]+\.md)": r"\1",
    r"CONTRIBUTING\.md": "contributing.md",
    r"CHANGELOG\.md": "changes.md",
}
# Spaces in a table that belong to a number: around its spread, and before its verdict.
_JOINED = re.compile(r"(?<=\d) (?=[±✓≈▲▼])|(?<=±) (?=\d)")
# A module, class or function of ours in a page by hand.
_OURS = re.compile(r"(?<![`\[])`(mklbench(?:\.\w+)+)`(?!`)")
# Links to what has no page.
_SOURCES = re.compile(r"\[([^\]]+)\]\((?:tests|mklbench)/[^)]+\)")
# A bar, or the underscore at the end of a word, with an even number of backticks behind it.
_FOREIGN = re.compile(r":ref:`([^<`]+?) ?<[^`]+>`")
_FORMULA = re.compile(r"(\||(?<=\w)_(?!\w))(?=(?:[^`]*`[^`]*`)*[^`]*$)")


def setup(app: Any) -> dict[str, bool]:
    """Write the pages when Sphinx starts."""
    write(Path(app.srcdir))  # before anything looks for sources
    app.connect("autodoc-process-docstring", _prepared, priority=100)  # before numpydoc
    app.connect("source-read", _relink)
    return {"parallel_read_safe": True}


def _prepared(app: Any, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """Show formulas of docstrings as they stand, and look up no page of scikit-learn.

    |x| and n_ are no references, and an indented block is no quotation.
    """
    prepared: list[str] = []
    in_block = False
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if line and not (i and lines[i - 1]):  # a block begins, or goes on behind an empty line
            above = next((each for each in reversed(lines[:i]) if each), "")
            was_in_block = in_block and indent >= 4
            starts = above.endswith(":") or (what == "module" and bool(above))
            in_block = was_in_block or (starts and _is_deeper(line, above))
            if in_block and not was_in_block and above.endswith(":"):
                last = max(j for j, each in enumerate(prepared) if each)
                prepared[last] += ":"
            elif in_block and not was_in_block:  # in the midst of a sentence
                prepared += ["::", ""]
        formula = line if in_block else _FORMULA.sub(r"\\\g<0>", line)
        prepared.append(formula if in_block else _FOREIGN.sub(r"\1", formula))
    lines[:] = prepared


def _is_deeper(line: str, above: str) -> bool:
    return len(line) - len(line.lstrip()) >= len(above) - len(above.lstrip()) + 4


def _relink(app: Any, page: str, source: list[str]) -> None:
    """Lead links out of this folder to the pages that are made of what they lead to.

    The name of a module leads to what it says. In tables a number, its spread and its verdict stay
    on one line.
    """
    text = _relinked(source[0], "../" * page.count("/"))
    if str(app.env.doc2path(page)).endswith(".md"):
        text = _OURS.sub(r"{py:obj}`\1`", text)
    source[0] = re.sub(r"^\|.*$", lambda row: _JOINED.sub(NO_BREAK, row[0]), text, flags=re.M)


def _relinked(text: str, to_root: str) -> str:
    for pattern, page in _LINKS.items():
        text = re.sub(rf"\]\((?:\.\./)*{pattern}\)", rf"]({to_root}{page})", text)
    return text


def write(source: Path) -> None:
    """Write all pages; those that would be the same stay as they are, and are not read again.

    Parameters
    ----------
    source : Path
        The folder of the documentation.
    """
    pages = method_pages.pages()
    pages["reference/python.rst"] = _python()
    pages["reference/modules.rst"] = _inner_modules()
    pages["reference/command-line.rst"] = _command_line()
    pages["reference/configs.rst"] = _configs_index()
    pages |= {f"reference/configs-{group}.rst": _configs(group) for group in GROUPS}
    pages |= _of_files(source.parent)
    for name, text in pages.items():
        path = source / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")


def _of_files(root: Path) -> dict[str, str]:
    """Return the pages that are made of files elsewhere in the checkout."""
    places = {
        "measured": ("Measurements", sorted(root.glob("results/bench/*.md"))),
        "tables": ("Tables", sorted(root.glob("results/tables/*.md"))),
        "examples": ("Larger examples", sorted(root.glob("examples/*/README.md"))),
    }
    pages = {
        "contributing.md": _SOURCES.sub(
            r"\1", (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
        ),
        "changes.md": (root / "CHANGELOG.md").read_text(encoding="utf-8"),
    }
    for folder, (title, files) in places.items():
        names = [path.parent.name if folder == "examples" else path.stem for path in files]
        texts = [path.read_text(encoding="utf-8") for path in files]
        texts = [text.replace("](../figures/", "](../../results/figures/") for text in texts]
        pages |= {f"{folder}/{name}.md": text for name, text in zip(names, texts, strict=True)}
        toctree = ["```{toctree}", ":maxdepth: 1", "", *names, "```", ""]
        pages[f"{folder}/index.md"] = "\n".join([f"# {title}", "", *toctree])
    return pages


def _python() -> str:
    lines = [*heading("Python", "=")]
    parts = {
        "Estimators": ("mklbench", sorted(_names("mklbench.estimators"))),
        "Displays": ("mklbench", _names("mklbench.displays")),
        "Results and models": ("mklbench", ["load", "records", "rendered", "table"]),
        "Algorithms": ("mklbench.algorithms", [f"{each}.solve" for each in _modules()]),
        "Kernels": ("mklbench.kernels", _names("mklbench.kernels")),
        "Solutions and certificates": (
            "mklbench",
            ["solution.Solution", "solution.Mixture", "certify.bounds", "certify.PrimalDualPoint"],
        ),
        "Data": ("mklbench.data", _names("mklbench.data")),
        "Checks for own algorithms and kernels": (
            "mklbench.testing",
            ["check_algorithm", "check_operator"],
        ),
    }
    for title, (package, names) in parts.items():
        lines += [*heading(title, "-"), ".. autosummary::", "   :toctree: python", ""]
        lines += [f"   {package}.{name}" for name in names]
        lines += [""]
    return "\n".join(lines)


def _inner_modules() -> str:
    """Return the page of what every module says of itself, but those that are pages of methods."""
    lines = heading("Modules", "=")
    methods = {f"mklbench.algorithms.{name}" for name in _modules()}
    for found in pkgutil.walk_packages(mklbench.__path__, "mklbench."):
        if found.name in methods or found.name.endswith("__main__"):
            continue
        package, _, name = found.name.rpartition(".")
        with contextlib.suppress(ImportError):  # of an extra that is not installed
            module = importlib.import_module(found.name)
            if getattr(importlib.import_module(package), name) is module:  # no function hides it
                lines += [*heading(found.name, "-"), f".. automodule:: {found.name}", ""]
    return "\n".join(lines)


def _names(package: str) -> list[str]:
    """Return what a package lists, or else all it has but modules."""
    has = vars(importlib.import_module(package))
    listed: list[str] | None = has.get("__all__")
    own = (name for name in has if not name.startswith("_") and not inspect.ismodule(has[name]))
    return sorted(own) if listed is None else listed


def _command_line() -> str:
    lines = [*heading("Command line", "="), *literal(_help([]), "text")]
    for name in list(grammar.parsers())[1:]:
        lines += [*heading(f"mklbench {name}", "-"), *literal(_help(name.split()), "text")]
    return "\n".join(lines)


def _help(command: list[str]) -> list[str]:
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        cli.main([*command, "--help"])
    return printed.getvalue().rstrip().splitlines()


def _configs_index() -> str:
    lines = [*heading("Configs", "=")]
    lines += ["Every option of a run is in one of these files, and can be overridden by its name:"]
    lines += ["``mklbench run algo=mkl algo.C=10``.", "", ".. toctree::", "   :maxdepth: 1", ""]
    return "\n".join([*lines, *(f"   configs-{group}" for group in GROUPS), ""])


def _configs(group: str) -> str:
    lines = heading(GROUPS[group], "=")
    for name, path in resources.choices(group).items():
        content = method_pages.read(path)
        lines += [*heading(f"{group}={name}" if group != "table" else name, "-")]
        lines += [str(content.get("title", "")), ""]
        if group != "table":  # which are long: their pages are their tables
            lines += literal(method_pages.options(path), "yaml")
    return "\n".join(lines)


def _modules() -> list[str]:
    targets = (config["_target_"] for config in method_pages.methods().values())
    return sorted({target.split(".")[-2] for target in targets})
