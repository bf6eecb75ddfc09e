"""What a report is written as: one module a format, named as its files end, with `render`.

``render(report, figures, directory)`` returns the text, with the bitmaps of the figures by their
names, for a file in `directory` or for none. May import `layout`, `document` and what is below; it
is imported by `report.results` and `commands`, and by the command line for the names alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

FORMATS = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def result_formats() -> list[str]:
    """Return the formats of which `reproduce` writes a file: all that do not say otherwise.

    A module says so by ``IS_RESULT = False``.
    """
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in FORMATS}
    return [name for name, module in modules.items() if getattr(module, "IS_RESULT", True)]


def renderer(name: str) -> Callable[..., str]:
    """Return ``render(report, figures, directory)`` of one of `FORMATS`."""
    render: Callable[..., str] = importlib.import_module(f"{__name__}.{name}").render
    return render
