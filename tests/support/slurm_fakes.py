"""Slurm's commands as small scripts: they note how they are called, and answer what a test says.

What they answer here was measured on Slurm 22.05.8 (``tests/cluster`` has it itself).
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

# Notes its call, runs the command behind its flags if it is srun, and answers.
_SCRIPT = """\
#!{shell}
echo {name} "$@" >> {directory}/calls
{more}
while read -r line; do echo "$line"; done < {directory}/{name}.err >&2
while read -r line; do echo "$line"; done < {directory}/{name}.out
exit {status}
"""
# As srun does: its own flags first, then the command for the node.
_SRUN = """\
while [ "${1#-}" != "$1" ]; do shift; done
exec "$@"
"""
CONFIG = "ClusterName             = fake\nMaxArraySize            = 1001\n"
COMMANDS = ("srun", "sbatch", "squeue", "sacct", "scontrol", "scancel")


class FakeSlurm:
    """Commands of Slurm in a directory of their own, which alone is searched for commands.

    Parameters
    ----------
    directory : Path
        Where they are put.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir()
        for name in COMMANDS:
            self.says(name)
        self.says("scontrol", CONFIG)
        self.says("sbatch", "Submitted batch job 33\n")
        self.runs("srun", _SRUN)
        (directory / "calls").touch()

    @property
    def variables(self) -> dict[str, str]:
        """What a process has in its environment that finds these commands."""
        return {"PATH": str(self.directory)}

    @property
    def calls(self) -> list[str]:
        """The commands that were called, with their arguments, in order."""
        return (self.directory / "calls").read_text().splitlines()

    def called(self, name: str) -> list[str]:
        """Return the calls of one command."""
        return [call for call in self.calls if call.split()[0] == name]

    def says(self, name: str, out: str = "", err: str = "", status: int = 0) -> None:
        """Have a command answer this from now on."""
        (self.directory / f"{name}.out").write_text(out)
        (self.directory / f"{name}.err").write_text(err)
        self._write(name, "", status)

    def runs(self, name: str, script: str) -> None:
        """Have a command do this before it answers."""
        for end in ("out", "err"):
            (self.directory / f"{name}.{end}").write_text("")
        self._write(name, script, 0)

    def has_not(self, name: str) -> None:
        """Take a command away."""
        (self.directory / name).unlink()

    def _write(self, name: str, more: str, status: int) -> None:
        path = self.directory / name
        # A new file each time: the old one may be running.
        path.unlink(missing_ok=True)
        shell = shutil.which("sh", path=os.defpath) or "/bin/sh"
        path.write_text(
            _SCRIPT.format(
                shell=shell,
                name=name,
                directory=shlex.quote(str(self.directory)),
                more=more,
                status=status,
            )
        )
        path.chmod(0o755)


def answers_as(python: str = "", mklbench: str = "", problem: str = "") -> str:
    """Return a script for srun: a node that answers the probe with other versions than ours."""
    others = {"python": python, "mklbench": mklbench, "problem": problem}
    program = (
        "import json, sys; from mklbench.experiments.execution import probe; "
        "said = probe.answer(*sys.argv[1:]); "
        f"said |= {{k: v for k, v in {others!r}.items() if v}}; print(json.dumps(said))"
    )
    return (
        'while [ "${1#-}" != "$1" ]; do shift; done\n'
        f'shift 4; exec {shlex.quote(sys.executable)} -c {shlex.quote(program)} "$@"\n'
    )
