"""Programs of the examples, run as their READMEs say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def python(
    words: list[str], directory: Path, *found_in: Path, status: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run Python in a directory, which has to end so; modules are found here and as is said."""
    finished = subprocess.run(
        [sys.executable, *words],
        cwd=directory,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, *found_in))), "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == status, finished.stdout + finished.stderr
    return finished
