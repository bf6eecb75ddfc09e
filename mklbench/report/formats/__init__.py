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


def renderer(name: str) -> Callable[..., str]:
    """Return ``render(report, figures, directory)`` of one of `FORMATS`."""
    render: Callable[..., str] = importlib.import_module(f"{__name__}.{name}").render
    return render
