"""An output format is one module of `mklbench.report.formats`, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from mklbench.report import formats

ROW = """
def render(report, figures, directory):
    return "\\n".join(f"{row.label} \\\\\\\\" for row in report.table.rows)
"""


def test_the_formats_are_the_modules() -> None:
    assert formats.FORMATS == ["csv", "html", "latex", "md"]
    assert formats.result_formats() == ["csv", "html", "md"]
    for name in formats.FORMATS:
        assert callable(formats.renderer(name))


def test_a_new_module_is_a_new_format(tmp_path: Path) -> None:
    """In a copy of the package: nothing else knows of it, and the command line takes it."""
    package = Path(formats.__file__).parents[2]
    copy = tmp_path / "mklbench"
    copy.mkdir()
    for part in package.iterdir():
        if part.name != "report":
            (copy / part.name).symlink_to(part)
    (copy / "report").mkdir()
    for part in (package / "report").iterdir():
        if part.name != "formats":
            (copy / "report" / part.name).symlink_to(part)
    (copy / "report" / "formats").mkdir()
    for part in Path(formats.__file__).parent.glob("*.py"):
        (copy / "report" / "formats" / part.name).write_bytes(part.read_bytes())
    (copy / "report" / "formats" / "tex.py").write_text(ROW, encoding="utf-8")
    arguments = ["table", "cortes2009_degrees", "--recorded", "--format", "tex"]
    finished = subprocess.run(
        [sys.executable, "-m", "mklbench", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert finished.returncode == 0, finished.stderr
    assert "\\\\" in finished.stdout
