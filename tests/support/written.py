"""What is written of the program outside of its code: pages, and the blocks of code on them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The pages that are written by hand; what docs/extensions makes of the program is not.
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "RELEASING.md",
    "datasets/README.md",
    "docs/*.md",
    "docs/findings/*.md",
    "docs/how-to/*.md",
    "examples/*/README.md",
)
MADE = ("docs/changes.md", "docs/contributing.md")
# Lines that begin with one of these are commands, wherever they stand.
PROGRAMS = ("mklbench", "make", "pip", "python", "python3", "ssh", "cd", "dask", "PYTHONPATH=.")
_FENCE = re.compile(r"^(`{3,}|~{3,})(\S*)\s*$")


@dataclass(frozen=True)
class Block:
    """A block of a page: fenced, or indented by four spaces, which has no language."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    def commands(self) -> list[str]:
        """Return the lines that are typed into a shell."""
        lines = [line.strip() for line in self.text.splitlines()]
        if self.language == "console":
            return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        if self.language == "sh":
            return [line for line in lines if line and not line.startswith("#")]
        if self.language == "" and lines[0].split()[0] in PROGRAMS:
            return [line for line in lines if line]
        return []


def pages() -> list[str]:
    """Return the pages by their paths in the checkout, in order."""
    found = {path.relative_to(ROOT).as_posix() for each in PAGES for path in ROOT.glob(each)}
    return sorted(found - set(MADE))


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page, in order."""
    return list(_blocks(page, (ROOT / page).read_text(encoding="utf-8").splitlines()))


def _blocks(page: str, lines: list[str]) -> Iterator[Block]:
    number = 0
    while number < len(lines):
        start = number
        opened = _FENCE.match(lines[number])
        if opened:
            number += 1
            while not lines[number].startswith(opened[1]):
                number += 1
            text = "\n".join(lines[start + 1 : number]) + "\n"
            yield Block(page, start + 1, opened[2], text)
        elif lines[number].startswith("    ") and not (number and lines[number - 1].strip()):
            while number < len(lines) and lines[number].startswith("    "):
                number += 1
            yield Block(page, start + 1, "", "\n".join(lines[start:number]) + "\n")
            continue
        number += 1


def words_of(command: str) -> list[str]:
    """Return the words of a command line, without its comment and what is piped into it."""
    return shlex.split(command, comments=True)


def spans(page: str) -> list[str]:
    """Return the commands of mklbench within the sentences of a page.

    What has dots or a NAME in it stands for several commands, and is left out.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"`(mklbench [a-z-][^`]*)`", text.replace("\n", " "))
    return [command for command in found if not re.search(r"\.\.\.|…|\b[A-Z]{3,}\b", command)]
