"""``python -m mklbench``, and the command ``mklbench``."""

import sys

from mklbench.supervision import hold_signals


def main() -> int:
    """Run the command line as a program; return the exit status."""
    hold_signals()  # before the imports, which take a while
    from mklbench import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
